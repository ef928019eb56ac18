// SPDX-License-Identifier: MIT
// The bytes of blocks: positions and pairs, rows in and out of the row format.
#include "src/codec/bit_packing.h"
#include "src/codec/lloyd_max.h"
#include "src/codec/planned_quantizer.h"
#include "src/scan/layout/block_layout.h"
#include "src/scan/layout/level_planes.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "src/core/aligned_buffer.h"
#include "tests/scan/scan_rows.h"

namespace polarquant::test {
namespace {

const char* const kSpecs[] = {"Polar0.5", "Polar1",       "Polar1.5",        "Polar2",   "Polar2.5",
                              "Polar3",   "Polar3.5",     "Polar4",          "Polar4.5", "Polar5",
                              "Polar8",   "Polar1+1",     "Polar2+2",        "Polar4+2", "Polar4+4",
                              "Polar2+4", "PolarScalar3", "PolarTree4.2.2.2"};

/// A tree of 4 values is for no fewer than 9 dimensions.
bool fits(const std::string& spec, int dim) { return spec != "PolarTree4.2.2.2" || dim >= 9; }

/// Pair t of a segment of n coordinates is its coordinates t and t + ⌈n/2⌉.
uint64_t plain_pair_order(uint64_t signs, int count) {
  const int half = (count + 1) / 2;
  uint64_t ordered = 0;
  for (int j = 0; j < count; ++j) {
    const int bit = j < half ? j : 32 + j - half;
    ordered |= (signs >> j & 1) << bit;
  }
  return ordered;
}

}  // namespace

TEST_CASE("pair order moves each sign to its pair's bit, and back", "[scan][blocks]") {
  Random random(1);
  for (int count = 1; count <= 64; ++count) {
    const uint64_t coordinates = count == 64 ? ~uint64_t{0} : (uint64_t{1} << count) - 1;
    for (int round = 0; round < 20; ++round) {
      const uint64_t signs = random.next();
      CAPTURE(count, signs);
      REQUIRE(to_pair_order(signs, count) == plain_pair_order(signs, count));
      REQUIRE(to_coordinate_order(to_pair_order(signs, count), count) == (signs & coordinates));
    }
  }
  const uint64_t signs = random.next();
  CHECK(to_pair_order(signs, 64) == signs);
}

TEST_CASE("lanes are places of their own, pair by pair", "[scan][blocks]") {
  for (int dim = 1; dim <= 300; ++dim) {
    CAPTURE(dim);
    std::set<int> positions;
    std::set<int> pairs;
    for (int j = 0; j < dim; ++j) {
      const int position = position_of(j, dim);
      REQUIRE(position >= 0);
      REQUIRE(position < (dim + 63) / 64 * 64);
      REQUIRE(position / 64 == j / 64);
      REQUIRE(positions.insert(position).second);
      pairs.insert(position / 64 * 32 + position % 32);
      const int count = std::min(64, dim - j / 64 * 64);
      REQUIRE(to_pair_order(uint64_t{1} << j % 64, count) == uint64_t{1} << position % 64);
    }
    REQUIRE(static_cast<int>(pairs.size()) == pairs_of(dim));
    REQUIRE(*pairs.rbegin() == pairs_of(dim) - 1);
  }
}

TEST_CASE("rows come back from blocks exactly, whatever capacity they have", "[scan][blocks]") {
  for (const std::string spec : kSpecs) {
    for (const int dim : kScanDims) {
      if (!fits(spec, dim)) continue;
      const auto codec = make_codec(spec, dim, dim % 2 == 0 ? Metric::l2 : Metric::inner_product);
      const BlockLayout layout(*codec);
      const size_t bytes = layout.row_format_bytes();
      const std::vector<uint8_t> codes = made_up_codes(*codec, kBlockRows, 7);
      for (int capacity = 8; capacity <= kBlockRows; capacity += 8) {
        CAPTURE(spec, dim, capacity);
        AlignedVector<uint8_t> block(static_cast<size_t>(capacity) * layout.row_bytes());
        // Last rows first: no row may write outside of its own places.
        for (int row = capacity - 1; row >= 0; --row) {
          layout.put_row(codes.data() + row * bytes,
                         layout.row_of_block(block.data(), capacity, row));
        }
        std::vector<uint8_t> found(bytes * static_cast<size_t>(capacity));
        for (int row = 0; row < capacity; ++row) {
          layout.get_row(layout.row_of_block(block.data(), capacity, row),
                         found.data() + row * bytes);
        }
        REQUIRE(std::equal(found.begin(), found.end(), codes.begin()));
      }
    }
  }
}

TEST_CASE("encoded rows come back from blocks exactly", "[scan][blocks]") {
  for (const std::string spec : kSpecs) {
    for (const int dim : {1, 3, 7, 65, 100}) {
      if (!fits(spec, dim)) continue;
      CAPTURE(spec, dim);
      const auto codec = make_codec(spec, dim, Metric::l2);
      const BlockLayout layout(*codec);
      std::vector<uint8_t> codes(codec->layout().bytes(11));
      codec->encode(11, normal_numbers(11 * dim, 3).data(), codes.data(), 1);
      AlignedVector<uint8_t> block(16 * layout.row_bytes());
      std::vector<uint8_t> code(layout.row_format_bytes());
      for (int row = 0; row < 11; ++row) {
        const uint8_t* expected = codes.data() + row * code.size();
        layout.put_row(expected, layout.row_of_block(block.data(), 16, row));
        layout.get_row(layout.row_of_block(block.data(), 16, row), code.data());
        REQUIRE(std::equal(code.begin(), code.end(), expected));
      }
    }
  }
}

namespace {

/// The fewest segments with .97 of the sum of their scales' fourth powers; untrained: all.
int words_of_most(const Codec& codec) {
  const PlannedQuantizer* planned = codec.planned();
  if (planned == nullptr || !codec.has_basis()) return segments_of(codec.dim());
  std::vector<double> sums;
  double sum = 0;
  for (const SegmentRate& segment : planned->plan())
    sums.push_back(sum += std::pow(segment.scale, 4));
  const auto enough = std::lower_bound(sums.begin(), sums.end(), .97 * sum);
  return static_cast<int>(enough - sums.begin()) + 1;
}

}  // namespace

TEST_CASE("the parts of a block lie where its description says", "[scan][blocks]") {
  for (const std::string spec : {"Polar2", "Polar5", "Polar4+2", "Polar2-pca"}) {
    for (const int dim : kScanDims) {
      CAPTURE(spec, dim);
      const auto codec = make_codec(spec, dim, Metric::l2);
      const BlockLayout layout(*codec);
      const size_t sign_bytes = codec->quantizer().describe().sign_plane_bytes;
      const int words = static_cast<int>((sign_bytes + 7) / 8);
      if (spec != "Polar2-pca") REQUIRE(words == (dim + 63) / 64);
      const int sketch_words = std::min({words, 4, words_of_most(*codec)});
      const size_t payload_signs = 8 * static_cast<size_t>(words - sketch_words);
      const size_t factor_bytes = codec->factor_format().bytes();
      REQUIRE(layout.sign_words() == words);
      REQUIRE(layout.factor_bytes() == factor_bytes);
      REQUIRE(layout.sketch_words() == sketch_words);
      REQUIRE(layout.payload_bytes() ==
              payload_signs + layout.row_format_bytes() - sign_bytes - factor_bytes);
      REQUIRE(layout.row_bytes() ==
              8 * static_cast<size_t>(sketch_words) + factor_bytes + layout.payload_bytes());
      const std::vector<uint8_t> codes = made_up_codes(*codec, 24, 5);
      AlignedVector<uint8_t> block(24 * layout.row_bytes());
      for (int row = 0; row < 24; ++row) {
        layout.put_row(codes.data() + row * layout.row_format_bytes(),
                       layout.row_of_block(block.data(), 24, row));
      }
      for (int row = 0; row < 24; ++row) {
        const uint8_t* code = codes.data() + row * layout.row_format_bytes();
        const size_t sketch_signs = 24 * 8 * static_cast<size_t>(sketch_words);
        const uint8_t* payload =
            block.data() + sketch_signs + 24 * factor_bytes + row * layout.payload_bytes();
        for (int j = 0; j < std::min(dim, 64 * words); ++j) {
          uint64_t word;
          const int w = j / 64;
          std::memcpy(&word,
                      w < sketch_words
                          ? block.data() + 8 * ((row / 8 * sketch_words + w) * 8 + row % 8)
                          : payload + 8 * (w - sketch_words),
                      sizeof word);
          REQUIRE((word >> position_of(j, dim) % 64 & 1) == (code[j / 8] >> j % 8 & 1));
        }
        const uint8_t* factors = code + layout.row_format_bytes() - factor_bytes;
        REQUIRE(std::memcmp(block.data() + sketch_signs + row * factor_bytes, factors,
                            factor_bytes) == 0);
        REQUIRE(std::memcmp(payload + payload_signs, code + sign_bytes,
                            layout.payload_bytes() - payload_signs) == 0);
      }
    }
  }
}

TEST_CASE("levels are split into signs and magnitudes, and joined again", "[scan][blocks]") {
  // What the split says of a level holds of its number.
  const std::vector<double>& levels = normal_codebook(8).levels;
  for (size_t level = 0; level < 128; ++level) {
    REQUIRE(levels[level] < 0);
    REQUIRE(levels[level] == -levels[255 - level]);
  }
  Random random(6);
  for (int count = 1; count <= 64; ++count) {
    for (int round = 0; round < 50; ++round) {
      CAPTURE(count, round);
      std::vector<uint8_t> given(static_cast<size_t>(count));
      for (uint8_t& level : given) level = static_cast<uint8_t>(random.next());
      std::vector<uint8_t> magnitudes(level_magnitude_bytes(count) + 1, 99);
      const uint64_t signs = split_levels(given.data(), count, magnitudes.data());
      REQUIRE(magnitudes.back() == 99);
      if (count < 64) REQUIRE(signs >> count == 0);
      for (int j = 0; j < count; ++j) {
        const int level = given[static_cast<size_t>(j)];
        REQUIRE((signs >> j & 1) == (level < 128 ? 1 : 0));
        const int magnitude = level < 128 ? 127 - level : level - 128;
        const auto first_bit = static_cast<size_t>(7 * j);
        REQUIRE(static_cast<int>(read_bits(magnitudes.data(), first_bit, 7)) == magnitude);
      }
      std::vector<uint8_t> joined(given.size() + 1, 99);
      join_levels(signs, magnitudes.data(), count, joined.data());
      REQUIRE(joined.back() == 99);
      joined.pop_back();
      REQUIRE(joined == given);
    }
  }
}

TEST_CASE("a block of bytes has their signs as words, and takes no more memory", "[scan][blocks]") {
  for (const int dim : kScanDims) {
    CAPTURE(dim);
    const auto codec = make_codec("Polar8", dim, Metric::l2);
    const BlockLayout layout(*codec);
    const int words = (dim + 63) / 64;
    const size_t payload_signs = 8 * static_cast<size_t>(std::max(words - 4, 0));
    REQUIRE(layout.sign_words() == words);
    REQUIRE(layout.sketch_words() == std::min(words, 4));
    REQUIRE(layout.payload_bytes() == payload_signs + level_magnitude_bytes(dim));
    const size_t word_padding = 8 * static_cast<size_t>(words) - static_cast<size_t>(dim) / 8;
    REQUIRE(layout.row_bytes() <= codec->layout().group_bytes + word_padding);
    const std::vector<uint8_t> codes = made_up_codes(*codec, 8, 5);
    AlignedVector<uint8_t> block(8 * layout.row_bytes());
    for (int row = 0; row < 8; ++row) {
      const WritableRow at = layout.row_of_block(block.data(), 8, row);
      const uint8_t* code = codes.data() + row * layout.row_format_bytes();
      layout.put_row(code, at);
      const uint8_t* magnitudes = layout.row_payload(at) + payload_signs;
      for (int j = 0; j < dim; ++j) {
        REQUIRE((layout.sign_word(at, j / 64) >> position_of(j, dim) % 64 & 1) ==
                (code[j] < 128 ? 1 : 0));
        const auto first_bit = static_cast<size_t>(7 * j);
        REQUIRE(static_cast<int>(read_bits(magnitudes, first_bit, 7)) ==
                (code[j] < 128 ? 127 - code[j] : code[j] - 128));
      }
    }
    // As files of versions before 3 have them.
    const BlockLayout bytes(*codec, RowOrder::blocks, LevelForm::bytes);
    REQUIRE(bytes.sign_words() == 0);
    REQUIRE(bytes.payload_bytes() == static_cast<size_t>(dim));
    CodeBlocks stored(bytes);
    stored.append(8, codes.data());
    const CodeBlocks split = stored.repacked_as(layout);
    REQUIRE(split.rows() == 8);
    const BlockRows rows = split.span(0);
    REQUIRE(std::equal(block.begin(), block.begin() + layout.sketch_bytes(8), rows.data));
    REQUIRE(std::equal(block.begin() + layout.sketch_bytes(8), block.end(), rows.payloads));
  }
}

TEST_CASE("the last block has room for its rows rounded up to eight", "[scan][blocks]") {
  const auto codec = make_codec("Polar2", 96, Metric::l2);
  const BlockLayout layout(*codec);
  for (int64_t rows = 0; rows <= 300; ++rows) {
    REQUIRE(layout.bytes(rows) == static_cast<size_t>((rows + 7) / 8 * 8) * layout.row_bytes());
  }
  for (int rows = 1; rows <= 64; ++rows) REQUIRE(BlockLayout::capacity(rows) == (rows + 7) / 8 * 8);
  require_error(StatusCode::bad_argument, "rows: -1", [&] { layout.bytes(-1); });
  require_error(StatusCode::bad_argument, "bytes of blocks",
                [&] { layout.bytes(std::numeric_limits<int64_t>::max()); });
}

TEST_CASE("codes of several rows together have no blocks", "[scan][blocks]") {
  const auto codec = make_codec("PolarPair4x4g128", 64, Metric::l2);
  require_error(StatusCode::unsupported, "PolarPair4x4g128", [&] { BlockLayout{*codec}; });
}

}  // namespace polarquant::test
