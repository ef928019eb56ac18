// SPDX-License-Identifier: MIT
// The index calls of the C ABI as the tests of failing memory make them: each on an index that
// holds rows, or was trained alone.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "tests/capi/capi_support.h"

namespace polarquant::test {

struct IndexKind {
  const char* description;
  bool takes_ids = false;
  /// Calls whose work FAISS does in loops of OpenMP's that take memory: a single request that fails
  /// there, where others do not, ends the process.
  std::vector<std::string> left_to_faiss = {};
  /// Whether its bytes tell what was in it before: FAISS writes its map of ids in the order that it
  /// has, packed codes with whatever bytes come after them, and a codec that refines lists says
  /// whether it has ever encoded.
  bool answers_tell = false;
};

/// What a call is made on, and what it gives.
struct CallPlace {
  IndexHandle index;
  IndexHandle other;  // trained like it, with other rows
  std::string folder;
  std::string file;  // index's bytes
  std::vector<float> scores;
  std::vector<int64_t> ids;
  std::vector<float> rows;
};

struct IndexCall {
  const char* name;
  enum class On { rows, rows_with_ids, no_rows } on;
  /// Whether it may change the index.
  bool changes;
  polar_status (*make)(CallPlace& place);
};

std::span<const IndexCall> index_calls();

inline constexpr int32_t kFaultDim = 16;
inline constexpr int64_t kFaultRows = 80;
/// (n, dim), the same each time.
const float* fault_rows(int64_t first);
inline constexpr int64_t kTrainingRows = 260;

std::string bytes_of(const polar_index* index);
/// What its rows are, by id, and what a search of all lists finds.
std::string answers_of(const polar_index* index);
IndexHandle index_of(const std::string& bytes);

}  // namespace polarquant::test
