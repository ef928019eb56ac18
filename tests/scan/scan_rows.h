// SPDX-License-Identifier: MIT
// Codes for tests of scans: encoded ones, and made-up ones, which reach every byte at no cost.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "src/codec/codec.h"
#include "src/core/random.h"
#include "src/scan/kernels/tile.h"
#include "src/scan/layout/code_blocks.h"
#include "src/scan/model/row_values.h"
#include "src/scan/model/scan_query.h"
#include "src/scan/search/fast_codec_kernels.h"
#include "tests/support/catch.h"
#include "tests/support/older_state.h"

namespace polarquant::test {

inline constexpr int kScanDims[] = {1,  2,  3,   4,   7,   33,  63,  64,
                                    65, 96, 100, 127, 128, 129, 384, 1000};

inline std::vector<float> normal_numbers(int64_t count, uint64_t seed) {
  Random random(seed);
  std::vector<float> x(static_cast<size_t>(count));
  for (float& value : x) value = static_cast<float>(random.normal());
  return x;
}

/// Rows near a space of `rank` dimensions, which is the same for every seed: each coordinate has a
/// variance of `rank` in it, and of noise² off it.
inline std::vector<float> rows_near_axes(int64_t n, int dim, int rank, double noise,
                                         uint64_t seed) {
  const std::vector<float> axes = normal_numbers(int64_t{rank} * dim, 5);
  const std::vector<float> along = normal_numbers(n * rank, seed);
  std::vector<float> rows = normal_numbers(n * dim, seed + 1);
  for (int64_t i = 0; i < n; ++i) {
    float* row = rows.data() + i * dim;
    for (int j = 0; j < dim; ++j) row[j] *= static_cast<float>(noise);
    for (int64_t k = 0; k < rank; ++k)
      for (int64_t j = 0; j < dim; ++j)
        row[j] += along[static_cast<size_t>(i * rank + k)] * axes[static_cast<size_t>(k * dim + j)];
  }
  return rows;
}

inline bool same_bits(float a, float b) {
  return std::bit_cast<uint32_t>(a) == std::bit_cast<uint32_t>(b);
}

/// How variance falls from one segment to the next: by 12, so that plans get every kind of rate; by
/// 2.4 or 2; or by 4 once, and not again in five.
enum class Spectrum { steep, slow, gentle, led };

inline double amplitude(Spectrum spectrum, size_t coordinate) {
  const auto j = static_cast<double>(coordinate);
  switch (spectrum) {
    case Spectrum::slow:
      return std::exp2(-j / 100);
    case Spectrum::gentle:
      return std::exp2(-j / 128);
    case Spectrum::led:
      return coordinate < 64 ? 1 : coordinate < 384 ? .5 : .1;
    default:
      return std::exp2(-j / 36);
  }
}

inline std::vector<float> falling_rows(int64_t n, int dim, uint64_t seed,
                                       Spectrum spectrum = Spectrum::steep) {
  std::vector<float> x = normal_numbers(n * dim, seed);
  for (size_t i = 0; i < x.size(); ++i)
    x[i] *= static_cast<float>(amplitude(spectrum, i % static_cast<size_t>(dim)));
  return x;
}

inline void train_if_needed(Codec* codec, Spectrum spectrum = Spectrum::steep) {
  if (codec->is_trained()) return;
  // Of ten rows one is held out.
  const int64_t n = std::max({100, 3 * codec->dim(), 5 * codec->spec().centroids / 2});
  codec->train(n, falling_rows(n, codec->dim(), 17, spectrum).data());
}

/// The end of the name of a codec of a state of before format 4, whose factors are float16.
inline constexpr std::string_view kOfFloat16 = " of float16";
/// The same of one about centroids of a state of before format 6.
inline constexpr std::string_view kOfFormat5 = " of format 5";

inline Spec scanned_spec(const std::string& name) {
  Spec spec = parse_spec(name.substr(0, name.find(kOfFormat5)));
  if (name.ends_with(kOfFormat5)) spec.centroid_factors = CentroidFactors::exact;
  return spec;
}

inline std::unique_ptr<Codec> make_codec(const std::string& spec, int dim, Metric metric,
                                         Spectrum spectrum = Spectrum::steep) {
  if (spec.ends_with(kOfFloat16)) {
    const std::string name = spec.substr(0, spec.size() - kOfFloat16.size());
    auto older = older_codec(*make_codec(name, dim, metric, spectrum));
    older->use_kernels(fast_codec_kernels());
    return older;
  }
  auto codec = std::make_unique<Codec>(scanned_spec(spec), dim, metric, CodecOptions{});
  codec->use_kernels(fast_codec_kernels());
  if (codec->is_trained()) return codec;
  // Training takes a second at 1,000 dimensions: once for each.
  static std::map<std::tuple<std::string, int, Metric, Spectrum>, std::vector<uint8_t>> trained;
  std::vector<uint8_t>& state = trained[{spec, dim, metric, spectrum}];
  if (state.empty()) {
    train_if_needed(codec.get(), spectrum);
    state = codec->save_state();
  }
  codec = Codec::load_state(state.data(), state.size(), fast_codec_kernels());
  return codec;
}

/// How far the made-up rows' terms lie from each other.
enum class Terms { alike, spread };

/// n valid row-format codes of random planes; lengths ‖x−c‖ are 1 or, spread, .5 to 2.
inline std::vector<uint8_t> made_up_codes(const Codec& codec, int64_t n, uint64_t seed,
                                          Terms terms = Terms::spread) {
  Random random(seed);
  const size_t bytes = codec.layout().group_bytes;
  const size_t sign_bytes = codec.quantizer().describe().sign_plane_bytes;
  std::vector<uint8_t> codes(codec.layout().bytes(n));
  for (uint8_t& byte : codes) byte = static_cast<uint8_t>(random.next());
  for (int64_t row = 0; row < n; ++row) {
    uint8_t* code = codes.data() + static_cast<size_t>(row) * bytes;
    if (8 * sign_bytes > static_cast<size_t>(codec.dim()))
      code[sign_bytes - 1] &= (1 << codec.dim() % 8) - 1;
    if (!codec.has_factors()) continue;
    const double length = terms == Terms::alike ? 1 : std::exp2(2 * random.uniform() - 1);
    Factors factors;
    factors.scale = static_cast<float>(length * 1.1 / std::sqrt(codec.dim()));
    factors.bias = static_cast<float>(length);
    if (codec.metric() != Metric::l2) {
      factors.bias = static_cast<float>(terms == Terms::alike ? .25 : .1 * random.normal());
    }
    if (codec.centroids() != nullptr)
      factors.centroid =
          static_cast<int>(random.below(static_cast<uint64_t>(codec.centroids()->count())));
    const FactorFormat& format = codec.factor_format();
    REQUIRE(store_factors(format, factors, code + bytes - format.bytes()));
  }
  return codes;
}

/// Rows of one codec in blocks, as a search sees them.
struct ScanRows {
  std::unique_ptr<Codec> codec;
  ScanCodec scan;
  CodeBlocks blocks;

  ScanRows(const std::string& spec, int dim, Metric metric, Spectrum spectrum = Spectrum::steep)
      : codec(make_codec(spec, dim, metric, spectrum)), scan(*codec), blocks(BlockLayout(*codec)) {}

  /// A query of a random vector with ‖q‖ ≈ √dim.
  ScanQuery query(uint64_t seed, float exactness) const {
    const std::vector<float> q = normal_numbers(codec->dim(), seed);
    return make_scan_query(scan, codec->prepare_query(q.data()), exactness);
  }
};

/// The query with no sign of the row's in its sketch.
inline ScanQuery opposed_to(const ScanRows& rows, const RowPlace& row, ScanQuery query) {
  for (size_t word = 0; word < query.sketch_words; ++word)
    query.sign_words[word] = ~rows.scan.layout().sign_word(row, static_cast<int>(word));
  return query;
}

/// A query of an untrained code, of full segments, that has twos at 63 coordinates of each word,
/// and no sign of the row's.
inline ScanQuery query_of_twos(const ScanRows& rows, const RowPlace& row) {
  const int dim = rows.scan.dim();
  // All but one coordinate of a word are as far from 0, and so beyond its root mean square.
  PreparedQuery prepared = rows.codec->prepare_query(normal_numbers(dim, 3).data());
  for (int j = 0; j < dim; ++j) {
    float& x = prepared.rotated[static_cast<size_t>(j)];
    x = j % 64 == 0 ? 0 : x < 0 ? -1 : 1;
  }
  return opposed_to(rows, row, make_scan_query(rows.scan, prepared, 1.5F));
}

/// A query that weighs as heavily as can be a code whose first word has a third bit, and whose
/// sketch differs in all signs from that of the row.
inline ScanQuery heaviest_query(const ScanRows& rows, const RowPlace& row) {
  PreparedQuery prepared = rows.codec->prepare_query(normal_numbers(rows.codec->dim(), 3).data());
  for (size_t j = 0; j < prepared.rotated.size(); ++j) {
    const float scaled = j < 31 ? 127 : 91;
    prepared.rotated[j] = j < 64 ? scaled / rows.scan.scales()[j] : 0;
  }
  return opposed_to(rows, row, make_scan_query(rows.scan, prepared, 1));
}

inline ScanRows made_up_rows(const std::string& spec, int dim, Metric metric, int64_t n,
                             uint64_t seed = 1, Terms terms = Terms::spread,
                             Spectrum spectrum = Spectrum::steep) {
  ScanRows rows(spec, dim, metric, spectrum);
  rows.blocks.append(n, made_up_codes(*rows.codec, n, seed, terms).data());
  return rows;
}

/// All rows of at most kTileBlocks blocks.
inline ScanTile tile_of(const ScanRows& rows) {
  ScanTile tile{};
  for (const BlockRows& span : rows.blocks.spans()) {
    for (int64_t first = 0; first < span.rows; first += kBlockRows) {
      REQUIRE(tile.blocks < kTileBlocks);
      const int64_t rows_in_block = std::min<int64_t>(kBlockRows, span.rows - first);
      const int slot = tile.blocks++;
      const RowPlace place = span.place(rows.blocks.layout(), first);
      tile.sketch[slot] = place.sketch;
      tile.payload[slot] = place.payload;
      tile.capacity[slot] = place.capacity;
      tile.first_row[slot] = span.first_row + first;
      tile.allowed[slot] =
          rows_in_block == kBlockRows ? ~uint64_t{0} : (uint64_t{1} << rows_in_block) - 1;
    }
  }
  return tile;
}

/// Numbers, in the tile, of the rows that `tile.allowed` names.
inline std::vector<uint32_t> rows_of(const ScanTile& tile) {
  std::vector<uint32_t> rows;
  for (int block = 0; block < tile.blocks; ++block) {
    for (uint64_t left = tile.allowed[block]; left != 0; left &= left - 1) {
      rows.push_back(static_cast<uint32_t>(block * kBlockRows + std::countr_zero(left)));
    }
  }
  return rows;
}

}  // namespace polarquant::test
