// SPDX-License-Identifier: MIT
// update_vectors, upsert_vectors and compact_index: the walk from what a caller holds to the index
// that has the codes.
#include <faiss/IndexIDMap.h>
#include <faiss/IndexIVF.h>
#include <faiss/IndexPreTransform.h>
#include <faiss/IndexRefine.h>

#include <limits>
#include <memory>
#include <unordered_map>
#include <vector>

#include "polarquant/faiss.h"
#include "src/core/call_threads.h"
#include "src/core/status.h"
#include "src/faiss/foreign/faiss_compat.h"
#include "src/faiss/foreign/faiss_error.h"
#include "src/faiss/graphs/graph_over_polar.h"
#include "src/faiss/graphs/nsg_builder.h"
#include "src/faiss/graphs/nsg_changes.h"
#include "src/faiss/index/added_rows.h"
#include "src/faiss/index/index_parts.h"
#include "src/faiss/index/position_update.h"
#include "src/faiss/index/row_changes.h"
#include "src/faiss/index/row_checks.h"

namespace polarquant {
namespace {

/// What is asked for.
struct PutRows {
  const char* call;
  idx_t n;
  const idx_t* keys;  // (n)
  const float* x;     // (n, d)
  bool adds_others;   // rows whose keys are not there
  const CodedRows& coded;
};

/// The rows of an id map that have these ids.
std::vector<idx_t> rows_of_map(const ::faiss::IndexIDMap& map, idx_t n, const idx_t* keys) {
  std::unordered_map<idx_t, idx_t> made;
  const std::unordered_map<idx_t, idx_t>* row_of_id = &made;
  if (const auto* map2 = dynamic_cast<const ::faiss::IndexIDMap2*>(&map)) {
    row_of_id = &map2->rev_map;
  } else {
    for (idx_t i = 0; i < n; ++i) made[keys[i]] = -1;
    for (size_t row = 0; row < map.id_map.size(); ++row)
      if (const auto wanted = made.find(map.id_map[row]); wanted != made.end())
        wanted->second = static_cast<idx_t>(row);
  }
  std::vector<idx_t> rows;
  for (idx_t i = 0; i < n; ++i) {
    const auto found = row_of_id->find(keys[i]);
    require(found != row_of_id->end() && found->second >= 0, StatusCode::not_found,
            "update_vectors: id {} is not in the index, which holds {} rows", keys[i], map.ntotal);
    rows.push_back(found->second);
  }
  return rows;
}

/// Rows of x with their ids: their codes where there are some, floats otherwise.
struct KeyedRows {
  std::vector<idx_t> keys;
  std::vector<float> rows;
  CodedRows coded;

  void take(const PutRows& from, idx_t i, int dim) {
    keys.push_back(from.keys[i]);
    if (from.coded.empty()) {
      rows.insert(rows.end(), from.x + i * dim, from.x + (i + 1) * dim);
      return;
    }
    const auto code_bytes = std::ssize(from.coded.codes) / from.n;
    const auto code = from.coded.codes.begin() + i * code_bytes;
    coded.codes.insert(coded.codes.end(), code, code + code_bytes);
  }
  idx_t count() const { return std::ssize(keys); }
};

void upsert_flat(IndexPolar& index, const PutRows& put) {
  if (put.coded.empty()) require_rows("upsert_vectors", put.n, index.d, put.x);
  std::unordered_map<idx_t, idx_t> last_of_key;
  for (idx_t i = 0; i < put.n; ++i) last_of_key[put.keys[i]] = i;
  KeyedRows known;
  KeyedRows others;
  for (idx_t i = 0; i < put.n; ++i) {
    if (last_of_key[put.keys[i]] == i)
      (index.has_id(put.keys[i]) ? known : others).take(put, i, index.d);
  }
  // New rows first: they can be taken back when the others cannot be coded.
  AddedRows added(index, others.count());
  index.add_rows(others.count(), others.rows.data(), others.keys.data(), others.coded);
  index.update_rows(known.count(), known.keys.data(), known.rows.data(), known.coded);
  added.keep();
}

void put_in_lists(IndexIVFPolar& lists, const PutRows& put) {
  if (!put.coded.empty())
    return lists.put_rows(put.call, put.n, put.keys, put.coded, put.adds_others);
  if (put.adds_others) return lists.upsert_vectors(put.n, put.keys, put.x);
  constexpr idx_t kMost = std::numeric_limits<int>::max();
  require(put.n <= kMost, StatusCode::bad_argument,
          "{}: n is {}; up to {} rows of an inverted file are allowed", put.call, put.n, kMost);
  lists.update_vectors(static_cast<int>(put.n), put.keys, put.x);
}

void put_rows(::faiss::Index& index, const PutRows& put) {
  if (auto* polar = dynamic_cast<IndexPolar*>(&index)) {
    if (put.adds_others) return upsert_flat(*polar, put);
    return polar->update_rows(put.n, put.keys, put.x, put.coded);
  }
  if (auto* lists = dynamic_cast<IndexIVFPolar*>(&index)) return put_in_lists(*lists, put);
  if (auto* graph = dynamic_cast<HNSWOverPolar*>(&index); graph != nullptr && !put.adds_others) {
    require_rows(put.call, put.n, index.d, put.x);
    return update_graph(*graph, put.n, put.keys, put.x);
  }
  if (auto* graph = dynamic_cast<NSGOverPolar*>(&index); graph != nullptr && !put.adds_others) {
    require_rows(put.call, put.n, index.d, put.x);
    return update_nsg(*graph, put.n, put.keys, put.x);
  }
  if (auto* both = dynamic_cast<::faiss::IndexRefine*>(&index);
      both != nullptr && !put.adds_others) {
    require_rows(put.call, put.n, index.d, put.x);
    return update_refinement(*both, put.n, put.keys, put.x);
  }
  PutRows inside = put;
  if (auto* outer = dynamic_cast<::faiss::IndexPreTransform*>(&index)) {
    require_rows(put.call, put.n, index.d, put.x);
    inside.x = outer->apply_chain(put.n, put.x);
    const std::unique_ptr<const float[]> owned(inside.x == put.x ? nullptr : inside.x);
    put_rows(*outer->index, inside);
    outer->ntotal = outer->index->ntotal;
    return;
  }
  auto* map = dynamic_cast<::faiss::IndexIDMap*>(&index);
  require(
      map != nullptr && !put.adds_others, StatusCode::unsupported,
      "{}: rows of this type of index cannot be changed by id; those of IndexPolar, "
      "IndexIVFPolar, graphs over it and refinements can, also after transforms, and updated in id "
      "maps",
      put.call);
  const std::vector<idx_t> rows = rows_of_map(*map, put.n, put.keys);
  inside.keys = rows.data();
  put_rows(*map->index, inside);
}

void put_checked(::faiss::Index& index, const PutRows& put) {
  with_faiss_errors([&] {
    const CallThreads call_threads(0);
    require(put.n >= 0 && (put.n == 0 || (put.keys != nullptr && put.x != nullptr)),
            StatusCode::bad_argument, "{}: n is {}, with keys or x null; n ids and rows are needed",
            put.call, put.n);
    put_rows(index, put);
  });
}

}  // namespace

void put_rows(::faiss::Index& index, idx_t n, const idx_t* keys, const float* x, bool adds_others,
              const CodedRows& coded) {
  put_checked(index,
              {adds_others ? "upsert_vectors" : "update_vectors", n, keys, x, adds_others, coded});
}

void update_vectors(::faiss::Index& index, idx_t n, const idx_t* keys, const float* x) {
  put_rows(index, n, keys, x, false);
}

void upsert_vectors(::faiss::Index& index, idx_t n, const idx_t* keys, const float* x) {
  put_rows(index, n, keys, x, true);
}

void compact_index(::faiss::Index& index) {
  with_faiss_errors([&] {
    const CallThreads call_threads(0);
    if (auto* graph = dynamic_cast<NSGOverPolar*>(&index)) return rebuild_nsg(*graph);
    for (const auto& part : parts_of(index))
      if (part.kind != PartKind::quantizer) compact_index(*part.index);
  });
}

}  // namespace polarquant
