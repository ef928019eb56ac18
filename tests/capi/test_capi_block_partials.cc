// SPDX-License-Identifier: MIT
// Blocks that are searched one after another, as by a reader that holds few of them in memory, make
// to the bit the answer of all rows.
#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>
#include <vector>

#include "src/core/aligned_buffer.h"
#include "tests/capi/capi_support.h"

using namespace polarquant;
using namespace polarquant::test;

namespace {

using Bytes = std::vector<uint8_t>;

constexpr int32_t kDim = 72;
constexpr int64_t kRows = 3000, kMostQueries = 40;

struct Found {
  Found(int64_t nq, int64_t k)
      : scores(static_cast<size_t>(nq * k)), ids(static_cast<size_t>(nq * k)) {}
  bool operator==(const Found&) const = default;

  std::vector<float> scores;
  std::vector<int64_t> ids;
};

struct Blocks {
  Blocks(const polar_codec* codec, int64_t rows, const uint8_t* codes, size_t codes_bytes) {
    size_t bytes = 0;
    require_ok(polar_blocks_bytes(codec, rows, &bytes));
    memory.resize(bytes);
    held = {0, memory.data(), bytes};
    require_ok(polar_blocks_append(codec, &held, rows, codes, codes_bytes));
  }
  Blocks(const Blocks&) = delete;
  Blocks(Blocks&&) = default;

  AlignedVector<uint8_t> memory;
  polar_blocks held = {};
};

/// Rows in blocks, together and in parts that begin at some of them.
class Parts {
 public:
  Parts(const char* spec, polar_metric metric, std::vector<int64_t> begins)
      : codec_(make_codec(spec, kDim, metric)),
        queries_(normal_rows(kMostQueries, kDim, 2)),
        begins_(std::move(begins)) {
    std::vector<float> x = normal_rows(kRows, kDim, 1);
    // Equal scores, in one part and in several.
    for (int64_t row = 1000; row < kRows; row += 7)
      std::copy_n(x.begin() + row % 50 * kDim, kDim, x.begin() + row * kDim);
    const Bytes codes = encode(codec_, kRows, x);
    const size_t code_bytes = info_of(codec_).code_bytes;
    all_.emplace_back(codec_.get(), kRows, codes.data(), codes.size());
    for (size_t i = 0; i < begins_.size(); ++i) {
      const int64_t end = i + 1 < begins_.size() ? begins_[i + 1] : kRows;
      parts_.emplace_back(codec_.get(), end - begins_[i],
                          codes.data() + static_cast<size_t>(begins_[i]) * code_bytes,
                          static_cast<size_t>(end - begins_[i]) * code_bytes);
    }
  }

  const polar_codec* codec() const { return codec_.get(); }
  const float* queries() const { return queries_.data(); }
  const polar_blocks* part(size_t i) const { return &parts_[i].held; }

  Found search(int64_t nq, int64_t k, const polar_search_options& options) const {
    Found found(nq, k);
    require_ok(polar_blocks_search(codec(), &all_[0].held, nq, queries(), k, &options,
                                   found.scores.data(), found.ids.data()));
    return found;
  }
  Found search_parts(int64_t nq, int64_t k, const polar_search_options& options) const {
    std::vector<Bytes> partials;
    std::vector<const uint8_t*> data;
    std::vector<size_t> sizes;
    for (size_t i = 0; i < parts_.size(); ++i) {
      size_t bytes = 0;
      require_ok(polar_blocks_partial_bytes(codec(), part(i), nq, k, &bytes));
      partials.emplace_back(bytes);
      require_ok(polar_blocks_search_partial(codec(), part(i), begins_[i], nq, queries(), k,
                                             &options, bytes, partials.back().data(), &bytes));
      REQUIRE(bytes <= partials.back().size());
      data.push_back(partials.back().data());
      sizes.push_back(bytes);
    }
    Found found(nq, k);
    require_ok(polar_merge_partials(std::ssize(data), data.data(), sizes.data(), nq, k,
                                    found.scores.data(), found.ids.data()));
    return found;
  }

 private:
  CodecHandle codec_;
  std::vector<float> queries_;
  std::vector<int64_t> begins_;
  std::vector<Blocks> all_;  // one
  std::vector<Blocks> parts_;
};

int32_t keep_odd(void*, int64_t id) { return id % 2 != 0 ? 1 : 0; }

/// Calls run(filter) with one of each kind, of many and of few rows.
void for_each_filter(const std::function<void(const polar_filter&)>& run) {
  polar_filter filter;
  polar_filter_init(&filter);
  run(filter);
  std::vector<uint64_t> words((kRows + 63) / 64);
  for (size_t i = 0; i < words.size(); ++i)
    words[i] = i % 3 == 0 ? 0 : 0x9249249249249249u << i % 5;
  filter.kind = POLAR_FILTER_BITSET;
  filter.bitset = {words.data(), kRows};
  run(filter);
  filter.kind = POLAR_FILTER_RANGE;
  filter.range = {90, 1100};
  run(filter);
  const std::vector<int64_t> ids = {3, 63, 64, 99, 100, 1007, 2999};
  filter.kind = POLAR_FILTER_IDS;
  filter.ids = {ids.data(), std::ssize(ids)};
  run(filter);
  filter.kind = POLAR_FILTER_CALLBACK;
  filter.callback = {keep_odd, nullptr};
  run(filter);
}

}  // namespace

TEST_CASE("blocks searched one after another answer as one search of all", "[capi][partials]") {
  const std::vector<std::vector<int64_t>> divisions = {
      {0}, {0, 1, 64, 64, 1100}, {0, 1024, 2048}, {0, 2999}};
  for (const char* spec : {"Polar1", "Polar2", "Polar4", "Polar8", "Polar4+2"}) {
    for (const polar_metric metric :
         {POLAR_METRIC_L2, POLAR_METRIC_INNER_PRODUCT, POLAR_METRIC_COSINE}) {
      for (const std::vector<int64_t>& begins : divisions) {
        const Parts parts(spec, metric, begins);
        for_each_filter([&](const polar_filter& filter) {
          polar_search_options options;
          polar_search_options_init(&options);
          options.filter = &filter;
          for (const float exactness : {options.exactness, INFINITY}) {
            options.exactness = exactness;
            for (const auto& [nq, k] :
                 {std::pair<int64_t, int64_t>{1, 10}, {1, 1}, {40, 7}, {3, 3500}}) {
              INFO(spec << ", metric " << metric << ", " << begins.size() << " parts, filter "
                        << filter.kind << ", exactness " << exactness << ", nq " << nq << ", k "
                        << k);
              CHECK((parts.search_parts(nq, k, options) == parts.search(nq, k, options)));
            }
          }
        });
      }
    }
  }
}

TEST_CASE("a search of blocks in parts says what is wrong", "[capi][partials]") {
  const Parts parts("Polar4", POLAR_METRIC_L2, {0, 100});
  Bytes partial(100'000);
  size_t bytes = 0;
  const auto search = [&](int64_t first_row, int64_t nq, int64_t k, size_t capacity, uint8_t* out) {
    return polar_blocks_search_partial(parts.codec(), parts.part(0), first_row, nq, parts.queries(),
                                       k, nullptr, capacity, out, &bytes);
  };
  check_failed(search(-1, 1, 5, partial.size(), partial.data()), POLAR_ERROR_BAD_ARGUMENT,
               {"first_row: -1"});
  check_failed(search(0, -1, 5, partial.size(), partial.data()), POLAR_ERROR_BAD_ARGUMENT,
               {"nq: -1"});
  check_failed(search(0, 1, 0, partial.size(), partial.data()), POLAR_ERROR_BAD_ARGUMENT, {"k: 0"});
  check_failed(search(0, 1, 5, 10, partial.data()), POLAR_ERROR_BAD_ARGUMENT, {"capacity: 10"});
  check_failed(search(0, 1, 5, partial.size(), nullptr), POLAR_ERROR_BAD_ARGUMENT,
               {"partial: NULL"});
  check_failed(polar_blocks_partial_bytes(parts.codec(), parts.part(0), 1, 5, nullptr),
               POLAR_ERROR_BAD_ARGUMENT, {"bytes: NULL"});
  check_failed(polar_blocks_partial_bytes(parts.codec(), parts.part(0), INT64_MAX, 5, &bytes),
               POLAR_ERROR_BAD_ARGUMENT, {});
  const CodecHandle tree = make_codec("PolarTree4.2.2.2", kDim, POLAR_METRIC_L2);
  check_failed(polar_blocks_partial_bytes(tree.get(), parts.part(0), 1, 5, &bytes),
               POLAR_ERROR_UNSUPPORTED, {"codec: PolarTree4.2.2.2"});
}
