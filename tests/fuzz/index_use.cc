// SPDX-License-Identifier: MIT
#include "tests/fuzz/index_use.h"

#include <cmath>
#include <limits>

#include "tests/fuzz/fuzz.h"
#include "tests/support/filters.h"

namespace polarquant::fuzz {
namespace {

constexpr int64_t kQueries = 2;
constexpr float kInfinity = std::numeric_limits<float>::infinity();

polar_index_info info_of(const polar_index* index) {
  polar_index_info info = {};
  info.struct_size = sizeof info;
  expect_ok("get_info", polar_index_get_info(index, &info));
  return info;
}

int32_t keep_odd(void*, int64_t id) { return static_cast<int32_t>(id & 1); }

class Searcher {
 public:
  Searcher(const polar_index* index, uint64_t choice)
      : index_(index), queries_(rows_of(kQueries, info_of(index).dim, 77)) {
    const int64_t rows = info_of(index).ntotal;
    const int64_t counts[] = {1, 4, std::min<int64_t>(rows, 50) + 2};
    k_ = counts[choice % 3];
    scores_.resize(static_cast<size_t>(kQueries * k_));
    ids_.resize(scores_.size());
  }

  void search(const char* how, const polar_search_options& options) {
    if (!allow_failure(how, polar_index_search(index_, kQueries, queries_.data(), k_, &options,
                                               scores_.data(), ids_.data()))) {
      return;
    }
    for (const int64_t id : ids_) expect(id >= -1, std::string(how) + " gives an id below -1");
  }

  void search_range(const char* how, float radius, const polar_search_options& options) {
    constexpr int64_t kCapacity = 64;
    int64_t lims[kQueries + 1];
    float scores[kCapacity];
    int64_t ids[kCapacity];
    allow_failure(how, polar_index_range_search(index_, kQueries, queries_.data(), radius, &options,
                                                kCapacity, lims, scores, ids));
  }

 private:
  const polar_index* index_;
  std::vector<float> queries_;
  int64_t k_;
  std::vector<float> scores_;
  std::vector<int64_t> ids_;
};

std::vector<uint8_t> saved(const polar_index* index) {
  std::vector<uint8_t> bytes;
  const polar_write_fn append = [](void* user, const void* data, size_t count) -> int32_t {
    const auto* from = static_cast<const uint8_t*>(data);
    auto& to = *static_cast<std::vector<uint8_t>*>(user);
    to.insert(to.end(), from, from + count);
    return 0;
  };
  if (!allow_failure("save_to", polar_index_save_to(index, append, &bytes, nullptr))) bytes.clear();
  return bytes;
}

/// What was loaded and saved is a file like any other.
void load_again(const polar_index* index) {
  std::vector<uint8_t> bytes = saved(index);
  if (bytes.empty()) return;
  Input input(bytes.data(), bytes.size());
  const polar_read_fn read = [](void* user, void* data, size_t count) -> int64_t {
    const std::vector<uint8_t> taken = static_cast<Input*>(user)->take(count);
    if (!taken.empty()) std::memcpy(data, taken.data(), taken.size());
    return static_cast<int64_t>(taken.size());
  };
  polar_index* again = nullptr;
  if (allow_failure("load_from", polar_index_load_from(read, &input, nullptr, &again))) {
    expect(polar_index_ntotal(again) == polar_index_ntotal(index), "loading lost rows");
  }
  polar_index_destroy(again);
}

void merge_with_copy(polar_index* index, uint64_t choice) {
  polar_index* copy = nullptr;
  if (!allow_failure("clone", polar_index_clone(index, &copy))) return;
  const std::vector<float> x = rows_of(5, info_of(index).dim, 98);
  allow_failure("add to a copy", polar_index_add(copy, 5, x.data(), nullptr));
  allow_failure("merge", polar_index_merge(index, copy, nullptr));
  allow_failure("merge back", polar_index_merge(copy, index, nullptr));
  search_every_way(copy, choice);
  allow_failure("merge again", polar_index_merge(index, copy, nullptr));
  polar_index_destroy(copy);
}

void change(polar_index* index, uint64_t choice) {
  const int dim = info_of(index).dim;
  const std::vector<float> x = rows_of(5, dim, 99);
  const int64_t ids[] = {1000, 1001, 1002, 1003, 1004};
  if ((choice & 1) != 0) {
    allow_failure("add", polar_index_add(index, 5, x.data(), nullptr));
  } else {
    allow_failure("add_with_ids", polar_index_add_with_ids(index, 5, x.data(), ids, nullptr));
  }
  const int64_t updated[] = {0, 1, 1003};
  allow_failure("update", polar_index_update(index, 3, updated, x.data(), nullptr));
  if ((choice & 6) == 2) merge_with_copy(index, choice >> 3);
  int64_t removed = 0;
  const int64_t gone[] = {0, 2, 1001};
  allow_failure("remove", polar_index_remove(index, 3, gone, &removed));
  const uint64_t bits = 0xf0f0;
  const polar_filter filter = polarquant::test::bitset_filter(&bits, 64);
  allow_failure("remove_filtered", polar_index_remove_filtered(index, &filter, &removed));
}

void reconstruct_some(const polar_index* index) {
  const polar_index_info info = info_of(index);
  std::vector<float> row(static_cast<size_t>(info.dim));
  for (const int64_t id : {int64_t{0}, int64_t{5}, info.ntotal - 1, int64_t{-1}, int64_t{1003},
                           std::numeric_limits<int64_t>::max()}) {
    allow_failure("reconstruct", polar_index_reconstruct(index, id, row.data()));
  }
}

}  // namespace

void search_every_way(const polar_index* index, uint64_t choice) {
  Searcher searcher(index, choice);
  polar_search_options plain;
  polar_search_options_init(&plain);
  plain.num_threads = 1;
  searcher.search("search", plain);

  polar_search_options options = plain;
  options.exactness = kInfinity;
  searcher.search("exhaustive search", options);
  options.nprobe = 3;
  searcher.search("search of three lists", options);
  options = plain;
  options.ef_search = 20;
  searcher.search("search of a graph", options);
  options = plain;
  options.k_factor = 3;
  searcher.search("search to refine", options);

  options = plain;
  const uint64_t bits[] = {0x5555aaaa1234ffff, ~uint64_t{0}};
  const int64_t ids[] = {0, 1, 5, 17, 63, 64, 1003};
  polar_filter filter = polarquant::test::bitset_filter(bits, 100);
  options.filter = &filter;
  searcher.search("search by bits", options);
  searcher.search_range("range search by bits", (choice & 8) != 0 ? 1e30F : -1e30F, options);
  filter = polarquant::test::id_list_filter(ids, 7);
  searcher.search("search by ids", options);
  filter = polarquant::test::range_filter(2, 40);
  searcher.search("search by range", options);
  filter = polarquant::test::callback_filter(keep_odd);
  searcher.search("search by callback", options);
  searcher.search_range("range search by callback", 1, options);
  searcher.search_range("range search", .5F, plain);
}

void use_index(polar_index* index, uint64_t choice) {
  const polar_index_info info = info_of(index);
  size_t bytes = 0;
  allow_failure("code_size", polar_index_code_size(index, &bytes));
  allow_failure("memory_bytes", polar_index_memory_bytes(index, &bytes));
  polar_index_nlist(index);
  polar_index_nprobe(index);
  std::string description(polar_index_description(index, nullptr, 0), '\0');
  polar_index_description(index, description.data(), description.size() + 1);
  // Larger ones take longer and show nothing else.
  if (info.dim > 4096 || info.ntotal > 20'000) return;
  search_every_way(index, choice);
  reconstruct_some(index);
  allow_failure("verify", polar_index_verify(index));
  if ((choice & 48) == 16) load_again(index);
  change(index, choice >> 6);
  search_every_way(index, choice >> 3);
  reconstruct_some(index);
  if ((choice & 448) == 64) {
    allow_failure("set_nprobe", polar_index_set_nprobe(index, 1'000'000));
    const std::vector<float> x = rows_of(5, info.dim, 97);
    allow_failure("train", polar_index_train(index, 5, x.data(), nullptr));
  }
  load_again(index);
}

}  // namespace polarquant::fuzz
