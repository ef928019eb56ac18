// SPDX-License-Identifier: MIT
// Scores of devices that are none: few different numbers made of a row's bytes and a query's.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cuda/interface.h"
#include "tests/capi/plain_blocks.h"

namespace polarquant::cuda {

class Hash {
 public:
  void add(const void* bytes, size_t count) {
    for (size_t i = 0; i < count; ++i)
      value_ = (value_ ^ static_cast<const uint8_t*>(bytes)[i]) * 0x100000001b3ULL;
  }
  /// 0 to below − 1; another number for each `use`.
  float number(uint64_t use, uint64_t below) const {
    uint64_t mixed = (value_ + use) * 0x9e3779b97f4a7c15ULL;
    mixed = (mixed ^ mixed >> 31) * 0xbf58476d1ce4e5b9ULL;
    return static_cast<float>((mixed >> 33) % below);
  }

 private:
  uint64_t value_ = 0xcbf29ce484222325ULL;
};

struct FoundRow {
  int64_t row;
  float similarity;
  float score;
};

inline FoundRow score_row(const DeviceIndex& index, const SearchRequest& request, int64_t q,
                          int64_t row) {
  Hash hash;
  for (size_t word = 0; word < index.words(); ++word)
    hash.add(index.sketches.data() + index.word_offset(row, word), 8);
  hash.add(index.sketches.data() + index.factors_offset(row), index.factor_bytes());
  hash.add(index.payloads.data() + static_cast<size_t>(row) * index.code.payload_bytes,
           index.code.payload_bytes);
  const auto dim = static_cast<size_t>(index.code.dim);
  hash.add(request.rotated + static_cast<size_t>(q) * dim, dim * sizeof(float));
  return {row, hash.number(1, 50) - 25, hash.number(2, 40) - 20};
}

}  // namespace polarquant::cuda
