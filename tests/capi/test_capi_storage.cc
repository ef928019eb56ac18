// SPDX-License-Identifier: MIT
// Index files through the C ABI: what was saved comes back, in every form, and failures leave what
// was there.
#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "tests/capi/capi_support.h"
#include "tests/support/systems.h"
#include "tests/support/temporary_folder.h"

using namespace polarquant::test;

namespace {

constexpr int32_t kDim = 16;
constexpr int64_t kRows = 300;
constexpr int64_t kK = 5;

const std::vector<float>& rows() {
  static const std::vector<float> x = normal_rows(kRows, kDim, 1);
  return x;
}

IndexHandle filled(const char* description, polar_metric metric, bool with_ids) {
  IndexHandle index = make_index(description, kDim, metric);
  // Untrained, so few rows would be floats.
  require_ok(polar_index_train(index.get(), kRows, rows().data(), nullptr));
  if (with_ids) {
    std::vector<int64_t> ids;
    for (int64_t i = 0; i < kRows; ++i) ids.push_back(5000 - 3 * i);
    require_ok(polar_index_add_with_ids(index.get(), kRows, rows().data(), ids.data(), nullptr));
  } else {
    require_ok(polar_index_add(index.get(), kRows, rows().data(), nullptr));
  }
  return index;
}

struct Answers {
  std::vector<float> scores;
  std::vector<int64_t> ids;
  bool operator==(const Answers&) const = default;
};

Answers answers(const polar_index* index) {
  Answers found{std::vector<float>(4 * kK), std::vector<int64_t>(4 * kK)};
  require_ok(polar_index_search(index, 4, rows().data(), kK, nullptr, found.scores.data(),
                                found.ids.data()));
  return found;
}

int32_t append(void* user, const void* data, size_t bytes) {
  static_cast<std::string*>(user)->append(static_cast<const char*>(data), bytes);
  return 0;
}

std::string saved(const polar_index* index) {
  std::string bytes;
  require_ok(polar_index_save_to(index, append, &bytes, nullptr));
  return bytes;
}

struct Stream {
  std::string bytes;
  size_t position = 0;
};

int64_t take(void* user, void* data, size_t bytes) {
  auto* stream = static_cast<Stream*>(user);
  const size_t count = std::min({bytes, size_t{777}, stream->bytes.size() - stream->position});
  std::memcpy(data, stream->bytes.data() + stream->position, count);
  stream->position += count;
  return static_cast<int64_t>(count);
}

std::string contents(const std::string& path) {
  std::ifstream file(polarquant::platform::path_of(path), std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

struct Saved {
  const char* description;
  bool with_ids;
  bool needs_trust = false;
};
const Saved kSaved[] = {
    {"Polar4", false},
    {"Polar4", true},
    {"PCA8,Polar4", true},
    {"IDMap2,Polar2", true},
    {"IDMap2,Polar2", false},
    {"Polar2,RFlat", false},
    {"IVF4(Polar8),SQ8", true, true},
    {"IVF4,Flat", true, true},
    {"Flat", false},
    {"HNSW8,Flat,IDMap2", true, true},
    {"IVF4,Polar4", true},
    {"IVF4,Polar2", false},
    {"PCA8,IVF4,Polar4", true},
    {"IVF4,Polar2,RFlat", false},
    {"IDMap2,IVF4,Polar4", true},
};
const polar_metric kMetrics[] = {POLAR_METRIC_INNER_PRODUCT, POLAR_METRIC_L2, POLAR_METRIC_COSINE};

TEST_CASE("What polar_index_save writes, polar_index_load reads", "[capi][io]") {
  const Saved stored = GENERATE(from_range(std::begin(kSaved), std::end(kSaved)));
  const polar_metric metric = GENERATE(from_range(std::begin(kMetrics), std::end(kMetrics)));
  INFO(stored.description << " " << metric << " " << stored.with_ids);
  const IndexHandle index = filled(stored.description, metric, stored.with_ids);
  const Answers expected = answers(index.get());
  const std::string bytes = saved(index.get());
  const TemporaryFolder folder;
  const std::string path = folder.file("an index, naïve");
  require_ok(polar_index_save(index.get(), path.c_str(), nullptr));
  CHECK((contents(path) == bytes));

  std::vector<IndexHandle> loaded;
  polar_load_options options;
  polar_load_options_init(&options);
  if (stored.needs_trust) {
    polar_index* out = nullptr;
    check_failed(polar_index_load(path.c_str(), &options, &out), POLAR_ERROR_UNSUPPORTED,
                 {"is read with trust_faiss alone"});
    options.trust_faiss = 1;
  }
  for (options.memory_map = 0; options.memory_map < 2; ++options.memory_map) {
    polar_index* out = nullptr;
    require_ok(polar_index_load(path.c_str(), &options, &out));
    loaded.emplace_back(out);
  }
  Stream stream{bytes + "what follows"};
  polar_index* out = nullptr;
  options.memory_map = 0;
  require_ok(polar_index_load_from(take, &stream, &options, &out));
  loaded.emplace_back(out);
  CHECK(stream.position == bytes.size());
  require_ok(polar_index_clone(index.get(), &out));
  loaded.emplace_back(out);

  for (const IndexHandle& one : loaded) {
    polar_index_info info = {};
    info.struct_size = sizeof info;
    require_ok(polar_index_get_info(one.get(), &info));
    CHECK(info.dim == kDim);
    CHECK(info.metric == metric);
    CHECK(info.is_trained == 1);
    CHECK(info.ntotal == kRows);
    char description[64];
    CHECK(polar_index_description(one.get(), description, sizeof description) ==
          std::strlen(stored.description));
    CHECK(std::string(description) == stored.description);
    CHECK(answers(one.get()) == expected);
    require_ok(polar_index_verify(one.get()));
    // FAISS writes its hash table of ids in the table's order, which depends on how it grew.
    const std::string name = stored.description;
    const bool has_hash_table =
        name.find("IVF") == 0 && name.find(",Polar") == name.npos && stored.with_ids;
    CHECK((has_hash_table ? saved(one.get()).size() == bytes.size() : saved(one.get()) == bytes));
    size_t memory = 0;
    require_ok(polar_index_memory_bytes(one.get(), &memory));
    CHECK(memory > 1000);
    // Ids stay taken, and the other kind of add refused.
    const int64_t taken = stored.with_ids ? 5000 : 0;
    CHECK(polar_index_add_with_ids(one.get(), 1, rows().data(), &taken, nullptr) != POLAR_OK);
    CHECK((saved(one.get()).size() == bytes.size()));
  }
}

TEST_CASE("A mapped index refuses changes through the C ABI; its clone takes them", "[capi][io]") {
  const TemporaryFolder folder;
  const std::string path = folder.file("index");
  require_ok(
      polar_index_save(filled("Polar4", POLAR_METRIC_COSINE, false).get(), path.c_str(), nullptr));
  polar_load_options options;
  polar_load_options_init(&options);
  options.memory_map = 1;
  polar_index* out = nullptr;
  require_ok(polar_index_load(path.c_str(), &options, &out));
  const IndexHandle mapped(out);
  check_failed(polar_index_add(mapped.get(), 1, rows().data(), nullptr), POLAR_ERROR_UNSUPPORTED,
               {"memory-mapped", "clone"});
  require_ok(polar_index_clone(mapped.get(), &out));
  const IndexHandle clone(out);
  require_ok(polar_index_add(clone.get(), 1, rows().data(), nullptr));
  CHECK(polar_index_ntotal(clone.get()) == kRows + 1);
}

TEST_CASE("A mapped inverted file finds the callers' ids in its file", "[capi][io]") {
  const TemporaryFolder folder;
  const std::string path = folder.file("index");
  const IndexHandle index = filled("IVF4,Polar4", POLAR_METRIC_L2, true);
  require_ok(polar_index_save(index.get(), path.c_str(), nullptr));
  polar_load_options options;
  polar_load_options_init(&options);
  options.memory_map = 1;
  polar_index* out = nullptr;
  require_ok(polar_index_load(path.c_str(), &options, &out));
  IndexHandle mapped(out);

  std::vector<float> expected(kDim);
  std::vector<float> found(kDim);
  for (const int64_t id : {int64_t{5000}, int64_t{4700}, 5000 - 3 * (kRows - 1)}) {
    require_ok(polar_index_reconstruct(index.get(), id, expected.data()));
    require_ok(polar_index_reconstruct(mapped.get(), id, found.data()));
    CHECK(found == expected);
  }
  for (const int64_t id : {0, 4999, 5003})
    check_failed(polar_index_reconstruct(mapped.get(), id, found.data()), POLAR_ERROR_NOT_FOUND,
                 {"id", "not in the index"});
  size_t memory = 0;
  size_t memory_of_mapped = 0;
  require_ok(polar_index_memory_bytes(index.get(), &memory));
  require_ok(polar_index_memory_bytes(mapped.get(), &memory_of_mapped));
  // Neither codes nor ids, nor the way from these to rows.
  size_t code_bytes = 0;
  require_ok(polar_index_code_size(index.get(), &code_bytes));
  CHECK(memory_of_mapped + kRows * (code_bytes + 2 * sizeof(int64_t)) < memory);

  const int64_t fresh = 1;
  const int64_t stored_id = 5000;
  check_failed(polar_index_add_with_ids(mapped.get(), 1, rows().data(), &fresh, nullptr),
               POLAR_ERROR_UNSUPPORTED, {"memory-mapped", "clone"});
  check_failed(polar_index_add_with_ids(mapped.get(), 1, rows().data(), &stored_id, nullptr),
               POLAR_ERROR_BAD_ARGUMENT, {"5000", "in the index"});
  check_failed(polar_index_remove(mapped.get(), 1, &stored_id, nullptr), POLAR_ERROR_UNSUPPORTED,
               {"memory-mapped"});
  const IndexHandle other = filled("IVF4,Polar4", POLAR_METRIC_L2, false);
  check_failed(polar_index_merge(mapped.get(), other.get(), nullptr), POLAR_ERROR_BAD_ARGUMENT,
               {"ids"});
  CHECK(polar_index_ntotal(mapped.get()) == kRows);
  CHECK((saved(mapped.get()) == contents(path)));

  require_ok(polar_index_clone(mapped.get(), &out));
  const IndexHandle clone(out);
  // Windows removes no file that is mapped.
  mapped.reset();
  std::filesystem::remove(path);
  check_failed(polar_index_add_with_ids(clone.get(), 1, rows().data(), &stored_id, nullptr),
               POLAR_ERROR_BAD_ARGUMENT, {"5000"});
  int64_t removed = 0;
  require_ok(polar_index_remove(clone.get(), 1, &stored_id, &removed));
  CHECK(removed == 1);
  require_ok(polar_index_add_with_ids(clone.get(), 1, rows().data(), &stored_id, nullptr));
  CHECK(polar_index_ntotal(clone.get()) == kRows);
}

TEST_CASE("polar_index_verify finds damage anywhere in a mapped file", "[capi][io]") {
  const TemporaryFolder folder;
  const std::string path = folder.file("index");
  require_ok(
      polar_index_save(filled("IVF4,Polar4", POLAR_METRIC_L2, true).get(), path.c_str(), nullptr));
  const std::string good = contents(path);
  polar_load_options options;
  polar_load_options_init(&options);
  options.memory_map = 1;
  for (size_t at = 0; at < good.size(); at += 131) {
    INFO("byte " << at);
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] ^ 1 << at % 8);
    const std::string damaged = folder.write("damaged", bad);
    polar_index* out = nullptr;
    polar_status status = polar_index_load(damaged.c_str(), &options, &out);
    const IndexHandle mapped(out);
    if (status == POLAR_OK) {
      std::vector<float> x(kDim);
      std::vector<float> scores(kK);
      std::vector<int64_t> ids(kK);
      // Right, or refused: whatever they touch.
      polar_index_reconstruct(mapped.get(), 5000, x.data());
      polar_index_search(mapped.get(), 1, rows().data(), kK, nullptr, scores.data(), ids.data());
      status = polar_index_verify(mapped.get());
    }
    REQUIRE((status == POLAR_ERROR_CORRUPT_DATA || status == POLAR_ERROR_NEWER_FORMAT));
  }
}

TEST_CASE("Wrong arguments of index files are named", "[capi][io]") {
  const IndexHandle index = filled("Polar4", POLAR_METRIC_L2, false);
  int unused = 0;
  auto* out = reinterpret_cast<polar_index*>(&unused);
  check_failed(polar_index_save(nullptr, "x", nullptr), POLAR_ERROR_BAD_ARGUMENT,
               {"index", "NULL"});
  check_failed(polar_index_save(index.get(), nullptr, nullptr), POLAR_ERROR_BAD_ARGUMENT,
               {"path", "NULL"});
  check_failed(polar_index_save(index.get(), "/no/such/folder/x", nullptr), POLAR_ERROR_IO,
               {"/no/such/folder", text_of_missing("/no/such/folder/x")});
  check_failed(polar_index_save(index.get(), TemporaryFolder().file("").c_str(), nullptr),
               POLAR_ERROR_IO, {"not a regular file"});
  check_failed(polar_index_save_to(index.get(), nullptr, nullptr, nullptr),
               POLAR_ERROR_BAD_ARGUMENT, {"write", "NULL"});
  check_failed(polar_index_load("/no/such/file", nullptr, &out), POLAR_ERROR_IO,
               {text_of_missing("/no/such/file")});
  CHECK(out == nullptr);
  check_failed(polar_index_load("/x", nullptr, nullptr), POLAR_ERROR_BAD_ARGUMENT, {"out"});
  check_failed(polar_index_load_from(nullptr, nullptr, nullptr, &out), POLAR_ERROR_BAD_ARGUMENT,
               {"read"});
  polar_load_options options;
  polar_load_options_init(&options);
  options.memory_map = 1;
  Stream stream;
  check_failed(polar_index_load_from(take, &stream, &options, &out), POLAR_ERROR_BAD_ARGUMENT,
               {"memory_map"});
  options.memory_map = 2;
  check_failed(polar_index_load("/x", &options, &out), POLAR_ERROR_BAD_ARGUMENT,
               {"options.memory_map", "2"});
  check_failed(polar_index_load_from([](void*, void*, size_t) { return int64_t{-5}; }, nullptr,
                                     nullptr, &out),
               POLAR_ERROR_IO, {"read", "-5"});
  check_failed(polar_index_verify(nullptr), POLAR_ERROR_BAD_ARGUMENT, {"index"});
  check_failed(polar_index_clone(index.get(), nullptr), POLAR_ERROR_BAD_ARGUMENT, {"out"});
  check_failed(polar_index_memory_bytes(index.get(), nullptr), POLAR_ERROR_BAD_ARGUMENT, {"bytes"});
  check_failed(polar_index_save_to(
                   filled("LSH", POLAR_METRIC_L2, false).get(),
                   [](void*, const void*, size_t) { return 3; }, nullptr, nullptr),
               POLAR_ERROR_IO, {"write", "3"});
}

struct Budget {
  size_t left;
};

int32_t spend(void* user, const void* /*data*/, size_t bytes) {
  auto* budget = static_cast<Budget*>(user);
  if (bytes > budget->left) return 28;
  budget->left -= bytes;
  return 0;
}

TEST_CASE("A writer that fails at any byte ends the save", "[capi][io]") {
  const IndexHandle index = filled("PCA8,Polar4", POLAR_METRIC_L2, true);
  const size_t size = saved(index.get()).size();
  for (size_t left = 0; left < size; left += left < 1200 ? 1 : 97) {
    Budget budget{left};
    REQUIRE(polar_index_save_to(index.get(), spend, &budget, nullptr) == POLAR_ERROR_IO);
  }
  Budget enough{size};
  require_ok(polar_index_save_to(index.get(), spend, &enough, nullptr));
}

const char* const kGolden = "tests/golden/state4/capi_cosine.polarquant";

TEST_CASE("The C ABI's golden file of format 1 is read, and keeps its bytes", "[capi][io]") {
  const char* path = "tests/golden/format1/capi_cosine.polarquant";
  polar_index* out = nullptr;
  require_ok(polar_index_load(path, nullptr, &out));
  const IndexHandle loaded(out);
  CHECK((saved(loaded.get()) == contents(path)));
  CHECK(polar_index_ntotal(loaded.get()) == kRows);
}

/// Trained, so that so few rows are coded.
IndexHandle made_golden() {
  IndexHandle index = make_index("IDMap2,Polar4", kDim, POLAR_METRIC_COSINE);
  require_ok(polar_index_train(index.get(), kRows, rows().data(), nullptr));
  std::vector<int64_t> ids;
  for (int64_t i = 0; i < kRows; ++i) ids.push_back(5000 - 3 * i);
  require_ok(polar_index_add_with_ids(index.get(), kRows, rows().data(), ids.data(), nullptr));
  return index;
}

TEST_CASE("The C ABI's golden file is read, and written byte for byte", "[capi][io]") {
  CHECK((saved(made_golden().get()) == contents(kGolden)));
  polar_index* out = nullptr;
  require_ok(polar_index_load(kGolden, nullptr, &out));
  const IndexHandle loaded(out);
  CHECK((saved(loaded.get()) == contents(kGolden)));
  CHECK(polar_index_ntotal(loaded.get()) == kRows);
}

TEST_CASE("The C ABI's golden file is made", "[.make-golden]") {
  require_ok(polar_index_save(made_golden().get(), kGolden, nullptr));
}

TEST_CASE("Files of the C++ library: one of our specs alone is taken", "[capi][io]") {
  polar_index* out = nullptr;
  require_ok(polar_index_load("tests/golden/format1/polar2_ids.polarquant", nullptr, &out));
  const IndexHandle loaded(out);
  CHECK(polar_index_ntotal(loaded.get()) == 70);
  check_failed(polar_index_load("tests/golden/format1/id_map.polarquant", nullptr, &out),
               POLAR_ERROR_UNSUPPORTED, {"C++"});
}

}  // namespace
