// SPDX-License-Identifier: MIT
#include "tests/capi/plain_devices.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <cstring>
#include <limits>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "cuda/interface.h"
#include "src/core/status_code.h"
#include "tests/capi/plain_blocks.h"
#include "tests/capi/plain_scores.h"

namespace polarquant::cuda {

namespace {

using test::kPlainDevices;

struct Failing {
  int32_t status = 0;
  std::string text;
};
struct State {
  std::mutex mutex;
  std::condition_variable changed;
  std::array<int32_t, kPlainDevices> indexes = {};
  std::array<int64_t, kPlainDevices> searches = {};
  std::array<Failing, kPlainDevices> create;
  std::array<Failing, kPlainDevices> search;
  std::array<Failing, kPlainDevices> write;
  int32_t wanted_together = 0;
  int32_t together = 0;
  std::map<const uint8_t*, std::pair<size_t, int32_t>> lent;  // bytes from there on, and whose
  int64_t copies = 0;
  int64_t written_blocks = 0;
  int32_t until_failure = -1;  // indexes that are still made
};
State& state() {
  static State one;
  return one;
}

void put(Failure* failure, int32_t status, const std::string& text) {
  *failure = {};
  failure->status = status;
  text.copy(failure->text, sizeof failure->text - 1);
}
bool fails(const std::array<Failing, kPlainDevices>& failing, int32_t device, Failure* failure) {
  const Failing& own = failing[static_cast<size_t>(device)];
  put(failure, own.status, own.text);
  return own.status != 0;
}

void device_count(int32_t* count, Failure* failure) {
  *failure = {};
  *count = kPlainDevices;
}
void device_info(int32_t /*device*/, DeviceInfo* info, Failure* failure) {
  *failure = {};
  *info = {};
}

DeviceIndex* create(int32_t device, const CodeDescription* code, int64_t rows, Failure* failure) {
  const std::lock_guard<std::mutex> lock(state().mutex);
  if (fails(state().create, device, failure)) return nullptr;
  if (state().until_failure >= 0 && state().until_failure-- == 0) {
    put(failure, static_cast<int32_t>(StatusCode::out_of_memory), "no memory");
    return nullptr;
  }
  auto* index = new DeviceIndex;
  index->device = device;
  index->code = *code;
  index->rows = rows;
  const auto blocks = static_cast<size_t>(index->blocks());
  index->sketches.resize(blocks * index->sketch_bytes());
  index->payloads.resize(blocks * index->payload_bytes());
  index->is_written.resize(blocks);
  ++state().indexes[static_cast<size_t>(device)];
  return index;
}

void put_blocks(DeviceIndex* index, int64_t blocks, const int64_t* numbers, const void* sketches,
                const void* payloads, Failure* failure) {
  *failure = {};
  {
    const std::lock_guard<std::mutex> lock(state().mutex);
    if (fails(state().write, index->device, failure)) return;
    state().written_blocks += blocks;
  }
  for (int64_t i = 0; i < blocks; ++i) {
    const int64_t number = numbers[i];
    if (number >= index->blocks() || index->is_written[static_cast<size_t>(number)] != 0)
      return put(failure, static_cast<int32_t>(StatusCode::internal), "a block too much");
    const auto at = static_cast<size_t>(i);
    index->put(number, static_cast<const uint8_t*>(sketches) + at * index->sketch_bytes(),
               static_cast<const uint8_t*>(payloads) + at * index->payload_bytes());
  }
}

void write_blocks(DeviceIndex* index, int64_t first_block, int64_t blocks, const void* sketches,
                  const void* payloads, Failure* failure) {
  std::vector<int64_t> numbers;
  for (int64_t i = 0; i < blocks; ++i) numbers.push_back(first_block + i);
  put_blocks(index, blocks, numbers.data(), sketches, payloads, failure);
}

DeviceIndex* extend(const DeviceIndex* from, int64_t rows, const int64_t* sources,
                    Failure* failure) {
  if (!from->is_finished || (sources == nullptr && rows < from->rows)) {
    put(failure, static_cast<int32_t>(StatusCode::internal), "it is not to be extended so");
    return nullptr;
  }
  DeviceIndex* index = create(from->device, &from->code, rows, failure);
  if (index == nullptr) return nullptr;
  index->prepares = from->prepares;
  index->rotation = from->rotation;
  index->take_blocks(*from, sources);
  return index;
}

void set_lists(DeviceIndex* index, const ListsDescription* lists, Failure* failure) {
  *failure = {};
  index->list_rows.assign(lists->rows, lists->rows + lists->count);
  int64_t blocks = 0;
  for (const int64_t rows : index->list_rows) blocks += (rows + kBlockRows - 1) / kBlockRows;
  if (index->is_finished || blocks * kBlockRows != index->rows)
    return put(failure, static_cast<int32_t>(StatusCode::internal), "they are not its lists");
  index->centroids.assign(lists->centroids, lists->centroids + lists->count * index->code.dim);
  index->centroids_are_l2 = lists->coarse_is_l2 != 0;
}

void set_queries(DeviceIndex* index, const QueryDescription* queries, Failure* failure) {
  *failure = {};
  index->prepares = true;
  index->rotation = queries->rotation.kind;
}

void find_memory(const DeviceIndex* /*index*/, int32_t count, const void* const* pointers,
                 int32_t* found, Failure* failure) {
  *failure = {};
  const std::lock_guard<std::mutex> lock(state().mutex);
  for (int32_t i = 0; i < count; ++i) {
    const auto* at = static_cast<const uint8_t*>(pointers[i]);
    found[i] = kHostMemory;
    for (const auto& [first, memory] : state().lent)
      if (at >= first && at < first + memory.first) found[i] = memory.second;
  }
}

void copy(const DeviceIndex* /*index*/, void* to, const void* from, size_t bytes, void* /*stream*/,
          Failure* failure) {
  *failure = {};
  std::memcpy(to, from, bytes);
  const std::lock_guard<std::mutex> lock(state().mutex);
  ++state().copies;
}

void finish(DeviceIndex* index, Failure* failure) {
  *failure = {};
  for (const char written : index->is_written) {
    if (written == 0)
      return put(failure, static_cast<int32_t>(StatusCode::internal), "a block too few");
  }
  index->is_finished = true;
}

/// Prepares queries in its memory, of codecs without rotation and centre, by inner product: these
/// are as they are given.
SearchRequest prepared(const DeviceIndex& index, const SearchRequest& given) {
  SearchRequest request = given;
  const float* queries = given.resident.queries;
  if (queries == nullptr) return request;
  for (int64_t i = 0; i < given.nq * index.code.dim; ++i)
    if (!std::isfinite(queries[i])) *given.resident.refused = 1;
  request.rotated = request.queries = queries;
  return request;
}

bool is_allowed(const SearchRequest& request, int64_t row) {
  if (request.kept_bits != nullptr)
    return (request.kept_bits->words[static_cast<size_t>(row / kBlockRows)] >> (row % kBlockRows) &
            1) != 0;
  const ResidentBits& bits = request.resident_allowed;
  if (bits.words != nullptr)
    return row < bits.count && (bits.words[row / 64] >> (row % 64) & 1) != 0;
  return request.allowed == nullptr ||
         (request.allowed[row / kBlockRows] >> (row % kBlockRows) & 1) != 0;
}

void search_rows(const DeviceIndex& index, const SearchRequest& request) {
  const bool is_l2 = index.code.is_l2 != 0;
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  for (int64_t q = 0; q < request.nq; ++q) {
    std::vector<FoundRow> found;
    const std::vector<bool> is_probed = probed_rows(index, request, q);
    for (int64_t row = 0; row < index.rows; ++row) {
      if (is_allowed(request, row) && is_probed[static_cast<size_t>(row)])
        found.push_back(score_row(index, request, q, row));
    }
    std::sort(found.begin(), found.end(), [](const FoundRow& a, const FoundRow& b) {
      return a.similarity > b.similarity || (a.similarity == b.similarity && a.row < b.row);
    });
    if (static_cast<int64_t>(found.size()) > request.k)
      found.resize(static_cast<size_t>(request.k));
    std::sort(found.begin(), found.end(), [is_l2](const FoundRow& a, const FoundRow& b) {
      return a.score == b.score ? a.row < b.row : (a.score < b.score) == is_l2;
    });
    for (int64_t i = 0; i < request.results; ++i) {
      const bool is_there = i < static_cast<int64_t>(found.size());
      const FoundRow row = is_there ? found[static_cast<size_t>(i)]
                                    : FoundRow{-1, -kInfinity, is_l2 ? kInfinity : -kInfinity};
      const int64_t at = q * request.results + i;
      request.scores[at] = row.score;
      request.rows[at] = row.row;
      if (request.similarity != nullptr) request.similarity[at] = row.similarity;
    }
  }
}

void search(const DeviceIndex* index, const SearchRequest* request, Failure* failure) {
  {
    std::unique_lock<std::mutex> lock(state().mutex);
    if (fails(state().search, index->device, failure)) return;
    if (!index->is_finished)
      return put(failure, static_cast<int32_t>(StatusCode::internal), "it is not finished");
    ++state().searches[static_cast<size_t>(index->device)];
    if (state().wanted_together > 0) {
      ++state().together;
      state().changed.notify_all();
      if (!state().changed.wait_for(lock, std::chrono::seconds(10),
                                    [] { return state().together >= state().wanted_together; }))
        return put(failure, static_cast<int32_t>(StatusCode::internal), "it waits alone");
    }
  }
  if (request->resident.queries != nullptr &&
      (!index->prepares || index->rotation != Rotation::none || request->resident.normalizes != 0))
    return put(failure, static_cast<int32_t>(StatusCode::internal), "it rotates no queries");
  search_rows(*index, prepared(*index, *request));
}

void score_listed(const DeviceIndex* index, const ListedRowsRequest* request, Failure* failure) {
  *failure = {};
  SearchRequest search = {};
  search.rotated = request->rotated;
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const float worst = index->code.is_l2 != 0 ? kInfinity : -kInfinity;
  for (int64_t at = 0; at < request->nq * request->k; ++at) {
    const int64_t row = request->rows[at];
    request->scores[at] = row >= 0 ? score_row(*index, search, at / request->k, row).score : worst;
  }
}

void read_rows(const DeviceIndex* index, int64_t n, const int64_t* rows, void* sketches,
               void* payloads, Failure* failure) {
  *failure = {};
  index->read_rows(n, rows, static_cast<uint8_t*>(sketches), static_cast<uint8_t*>(payloads));
}

void copy_rows(DeviceIndex* to, const DeviceIndex* from, const int64_t* rows, Failure* failure) {
  if (to->device != from->device)
    return put(failure, static_cast<int32_t>(StatusCode::internal), "another device");
  read_rows(from, to->rows, rows, to->sketches.data(), to->payloads.data(), failure);
  std::fill(to->is_written.begin(), to->is_written.end(), char{1});
}

size_t memory_bytes(const DeviceIndex* index) {
  return index->sketches.size() + index->payloads.size();
}

DeviceBits* create_bits(const DeviceIndex* index, const uint64_t* words,
                        const ListFilter* /*lists*/, Failure* failure) {
  const std::lock_guard<std::mutex> lock(state().mutex);
  if (fails(state().create, index->device, failure)) return nullptr;
  auto* bits = new DeviceBits;
  bits->words.assign(words, words + index->blocks());
  return bits;
}
void destroy_bits(DeviceBits* bits) { delete bits; }

PreparedSearch* create_search(const DeviceIndex* index, const SearchRequest* shape,
                              const int64_t* ids, Failure* failure) {
  const std::lock_guard<std::mutex> lock(state().mutex);
  if (fails(state().create, index->device, failure)) return nullptr;
  if (!index->is_finished || !index->prepares || !index->list_rows.empty()) {
    put(failure, static_cast<int32_t>(StatusCode::internal), "it takes no prepared searches");
    return nullptr;
  }
  auto* search = new PreparedSearch{index, *shape, {}};
  if (ids != nullptr) search->ids.assign(ids, ids + index->rows);
  return search;
}
void start_search(const PreparedSearch* search, const PreparedSearchArrays* arrays,
                  Failure* failure) {
  uint32_t refused = 0;
  SearchRequest request = search->shape;
  request.resident.queries = arrays->queries;
  request.resident.refused = &refused;
  request.scores = arrays->scores;
  request.rows = arrays->ids;
  cuda::search(search->index, &request, failure);
  *arrays->unfinished = static_cast<int32_t>(refused);
  if (search->ids.empty()) return;
  for (int64_t i = 0; i < request.nq * request.results; ++i)
    if (arrays->ids[i] >= 0) arrays->ids[i] = search->ids[static_cast<size_t>(arrays->ids[i])];
}
size_t search_bytes(const PreparedSearch* search) { return sizeof *search; }
void destroy_search(PreparedSearch* search) { delete search; }

void destroy(DeviceIndex* index) {
  const std::lock_guard<std::mutex> lock(state().mutex);
  --state().indexes[static_cast<size_t>(index->device)];
  delete index;
}

void set_failing(std::array<Failing, kPlainDevices>* failing, int32_t device, int32_t status,
                 const char* text) {
  const std::lock_guard<std::mutex> lock(state().mutex);
  (*failing)[static_cast<size_t>(device)] = {status, text};
}

}  // namespace
}  // namespace polarquant::cuda

#define POLAR_TEST_EXPORT extern "C" __attribute__((visibility("default")))

POLAR_TEST_EXPORT const polarquant::cuda::FunctionTable* polarquant_cuda_functions() {
  using namespace polarquant::cuda;
  static const FunctionTable table = [] {
    FunctionTable made = {};
    made.version = kInterfaceVersion;
    made.table_bytes = sizeof made;
    made.device_count = device_count;
    made.device_info = device_info;
    made.create = create;
    made.write_blocks = write_blocks;
    made.extend = extend;
    made.put_blocks = put_blocks;
    made.finish = finish;
    made.set_lists = set_lists;
    made.set_queries = set_queries;
    made.search = search;
    made.create_bits = create_bits;
    made.destroy_bits = destroy_bits;
    made.create_search = create_search;
    made.start_search = start_search;
    made.search_bytes = search_bytes;
    made.destroy_search = destroy_search;
    made.find_memory = find_memory;
    made.copy = copy;
    made.score_listed = score_listed;
    made.read_rows = read_rows;
    made.copy_rows = copy_rows;
    made.memory_bytes = memory_bytes;
    made.destroy = destroy;
    return made;
  }();
  return &table;
}

POLAR_TEST_EXPORT const polarquant::test::PlainDevices* polarquant_plain_devices() {
  using namespace polarquant::cuda;
  static const polarquant::test::PlainDevices asked = {
      [](int32_t device) {
        const std::lock_guard<std::mutex> lock(state().mutex);
        return state().indexes[static_cast<size_t>(device)];
      },
      [](int32_t device) {
        const std::lock_guard<std::mutex> lock(state().mutex);
        return state().searches[static_cast<size_t>(device)];
      },
      [](int32_t device, int32_t status, const char* text) {
        set_failing(&state().create, device, status, text);
      },
      [](int32_t indexes) {
        const std::lock_guard<std::mutex> lock(state().mutex);
        state().until_failure = indexes;
      },
      [](int32_t device, int32_t status, const char* text) {
        set_failing(&state().search, device, status, text);
      },
      [](int32_t device, int32_t status, const char* text) {
        set_failing(&state().write, device, status, text);
      },
      [](int32_t searches) {
        const std::lock_guard<std::mutex> lock(state().mutex);
        state().wanted_together = searches;
        state().together = 0;
      },
      [](const void* first, size_t bytes, int32_t device) {
        const std::lock_guard<std::mutex> lock(state().mutex);
        if (bytes == 0) {
          state().lent.erase(static_cast<const uint8_t*>(first));
        } else {
          state().lent[static_cast<const uint8_t*>(first)] = {bytes, device};
        }
      },
      [] {
        const std::lock_guard<std::mutex> lock(state().mutex);
        return state().copies;
      },
      [] {
        const std::lock_guard<std::mutex> lock(state().mutex);
        return state().written_blocks;
      },
  };
  return &asked;
}
