// SPDX-License-Identifier: MIT
// IndexIVFPolar's changes of rows that are there: taken out, coded anew, merged.
#include <faiss/invlists/DirectMap.h>

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "polarquant/faiss.h"
#include "src/codec/codec.h"
#include "src/core/call_threads.h"
#include "src/faiss/foreign/faiss_compat.h"
#include "src/faiss/foreign/faiss_error.h"
#include "src/faiss/index/coded_rows.h"
#include "src/faiss/index/list_places.h"
#include "src/faiss/index/list_rows.h"
#include "src/faiss/index/polar_inverted_lists.h"
#include "src/faiss/index/row_changes.h"
#include "src/faiss/index/row_checks.h"

namespace polarquant {

void IndexIVFPolar::keep_ids(bool kept) {
  with_faiss_errors([&] {
    if (!kept) {
      places_.reset();
      return;
    }
    require_changeable("keep_ids");
    auto places = std::make_unique<ListPlaces>(*this);
    places->insert_all();
    places_ = std::move(places);
    direct_map = ::faiss::DirectMap();
  });
}

bool IndexIVFPolar::has_id(idx_t id) const { return places_ != nullptr && places_->find(id) >= 0; }

// Whoever makes FAISS's own map wants that one.
void IndexIVFPolar::settle_map() {
  if (!direct_map.no()) places_.reset();
}

bool IndexIVFPolar::is_mapped(idx_t id) const {
  if (places_ != nullptr) return has_id(id);
  if (direct_map.type == ::faiss::DirectMap::Hashtable) return direct_map.hashtable.count(id) > 0;
  return id >= 0 && static_cast<size_t>(id) < direct_map.array.size() &&
         direct_map.array[static_cast<size_t>(id)] >= 0;
}

// FAISS's own functions for changes run loops of OpenMP's, which no exception may leave: lists that
// cannot be changed are refused in front of them.
void IndexIVFPolar::reset() {
  with_faiss_errors([&] { require_changeable("reset"); });
  IndexIVF::reset();
  if (places_ != nullptr) places_->clear();
}

void IndexIVFPolar::add_with_ids(idx_t n, const float* x, const idx_t* xids) {
  with_faiss_errors([&] {
    require_changeable("add");
    add_rows(n, xids, encode_rows(n, x));
  });
}

// FAISS's removes rows of a hash table before it looks at the new ones, and some of its releases
// lose a code's memory for each row that takes another's place.
void IndexIVFPolar::update_vectors(int nv, const idx_t* idx, const float* v) {
  with_faiss_errors([&] { code_and_put("update_vectors", nv, idx, v, false); });
}

void IndexIVFPolar::upsert_vectors(idx_t n, const idx_t* idx, const float* v) {
  with_faiss_errors([&] { code_and_put("upsert_vectors", n, idx, v, true); });
}

void IndexIVFPolar::require_places(const char* call, idx_t n, const idx_t* ids,
                                   bool adds_others) const {
  require(n == 0 || ids != nullptr, StatusCode::bad_argument, "{}: idx is null; {} ids are needed",
          call, n);
  if (adds_others) {
    require(places_ != nullptr || direct_map.type == ::faiss::DirectMap::Hashtable,
            StatusCode::unsupported,
            "{}: the index keeps no ids and has no direct map that is a hash table; call keep_ids "
            "first",
            call);
    for (idx_t i = 0; i < n; ++i) {
      require(ids[i] >= 0, StatusCode::bad_argument,
              "{}: idx[{}] is {}; ids of 0 and above are allowed", call, i, ids[i]);
    }
    return;
  }
  require(
      places_ != nullptr || direct_map.type != ::faiss::DirectMap::NoMap, StatusCode::unsupported,
      "{}: the index keeps no ids and has no direct map; call keep_ids or make_direct_map first",
      call);
  for (idx_t i = 0; i < n; ++i) {
    require(is_mapped(ids[i]), StatusCode::not_found,
            "{}: id {} is not in the index, which holds {} rows", call, ids[i], ntotal);
  }
}

void IndexIVFPolar::code_and_put(const char* call, idx_t n, const idx_t* ids, const float* x,
                                 bool adds_others) {
  require_rows(call, n, d, x);
  require_changeable(call);
  require_places(call, n, ids, adds_others);
  require_trained(call);
  put_rows(call, n, ids, encode_rows(n, x), adds_others);
}

// The new rows come first, so that what may fail is over when the old ones go.
void IndexIVFPolar::put_rows(const char* call, idx_t n, const idx_t* ids, const CodedRows& coded,
                             bool adds_others) {
  require_changeable(call);
  settle_map();
  require_places(call, n, ids, adds_others);
  for (idx_t i = 0; i < n; ++i) {
    const idx_t list = coded.lists[static_cast<size_t>(i)];
    require(list >= 0 && static_cast<size_t>(list) < nlist, StatusCode::unsupported,
            "{}: the coarse quantizer has list {} for row {} of x; 0 to {} are there", call, list,
            i, nlist - 1);
  }
  ListGrowth growth(*this);
  growth.append(n, coded.codes.data(), ids, 0, coded.lists.data());
  std::vector<ListPlace> old_places;
  for (const auto& [id, place] : growth.replaced()) old_places.push_back(place);
  RowsTakenOut old_rows(*this, std::move(old_places));
  growth.keep();
  old_rows.take_out();
  ntotal += n - static_cast<idx_t>(old_rows.count());
}

size_t IndexIVFPolar::remove_ids(const ::faiss::IDSelector& sel) {
  return with_faiss_errors([&] {
    require_changeable("remove_ids");
    settle_map();
    const CallThreads call_threads(0);
    return remove_from_lists(*this, sel);
  });
}

void IndexIVFPolar::check_compatible_for_merge(const ::faiss::Index& other) const {
  with_faiss_errors([&] {
    require(is_trained && other.is_trained, StatusCode::not_trained,
            "merge: both indexes must be trained");  // FAISS reads their centroids
  });
  IndexIVF::check_compatible_for_merge(other);
  with_faiss_errors([&] {
    const auto& polar = dynamic_cast<const IndexIVFPolar&>(other);  // FAISS has compared the types
    const std::string difference = codec_->difference(*polar.codec_);
    require(difference.empty(), StatusCode::state_mismatch,
            "merge: the indexes differ in their codec's {}, so that their codes do not mix",
            difference);
    require(rotated_centroids_ == polar.rotated_centroids_, StatusCode::state_mismatch,
            "merge: the indexes differ in their centroids, so that their codes do not mix");
  });
}

void IndexIVFPolar::merge_from(::faiss::Index& other, idx_t add_id) {
  with_faiss_errors([&] {
    require_changeable("merge_from");
    settle_map();
    const auto* polar = dynamic_cast<const IndexIVFPolar*>(&other);
    if (polar != nullptr) polar->require_changeable("merge_from, of other");
    require_mergeable(*this, other);
    merge_lists(*this, dynamic_cast<IndexIVFPolar&>(other), add_id);
  });
}

}  // namespace polarquant
