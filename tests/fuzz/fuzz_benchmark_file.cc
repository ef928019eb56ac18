// SPDX-License-Identifier: MIT
// Files of vectors and ids as the benchmark reads them. Input: a byte for the format, the file.
// HDF5 files are read by that project's library, and are its to check.
#include <unistd.h>

#include <cstdio>
#include <filesystem>

#include "bench/recall/matrix_reader.h"
#include "src/core/status.h"
#include "tests/fuzz/fuzz.h"

using namespace polarquant::fuzz;
using namespace polarquant::bench;

namespace {

constexpr const char* kFloatEndings[] = {".npy", ".fvecs", ".fbin", ".f16bin"};
constexpr const char* kIdEndings[] = {".npy", ".ivecs", ".ibin"};

/// A file in memory under a name with an ending, which tells the format.
class NamedFile {
 public:
  NamedFile(const char* ending, const Input& input)
      : path_("/dev/shm/polarquant-fuzz-" + std::to_string(getpid()) + ending) {
    std::FILE* const file = std::fopen(path_.c_str(), "wb");
    expect(file != nullptr, "no file in memory");
    if (input.left() > 0) std::fwrite(input.data(), 1, input.left(), file);
    std::fclose(file);
  }
  ~NamedFile() { std::filesystem::remove(path_); }
  NamedFile(const NamedFile&) = delete;
  NamedFile& operator=(const NamedFile&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

void check_size(int64_t rows, int64_t columns, size_t values) {
  expect(rows >= 1 && columns >= 1, "a matrix of no rows or no columns");
  expect(values == static_cast<size_t>(rows * columns), "a matrix of another size than its rows");
}

/// Errors are fine.
template <typename Read>
void check_reading(const Read& read, size_t bytes) {
  const MemoryBudget budget(kMiB + 8 * bytes);
  try {
    read();
  } catch (const polarquant::Error&) {
  }
  expect(!budget.was_exceeded(), "a file takes more memory than its size says");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t bytes) {
  Input input(data, bytes);
  const uint8_t choice = input.byte();
  const int64_t most_rows = choice / 16 % 2 == 0 ? kAllRows : 3;
  const OnProgress progress;
  if (choice % 2 == 0) {
    const NamedFile file(kFloatEndings[choice / 2 % 4], input);
    check_reading(
        [&] {
          const FloatMatrix matrix =
              read_float_matrix(file.path(), MatrixRole::base, most_rows, progress);
          check_size(matrix.rows, matrix.dim, matrix.values.size());
        },
        bytes);
  } else {
    const NamedFile file(kIdEndings[choice / 2 % 3], input);
    check_reading(
        [&] {
          const IdMatrix matrix =
              read_id_matrix(file.path(), MatrixRole::ground_truth, most_rows, progress);
          check_size(matrix.rows, matrix.k, matrix.values.size());
        },
        bytes);
  }
  return 0;
}
