// SPDX-License-Identifier: MIT
#include "src/faiss/index/position_update.h"

#include <faiss/IndexFlatCodes.h>
#include <faiss/IndexHNSW.h>
#include <faiss/IndexPQ.h>
#include <faiss/IndexPreTransform.h>
#include <faiss/IndexRefine.h>

#include <algorithm>
#include <memory>
#include <unordered_map>

#include "polarquant/faiss.h"
#include "src/core/status.h"
#include "src/faiss/foreign/faiss_codes.h"
#include "src/faiss/graphs/graph_over_polar.h"
#include "src/faiss/graphs/nsg_changes.h"
#include "src/faiss/index/row_changes.h"
#include "src/faiss/index/row_checks.h"

namespace polarquant {
namespace {

using Owned = std::unique_ptr<const float[]>;

/// x after the transforms of a chain; `owned` keeps it unless it is x itself.
const float* transformed(const ::faiss::IndexPreTransform& chain, size_t n, const float* x,
                         Owned* owned) {
  const float* rows = chain.apply_chain(static_cast<idx_t>(n), x);
  if (rows != x) owned->reset(rows);
  return rows;
}

std::vector<uint8_t> encode_plain(const ::faiss::IndexFlatCodes& index, size_t n, const float* x) {
  std::vector<uint8_t> codes(n * index.code_size);
  if (const auto* product = dynamic_cast<const ::faiss::IndexPQ*>(&index)) {
    encode_flat(*product, static_cast<idx_t>(n), x, codes.data());
  } else {
    index.sa_encode(static_cast<idx_t>(n), x, codes.data());
  }
  return codes;
}

/// The part of a refinement that finds rows. A graph changes whole or not at all by itself.
void update_base(::faiss::Index& index, const std::vector<idx_t>& positions, const float* x) {
  const auto n = std::ssize(positions);
  if (auto* chain = dynamic_cast<::faiss::IndexPreTransform*>(&index)) {
    Owned owned;
    update_base(*chain->index, positions, transformed(*chain, positions.size(), x, &owned));
  } else if (auto* graph = dynamic_cast<::faiss::IndexHNSW*>(&index)) {
    update_graph(*graph, n, positions.data(), x);
  } else if (auto* nsg = dynamic_cast<NSGOverPolar*>(&index)) {
    update_nsg(*nsg, n, positions.data(), x);
  } else if (auto* both = dynamic_cast<::faiss::IndexRefine*>(&index)) {
    update_refinement(*both, n, positions.data(), x);
  } else {
    PositionUpdate(index, positions, x).apply();
  }
}

}  // namespace

PositionUpdate::PositionUpdate(::faiss::Index& index, const std::vector<idx_t>& positions,
                               const float* x)
    : positions_(positions) {
  prepare(index, x);
}

void PositionUpdate::prepare(::faiss::Index& index, const float* x) {
  const size_t n = positions_.size();
  changed_ = &index;
  if (auto* chain = dynamic_cast<::faiss::IndexPreTransform*>(&index)) {
    Owned owned;
    prepare(*chain->index, transformed(*chain, n, x, &owned));
  } else if (auto* ivf = dynamic_cast<::faiss::IndexIVF*>(&index)) {
    lists_.emplace(*ivf, positions_, x);
  } else if (auto* polar = dynamic_cast<IndexPolar*>(&index)) {
    polar->require_removable("update_vectors");
    require(polar->ids().empty(), StatusCode::unsupported,
            "update_vectors: rows of a part have ids of their own");
    coded_ = polar->encode_rows(static_cast<idx_t>(n), x);
    require_rows("update_vectors", static_cast<idx_t>(n), index.d, x);
    if (coded_.empty()) rows_.assign(x, x + n * static_cast<size_t>(index.d));
  } else {
    const auto* flat = dynamic_cast<::faiss::IndexFlatCodes*>(&index);
    require(flat != nullptr, StatusCode::unsupported,
            "update_vectors: rows of indexes of this kind, or of a part of it, cannot be changed");
    coded_.codes = encode_plain(*flat, n, x);
  }
}

void PositionUpdate::apply() noexcept {
  if (lists_) return lists_->apply();
  if (auto* polar = dynamic_cast<IndexPolar*>(changed_))
    return polar->put_positions(positions_, rows_.data(), coded_);
  auto& flat = dynamic_cast<::faiss::IndexFlatCodes&>(*changed_);
  const uint8_t* code = coded_.codes.data();
  for (const idx_t row : positions_) {
    std::copy_n(code, flat.code_size,
                flat.codes.data() + static_cast<size_t>(row) * flat.code_size);
    code += flat.code_size;
  }
}

void update_refinement(::faiss::IndexRefine& index, idx_t n, const idx_t* positions,
                       const float* x) {
  std::unordered_map<idx_t, idx_t> last;  // of equal positions
  for (idx_t i = 0; i < n; ++i) {
    require(positions[i] >= 0 && positions[i] < index.ntotal, StatusCode::not_found,
            "update_vectors: id {} is not in the index, which holds {} rows", positions[i],
            index.ntotal);
    last[positions[i]] = i;
  }
  if (n == 0) return;
  std::vector<idx_t> rows;
  std::vector<float> values;
  for (idx_t i = 0; i < n; ++i) {
    if (last[positions[i]] != i) continue;
    rows.push_back(positions[i]);
    values.insert(values.end(), x + i * index.d, x + (i + 1) * index.d);
  }
  PositionUpdate refining(*index.refine_index, rows, values.data());
  update_base(*index.base_index, rows, values.data());
  refining.apply();
}

}  // namespace polarquant
