// SPDX-License-Identifier: MIT
// Blocks of more rows than a page has, whose bytes move when a page becomes full or no longer is.
#include <cstdint>
#include <vector>

#include "src/core/aligned_buffer.h"
#include "src/core/random.h"
#include "tests/capi/capi_support.h"

using namespace polarquant;
using namespace polarquant::test;

namespace {

constexpr int32_t kDim = 70;
constexpr int64_t kPage = 1024, kMostRows = 3 * kPage + 200, kQueries = 3, kK = 7;

/// Blocks, and the codes that they should hold.
struct CheckedBlocks {
  explicit CheckedBlocks(const char* spec)
      : codec(make_codec(spec, kDim, POLAR_METRIC_L2)),
        queries(normal_rows(kQueries, kDim, 2)),
        code_bytes(info_of(codec).code_bytes) {
    const std::vector<float> x = normal_rows(kMostRows, kDim, 1);
    pool = encode(codec, kMostRows, x);
    size_t bytes = 0;
    require_ok(polar_blocks_bytes(codec.get(), kMostRows, &bytes));
    memory.resize(bytes);
    blocks = {0, memory.data(), bytes};
  }

  int64_t rows() const { return static_cast<int64_t>(expected.size() / code_bytes); }
  const uint8_t* random_codes(int64_t count) {
    const auto first = random.below(static_cast<uint64_t>(kMostRows - count + 1));
    return pool.data() + first * code_bytes;
  }
  std::vector<uint8_t>::iterator at(int64_t row) {
    return expected.begin() + row * static_cast<int64_t>(code_bytes);
  }

  void append(int64_t count) {
    const uint8_t* codes = random_codes(count);
    const size_t bytes = static_cast<size_t>(count) * code_bytes;
    require_ok(polar_blocks_append(codec.get(), &blocks, count, codes, bytes));
    expected.insert(expected.end(), codes, codes + bytes);
  }
  void overwrite(int64_t row) {
    const uint8_t* code = random_codes(1);
    require_ok(polar_blocks_overwrite(codec.get(), &blocks, row, code, code_bytes));
    std::copy_n(code, code_bytes, at(row));
  }
  void swap_remove(int64_t row) {
    require_ok(polar_blocks_swap_remove(codec.get(), &blocks, row));
    std::copy_n(at(rows() - 1), code_bytes, at(row));
    expected.resize(expected.size() - code_bytes);
  }
  void remove_one_in(uint64_t share) {
    std::vector<uint64_t> removed(static_cast<size_t>(rows() + 63) / 64);
    std::vector<uint8_t> kept;
    for (int64_t row = 0; row < rows(); ++row) {
      if (random.below(share) == 0) {
        removed[static_cast<size_t>(row / 64)] |= uint64_t{1} << row % 64;
      } else {
        kept.insert(kept.end(), at(row), at(row) + static_cast<int64_t>(code_bytes));
      }
    }
    require_ok(polar_blocks_remove(codec.get(), &blocks, removed.data()));
    expected = std::move(kept);
  }

  void check() const {
    REQUIRE(blocks.rows == rows());
    std::vector<uint8_t> held(expected.size());
    require_ok(polar_blocks_get(codec.get(), &blocks, 0, rows(), held.data(), held.size()));
    REQUIRE((held == expected));
    std::vector<float> scores(kQueries * kK), expected_scores(scores);
    std::vector<int64_t> ids(kQueries * kK), expected_ids(ids);
    require_ok(polar_blocks_search(codec.get(), &blocks, kQueries, queries.data(), kK, nullptr,
                                   scores.data(), ids.data()));
    require_ok(polar_codec_search(codec.get(), kQueries, queries.data(), rows(), expected.data(),
                                  expected.size(), kK, nullptr, expected_scores.data(),
                                  expected_ids.data()));
    CHECK((scores == expected_scores));
    CHECK((ids == expected_ids));
  }

  CodecHandle codec;
  std::vector<float> queries;
  size_t code_bytes;
  std::vector<uint8_t> pool;
  AlignedVector<uint8_t> memory;
  polar_blocks blocks = {};
  std::vector<uint8_t> expected;
  Random random{3};
};

}  // namespace

TEST_CASE("blocks of many rows come to a page's end by every way", "[capi]") {
  for (const char* spec : {"Polar1", "Polar4", "Polar8", "Polar2+2"}) {
    INFO(spec);
    CheckedBlocks held(spec);
    held.append(kPage - 1);
    held.check();
    held.append(1);
    held.check();
    held.swap_remove(5);
    held.check();
    held.append(2);
    held.append(2 * kPage - 1);
    held.check();
    REQUIRE(held.rows() == 3 * kPage);
    held.overwrite(kPage - 1);
    held.overwrite(3 * kPage - 1);
    held.check();
    held.remove_one_in(3);
    held.check();
    held.append(kPage - held.rows() % kPage);
    held.check();
    held.remove_one_in(1);
    held.check();
    held.append(kMostRows);
    held.check();
  }
}

TEST_CASE("blocks of many rows are changed in any order", "[capi]") {
  CheckedBlocks held("Polar2");
  for (int round = 0; round < 300; ++round) {
    const int64_t rows = held.rows();
    switch (held.random.below(rows == 0 ? 1 : 4)) {
      case 0:
        held.append(static_cast<int64_t>(held.random.below(
            static_cast<uint64_t>(std::min<int64_t>(kMostRows - rows, 700) + 1))));
        break;
      case 1:
        held.overwrite(static_cast<int64_t>(held.random.below(static_cast<uint64_t>(rows))));
        break;
      case 2:
        held.swap_remove(static_cast<int64_t>(held.random.below(static_cast<uint64_t>(rows))));
        break;
      default:
        held.remove_one_in(20);
    }
    INFO("round " << round << " rows " << rows << " to " << held.rows());
    held.check();
  }
  held.check();
}
