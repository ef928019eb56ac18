// SPDX-License-Identifier: MIT
// The stages of a search after the sketch, and the score terms they read, against their plain
// definitions, on every target.
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "src/scan/kernels/bounds/load_terms.h"
#include "src/scan/kernels/bounds/sign_dots.h"
#include "src/scan/kernels/sketch/sketch_candidates.h"
#include "src/scan/model/row_values.h"
#include "tests/scan/every_target.h"
#include "tests/scan/scan_rows.h"
#include "tests/scan/thresholds.h"

namespace polarquant::test {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
const Metric kMetrics[] = {Metric::inner_product, Metric::l2, Metric::cosine};

/// What keep_by_signs or keep_by_first_stage must find of rows that are all candidates.
struct PlainStage {
  std::vector<uint32_t> rows;
  std::vector<uint32_t> candidates;
  std::vector<SignSums> sums;
  std::vector<ScanTerms> terms;
  std::vector<int32_t> first_dots;  // for split stages
  std::vector<float> bounds;

  PlainStage(const ScanRows& made_up, const ScanTile& tile, const ScanQuery& query)
      : rows(rows_of(tile)) {
    const ScanCodec& scan = made_up.scan;
    std::vector<int8_t> values(static_cast<size_t>(scan.padded_dim()));
    for (const uint32_t row : rows) {
      const RowPlace at = place_of(tile, row);
      sums.push_back({sketch_distance(scan, query, at), other_sum(scan, query, at)});
      candidates.push_back(candidate_of(row, sums.back().distance));
      decode_int8(scan, scan.stages()[0], at, values.data());
      first_dots.push_back(int8_dot(scan.stages()[0], query, values.data()));
      terms.push_back(load_terms(scan, at));
      terms.back().squared_norm = first_stage_squared_norm(scan, at);
      bounds.push_back(scan.has_split_stages()
                           ? first_stage_bound(query, terms.back(), first_dots.back(), sums.back())
                           : sign_bound(query, terms.back(), sums.back()));
    }
  }
};

void check_kept(const ScanRows& rows, const ScanTile& tile, const ScanQuery& query,
                const PlainStage& plain, int count, float threshold) {
  const bool split = rows.scan.has_split_stages();
  std::vector<uint32_t> list(plain.candidates.begin(), plain.candidates.begin() + count);
  list.resize(static_cast<size_t>(count) + 4);
  std::vector<uint32_t> kept(list.size());
  std::vector<SignSums> sums(list.size());
  std::vector<ScanTerms> terms(list.size());
  std::vector<int32_t> first_dots(list.size());
  const auto& keep = split ? keep_by_first_stage : keep_by_signs;
  const int left = keep(rows.scan, tile, query, threshold, list.data(), count,
                        {kept.data(), sums.data(), terms.data(), first_dots.data()});
  int next = 0;
  for (size_t i = 0; i < static_cast<size_t>(count); ++i) {
    if (!(plain.bounds[i] >= threshold)) continue;
    REQUIRE(next < left);
    const auto at = static_cast<size_t>(next++);
    const ScanTerms& expected = plain.terms[i];
    REQUIRE(kept[at] == plain.rows[i]);
    REQUIRE(sums[at].distance == plain.sums[i].distance);
    REQUIRE(sums[at].other_sum == plain.sums[i].other_sum);
    REQUIRE(same_bits(terms[at].scale, expected.scale));
    REQUIRE(same_bits(terms[at].constant, expected.constant));
    REQUIRE(same_bits(terms[at].norm, expected.norm));
    REQUIRE(same_bits(terms[at].squared_norm, expected.squared_norm));
    if (split) REQUIRE(first_dots[at] == plain.first_dots[i]);
  }
  REQUIRE(next == left);
}

void check_second_stage(const ScanRows& rows) {
  const ScanTile tile = tile_of(rows);
  const ScanQuery query = rows.query(9, 2);
  const PlainStage plain(rows, tile, query);
  const std::vector<float> thresholds = thresholds_among(plain.bounds);
  on_every_target([&] {
    for (const int count : {0, 1, 2, 3, 4, 5, 60, 147}) {
      for (const float threshold : thresholds) {
        CAPTURE(count, threshold);
        check_kept(rows, tile, query, plain, count, threshold);
      }
    }
    for (size_t i = 0; i < plain.rows.size(); ++i) {
      const SignSums found = sign_sums(rows.scan, query, place_of(tile, plain.rows[i]));
      REQUIRE(found.distance == plain.sums[i].distance);
      REQUIRE(found.other_sum == plain.sums[i].other_sum);
    }
  });
}

}  // namespace

TEST_CASE("rows are kept by all of their signs exactly as in plain code", "[scan][kernels]") {
  for (const std::string spec : {"Polar2", "Polar2 of float16", "Polar5", "Polar8"}) {
    for (const int dim : kScanDims) {
      for (const Metric metric : kMetrics) {
        CAPTURE(spec, dim, static_cast<int>(metric));
        check_second_stage(made_up_rows(spec, dim, metric, 147));
      }
    }
  }
}

TEST_CASE("rows are kept by the first of split stages exactly as in plain code",
          "[scan][kernels]") {
  std::set<Int8Part::Kind> kinds;
  std::set<int> words;
  for (const std::string spec : {"Polar1-pca", "Polar2-pca", "Polar3-pca", "Polar5-pca"}) {
    for (const int dim : {384, 500, 700}) {
      for (const Metric metric : kMetrics) {
        CAPTURE(spec, dim, static_cast<int>(metric));
        const ScanRows rows = made_up_rows(spec, dim, metric, 147);
        REQUIRE(rows.scan.has_split_stages());
        kinds.insert(rows.scan.stages()[0].parts[0].kind);
        words.insert(rows.scan.words_after_first_stage());
        check_second_stage(rows);
      }
    }
  }
  for (const Spectrum spectrum : {Spectrum::slow, Spectrum::gentle, Spectrum::led}) {
    const ScanRows rows =
        made_up_rows("Polar3-pca", 512, Metric::l2, 147, 1, Terms::spread, spectrum);
    REQUIRE(rows.scan.has_split_stages());
    words.insert(rows.scan.words_after_first_stage());
    check_second_stage(rows);
  }
  CHECK(kinds.size() == 2);              // windows and magnitudes
  CHECK(words == std::set{0, 1, 2, 3});  // after the first stage
}

TEST_CASE("a list parts into the rows that reach a bound and the others", "[scan][kernels]") {
  Random random(5);
  for (const int count : {0, 1, 3, 4, 7, 8, 15, 16, 17, 33, 500}) {
    const auto capacity = static_cast<size_t>(count + kListPadding);
    std::vector<uint32_t> candidates(capacity);
    std::vector<float> bounds(capacity);
    for (size_t i = 0; i < capacity; ++i) {
      candidates[i] = static_cast<uint32_t>(random.next());
      bounds[i] = static_cast<float>(random.next() % 8);
    }
    for (const float bound : {-kInfinity, 0.0F, 3.0F, 7.0F, 8.0F, kInfinity}) {
      // After what was taken before.
      std::vector<uint32_t> expected_taken = {77, 78};
      std::vector<uint32_t> expected_left;
      for (size_t i = 0; i < static_cast<size_t>(count); ++i)
        (bounds[i] >= bound ? expected_taken : expected_left).push_back(candidates[i]);
      on_every_target([&] {
        CAPTURE(count, bound);
        std::vector<uint32_t> left = candidates;
        std::vector<float> left_bounds = bounds;
        std::vector<uint32_t> taken(capacity + 2, 77);
        std::vector<float> taken_bounds(capacity + 2, 9);
        taken[1] = 78;
        CandidateList list = {left.data(), left_bounds.data(), count};
        CandidateList out = {taken.data(), taken_bounds.data(), 2};
        take_reaching(bound, &list, &out);
        REQUIRE(std::vector<uint32_t>(left.data(), left.data() + list.count) == expected_left);
        REQUIRE(std::vector<uint32_t>(taken.data(), taken.data() + out.count) == expected_taken);
        REQUIRE(taken_bounds[1] == 9);
        for (int i = 0; i < list.count; ++i) REQUIRE(left_bounds[static_cast<size_t>(i)] < bound);
        for (int i = 2; i < out.count; ++i) REQUIRE(taken_bounds[static_cast<size_t>(i)] >= bound);
      });
    }
  }
}

TEST_CASE("a block's terms are its rows' terms", "[scan][kernels]") {
  for (const std::string spec :
       {"Polar2", "Polar1", "Polar2 of float16", "Polar1 of float16", "Polar5", "Polar8",
        "Polar4+2", "PolarB4", "PolarB5-km40", "PolarB5-km40 of format 5", "PolarB5-km4100"}) {
    for (const Metric metric : kMetrics) {
      const auto codec = make_codec(spec, 10, metric);
      const ScanCodec scan(*codec);
      const size_t bytes = codec->layout().group_bytes;
      std::vector<uint8_t> codes = made_up_codes(*codec, kBlockRows, 8);
      const FactorForm form = codec->factor_format().form;
      if (form == FactorForm::wide16) {
        // Any bits are numbers.
        Random random(4);
        for (size_t row = 0; row < kBlockRows; ++row)
          for (size_t byte = bytes - 4; byte < bytes; ++byte)
            codes[row * bytes + byte] = row % 8 == 0 ? 0 : static_cast<uint8_t>(random.next());
      }
      if (form == FactorForm::float8) {
        // Any bits are numbers, and there are few enough for each of them.
        for (size_t row = 0; row < kBlockRows; ++row) {
          codes[row * bytes + bytes - 2] = static_cast<uint8_t>(4 * row);
          codes[row * bytes + bytes - 1] = static_cast<uint8_t>(255 - 4 * row);
        }
      }
      if (codec->factor_format().stores_shares()) {
        // Any bits are numbers of all three.
        Random random(6);
        for (size_t row = 0; row < kBlockRows; ++row)
          for (size_t byte = bytes - codec->factor_format().bytes(); byte < bytes; ++byte)
            codes[row * bytes + byte] = static_cast<uint8_t>(random.next());
      }
      if (form == FactorForm::float16) {
        // Any numbers that float16 has: both signs, subnormal ones, 0.
        Random random(3);
        for (size_t row = 0; row < kBlockRows; ++row) {
          for (size_t byte = bytes - 4; byte < bytes; ++byte)
            codes[row * bytes + byte] = static_cast<uint8_t>(random.next());
          for (const size_t high : {bytes - 3, bytes - 1})
            codes[row * bytes + high] &= row % 4 == 0 ? 0x83 : 0xbb;
        }
      }
      for (int capacity = 8; capacity <= kBlockRows; capacity += 8) {
        AlignedVector<uint8_t> block(static_cast<size_t>(capacity) * scan.layout().row_bytes() +
                                     kReadAhead);
        for (int row = 0; row < capacity; ++row)
          scan.layout().put_row(codes.data() + row * bytes,
                                scan.layout().row_of_block(block.data(), capacity, row));
        on_every_target([&] {
          CAPTURE(spec, static_cast<int>(metric), capacity);
          AlignedVector<float> scale(kBlockRows, 9);
          AlignedVector<float> constant(kBlockRows, 9);
          AlignedVector<float> bias(kBlockRows, 9);
          load_block_terms(scan, block.data(), capacity, scale.data(), constant.data(),
                           bias.data());
          AlignedVector<int32_t> centroid(kBlockRows, 9);
          if (scan.has_centroids()) load_centroids(scan, block.data(), capacity, centroid.data());
          for (int row = 0; row < kBlockRows; ++row) {
            const auto at = static_cast<size_t>(row);
            if (row >= capacity) {
              REQUIRE(scale[at] == 0);
              REQUIRE(constant[at] == 0);
              REQUIRE(bias[at] == 0);
              if (scan.has_centroids()) REQUIRE(centroid[at] == 0);
              continue;
            }
            const ScanTerms plain =
                load_terms(scan, scan.layout().row_of_block(block.data(), capacity, row));
            REQUIRE(same_bits(scale[at], plain.scale));
            REQUIRE(same_bits(constant[at], plain.constant));
            const bool has_norm = metric == Metric::l2 && !scan.has_centroids();
            REQUIRE(same_bits(has_norm ? bias[at] : scale[at], plain.norm));
            if (scan.has_centroids())
              REQUIRE(static_cast<float>(centroid[at]) == plain.squared_norm);
          }
        });
      }
    }
  }
}

}  // namespace polarquant::test
