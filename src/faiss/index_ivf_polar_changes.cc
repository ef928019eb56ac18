// SPDX-License-Identifier: MIT
// IndexIVFPolar's changes of rows that are there: taken out, coded anew, merged.
#include <faiss/invlists/DirectMap.h>

#include <algorithm>
#include <vector>

#include "polarquant/faiss.h"
#include "src/codec/codec.h"
#include "src/faiss/faiss_compat.h"
#include "src/faiss/faiss_error.h"
#include "src/faiss/omp_threads.h"
#include "src/faiss/polar_inverted_lists.h"
#include "src/faiss/row_checks.h"

namespace polarquant {
namespace {

bool is_mapped(const ::faiss::DirectMap& map, idx_t id) {
  if (map.type == ::faiss::DirectMap::Hashtable) return map.hashtable.count(id) > 0;
  return id >= 0 && static_cast<size_t>(id) < map.array.size() &&
         map.array[static_cast<size_t>(id)] >= 0;
}

/// Where a row that the map has is: FAISS's number of list and offset.
idx_t& entry_of(::faiss::DirectMap& map, idx_t id) {
  if (map.type == ::faiss::DirectMap::Hashtable) return map.hashtable[id];
  return map.array[static_cast<size_t>(id)];
}

}  // namespace

// FAISS's own functions for changes run loops of OpenMP's, which no exception may leave: lists that
// cannot be changed are refused in front of them.
void IndexIVFPolar::reset() {
  with_faiss_errors([&] { require_changeable("reset"); });
  IndexIVF::reset();
}

// FAISS's removes rows of a hash table before it looks at the new ones, and some of its releases
// lose a code's memory for each row that takes another's place.
void IndexIVFPolar::update_vectors(int nv, const idx_t* idx, const float* v) {
  with_faiss_errors([&] {
    const OmpThreads omp_threads(0);
    require_rows("update_vectors", nv, d, v);
    require_trained("update_vectors");
    require_changeable("update_vectors");
    require(nv == 0 || idx != nullptr, StatusCode::bad_argument,
            "update_vectors: idx is null; {} ids are needed", nv);
    require(direct_map.type != ::faiss::DirectMap::NoMap, StatusCode::unsupported,
            "update_vectors: the index has no direct map; call make_direct_map first");
    for (int i = 0; i < nv; ++i) {
      require(is_mapped(direct_map, idx[i]), StatusCode::not_found,
              "update_vectors: id {} is not in the index, which holds {} rows", idx[i], ntotal);
    }
    const auto rows = static_cast<size_t>(nv);
    std::vector<idx_t> list_nos(rows);
    quantizer->assign(nv, v, list_nos.data());
    for (size_t i = 0; i < rows; ++i) {
      require(list_nos[i] >= 0 && static_cast<size_t>(list_nos[i]) < nlist, StatusCode::unsupported,
              "update_vectors: the coarse quantizer has list {} for row {} of x; 0 to {} are there",
              list_nos[i], i, nlist - 1);
    }
    std::vector<uint8_t> codes(rows * code_size);
    encode_into(nv, v, list_nos.data(), codes.data());

    std::vector<size_t> lists_before(rows);
    std::vector<uint8_t> codes_before(rows * code_size);
    for (size_t i = 0; i < rows; ++i) {
      const auto entry = static_cast<uint64_t>(entry_of(direct_map, idx[i]));
      lists_before[i] = static_cast<size_t>(::faiss::lo_listno(entry));
      // Its get() is not const in all releases.
      ::faiss::InvertedLists::ScopedCodes code(invlists, lists_before[i],
                                               static_cast<size_t>(::faiss::lo_offset(entry)));
      std::copy_n(code.get(), code_size, &codes_before[i * code_size]);
    }
    size_t done = 0;
    try {
      for (; done < rows; ++done)
        replace_row(idx[done], static_cast<size_t>(list_nos[done]), &codes[done * code_size]);
    } catch (...) {
      while (done-- > 0)
        replace_row(idx[done], lists_before[done], &codes_before[done * code_size]);
      throw;
    }
  });
}

// The new row goes behind those of its list, and the last row of the old one's list takes the old
// one's place: where the two lists are one, that is the new row. What may fail comes first.
void IndexIVFPolar::replace_row(idx_t id, size_t list, const uint8_t* code) {
  const auto entry = static_cast<uint64_t>(entry_of(direct_map, id));
  const auto list_before = static_cast<size_t>(::faiss::lo_listno(entry));
  const auto offset_before = static_cast<size_t>(::faiss::lo_offset(entry));
  idx_t moved = id;
  std::vector<uint8_t> moved_code(code, code + code_size);
  size_t last = invlists->list_size(list_before);
  if (list != list_before) {
    --last;
    moved = invlists->get_single_id(list_before, last);
    ::faiss::InvertedLists::ScopedCodes last_code(invlists, list_before, last);
    std::copy_n(last_code.get(), code_size, moved_code.begin());
  }
  const size_t offset = invlists->add_entry(list, id, code);
  if (list != list_before)
    entry_of(direct_map, id) = static_cast<idx_t>(::faiss::lo_build(list, offset));
  if (offset_before != last) {
    invlists->update_entry(list_before, offset_before, moved, moved_code.data());
    entry_of(direct_map, moved) = static_cast<idx_t>(entry);
  }
  invlists->resize(list_before, last);
}

size_t IndexIVFPolar::remove_ids(const ::faiss::IDSelector& sel) {
  with_faiss_errors([&] { require_changeable("remove_ids"); });
  const OmpThreads omp_threads(0);
  return IndexIVF::remove_ids(sel);
}

void IndexIVFPolar::check_compatible_for_merge(const ::faiss::Index& other) const {
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
    const auto* polar = dynamic_cast<const IndexIVFPolar*>(&other);
    if (polar != nullptr) polar->require_changeable("merge_from, of other");
  });
  const OmpThreads omp_threads(0);
  IndexIVF::merge_from(other, add_id);
}

}  // namespace polarquant
