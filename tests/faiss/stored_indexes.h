// SPDX-License-Identifier: MIT
// Indexes to be written and read, and how two are compared.
#pragma once

#include <faiss/Index.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "polarquant/faiss.h"
#include "tests/faiss/clustered_rows.h"

namespace polarquant::test {

struct StoredCase {
  const char* description;
  int dim;
  int64_t rows;
  bool with_ids = false;
};

/// Ids of rows: not positions, and not rising.
inline std::vector<int64_t> scattered_ids(int64_t rows) {
  std::vector<int64_t> ids;
  for (int64_t row = 0; row < rows; ++row) ids.push_back((rows - row) * 7 + 100'000'000'000);
  return ids;
}

inline std::unique_ptr<::faiss::Index> make_stored(const StoredCase& made,
                                                   ::faiss::MetricType metric) {
  auto index = index_factory(made.dim, made.description, metric);
  const std::vector<float> x = clustered_rows(made.rows, made.dim, 7);
  if (!index->is_trained) index->train(made.rows, x.data());
  if (made.with_ids) {
    index->add_with_ids(made.rows, x.data(), scattered_ids(made.rows).data());
  } else {
    index->add(made.rows, x.data());
  }
  return index;
}

inline std::vector<uint8_t> written(const ::faiss::Index& index) {
  std::vector<uint8_t> bytes;
  write_index(index, [&](const void* data, size_t count) {
    const auto* from = static_cast<const uint8_t*>(data);
    bytes.insert(bytes.end(), from, from + count);
  });
  return bytes;
}

/// Reads from memory, `piece` bytes at a time.
inline std::unique_ptr<::faiss::Index> read_from(const std::vector<uint8_t>& bytes,
                                                 const ReadOptions& options = {},
                                                 size_t piece = 1 << 20) {
  size_t position = 0;
  return read_index(
      [&](void* data, size_t count) {
        const size_t taken = std::min({count, piece, bytes.size() - position});
        if (taken > 0) std::memcpy(data, bytes.data() + position, taken);
        position += taken;
        return taken;
      },
      options);
}

}  // namespace polarquant::test
