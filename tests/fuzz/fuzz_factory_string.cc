// SPDX-License-Identifier: MIT
// Descriptions of indexes. Input: a byte for the dimensions, one for the metric, the description.
//
// What is accepted trains, takes rows, finds them, and is saved and loaded again.
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/index_use.h"

using namespace polarquant::fuzz;

namespace {

constexpr int kDims[] = {1, 2, 3, 8, 16, 20, 64, 70};
constexpr polar_metric kMetrics[] = {0, 1, 2};
constexpr int64_t kTrainingRows = 300;
constexpr int64_t kRows = 60;

void check_files(const polar_index* index) {
  std::vector<uint8_t> file;
  const polar_write_fn append = [](void* user, const void* data, size_t count) -> int32_t {
    const auto* from = static_cast<const uint8_t*>(data);
    auto& to = *static_cast<std::vector<uint8_t>*>(user);
    to.insert(to.end(), from, from + count);
    return 0;
  };
  // FAISS cannot write some of its own.
  if (!allow_failure("save_to", polar_index_save_to(index, append, &file, nullptr))) return;
  Input source(file.data(), file.size());
  const polar_read_fn read = [](void* user, void* data, size_t count) -> int64_t {
    const std::vector<uint8_t> taken = static_cast<Input*>(user)->take(count);
    if (!taken.empty()) std::memcpy(data, taken.data(), taken.size());
    return static_cast<int64_t>(taken.size());
  };
  polar_index* loaded = nullptr;
  const polar_status status = polar_index_load_from(read, &source, nullptr, &loaded);
  // Parts of FAISS's may need a caller's trust; they are not damaged.
  if (status != POLAR_ERROR_UNSUPPORTED) expect_ok("load_from", status);
  polar_index_destroy(loaded);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t bytes) {
  Input input(data, bytes);
  const uint64_t choice = bytes > 0 ? data[0] : 0;
  const int dim = input.one_of(kDims);
  const polar_metric metric = input.one_of(kMetrics);
  const MemoryBudget budget(256 * kMiB);
  polar_index* index = nullptr;
  if (!allow_failure("create",
                     polar_index_create(input.remaining_text().c_str(), dim, metric, &index))) {
    expect(index == nullptr, "an index that was refused");
    return 0;
  }
  const std::vector<float> x = rows_of(kTrainingRows, dim, 1);
  allow_failure("train", polar_index_train(index, kTrainingRows, x.data(), nullptr));
  if (polar_index_is_trained(index) != 0 &&
      allow_failure("add", polar_index_add(index, kRows, x.data(), nullptr))) {
    search_every_way(index, choice);
    check_files(index);
    use_index(index, choice * 31);
  }
  polar_index_destroy(index);
  return 0;
}
