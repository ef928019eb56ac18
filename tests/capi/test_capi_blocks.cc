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

  AlignedVector<uint8_t> empty_blocks(int64_t rows) const {
    size_t bytes = 0;
    require_ok(polar_blocks_bytes(codec.get(), rows, &bytes));
    return AlignedVector<uint8_t>(bytes);
  }
  std::vector<uint8_t> get(const AlignedVector<uint8_t>& blocks, int64_t rows) const {
    std::vector<uint8_t> out(static_cast<size_t>(rows) * code_bytes);
    require_ok(polar_blocks_get(codec.get(), rows, blocks.data(), blocks.size(), 0, rows,
                                out.data(), out.size()));
    return out;
  }
  Results search(const polar_search_options* options) const {
    Results found;
    require_ok(polar_codec_search_with_options(codec.get(), kQueries, queries.data(), kRows,
                                               codes.data(), codes.size(), kK, options,
                                               found.scores.data(), found.ids.data()));
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
    AlignedVector<uint8_t> blocks = coded.empty_blocks(kRows);
    int64_t rows = 0;
    for (const int64_t count : {1, 7, 64, 60, 128, 0, 73}) {
      require_ok(polar_blocks_append(
          coded.codec.get(), count,
          coded.codes.data() + rows * static_cast<int64_t>(coded.code_bytes),
          static_cast<size_t>(count) * coded.code_bytes, rows, blocks.data(), blocks.size()));
      rows += count;
    }
    REQUIRE(rows == kRows);
    CHECK(coded.get(blocks, kRows) == coded.codes);

    Results found;
    require_ok(polar_blocks_search(coded.codec.get(), kQueries, coded.queries.data(), kRows,
                                   blocks.data(), blocks.size(), kK, nullptr, found.scores.data(),
                                   found.ids.data()));
    CHECK(found == coded.search(nullptr));
  }
}

TEST_CASE("blocks are changed row by row", "[capi]") {
  const Coded coded("Polar2");
  AlignedVector<uint8_t> blocks = coded.empty_blocks(kRows);
  require_ok(polar_blocks_append(coded.codec.get(), kRows, coded.codes.data(), coded.codes.size(),
                                 0, blocks.data(), blocks.size()));
  std::vector<int64_t> expected(kRows);
  std::iota(expected.begin(), expected.end(), 0);

  const std::vector<uint8_t> code = coded.code(5);
  require_ok(polar_blocks_overwrite(coded.codec.get(), code.data(), code.size(), kRows,
                                    blocks.data(), blocks.size(), 70));
  expected[70] = 5;
  CHECK(coded.get(blocks, kRows) == joined(coded, expected));

  int64_t rows = kRows;
  for (const int64_t row : {int64_t{3}, kRows - 2, int64_t{320}}) {
    require_ok(
        polar_blocks_swap_remove(coded.codec.get(), row, rows, blocks.data(), blocks.size()));
    expected[static_cast<size_t>(row)] = expected.back();
    expected.pop_back();
    --rows;
    CHECK(coded.get(blocks, rows) == joined(coded, expected));
  }

  std::vector<uint64_t> removed(6);
  std::vector<int64_t> left_rows;
  for (int64_t row = 0; row < rows; ++row) {
    if (row % 3 == 1) {
      removed[static_cast<size_t>(row / 64)] |= uint64_t{1} << (row % 64);
    } else {
      left_rows.push_back(expected[static_cast<size_t>(row)]);
    }
  }
  int64_t left = 0;
  require_ok(polar_blocks_remove(coded.codec.get(), removed.data(), rows, blocks.data(),
                                 blocks.size(), &left));
  REQUIRE(left == static_cast<int64_t>(left_rows.size()));
  CHECK(coded.get(blocks, left) == joined(coded, left_rows));

  std::fill(removed.begin(), removed.end(), ~uint64_t{0});
  require_ok(polar_blocks_remove(coded.codec.get(), removed.data(), left, blocks.data(),
                                 blocks.size(), &left));
  CHECK(left == 0);
}

TEST_CASE("block calls name what is wrong", "[capi]") {
  const Coded coded("Polar2");
  AlignedVector<uint8_t> blocks = coded.empty_blocks(kRows);
  const polar_codec* codec = coded.codec.get();
  const auto append = [&](int64_t n, int64_t rows, uint8_t* data, size_t bytes) {
    return polar_blocks_append(codec, n, coded.codes.data(),
                               static_cast<size_t>(std::max<int64_t>(n, 0)) * coded.code_bytes,
                               rows, data, bytes);
  };
  check_failed(append(1, -1, blocks.data(), blocks.size()), POLAR_ERROR_BAD_ARGUMENT, {"rows: -1"});
  check_failed(append(-1, 0, blocks.data(), blocks.size()), POLAR_ERROR_BAD_ARGUMENT, {"n: -1"});
  check_failed(append(1, 0, nullptr, blocks.size()), POLAR_ERROR_BAD_ARGUMENT, {"blocks: NULL"});
  check_failed(append(1, 0, blocks.data() + 8, blocks.size() - 8), POLAR_ERROR_BAD_ARGUMENT,
               {"64-byte boundary"});
  check_failed(append(kRows, 8, blocks.data(), blocks.size()), POLAR_ERROR_BAD_ARGUMENT,
               {"blocks_bytes: ", "341 rows"});
  check_failed(append(1, INT64_MAX, blocks.data(), blocks.size()), POLAR_ERROR_BAD_ARGUMENT,
               {"bytes of blocks"});
  check_failed(polar_blocks_swap_remove(codec, 4, 4, blocks.data(), blocks.size()),
               POLAR_ERROR_BAD_ARGUMENT, {"row: 4", "rows = 4"});
  int64_t left = 0;
  check_failed(polar_blocks_remove(codec, nullptr, 4, blocks.data(), blocks.size(), &left),
               POLAR_ERROR_BAD_ARGUMENT, {"removed: NULL"});
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
    if (info_of(codec).is_trained == 0) require_ok(polar_codec_train(codec.get(), kRows, x.data()));
    const std::vector<uint8_t> codes = encode(codec, kRows, x);
    const auto search = [&](const polar_search_options& options) {
      Results found;
      require_ok(polar_codec_search_with_options(codec.get(), kQueries, queries.data(), kRows,
                                                 codes.data(), codes.size(), kK, &options,
                                                 found.scores.data(), found.ids.data()));
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
    options.filter = POLAR_FILTER_CALLBACK;
    options.keep = [](void*, int64_t id) -> int32_t { return id >= 50 && id < 212 && id % 3 != 0; };
    const Results expected = search(options);
    CHECK(std::all_of(expected.ids.begin(), expected.ids.end(), kept));

    options.filter = POLAR_FILTER_BITSET;
    options.bits = bits.data();
    options.num_bits = 212;
    CHECK(search(options) == expected);
    options.filter = POLAR_FILTER_IDS;
    options.ids = ids.data();
    options.num_ids = static_cast<int64_t>(ids.size());
    CHECK(search(options) == expected);

    options.filter = POLAR_FILTER_RANGE;
    options.first_id = 130;
    options.end_id = 135;
    const Results range = search(options);
    for (int64_t q = 0; q < kQueries; ++q) {
      std::vector<int64_t> found(range.ids.begin() + q * kK, range.ids.begin() + q * kK + 5);
      std::sort(found.begin(), found.end());
      CHECK(found == std::vector<int64_t>{130, 131, 132, 133, 134});
      CHECK(range.ids[static_cast<size_t>(q * kK + 5)] == -1);
      CHECK(range.scores[static_cast<size_t>(q * kK + 5)] == kInfinity);
    }
    options.end_id = 130;
    const Results none = search(options);
    CHECK(std::all_of(none.ids.begin(), none.ids.end(), [](int64_t id) { return id == -1; }));
  }
}

TEST_CASE("search options name what is wrong", "[capi]") {
  const Coded coded("Polar2");
  Results found;
  const auto refused = [&](const polar_search_options& options,
                           const std::vector<std::string>& parts) {
    check_failed(polar_codec_search_with_options(coded.codec.get(), kQueries, coded.queries.data(),
                                                 kRows, coded.codes.data(), coded.codes.size(), kK,
                                                 &options, found.scores.data(), found.ids.data()),
                 POLAR_ERROR_BAD_ARGUMENT, parts);
  };
  polar_search_options options = search_options();
  CHECK(options.struct_size == sizeof options);
  CHECK(options.exactness == 2.25F);
  CHECK(options.filter == POLAR_FILTER_NONE);
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
  options.filter = 5;
  refused(options, {"options.filter: 5 is not allowed; 0 to 4"});
  options.filter = POLAR_FILTER_CALLBACK;
  refused(options, {"options.keep: NULL"});
  options.filter = POLAR_FILTER_BITSET;
  options.num_bits = 5;
  refused(options, {"options.bits: NULL"});
  options.num_bits = -5;
  refused(options, {"options.num_bits: -5"});
  options.filter = POLAR_FILTER_IDS;
  const int64_t ids[] = {4, 9, 9};
  options.ids = ids;
  options.num_ids = 3;
  refused(options, {"options.ids: 9 at 2 follows 9"});
  options.num_ids = -1;
  refused(options, {"options.num_ids: -1"});
  polar_search_options_init(nullptr);
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
  check_failed(polar_codec_search_with_options(coded.codec.get(), kQueries, coded.queries.data(),
                                               kRows, coded.codes.data(), coded.codes.size(), kK,
                                               &options, found.scores.data(), found.ids.data()),
               POLAR_ERROR_CANCELLED, {"stopped by its progress function"});
}
