// SPDX-License-Identifier: MIT
// Records of a graph's nodes: the kernels that make and read them against plain code, on every
// target, and how near estimates are to scores.
#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "src/scan/kernels/sketch/link_estimates.h"
#include "src/scan/kernels/sketch/link_residuals.h"
#include "src/scan/stores/int8_row_scorer.h"
#include "src/scan/stores/link_record_writer.h"
#include "src/scan/stores/row_store.h"
#include "tests/scan/every_target.h"
#include "tests/scan/scan_rows.h"

namespace polarquant::test {
namespace {

constexpr Metric kMetrics[] = {Metric::inner_product, Metric::l2, Metric::cosine};

/// Any bytes: a record on a line's boundary, with units of a few hundredths.
AlignedVector<uint8_t> any_record(const LinkRecordLayout& layout, uint64_t seed) {
  Random random(seed);
  AlignedVector<uint8_t> record(layout.bytes());
  for (uint8_t& byte : record) byte = static_cast<uint8_t>(random.below(256));
  for (size_t i = 0; i < LinkRecordLayout::kUnits; ++i) {
    const uint16_t unit = unit_for(static_cast<float>(i + 1), 255);
    std::memcpy(record.data() + layout.units_offset() + 2 * i, &unit, sizeof unit);
  }
  return record;
}

TEST_CASE("Estimates of links are the plain ones", "[scan][kernels]") {
  for (const int dim : kScanDims) {
    for (const int links : {1, 4, 15, 16, 17, 32, 50}) {
      const LinkRecordLayout layout(dim, links, 41);
      REQUIRE(layout.bytes() % 64 == 0);
      REQUIRE(layout.row_offset() + 41 <= layout.bytes());
      const AlignedVector<uint8_t> record = any_record(layout, static_cast<uint64_t>(dim + links));
      ScanQuery query;
      query.values.resize(static_cast<size_t>(segments_of(dim) * kSegmentDims));
      Random random(7);
      for (int8_t& value : query.values) value = static_cast<int8_t>(random.below(255)) - 127;
      query.score = {.5F, .75F, {.001F, 0}};
      const LinkScale scale(layout, record.data(), query.score, -1.5F, .7F);
      int8_t values[kMostLinkSigns];
      round_link_values(query, layout.signs(), values);
      on_every_target([&] {
        CAPTURE(dim, links);
        LinkTables tables;
        tables.make(query, layout.signs());
        AlignedVector<float> found(static_cast<size_t>(layout.slots()));
        estimate_links(tables, layout, record.data(), scale, found.data());
        for (int slot = 0; slot < layout.slots(); ++slot)
          REQUIRE(same_bits(found[static_cast<size_t>(slot)],
                            estimate_link(layout, record.data(), scale, values, slot)));
      });
    }
  }
}

TEST_CASE("Values of estimates are rounded to the nearest", "[scan]") {
  ScanQuery query;
  query.values = {-127, -64, -5, -4, 0, 4, 5, 64, 127};
  int8_t values[9];
  round_link_values(query, 9, values);
  const std::vector<int8_t> expected = {-15, -8, -1, 0, 0, 0, 1, 8, 15};
  CHECK(std::vector<int8_t>(values, values + 9) == expected);
}

TEST_CASE("Sums over residuals are the plain ones", "[scan][kernels]") {
  for (const int dim : {1, 63, 64, 65, 384, 512, 513, 1000, 1024, 1025}) {
    const int padded_dim = segments_of(dim) * kSegmentDims;
    const LinkRecordLayout layout(dim, 16, 1);
    Random random(static_cast<uint64_t>(dim));
    AlignedVector<int8_t> rows[2];
    for (auto& row : rows) {
      row.resize(static_cast<size_t>(padded_dim));
      for (int8_t& value : row) value = static_cast<int8_t>(random.below(255)) - 127;
    }
    for (const ResidualScales scales : {ResidualScales{127, 127}, ResidualScales{127, 31},
                                        ResidualScales{0, 127}, ResidualScales{-127, 127}}) {
      uint8_t expected_signs[kMostLinkSigns / 8];
      const ResidualSums expected = sum_residual(rows[0].data(), rows[1].data(), padded_dim,
                                                 layout.signs(), scales, expected_signs);
      on_every_target([&] {
        CAPTURE(dim, scales.node, scales.neighbour);
        uint8_t signs[kMostLinkSigns / 8];
        REQUIRE(residual_sums(rows[0].data(), rows[1].data(), padded_dim, layout.signs(), scales,
                              signs) == expected);
        REQUIRE(std::equal(signs, signs + layout.sign_bytes(), expected_signs));
      });
    }
  }
}

TEST_CASE("Units hold what they are of", "[scan]") {
  for (const float largest : {0.F, 1e-40F, 1e-3F, .7F, 1.F, 255.F, 1e30F, 3e38F}) {
    for (const int most : {127, 255}) {
      const float unit = float_of_unit(unit_for(largest, most));
      CAPTURE(largest, most, unit);
      REQUIRE(std::isfinite(unit));
      CHECK(unit * static_cast<float>(most) >= largest * .999999F);
      CHECK(byte_of(largest, unit, most) <= most);
      if (largest >= 1e-3F) CHECK(byte_of(largest, unit, most) >= most * 126 / 128 - 1);
      CHECK(byte_of(-largest, unit, most) == -byte_of(largest, unit, most));
    }
  }
  CHECK(byte_of(1, 0, 127) == 0);
}

/// The root mean square by which estimates of neighbours miss their scores by values, over what
/// scores differ from the node's.
double estimate_error(const std::string& spec, int dim, Metric metric) {
  constexpr int64_t kRows = 60;
  constexpr int kLinks = 20;
  const auto codec = make_codec(spec, dim, metric);
  // Rows about one of them, as a node's neighbours are.
  std::vector<float> x = normal_numbers(kRows * dim, 3);
  for (int64_t i = dim; i < kRows * dim; ++i)
    x[static_cast<size_t>(i)] = x[static_cast<size_t>(i % dim)] + .7F * x[static_cast<size_t>(i)];
  const auto store = RowStore::make(*codec, RowOrder::single);
  store->append(*codec, kRows, x.data(), 1);
  store->lay_out_records(*codec, kLinks);
  REQUIRE_FALSE(store->records_are_written());
  REQUIRE(store->record_links() == kLinks);
  RecordMemory memory(dim, kLinks);
  std::vector<int32_t> links(kLinks - 1);
  for (size_t i = 0; i < links.size(); ++i) links[i] = static_cast<int32_t>(3 * i + 1);
  store->write_record(0, links, &memory);
  store->set_records_written(true);
  const auto scorer = store->make_scorer(*codec);
  double squares = 0;
  double all = 0;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    std::vector<float> q = normal_numbers(dim, 50 + seed);
    for (size_t j = 0; j < q.size(); ++j) q[j] = x[j] + .7F * q[j];
    scorer->set_query(q.data(), 1.5F);
    scorer->begin_links();
    const RowScorer::LinkScores found = scorer->score_links(0);
    const float sign = codec->higher_is_nearer() ? 1.F : -1.F;
    const auto score = [&](int32_t row) {
      float value = 0;
      scorer->score(&row, 1, &value);
      return sign * value;
    };
    REQUIRE(same_bits(found.similarity, score(0)));
    REQUIRE(found.slots >= kLinks);
    REQUIRE(std::equal(links.begin(), links.end(), found.links));
    REQUIRE(found.links[links.size()] == -1);
    for (size_t i = 0; i < links.size(); ++i) {
      const double truth = score(links[i]);
      squares += std::pow(found.similarities[i] - truth, 2);
      all += std::pow(truth - found.similarity, 2);
    }
  }
  return std::sqrt(squares / all);
}

TEST_CASE("Estimates lie near the scores of rows", "[scan]") {
  const auto check = [](const std::string& spec, int dim) {
    for (const Metric metric : kMetrics) {
      CAPTURE(spec, dim, static_cast<int>(metric));
      const double error = estimate_error(spec, dim, metric);
      CAPTURE(error);
      // The node's own score as estimate of all has 1.
      CHECK(error < (metric == Metric::l2 ? .4 : .75));
    }
  };
  for (const char* spec : {"Polar1", "Polar2", "Polar2.5", "Polar4", "Polar8"})
    for (const int dim : {64, 100, 384}) check(spec, dim);
  // 1,024 of the last have signs.
  for (const char* spec : {"Polar4", "Polar8"})
    for (const int dim : {768, 1100}) check(spec, dim);
}

TEST_CASE("Equal rows have the node's score", "[scan]") {
  constexpr int kDim = 100;
  for (const Metric metric : kMetrics) {
    const auto codec = make_codec("Polar4", kDim, metric);
    std::vector<float> x = normal_numbers(kDim, 3);
    x.insert(x.end(), x.begin(), x.begin() + kDim);
    const auto store = RowStore::make(*codec, RowOrder::single);
    store->append(*codec, 2, x.data(), 1);
    store->lay_out_records(*codec, 3);
    RecordMemory memory(kDim, 3);
    const int32_t link = 1;
    store->write_record(0, {&link, 1}, &memory);
    const auto scorer = store->make_scorer(*codec);
    scorer->set_query(normal_numbers(kDim, 4).data(), 1.5F);
    scorer->begin_links();
    const RowScorer::LinkScores found = scorer->score_links(0);
    CHECK(same_bits(found.similarities[0], found.similarity));
  }
}

TEST_CASE("Records are refused for codes without estimates", "[scan]") {
  for (const std::string spec : {"Polar2-pca", "Polar2+2", "PolarTree4.2.2.2", "PolarScalar4"}) {
    CAPTURE(spec);
    const auto codec = make_codec(spec, 128, Metric::l2);
    CHECK_FALSE(has_link_estimates(*codec));
    const auto store = RowStore::make(*codec, RowOrder::single);
    CHECK_THROWS_AS(store->lay_out_records(*codec, 16), Error);
    CHECK(store->record_links() == 0);
  }
  const auto codec = make_codec("Polar4", 128, Metric::l2);
  CHECK_THROWS_AS(RowStore::make(*codec)->lay_out_records(*codec, 16), Error);
  CHECK_THROWS_AS(RowStore::make(*codec, RowOrder::single)->lay_out_records(*codec, 0), Error);
}

}  // namespace
}  // namespace polarquant::test
