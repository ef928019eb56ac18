// SPDX-License-Identifier: MIT
// Codes in blocks of the caller's, and the options of searches: filters, exactness, progress.
#include <algorithm>
#include <cstring>
#include <numeric>

#include "src/core/aligned_buffer.h"
#include "tests/capi/capi_support.h"

using namespace polarquant;
using namespace polarquant::test;

namespace {

constexpr int32_t kDim = 100;
constexpr int64_t kRows = 333, kQueries = 5, kK = 9;

struct Results {
  std::vector<float> scores = std::vector<float>(kQueries * kK);
  std::vector<int64_t> ids = std::vector<int64_t>(kQueries * kK);
  bool operator==(const Results&) const = default;
};

polar_search_options search_options() {
  polar_search_options options;
  polar_search_options_init(&options);
  return options;
}

struct Coded {
  explicit Coded(const char* spec, polar_metric metric = POLAR_METRIC_INNER_PRODUCT)
      : codec(make_codec(spec, kDim, metric)),
        x(normal_rows(kRows, kDim, 1)),
        queries(normal_rows(kQueries, kDim, 2)),
        codes(encode(codec, kRows, x)),
        code_bytes(info_of(codec).code_bytes) {}

  std::vector<uint8_t> get(const polar_blocks& blocks) const {
    std::vector<uint8_t> out(static_cast<size_t>(blocks.rows) * code_bytes);
    require_ok(polar_blocks_get(codec.get(), &blocks, 0, blocks.rows, out.data(), out.size()));
    return out;
  }
  Results search(const polar_search_options* options) const {
    Results found;
    require_ok(polar_codec_search(codec.get(), kQueries, queries.data(), kRows, codes.data(),
                                  codes.size(), kK, options, found.scores.data(),
                                  found.ids.data()));
    return found;
  }
  std::vector<uint8_t> code(int64_t row) const {
    const auto first = codes.begin() + row * static_cast<int64_t>(code_bytes);
    return {first, first + static_cast<int64_t>(code_bytes)};
  }

  CodecHandle codec;
  std::vector<float> x;
  std::vector<float> queries;
  std::vector<uint8_t> codes;
  size_t code_bytes;
};

/// No rows, with room for as many.
struct Memory {
  Memory(const Coded& coded, int64_t rows) {
    size_t bytes = 0;
    require_ok(polar_blocks_bytes(coded.codec.get(), rows, &bytes));
    memory.resize(bytes);
    blocks = {0, memory.data(), bytes};
  }

  AlignedVector<uint8_t> memory;
  polar_blocks blocks = {};
};

std::vector<uint8_t> joined(const Coded& coded, const std::vector<int64_t>& rows) {
  std::vector<uint8_t> out;
  for (const int64_t row : rows) {
    const std::vector<uint8_t> code = coded.code(row);
    out.insert(out.end(), code.begin(), code.end());
  }
  return out;
}

}  // namespace

TEST_CASE("blocks give back the codes packed into them, however they came", "[capi]") {
  for (const char* spec : {"Polar1", "Polar2", "Polar4", "Polar8", "Polar4+2"}) {
    INFO(spec);
    const Coded coded(spec);
    Memory held(coded, kRows);
    polar_blocks& blocks = held.blocks;
    for (const int64_t count : {1, 7, 64, 60, 128, 0, 73}) {
      require_ok(polar_blocks_append(
          coded.codec.get(), &blocks, count,
          coded.codes.data() + blocks.rows * static_cast<int64_t>(coded.code_bytes),
          static_cast<size_t>(count) * coded.code_bytes));
    }
    REQUIRE(blocks.rows == kRows);
    CHECK(coded.get(blocks) == coded.codes);

    Results found;
    require_ok(polar_blocks_search(coded.codec.get(), &blocks, kQueries, coded.queries.data(), kK,
                                   nullptr, found.scores.data(), found.ids.data()));
    CHECK(found == coded.search(nullptr));
  }
}

TEST_CASE("blocks are changed row by row", "[capi]") {
  const Coded coded("Polar2");
  const polar_codec* codec = coded.codec.get();
  Memory held(coded, kRows);
  polar_blocks& blocks = held.blocks;
  require_ok(polar_blocks_append(codec, &blocks, kRows, coded.codes.data(), coded.codes.size()));
  std::vector<int64_t> expected(kRows);
  std::iota(expected.begin(), expected.end(), 0);

  const std::vector<uint8_t> code = coded.code(5);
  require_ok(polar_blocks_overwrite(codec, &blocks, 70, code.data(), code.size()));
  expected[70] = 5;
  CHECK(coded.get(blocks) == joined(coded, expected));

  for (const int64_t row : {int64_t{3}, kRows - 2, int64_t{320}}) {
    require_ok(polar_blocks_swap_remove(codec, &blocks, row));
    expected[static_cast<size_t>(row)] = expected.back();
    expected.pop_back();
    REQUIRE(blocks.rows == std::ssize(expected));
    CHECK(coded.get(blocks) == joined(coded, expected));
  }

  std::vector<uint64_t> removed(6);
  std::vector<int64_t> left_rows;
  for (int64_t row = 0; row < blocks.rows; ++row) {
    if (row % 3 == 1) {
      removed[static_cast<size_t>(row / 64)] |= uint64_t{1} << (row % 64);
    } else {
      left_rows.push_back(expected[static_cast<size_t>(row)]);
    }
  }
  require_ok(polar_blocks_remove(codec, &blocks, removed.data()));
  REQUIRE(blocks.rows == std::ssize(left_rows));
  CHECK(coded.get(blocks) == joined(coded, left_rows));

  std::fill(removed.begin(), removed.end(), ~uint64_t{0});
  require_ok(polar_blocks_remove(codec, &blocks, removed.data()));
  CHECK(blocks.rows == 0);
}

TEST_CASE("block calls name what is wrong, and change nothing", "[capi]") {
  const Coded coded("Polar2");
  const Memory held(coded, kRows);
  const polar_codec* codec = coded.codec.get();
  const auto append_fails = [&](polar_blocks blocks, int64_t n,
                                const std::vector<std::string>& parts) {
    const polar_blocks before = blocks;
    const size_t bytes = static_cast<size_t>(std::max<int64_t>(n, 0)) * coded.code_bytes;
    check_failed(polar_blocks_append(codec, &blocks, n, coded.codes.data(), bytes),
                 POLAR_ERROR_BAD_ARGUMENT, parts);
    CHECK((blocks.rows == before.rows && blocks.data == before.data));
  };
  uint8_t* data = held.blocks.data;
  const size_t size = held.blocks.bytes;
  append_fails({-1, data, size}, 1, {"blocks.rows: -1"});
  append_fails({0, data, size}, -1, {"n: -1"});
  append_fails({0, nullptr, size}, 1, {"blocks.data: NULL"});
  append_fails({0, data + 8, size - 8}, 1, {"blocks.data: ", "64-byte boundary"});
  append_fails({8, data, size}, kRows, {"blocks.bytes: ", "341 rows"});
  append_fails({INT64_MAX, data, size}, 1, {"bytes of blocks"});
  polar_blocks four = {4, data, size};
  check_failed(polar_blocks_append(codec, nullptr, 0, nullptr, 0), POLAR_ERROR_BAD_ARGUMENT,
               {"blocks: NULL"});
  check_failed(polar_blocks_swap_remove(codec, &four, 4), POLAR_ERROR_BAD_ARGUMENT,
               {"row: 4", "rows = 4"});
  check_failed(polar_blocks_overwrite(codec, &four, -1, coded.codes.data(), coded.code_bytes),
               POLAR_ERROR_BAD_ARGUMENT, {"row: -1", "rows = 4"});
  check_failed(polar_blocks_remove(codec, &four, nullptr), POLAR_ERROR_BAD_ARGUMENT,
               {"removed: NULL"});
  CHECK(four.rows == 4);
  size_t bytes = 0;
  const CodecHandle tree = make_codec("PolarTree4.2", kDim, POLAR_METRIC_L2);
  check_failed(polar_blocks_bytes(tree.get(), 4, &bytes), POLAR_ERROR_UNSUPPORTED,
               {"PolarTree4.2 has no blocks"});
  check_failed(polar_blocks_bytes(nullptr, 4, &bytes), POLAR_ERROR_BAD_ARGUMENT, {"codec: NULL"});
}

TEST_CASE("every kind of filter keeps the rows it names", "[capi]") {
  for (const char* spec : {"Polar2", "Polar1", "PolarScalar4", "PolarPair4x4g128"}) {
    INFO(spec);
    const CodecHandle codec = make_codec(spec, kDim, POLAR_METRIC_L2);
    const std::vector<float> x = normal_rows(kRows, kDim, 1);
    const std::vector<float> queries = normal_rows(kQueries, kDim, 2);
    if (info_of(codec).is_trained == 0)
      require_ok(polar_codec_train(codec.get(), kRows, x.data(), nullptr));
    const std::vector<uint8_t> codes = encode(codec, kRows, x);
    const auto search = [&](const polar_search_options& options) {
      Results found;
      require_ok(polar_codec_search(codec.get(), kQueries, queries.data(), kRows, codes.data(),
                                    codes.size(), kK, &options, found.scores.data(),
                                    found.ids.data()));
      return found;
    };
    // All filters name the same rows: 50 to 211 that are no multiple of 3.
    const auto kept = [](int64_t id) { return id >= 50 && id < 212 && id % 3 != 0; };
    std::vector<uint64_t> bits(4);
    std::vector<int64_t> ids;
    for (int64_t id = 0; id < 212; ++id) {
      if (!kept(id)) continue;
      bits[static_cast<size_t>(id / 64)] |= uint64_t{1} << (id % 64);
      ids.push_back(id);
    }
    bits[3] |= ~uint64_t{0} << (212 - 192);  // beyond num_bits: not read

    polar_search_options options = search_options();
    options.exactness = kInfinity;
    polar_filter filter = callback_filter(
        [](void*, int64_t id) -> int32_t { return id >= 50 && id < 212 && id % 3 != 0; });
    options.filter = &filter;
    const Results expected = search(options);
    CHECK(std::all_of(expected.ids.begin(), expected.ids.end(), kept));
    filter = bitset_filter(bits.data(), 212);
    CHECK(search(options) == expected);
    filter = id_list_filter(ids.data(), std::ssize(ids));
    CHECK(search(options) == expected);

    filter = range_filter(130, 135);
    const Results range = search(options);
    for (int64_t q = 0; q < kQueries; ++q) {
      std::vector<int64_t> found(range.ids.begin() + q * kK, range.ids.begin() + q * kK + 5);
      std::sort(found.begin(), found.end());
      CHECK(found == std::vector<int64_t>{130, 131, 132, 133, 134});
      CHECK(range.ids[static_cast<size_t>(q * kK + 5)] == -1);
      CHECK(range.scores[static_cast<size_t>(q * kK + 5)] == kInfinity);
    }
    filter.range.end = 130;
    const Results none = search(options);
    CHECK(std::all_of(none.ids.begin(), none.ids.end(), [](int64_t id) { return id == -1; }));
  }
}

TEST_CASE("search options name what is wrong", "[capi]") {
  const Coded coded("Polar2");
  Results found;
  const auto refused = [&](const polar_search_options& options,
                           const std::vector<std::string>& parts) {
    check_failed(polar_codec_search(coded.codec.get(), kQueries, coded.queries.data(), kRows,
                                    coded.codes.data(), coded.codes.size(), kK, &options,
                                    found.scores.data(), found.ids.data()),
                 POLAR_ERROR_BAD_ARGUMENT, parts);
  };
  polar_search_options options = search_options();
  CHECK(options.struct_size == sizeof options);
  CHECK(options.exactness == 2.25F);
  CHECK(options.filter == nullptr);
  options.struct_size = 3;
  refused(options, {"options.struct_size: 3"});
  options = search_options();
  options.num_threads = -1;
  refused(options, {"num_threads: -1"});
  for (const float exactness : {-1.0F, kNan, -kInfinity}) {
    options = search_options();
    options.exactness = exactness;
    refused(options, {"options.exactness: ", "0 to infinity"});
  }
  options = search_options();
  options.reserved = 1;
  refused(options, {"options.reserved: 1"});
  options = search_options();
  polar_filter filter = filter_of(6);
  options.filter = &filter;
  refused(options,
          {"filter.kind: 6 is not allowed; 0 (POLAR_FILTER_NONE) to 5 (POLAR_FILTER_PREPARED)"});
  filter.kind = POLAR_FILTER_CALLBACK;
  refused(options, {"filter.callback.keep: NULL"});
  filter = bitset_filter(nullptr, 5);
  refused(options, {"filter.bitset.words: NULL"});
  filter.bitset.num_bits = -5;
  refused(options, {"filter.bitset.num_bits: -5"});
  const int64_t ids[] = {4, 9, 9};
  filter = id_list_filter(ids, 3);
  refused(options, {"filter.ids.ids: 9 at 2 follows 9"});
  filter.ids.count = -1;
  refused(options, {"filter.ids.count: -1"});
  filter = filter_of(POLAR_FILTER_NONE);
  filter.struct_size = 3;
  refused(options, {"filter.struct_size: 3"});
}

/// What two calls find: how many rows there are, then these.
struct Ranges {
  std::vector<int64_t> lims = std::vector<int64_t>(kQueries + 1);
  std::vector<float> scores;
  std::vector<int64_t> ids;

  template <typename Call>
  void find(const Call& call) {
    require_ok(call(int64_t{0}, lims.data(), nullptr, nullptr));
    scores.resize(static_cast<size_t>(lims.back()));
    ids.resize(scores.size());
    require_ok(call(lims.back(), lims.data(), scores.data(), ids.data()));
  }
  bool operator==(const Ranges&) const = default;
};

TEST_CASE("range searches of codes and of blocks find the rows within the radius", "[capi]") {
  for (const char* spec : {"Polar1", "Polar2", "Polar8", "Polar4+2", "PolarScalar4"}) {
    for (const polar_metric metric : {POLAR_METRIC_INNER_PRODUCT, POLAR_METRIC_L2}) {
      INFO(spec << " metric " << metric);
      const Coded coded(spec, metric);
      const polar_codec* codec = coded.codec.get();
      const float radius = metric == POLAR_METRIC_L2 ? 190.0F : 8.0F;
      polar_search_options options = search_options();
      options.exactness = kInfinity;
      const polar_filter filter = range_filter(20, 300);
      options.filter = &filter;

      Ranges expected;
      for (int64_t q = 0; q < kQueries; ++q) {
        polar_query* made = nullptr;
        require_ok(polar_query_prepare(codec, coded.queries.data() + q * kDim, &made));
        const QueryHandle query(made);
        std::vector<float> scores(kRows);
        require_ok(polar_codec_score(codec, made, kRows, coded.codes.data(), coded.codes.size(),
                                     nullptr, scores.data()));
        std::vector<int64_t> within;
        for (int64_t row = 20; row < 300; ++row) {
          const float score = scores[static_cast<size_t>(row)];
          if (metric == POLAR_METRIC_L2 ? score < radius : score > radius) within.push_back(row);
        }
        std::stable_sort(within.begin(), within.end(), [&](int64_t a, int64_t b) {
          const float left = scores[static_cast<size_t>(a)], right = scores[static_cast<size_t>(b)];
          return metric == POLAR_METRIC_L2 ? left < right : left > right;
        });
        for (const int64_t row : within) {
          expected.ids.push_back(row);
          expected.scores.push_back(scores[static_cast<size_t>(row)]);
        }
        expected.lims[static_cast<size_t>(q + 1)] = std::ssize(expected.ids);
      }
      REQUIRE(expected.ids.size() > 20);

      Ranges code_ranges;
      code_ranges.find([&](int64_t capacity, int64_t* lims, float* scores, int64_t* ids) {
        return polar_codec_range_search(codec, kQueries, coded.queries.data(), kRows,
                                        coded.codes.data(), coded.codes.size(), radius, &options,
                                        capacity, lims, scores, ids);
      });
      CHECK(code_ranges == expected);
      if (std::string(spec) == "PolarScalar4") continue;  // it has no blocks

      Memory held(coded, kRows);
      require_ok(
          polar_blocks_append(codec, &held.blocks, kRows, coded.codes.data(), coded.codes.size()));
      Ranges block_ranges;
      block_ranges.find([&](int64_t capacity, int64_t* lims, float* scores, int64_t* ids) {
        return polar_blocks_range_search(codec, &held.blocks, kQueries, coded.queries.data(),
                                         radius, &options, capacity, lims, scores, ids);
      });
      CHECK(block_ranges == expected);
    }
  }
}

TEST_CASE("range searches fill what there is room for, and name what is wrong", "[capi]") {
  const Coded coded("Polar2");
  const auto search = [&](float radius, int64_t capacity, int64_t* lims, float* scores,
                          int64_t* ids) {
    return polar_codec_range_search(coded.codec.get(), kQueries, coded.queries.data(), kRows,
                                    coded.codes.data(), coded.codes.size(), radius, nullptr,
                                    capacity, lims, scores, ids);
  };
  int64_t lims[kQueries + 1] = {};
  float scores[4] = {kNan, kNan, kNan, kNan};
  int64_t ids[4] = {-7, -7, -7, -7};
  require_ok(search(-kInfinity, 3, lims, scores, ids));
  CHECK(lims[kQueries] == kQueries * kRows);
  CHECK((ids[2] >= 0 && ids[3] == -7 && scores[1] >= scores[2]));
  require_ok(search(kInfinity, 0, lims, nullptr, nullptr));
  CHECK(lims[kQueries] == 0);
  const polar_status bad = POLAR_ERROR_BAD_ARGUMENT;
  check_failed(search(kNan, 4, lims, scores, ids), bad, {"radius: nan"});
  check_failed(search(1, -1, lims, scores, ids), bad, {"capacity: -1"});
  check_failed(search(1, 4, nullptr, scores, ids), bad, {"lims: NULL"});
  check_failed(search(1, 4, lims, nullptr, ids), bad, {"scores: NULL"});
  check_failed(search(1, 4, lims, scores, nullptr), bad, {"ids: NULL"});
}

TEST_CASE("progress is told the share done, and can stop a search", "[capi]") {
  const Coded coded("Polar2");
  struct Heard {
    double last = 0;
    int calls = 0;
    int stop_at = 0;
  } heard;
  polar_search_options options = search_options();
  options.progress_user = &heard;
  options.progress = [](void* user, double done) -> int32_t {
    auto* told = static_cast<Heard*>(user);
    if (!(done >= told->last && done <= 1)) told->calls = -1000;
    told->last = done;
    return ++told->calls == told->stop_at ? 1 : 0;
  };
  CHECK(coded.search(&options) == coded.search(nullptr));
  CHECK(heard.calls > 0);
  CHECK(heard.last == 1);

  heard = {0, 0, 1};
  Results found;
  check_failed(polar_codec_search(coded.codec.get(), kQueries, coded.queries.data(), kRows,
                                  coded.codes.data(), coded.codes.size(), kK, &options,
                                  found.scores.data(), found.ids.data()),
               POLAR_ERROR_CANCELLED, {"stopped by its progress function"});
}
