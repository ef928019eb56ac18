// SPDX-License-Identifier: MIT
#include "src/faiss/index/row_changes.h"

#include <faiss/IndexFlat.h>
#include <faiss/IndexFlatCodes.h>
#include <faiss/IndexHNSW.h>
#include <faiss/IndexIDMap.h>
#include <faiss/IndexIVF.h>
#include <faiss/IndexNSG.h>
#include <faiss/IndexPreTransform.h>
#include <faiss/IndexRefine.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "polarquant/faiss.h"
#include "src/core/call_threads.h"
#include "src/core/status.h"
#include "src/core/work_progress.h"
#include "src/faiss/foreign/faiss_codes.h"
#include "src/faiss/foreign/memory_check.h"
#include "src/faiss/graphs/graph_over_polar.h"
#include "src/faiss/graphs/hnsw_links.h"
#include "src/faiss/graphs/nsg_builder.h"
#include "src/faiss/index/added_rows.h"
#include "src/faiss/index/id_map_removal.h"
#include "src/faiss/index/list_places.h"
#include "src/faiss/index/list_rows.h"
#include "src/faiss/index/position_removal.h"

namespace polarquant {
namespace {

/// The map of an inverted file out of FAISS's sight, which does not check indexes that have one.
class HiddenMap {
 public:
  explicit HiddenMap(const ::faiss::IndexIVF& index)
      : map_(const_cast<::faiss::DirectMap&>(index.direct_map)), type_(map_.type) {
    map_.type = ::faiss::DirectMap::NoMap;
  }
  ~HiddenMap() { map_.type = type_; }
  HiddenMap(const HiddenMap&) = delete;
  HiddenMap& operator=(const HiddenMap&) = delete;

 private:
  ::faiss::DirectMap& map_;
  ::faiss::DirectMap::Type type_;
};

template <typename Kind>
const Kind& same_kind(const Kind& /*index*/, const ::faiss::Index& other) {
  const auto* same = dynamic_cast<const Kind*>(&other);
  require(same != nullptr, StatusCode::state_mismatch, "merge: the indexes are of different kinds");
  return *same;
}

void drop_rows(::faiss::IndexIVF& index) {
  for (size_t list = 0; list < index.nlist; ++list) index.invlists->resize(list, 0);
  index.direct_map.clear();
  if (ListPlaces* places = places_of(index)) places->clear();
  index.ntotal = 0;
}

// ---- Id maps ----

/// Ids of rows that come after those of an id map, taken out again unless keep() is called.
class IdMapGrowth {
 public:
  IdMapGrowth(::faiss::IndexIDMap& map, std::span<const idx_t> ids)
      : map_(map), both_ways_(dynamic_cast<::faiss::IndexIDMap2*>(&map)), ids_(ids) {
    const size_t needed = map.id_map.size() + ids.size();
    if (needed > map.id_map.capacity())
      map.id_map.reserve(std::max(needed, 2 * map.id_map.capacity()));
    if (both_ways_ == nullptr) return;
    try {
      for (; mapped_ < ids.size(); ++mapped_) {
        const auto row = static_cast<idx_t>(map.id_map.size() + mapped_);
        const auto [entry, is_new] = both_ways_->rev_map.emplace(ids[mapped_], row);
        if (is_new) continue;
        // As in FAISS's the last of equal ids counts.
        replaced_.emplace_back(ids[mapped_], entry->second);
        entry->second = row;
      }
    } catch (...) {
      take_back();
      throw;
    }
  }
  ~IdMapGrowth() {
    if (!kept_) take_back();
  }
  IdMapGrowth(const IdMapGrowth&) = delete;
  IdMapGrowth& operator=(const IdMapGrowth&) = delete;

  /// The first id that the way back had already.
  std::optional<idx_t> known_id() const {
    if (replaced_.empty()) return std::nullopt;
    return replaced_.front().first;
  }
  void keep() noexcept {
    map_.id_map.insert(map_.id_map.end(), ids_.begin(), ids_.end());
    map_.ntotal = map_.index->ntotal;
    kept_ = true;
  }

 private:
  void take_back() noexcept {
    if (both_ways_ == nullptr) return;
    auto& rows = both_ways_->rev_map;
    for (size_t i = 0; i < mapped_; ++i) {
      const auto entry = rows.find(ids_[i]);
      if (entry != rows.end() && entry->second >= static_cast<idx_t>(map_.id_map.size()))
        rows.erase(entry);
    }
    for (auto entry = replaced_.rbegin(); entry != replaced_.rend(); ++entry)
      rows.insert_or_assign(entry->first, entry->second);
  }

  ::faiss::IndexIDMap& map_;
  ::faiss::IndexIDMap2* both_ways_;
  std::span<const idx_t> ids_;
  size_t mapped_ = 0;
  std::vector<std::pair<idx_t, idx_t>> replaced_;
  bool kept_ = false;
};

void merge_id_maps(::faiss::IndexIDMap& index, ::faiss::IndexIDMap& other, idx_t add_id) {
  std::vector<idx_t> ids;
  ids.reserve(other.id_map.size());
  for (const idx_t id : other.id_map) ids.push_back(shifted_id(id, add_id));
  IdMapGrowth growth(index, ids);
  if (const auto id = growth.known_id())
    fail(StatusCode::bad_argument, "merge: id {} of other is in the index already", *id);
  merge_rows(*index.index, *other.index, counts_rows(*index.index) ? index.index->ntotal : 0);
  growth.keep();
  other.id_map.clear();
  if (auto* other_both_ways = dynamic_cast<::faiss::IndexIDMap2*>(&other))
    other_both_ways->rev_map.clear();
  other.ntotal = 0;
}

// ---- Rows that come ----

/// As IndexIVF::add_core, in the same blocks: their codes are in memory beside.
void add_to_plain_lists(::faiss::IndexIVF& index, idx_t n, const float* x, const idx_t* ids) {
  constexpr idx_t kBlock = 65536;
  require(index.is_trained, StatusCode::not_trained,
          "add: the index is not trained; call train first");
  index.direct_map.check_can_add(ids);
  std::vector<idx_t> lists(static_cast<size_t>(n));
  require_search_memory(*index.quantizer, n, 1);
  index.quantizer->assign(n, x, lists.data());
  ListGrowth growth(index);
  growth.extend_map(n);
  std::vector<uint8_t> codes(static_cast<size_t>(std::min(n, kBlock)) * index.code_size);
  for (idx_t first = 0; first < n; first += kBlock) {
    report_work(static_cast<double>(first) / static_cast<double>(n));
    const idx_t count = std::min(kBlock, n - first);
    encode_for_lists(index, count, x + first * index.d, lists.data() + first, codes.data());
    growth.append(count, codes.data(), ids != nullptr ? ids + first : nullptr, index.ntotal + first,
                  lists.data() + first);
  }
  growth.keep();
  index.ntotal += n;
}

/// FAISS's makes room first, and leaves it when the rows cannot be coded.
void add_to_flat_codes(::faiss::IndexFlatCodes& index, idx_t n, const float* x) {
  const size_t before = index.codes.size();
  auto* product = dynamic_cast<::faiss::IndexPQ*>(&index);
  try {
    if (product != nullptr && product->is_trained) {
      index.codes.resize(before + static_cast<size_t>(n) * index.code_size);
      encode_flat(*product, n, x, index.codes.data() + before);
      index.ntotal += n;
    } else {
      index.add(n, x);
    }
  } catch (...) {
    if (index.codes.size() > before) index.codes.resize(before);
    throw;
  }
}

bool is_hnsw(const ::faiss::Index& index) {
  for (const std::type_info* type :
       {&typeid(::faiss::IndexHNSW), &typeid(::faiss::IndexHNSWFlat), &typeid(::faiss::IndexHNSWPQ),
        &typeid(::faiss::IndexHNSWSQ)}) {
    if (typeid(index) == *type) return true;
  }
  return false;
}

bool is_ours(const ::faiss::Index& index) {
  return dynamic_cast<const IndexPolar*>(&index) != nullptr ||
         dynamic_cast<const IndexIVFPolar*>(&index) != nullptr ||
         dynamic_cast<const HNSWOverPolar*>(&index) != nullptr ||
         dynamic_cast<const NSGOverPolar*>(&index) != nullptr;
}

void add_with_or_without(::faiss::Index& index, idx_t n, const float* x, const idx_t* ids) {
  if (ids != nullptr) {
    index.add_with_ids(n, x, ids);
  } else {
    index.add(n, x);
  }
}

void add_to_ours(::faiss::Index& index, idx_t n, const float* x, const idx_t* ids,
                 const CodedRows& coded) {
  auto* lists = dynamic_cast<IndexIVFPolar*>(&index);
  if (auto* polar = dynamic_cast<IndexPolar*>(&index)) {
    polar->add_rows(n, x, ids, coded);
  } else if (lists != nullptr && !coded.empty()) {
    lists->add_rows(n, ids, coded);
  } else {
    if (lists != nullptr) require_search_memory(*lists->quantizer, n, 1);
    add_with_or_without(index, n, x, ids);
  }
}

}  // namespace

bool counts_rows(const ::faiss::Index& index) {
  if (const auto* chain = dynamic_cast<const ::faiss::IndexPreTransform*>(&index))
    return counts_rows(*chain->index);
  return dynamic_cast<const ::faiss::IndexIVF*>(&index) != nullptr;
}

CodedRows code_rows(const ::faiss::Index& index, idx_t n, const float* x) {
  const CallThreads call_threads(0);
  if (n == 0) return {};
  // The first codes fix a codec's state, which a change that fails must not.
  const auto* polar = dynamic_cast<const IndexPolar*>(&index);
  if (polar != nullptr && polar->codec().has_encoded()) return polar->encode_rows(n, x);
  const auto* lists = dynamic_cast<const IndexIVFPolar*>(&index);
  if (lists == nullptr || !lists->codec().has_encoded()) return {};
  require_search_memory(*lists->quantizer, n, 1);
  return lists->encode_rows(n, x);
}

void add_rows(::faiss::Index& index, idx_t n, const float* x, const idx_t* ids,
              const CodedRows& coded) {
  const CallThreads call_threads(0);
  if (n == 0) return;
  if (auto* chain = dynamic_cast<::faiss::IndexPreTransform*>(&index)) {
    require(index.is_trained, StatusCode::not_trained,
            "add: the index is not trained; call train first");
    const float* transformed = chain->apply_chain(n, x);
    const std::unique_ptr<const float[]> owned(transformed == x ? nullptr : transformed);
    add_rows(*chain->index, n, transformed, ids);
    index.ntotal = chain->index->ntotal;
  } else if (auto* map = dynamic_cast<::faiss::IndexIDMap*>(&index);
             map != nullptr && ids != nullptr) {
    IdMapGrowth growth(*map, {ids, static_cast<size_t>(n)});
    add_rows(*map->index, n, x, nullptr);
    growth.keep();
  } else if (auto* both = dynamic_cast<::faiss::IndexRefine*>(&index);
             both != nullptr && ids == nullptr) {
    add_to_refinement(*both, n, x);
  } else if (auto* ivf = dynamic_cast<::faiss::IndexIVF*>(&index);
             ivf != nullptr && dynamic_cast<IndexIVFPolar*>(ivf) == nullptr &&
             has_plain_lists(*ivf)) {
    add_to_plain_lists(*ivf, n, x, ids);
  } else if (is_hnsw(index) && ids == nullptr) {
    add_to_graph(dynamic_cast<::faiss::IndexHNSW&>(index), n, x);
  } else if (auto* flat = dynamic_cast<::faiss::IndexFlatCodes*>(&index);
             flat != nullptr && ids == nullptr) {
    add_to_flat_codes(*flat, n, x);
  } else if (auto* nsg = dynamic_cast<::faiss::IndexNSG*>(&index);
             nsg != nullptr && dynamic_cast<NSGOverPolar*>(nsg) == nullptr && ids == nullptr) {
    add_to_nsg(*nsg, n, x);
  } else if (is_ours(index)) {
    add_to_ours(index, n, x, ids, coded);
  } else {
    require_packing_memory(index, n);
    const WorkWithoutStop until_done;  // FAISS's would keep part of the rows
    AddedRows added(index, n);
    add_with_or_without(index, n, x, ids);
    added.keep();
  }
}

void add_to_graph(::faiss::IndexHNSW& graph, idx_t n, const float* x) {
  require(graph.storage != nullptr && graph.is_trained, StatusCode::not_trained,
          "add: the index is not trained; call train first");
  const idx_t before = graph.ntotal;
  require(before == graph.storage->ntotal, StatusCode::state_mismatch,
          "add: the graph has {} rows, its storage {}", before, graph.storage->ntotal);
  AddedRows added(*graph.storage, n);
  {
    const WorkStage stage(0, 0.1);
    add_rows(*graph.storage, n, x, nullptr);
  }
  const WorkStage stage(0.1, 1);
  link_rows(graph, before, n, x);
  added.keep();
  graph.ntotal = graph.storage->ntotal;
}

void add_to_refinement(::faiss::IndexRefine& index, idx_t n, const float* x) {
  require(index.is_trained, StatusCode::not_trained,
          "add: the index is not trained; call train first");
  // First one whose rows can be taken back when the other refuses them.
  ::faiss::Index* first = index.refine_index;
  ::faiss::Index* second = index.base_index;
  if (!AddedRows::can_take_back(*first)) std::swap(first, second);
  AddedRows added(*first, n);
  add_rows(*first, n, x, nullptr);
  add_rows(*second, n, x, nullptr);
  added.keep();
  index.ntotal = index.refine_index->ntotal;
}

size_t remove_rows(::faiss::Index& index, const ::faiss::IDSelector& sel) {
  const CallThreads call_threads(0);
  if (auto* chain = dynamic_cast<::faiss::IndexPreTransform*>(&index)) {
    const size_t removed = remove_rows(*chain->index, sel);
    index.ntotal = chain->index->ntotal;
    return removed;
  }
  if (auto* map = dynamic_cast<::faiss::IndexIDMap*>(&index)) return remove_from_id_map(*map, sel);
  auto* ivf = dynamic_cast<::faiss::IndexIVF*>(&index);
  if (ivf != nullptr && dynamic_cast<IndexIVFPolar*>(ivf) == nullptr) {
    require(has_plain_lists(*ivf), StatusCode::unsupported,
            "remove: rows of inverted files of this kind cannot be removed");
    return remove_from_lists(*ivf, sel);
  }
  const bool is_graph = is_hnsw(index) || dynamic_cast<HNSWOverPolar*>(&index) != nullptr ||
                        dynamic_cast<NSGOverPolar*>(&index) != nullptr;
  if (is_graph || dynamic_cast<::faiss::IndexRefine*>(&index) != nullptr)
    return remove_selected_positions(index, sel);
  if (dynamic_cast<::faiss::IndexFlatCodes*>(&index) != nullptr)
    return index.remove_ids(SelectedRows(sel, index.ntotal, [](idx_t row) { return row; }));
  return index.remove_ids(sel);
}

void require_mergeable(const ::faiss::Index& index, const ::faiss::Index& other) {
  if (const auto* chain = dynamic_cast<const ::faiss::IndexPreTransform*>(&index)) {
    const auto& chain_of_other = same_kind(*chain, other);
    require(chain->chain.size() == chain_of_other.chain.size(), StatusCode::state_mismatch,
            "merge: the indexes have {} and {} transforms", chain->chain.size(),
            chain_of_other.chain.size());
    for (size_t i = 0; i < chain->chain.size(); ++i)
      chain->chain[i]->check_identical(*chain_of_other.chain[i]);
    require_mergeable(*chain->index, *chain_of_other.index);
  } else if (const auto* map = dynamic_cast<const ::faiss::IndexIDMap*>(&index)) {
    require_mergeable(*map->index, *same_kind(*map, other).index);
  } else if (const auto* both = dynamic_cast<const ::faiss::IndexRefine*>(&index)) {
    const auto& both_of_other = same_kind(*both, other);
    require_mergeable(*both->base_index, *both_of_other.base_index);
    require_mergeable(*both->refine_index, *both_of_other.refine_index);
  } else if (const auto* ivf = dynamic_cast<const ::faiss::IndexIVF*>(&index)) {
    const auto& lists_of_other = same_kind(*ivf, other);
    require(ivf->is_trained == lists_of_other.is_trained, StatusCode::state_mismatch,
            "merge: one of the indexes is not trained");
    // FAISS reads centroids that are not there yet.
    if (!ivf->is_trained) return;
    const HiddenMap hidden(*ivf);
    const HiddenMap hidden_of_other(lists_of_other);
    index.check_compatible_for_merge(other);
  } else if (const auto* flat = dynamic_cast<const ::faiss::IndexFlat*>(&index)) {
    // Of files FAISS gives a class back that its factory does not make.
    const auto& flat_of_other = same_kind(*flat, other);
    require(flat->d == flat_of_other.d && flat->metric_type == flat_of_other.metric_type,
            StatusCode::state_mismatch, "merge: the indexes differ in dimensions or metric");
  } else {
    index.check_compatible_for_merge(other);
  }
}

void merge_lists(::faiss::IndexIVF& index, ::faiss::IndexIVF& other, idx_t add_id) {
  require(has_plain_lists(index) && has_plain_lists(other), StatusCode::unsupported,
          "merge: rows of inverted files of this kind cannot be moved");
  if (other.ntotal == 0) return;
  ListGrowth growth(index);
  if (index.ntotal == 0) growth.use_map_of(other);
  growth.extend_map(other.ntotal);
  growth.append_lists(*other.invlists, add_id);
  growth.require_new_ids("merge");
  growth.keep();
  index.ntotal += other.ntotal;
  drop_rows(other);
}

void merge_rows(::faiss::Index& index, ::faiss::Index& other, idx_t add_id) {
  const CallThreads call_threads(0);
  require_mergeable(index, other);
  if (auto* chain = dynamic_cast<::faiss::IndexPreTransform*>(&index)) {
    auto& chain_of_other = dynamic_cast<::faiss::IndexPreTransform&>(other);
    merge_rows(*chain->index, *chain_of_other.index, add_id);
    index.ntotal = chain->index->ntotal;
    other.ntotal = 0;
  } else if (auto* map = dynamic_cast<::faiss::IndexIDMap*>(&index)) {
    merge_id_maps(*map, dynamic_cast<::faiss::IndexIDMap&>(other), add_id);
  } else if (auto* ours = dynamic_cast<IndexIVFPolar*>(&index)) {
    ours->merge_from(other, add_id);  // which refuses mapped ones before anything moves
  } else if (auto* ivf = dynamic_cast<::faiss::IndexIVF*>(&index)) {
    merge_lists(*ivf, dynamic_cast<::faiss::IndexIVF&>(other), add_id);
  } else if (auto* flat = dynamic_cast<::faiss::IndexFlat*>(&index)) {
    auto& flat_of_other = dynamic_cast<::faiss::IndexFlat&>(other);
    const size_t before = flat->codes.size();
    flat->codes.resize(before + flat_of_other.codes.size());
    std::copy_n(flat_of_other.codes.data(), flat_of_other.codes.size(),
                flat->codes.data() + before);
    flat->ntotal += other.ntotal;
    other.reset();
  } else {
    // Theirs leave both as they were when they fail.
    require(dynamic_cast<IndexPolar*>(&index) != nullptr ||
                dynamic_cast<::faiss::IndexFlatCodes*>(&index) != nullptr,
            StatusCode::unsupported, "merge: rows of indexes of this kind cannot be moved");
    index.merge_from(other, add_id);
  }
}

}  // namespace polarquant
