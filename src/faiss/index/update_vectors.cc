// SPDX-License-Identifier: MIT
// update_vectors and upsert_vectors: the walk from what a caller holds to the index that has the
// codes.
#include <faiss/IndexIDMap.h>
#include <faiss/IndexIVF.h>
#include <faiss/IndexPreTransform.h>

#include <limits>
#include <memory>
#include <unordered_map>
#include <vector>

#include "polarquant/faiss.h"
#include "src/core/omp_threads.h"
#include "src/core/status.h"
#include "src/faiss/foreign/faiss_compat.h"
#include "src/faiss/foreign/faiss_error.h"
#include "src/faiss/index/added_rows.h"
#include "src/faiss/index/row_checks.h"

namespace polarquant {
namespace {

/// The rows of an id map that have these ids.
std::vector<idx_t> rows_of_map(const ::faiss::IndexIDMap& map, idx_t n, const idx_t* keys) {
  std::unordered_map<idx_t, idx_t> made;
  const std::unordered_map<idx_t, idx_t>* row_of_id = &made;
  if (const auto* map2 = dynamic_cast<const ::faiss::IndexIDMap2*>(&map)) {
    row_of_id = &map2->rev_map;
  } else {
    for (size_t row = 0; row < map.id_map.size(); ++row)
      made[map.id_map[row]] = static_cast<idx_t>(row);
  }
  std::vector<idx_t> rows;
  for (idx_t i = 0; i < n; ++i) {
    const auto found = row_of_id->find(keys[i]);
    require(found != row_of_id->end(), StatusCode::not_found,
            "update_vectors: id {} is not in the index, which holds {} rows", keys[i], map.ntotal);
    rows.push_back(found->second);
  }
  return rows;
}

/// Rows of x with their ids.
struct KeyedRows {
  std::vector<idx_t> keys;
  std::vector<float> rows;

  void take(idx_t key, const float* row, int dim) {
    keys.push_back(key);
    rows.insert(rows.end(), row, row + dim);
  }
  idx_t count() const { return std::ssize(keys); }
};

void upsert_flat(IndexPolar& index, idx_t n, const idx_t* keys, const float* x) {
  require_rows("upsert_vectors", n, index.d, x);
  std::unordered_map<idx_t, idx_t> last_of_key;
  for (idx_t i = 0; i < n; ++i) last_of_key[keys[i]] = i;
  KeyedRows known;
  KeyedRows others;
  for (idx_t i = 0; i < n; ++i) {
    if (last_of_key[keys[i]] == i)
      (index.has_id(keys[i]) ? known : others).take(keys[i], x + i * index.d, index.d);
  }
  // New rows first: they can be taken back when the others cannot be coded.
  AddedRows added(index, others.count());
  index.add_with_ids(others.count(), others.rows.data(), others.keys.data());
  index.update_vectors(known.count(), known.keys.data(), known.rows.data());
  added.keep();
}

}  // namespace

void update_vectors(::faiss::Index& index, idx_t n, const idx_t* keys, const float* x) {
  with_faiss_errors([&] {
    const OmpThreads omp_threads(0);
    require(n >= 0 && (n == 0 || (keys != nullptr && x != nullptr)), StatusCode::bad_argument,
            "update_vectors: n is {}, with keys or x null; n ids and rows are needed", n);
    if (auto* polar = dynamic_cast<IndexPolar*>(&index)) return polar->update_vectors(n, keys, x);
    if (auto* ivf = dynamic_cast<IndexIVFPolar*>(&index)) {
      constexpr idx_t kMost = std::numeric_limits<int>::max();
      require(n <= kMost, StatusCode::bad_argument,
              "update_vectors: n is {}; up to {} rows of an inverted file are allowed", n, kMost);
      return ivf->update_vectors(static_cast<int>(n), keys, x);
    }
    if (auto* outer = dynamic_cast<::faiss::IndexPreTransform*>(&index)) {
      require_rows("update_vectors", n, index.d, x);
      const float* transformed = outer->apply_chain(n, x);
      const std::unique_ptr<const float[]> owned(transformed == x ? nullptr : transformed);
      return update_vectors(*outer->index, n, keys, transformed);
    }
    if (auto* map = dynamic_cast<::faiss::IndexIDMap*>(&index)) {
      const std::vector<idx_t> rows = rows_of_map(*map, n, keys);
      return update_vectors(*map->index, n, rows.data(), x);
    }
    fail(StatusCode::unsupported,
         "update_vectors: rows of this type of index cannot be changed; those of IndexPolar and "
         "IndexIVFPolar can, also after transforms, those of IndexPolar in id maps too");
  });
}

void upsert_vectors(::faiss::Index& index, idx_t n, const idx_t* keys, const float* x) {
  with_faiss_errors([&] {
    const OmpThreads omp_threads(0);
    require(n >= 0 && (n == 0 || (keys != nullptr && x != nullptr)), StatusCode::bad_argument,
            "upsert_vectors: n is {}, with keys or x null; n ids and rows are needed", n);
    if (auto* polar = dynamic_cast<IndexPolar*>(&index)) return upsert_flat(*polar, n, keys, x);
    if (auto* ivf = dynamic_cast<IndexIVFPolar*>(&index)) return ivf->upsert_vectors(n, keys, x);
    if (auto* outer = dynamic_cast<::faiss::IndexPreTransform*>(&index)) {
      require_rows("upsert_vectors", n, index.d, x);
      const float* transformed = outer->apply_chain(n, x);
      const std::unique_ptr<const float[]> owned(transformed == x ? nullptr : transformed);
      upsert_vectors(*outer->index, n, keys, transformed);
      outer->ntotal = outer->index->ntotal;
      return;
    }
    fail(StatusCode::unsupported,
         "upsert_vectors: rows of this type of index cannot be changed by id; those of IndexPolar "
         "and IndexIVFPolar can, also after transforms");
  });
}

}  // namespace polarquant
