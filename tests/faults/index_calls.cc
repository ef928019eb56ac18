// SPDX-License-Identifier: MIT
#include "tests/faults/index_calls.h"
#include "tests/support/filters.h"

#include <algorithm>
#include <cstring>

namespace polarquant::test {
namespace {

constexpr int64_t kQueries = 6;
constexpr int64_t kManyQueries = 50;  // FAISS finds their rows by products of matrices
constexpr int64_t kK = 4;
constexpr int64_t kDeep = 120;  // FAISS keeps so many in reservoirs
constexpr int64_t kNewRows = 25;

int32_t append(void* user, const void* data, size_t bytes) {
  static_cast<std::string*>(user)->append(static_cast<const char*>(data), bytes);
  return 0;
}
int32_t drop(void* /*user*/, const void* /*data*/, size_t /*bytes*/) { return 0; }

struct Stream {
  const std::string& bytes;
  size_t position = 0;
};
int64_t take(void* user, void* data, size_t bytes) {
  auto* stream = static_cast<Stream*>(user);
  const size_t count = std::min(bytes, stream->bytes.size() - stream->position);
  if (count > 0) std::memcpy(data, stream->bytes.data() + stream->position, count);
  stream->position += count;
  return static_cast<int64_t>(count);
}

polar_search_options options_of(const CallPlace& place) {
  polar_search_options options;
  polar_search_options_init(&options);
  options.num_threads = 2;
  if (polar_index_nlist(place.index.get()) > 0) options.nprobe = 3;
  return options;
}

polar_status search(CallPlace& place, const polar_search_options& options, int64_t queries,
                    int64_t k = kK) {
  return polar_index_search(place.index.get(), queries, fault_rows(100), k, &options,
                            place.scores.data(), place.ids.data());
}

polar_status range_search(CallPlace& place, int64_t queries) {
  const polar_search_options options = options_of(place);
  int64_t lims[kManyQueries + 1];
  return polar_index_range_search(place.index.get(), queries, fault_rows(100), 20, &options,
                                  static_cast<int64_t>(place.scores.size()), lims,
                                  place.scores.data(), place.ids.data());
}

/// What a call made; a failed one makes nothing.
polar_status keep_made(CallPlace& place, polar_index* made, polar_status status) {
  if ((made == nullptr) == (status == POLAR_OK)) return POLAR_ERROR_INTERNAL;
  place.other.reset(made);
  return status;
}

polar_status load(CallPlace& place, int32_t memory_map) {
  polar_load_options options;
  polar_load_options_init(&options);
  options.memory_map = memory_map;
  options.trust_faiss = 1;
  polar_index* made = nullptr;
  const polar_status status = polar_index_load(place.folder.c_str(), &options, &made);
  return keep_made(place, made, status);
}

polar_status save(CallPlace& place, int32_t verify) {
  polar_save_options options;
  polar_save_options_init(&options);
  options.verify = verify;
  return polar_index_save(place.index.get(), place.folder.c_str(), &options);
}

const int64_t* new_ids(int64_t first) {
  static int64_t ids[1000];
  for (int64_t i = 0; i < 1000; ++i) ids[i] = 2 * i;
  return ids + first;
}

using On = IndexCall::On;
const IndexCall kCalls[] = {
    {"add", On::rows, true,
     [](CallPlace& at) {
       return polar_index_add(at.index.get(), kNewRows, fault_rows(kFaultRows), nullptr);
     }},
    {"add the first", On::no_rows, true,
     [](CallPlace& at) {
       return polar_index_add(at.index.get(), kNewRows, fault_rows(0), nullptr);
     }},
    {"add one", On::rows, true,
     [](CallPlace& at) {
       return polar_index_add(at.index.get(), 1, fault_rows(kFaultRows), nullptr);
     }},
    {"add with ids", On::rows_with_ids, true,
     [](CallPlace& at) {
       return polar_index_add_with_ids(at.index.get(), kNewRows, fault_rows(kFaultRows),
                                       new_ids(400), nullptr);
     }},
    {"add the first with ids", On::no_rows, true,
     [](CallPlace& at) {
       return polar_index_add_with_ids(at.index.get(), kNewRows, fault_rows(0), new_ids(0),
                                       nullptr);
     }},
    {"add to lists", On::rows_with_ids, true,
     [](CallPlace& at) {
       const int64_t lists[] = {0, 1, 1, 3, 0};
       return polar_index_add_to_lists(at.index.get(), 5, fault_rows(kFaultRows), new_ids(400),
                                       lists, nullptr);
     }},
    {"remove", On::rows_with_ids, true,
     [](CallPlace& at) {
       const int64_t ids[] = {0, 6, 10, 40, 41};
       return polar_index_remove(at.index.get(), 5, ids, nullptr);
     }},
    {"remove positions", On::rows, true,
     [](CallPlace& at) {
       const polar_filter filter = range_filter(10, 30);
       return polar_index_remove_filtered(at.index.get(), &filter, nullptr);
     }},
    {"update", On::rows_with_ids, true,
     [](CallPlace& at) {
       const int64_t ids[] = {0, 6, 10};
       return polar_index_update(at.index.get(), 3, ids, fault_rows(kFaultRows), nullptr);
     }},
    {"upsert", On::rows_with_ids, true,
     [](CallPlace& at) {
       const int64_t ids[] = {0, 5'001, 10};
       return polar_index_upsert(at.index.get(), 3, ids, fault_rows(kFaultRows), nullptr);
     }},
    {"compact", On::rows, true,
     [](CallPlace& at) {
       // The links that NSG chooses depend on which of several threads comes first.
       polar_work_options options;
       polar_work_options_init(&options);
       options.num_threads = 1;
       return polar_index_compact(at.index.get(), &options);
     }},
    {"merge", On::rows, true,
     [](CallPlace& at) { return polar_index_merge(at.index.get(), at.other.get(), nullptr); }},
    {"merge with ids", On::rows_with_ids, true,
     [](CallPlace& at) { return polar_index_merge(at.index.get(), at.other.get(), nullptr); }},
    {"merge the first", On::no_rows, true,
     [](CallPlace& at) { return polar_index_merge(at.index.get(), at.other.get(), nullptr); }},
    {"train", On::no_rows, true,
     [](CallPlace& at) {
       return polar_index_train(at.index.get(), kTrainingRows, fault_rows(0), nullptr);
     }},
    {"search", On::rows, false, [](CallPlace& at) { return search(at, options_of(at), kQueries); }},
    // Some of FAISS's take no parameters.
    {"search plainly", On::rows, false,
     [](CallPlace& at) {
       const polar_search_options options = searching_on(2);
       return polar_index_search(at.index.get(), kManyQueries, fault_rows(100), kK, &options,
                                 at.scores.data(), at.ids.data());
     }},
    {"search one", On::rows, false, [](CallPlace& at) { return search(at, options_of(at), 1); }},
    {"search some", On::rows_with_ids, false,
     [](CallPlace& at) {
       polar_search_options options = options_of(at);
       const polar_filter filter = range_filter(4, 70);
       options.filter = &filter;
       return search(at, options, kQueries);
     }},
    {"search many", On::rows, false,
     [](CallPlace& at) { return search(at, options_of(at), kManyQueries); }},
    {"search deep", On::rows, false,
     [](CallPlace& at) { return search(at, options_of(at), kQueries, kDeep); }},
    {"range search", On::rows, false, [](CallPlace& at) { return range_search(at, kQueries); }},
    {"range search many", On::rows, false,
     [](CallPlace& at) { return range_search(at, kManyQueries); }},
    {"reconstruct", On::rows, false,
     [](CallPlace& at) { return polar_index_reconstruct(at.index.get(), 3, at.rows.data()); }},
    {"clone", On::rows, false,
     [](CallPlace& at) {
       polar_index* made = nullptr;
       const polar_status status = polar_index_clone(at.index.get(), &made);
       return keep_made(at, made, status);
     }},
    {"save", On::rows_with_ids, false, [](CallPlace& at) { return save(at, 0); }},
    {"save and verify", On::rows_with_ids, false, [](CallPlace& at) { return save(at, 1); }},
    {"save to", On::rows, false,
     [](CallPlace& at) { return polar_index_save_to(at.index.get(), drop, nullptr, nullptr); }},
    {"load", On::rows_with_ids, false, [](CallPlace& at) { return load(at, 0); }},
    {"map", On::rows_with_ids, false, [](CallPlace& at) { return load(at, 1); }},
    {"load from", On::rows, false,
     [](CallPlace& at) {
       Stream stream{at.file};
       polar_index* made = nullptr;
       polar_load_options options;
       polar_load_options_init(&options);
       options.trust_faiss = 1;
       const polar_status status = polar_index_load_from(take, &stream, &options, &made);
       return keep_made(at, made, status);
     }},
    {"tell", On::rows, false,
     [](CallPlace& at) {
       const polar_index* index = at.index.get();
       char text[64];
       polar_index_description(index, text, sizeof text);
       at.ids[0] = polar_index_nlist(index) + polar_index_nprobe(index);
       at.ids[1] = polar_index_ntotal(index) + polar_index_is_trained(index);
       size_t bytes = 0;
       polar_index_info info = {};
       info.struct_size = sizeof info;
       const polar_status status = polar_index_get_info(index, &info);
       return status != POLAR_OK ? status : polar_index_memory_bytes(index, &bytes);
     }},
};

}  // namespace

std::span<const IndexCall> index_calls() { return kCalls; }

const float* fault_rows(int64_t first) {
  static const std::vector<float> rows = normal_rows(400, kFaultDim, 5, .3);
  return rows.data() + first * kFaultDim;
}

std::string bytes_of(const polar_index* index) {
  std::string bytes;
  require_ok(polar_index_save_to(index, append, &bytes, nullptr));
  return bytes;
}

std::string answers_of(const polar_index* index) {
  std::string answers = std::to_string(polar_index_ntotal(index));
  std::vector<float> row(kFaultDim);
  for (int64_t id = 0; id < 500; ++id) {
    if (polar_index_reconstruct(index, id, row.data()) != POLAR_OK) continue;
    append(&answers, &id, sizeof id);
    append(&answers, row.data(), row.size() * sizeof(float));
  }
  const IndexHandle searched = index_of(bytes_of(index));
  if (polar_index_nlist(index) > 0)
    require_ok(polar_index_set_nprobe(searched.get(), polar_index_nlist(index)));
  std::vector<float> scores(10 * kK);
  std::vector<int64_t> ids(scores.size());
  const polar_search_options options = searching_on(1);
  require_ok(polar_index_search(searched.get(), 10, fault_rows(0), kK, &options, scores.data(),
                                ids.data()));
  append(&answers, scores.data(), scores.size() * sizeof(float));
  append(&answers, ids.data(), ids.size() * sizeof(int64_t));
  return answers;
}

IndexHandle index_of(const std::string& bytes) {
  Stream stream{bytes};
  polar_load_options options;
  polar_load_options_init(&options);
  options.trust_faiss = 1;
  polar_index* made = nullptr;
  require_ok(polar_index_load_from(take, &stream, &options, &made));
  return IndexHandle(made);
}

}  // namespace polarquant::test
