// SPDX-License-Identifier: MIT
// Rows that lie one by one, as a graph's do: bounds and dot products against plain code, on every
// target, and what is left out by them.
#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "src/scan/kernels/bounds/sign_dots.h"
#include "src/scan/kernels/decode/candidate_dots.h"
#include "src/scan/search/top_k.h"
#include "src/scan/stores/float_row_store.h"
#include "src/scan/stores/row_store.h"
#include "tests/scan/every_target.h"
#include "tests/scan/scan_rows.h"

namespace polarquant::test {
namespace {

constexpr Metric kMetrics[] = {Metric::inner_product, Metric::l2, Metric::cosine};
constexpr int64_t kRows = 85;

/// Made-up rows, each with its words and payload after its factors.
struct SingleScanRows {
  std::unique_ptr<Codec> codec;
  ScanCodec scan;
  std::vector<uint8_t> codes;
  AlignedVector<uint8_t> bytes;

  SingleScanRows(const std::string& spec, int dim, Metric metric)
      : codec(make_codec(spec, dim, metric)),
        scan(*codec, RowOrder::single),
        codes(made_up_codes(*codec, kRows, 1)),
        bytes(kRows * scan.layout().row_bytes() + 2 * kReadAhead) {
    for (int64_t row = 0; row < kRows; ++row) {
      scan.layout().put_row(codes.data() + static_cast<size_t>(row) * codec->layout().group_bytes,
                            writable(place(row)));
    }
  }
  RowPlace place(int64_t row) const {
    const uint8_t* sketch =
        bytes.data() + kReadAhead + static_cast<size_t>(row) * scan.layout().row_bytes();
    return {sketch, sketch + scan.layout().factor_bytes(), kGroupRows, 0};
  }
  /// Space for four more, of any contents.
  std::vector<RowPlace> places(int count) const {
    std::vector<RowPlace> at(static_cast<size_t>(count) + 4);
    for (int i = 0; i < count; ++i) at[static_cast<size_t>(i)] = place((i * 7 + 3) % kRows);
    return at;
  }
  ScanQuery query(uint64_t seed, float exactness) const {
    const std::vector<float> q = normal_numbers(codec->dim(), seed);
    return make_scan_query(scan, codec->prepare_query(q.data()), exactness);
  }
  float bound(const ScanQuery& query, const RowPlace& at) const {
    return sign_bound(query, load_terms(scan, at), {0, other_sum(scan, query, at)});
  }
};

TEST_CASE("bounds of single rows are the plain ones", "[scan][kernels]") {
  for (const std::string spec : {"Polar2", "Polar2 of float16", "Polar5", "Polar8", "Polar2+4"}) {
    for (const int dim : kScanDims) {
      for (const Metric metric : kMetrics) {
        const SingleScanRows rows(spec, dim, metric);
        const ScanQuery query = rows.query(5, 1.5F);
        REQUIRE(query.signs.margin > 0);
        on_every_target([&] {
          for (const int count : {0, 1, 2, 3, 4, 5, 64, 67}) {
            CAPTURE(spec, dim, static_cast<int>(metric), count);
            std::vector<RowPlace> at = rows.places(count);
            std::vector<float> bounds(at.size());
            single_sign_bounds(rows.scan, query, at.data(), count, bounds.data());
            for (size_t i = 0; i < static_cast<size_t>(count); ++i)
              REQUIRE(same_bits(bounds[i], rows.bound(query, at[i])));
          }
        });
      }
    }
  }
}

TEST_CASE("dot products of single rows are the plain ones", "[scan][kernels]") {
  for (const std::string spec :
       {"Polar1", "Polar4", "Polar8", "Polar4+2", "Polar4-pca", "PolarB6"}) {
    for (const int dim : kScanDims) {
      const SingleScanRows rows(spec, dim, Metric::inner_product);
      const ScanQuery query = rows.query(6, 1);
      std::vector<int8_t> values(static_cast<size_t>(rows.scan.padded_dim()));
      AlignedVector<int8_t> scratch(values.size());
      for (const Int8Stage& stage : rows.scan.stages()) {
        on_every_target([&] {
          for (const int count : {0, 1, 2, 3, 4, 5, 9}) {
            CAPTURE(spec, dim, count);
            std::vector<RowPlace> at = rows.places(count);
            std::vector<int32_t> dots(at.size());
            place_dots(rows.scan, stage, query, at.data(), count, scratch.data(), dots.data());
            for (size_t i = 0; i < static_cast<size_t>(count); ++i) {
              decode_int8(rows.scan, stage, at[i], values.data());
              REQUIRE(dots[i] == int8_dot(stage, query, values.data()));
            }
          }
        });
      }
    }
  }
}

TEST_CASE("a scorer leaves out the rows whose bounds are worse than a key, and no others",
          "[scan]") {
  constexpr float kEveryRow = std::numeric_limits<float>::infinity();
  for (const std::string spec :
       {"Polar2", "Polar4", "Polar8", "Polar4+2", "Polar4-pca", "PolarB16"}) {
    for (const Metric metric : kMetrics) {
      CAPTURE(spec, static_cast<int>(metric));
      constexpr int kDim = 384;
      const SingleScanRows rows(spec, kDim, metric);
      const auto store = RowStore::make(*rows.codec, RowOrder::single);
      store->append_codes(*rows.codec, kRows, rows.codes.data());
      const auto scorer = store->make_scorer(*rows.codec);
      const std::vector<float> q = normal_numbers(kDim, 8);
      std::vector<int32_t> all(kRows);
      for (int i = 0; i < kRows; ++i) all[static_cast<size_t>(i)] = (i * 7 + 3) % kRows;

      for (const float exactness : {0.0F, 1.5F, kEveryRow}) {
        scorer->set_query(q.data(), exactness);
        scorer->fetch(all.data(), kRows);
        std::vector<float> scores(kRows);
        scorer->score(all.data(), kRows, scores.data());
        const bool bounded =
            rows.scan.has_signs() && !rows.scan.has_split_stages() && exactness < kEveryRow;
        const ScanQuery query = rows.query(8, bounded ? exactness : 0);
        std::vector<float> bounds;
        for (const int32_t row : all) bounds.push_back(rows.bound(query, rows.place(row)));
        float key = -bounds[kRows / 2];
        std::vector<int32_t> kept = all;
        kept.resize(static_cast<size_t>(scorer->keep_reaching(kept.data(), kRows, key)));
        std::vector<int32_t> expected;
        for (size_t i = 0; i < all.size(); ++i)
          if (!bounded || -bounds[i] <= key) expected.push_back(all[i]);
        CHECK(kept == expected);
        CHECK((kept.size() < all.size()) == bounded);
        for (size_t i = 0; i < all.size(); ++i) {
          const RowScore plain = score_row(rows.scan, query, false, rows.place(all[i]));
          REQUIRE(-key_of_score(scores[i], rows.codec->higher_is_nearer()) == plain.score);
        }
        key = std::numeric_limits<float>::infinity();
        CHECK(scorer->keep_reaching(kept.data(), static_cast<int>(kept.size()), key) ==
              static_cast<int>(kept.size()));
      }
    }
  }
}

/// Rows compared with each other by a scorer; `scorer` is made for (kRows) rows.
void check_compared_rows(RowScorer& scorer, bool higher_is_nearer) {
  std::vector<int32_t> all(kRows);
  std::iota(all.begin(), all.end(), 0);
  std::vector<std::vector<float>> scores(kRows, std::vector<float>(kRows));
  for (const int32_t row : all)
    scorer.score_rows(row, all.data(), static_cast<int>(kRows),
                      scores[static_cast<size_t>(row)].data());
  for (const int32_t a : all) {
    for (const int32_t b : all) {
      const float score = scores[static_cast<size_t>(a)][static_cast<size_t>(b)];
      REQUIRE(same_bits(score, scores[static_cast<size_t>(b)][static_cast<size_t>(a)]));
      float alone = 0;
      scorer.score_rows(a, &b, 1, &alone);
      REQUIRE(same_bits(score, alone));
    }
  }
  // Every third row is chosen, twice over.
  for (int round = 0; round < 2; ++round) {
    scorer.forget_chosen();
    float nearest = std::numeric_limits<float>::infinity();
    for (const int32_t row : all) {
      nearest = std::numeric_limits<float>::infinity();
      for (int32_t chosen = round; chosen < row; chosen += 3)
        nearest = std::min(
            nearest, key_of_score(scores[static_cast<size_t>(chosen)][static_cast<size_t>(row)],
                                  higher_is_nearer));
      CAPTURE(round, row, nearest);
      REQUIRE(!scorer.is_near_chosen(row, nearest));
      const bool any = row > round;
      REQUIRE(scorer.is_near_chosen(
                  row, std::nextafter(nearest, std::numeric_limits<float>::infinity())) == any);
      if (row % 3 == round) scorer.choose();
    }
  }
}

TEST_CASE("rows are near chosen ones as their scores say", "[scan]") {
  for (const std::string spec :
       {"Polar2", "Polar4", "Polar8", "Polar4+2", "Polar4-pca", "PolarB16", "PolarPair4x4"}) {
    for (const int dim : {40, 384}) {
      for (const Metric metric : kMetrics) {
        if (spec == "PolarB16" && dim == 40) continue;
        CAPTURE(spec, dim, static_cast<int>(metric));
        const auto codec = make_codec(spec, dim, metric);
        const auto store = RowStore::make(*codec, RowOrder::single);
        store->append_codes(*codec, kRows, made_up_codes(*codec, kRows, 1).data());
        on_every_target(
            [&] { check_compared_rows(*store->make_scorer(*codec), codec->higher_is_nearer()); });
      }
    }
  }
}

TEST_CASE("rows of codes without int8 pairs have the codec's scores between them", "[scan]") {
  constexpr int kDim = 384;
  for (const std::string spec : {"Polar4+2", "Polar4-pca", "PolarPair4x4", "PolarTree4.2.2.2"}) {
    for (const Metric metric : kMetrics) {
      CAPTURE(spec, static_cast<int>(metric));
      const auto codec = make_codec(spec, kDim, metric);
      const std::vector<uint8_t> codes = made_up_codes(*codec, kRows, 1);
      const auto store = RowStore::make(*codec, RowOrder::single);
      store->append_codes(*codec, kRows, codes.data());
      const auto scorer = store->make_scorer(*codec);
      std::vector<int32_t> others(kRows);
      std::iota(others.begin(), others.end(), 0);
      std::vector<float> scores(kRows);
      for (int32_t row = 0; row < 5; ++row) {
        scorer->score_rows(row, others.data(), static_cast<int>(kRows), scores.data());
        for (int64_t i = 0; i < kRows; ++i)
          CHECK(
              same_bits(scores[static_cast<size_t>(i)],
                        codec->score_codes({codes.data(), kRows}, row, {codes.data(), kRows}, i)));
      }
    }
  }
}

TEST_CASE("rows held as floats are near chosen ones as their scores say", "[scan]") {
  constexpr int kDim = 40;
  for (const Metric metric : {Metric::inner_product, Metric::l2}) {
    CAPTURE(static_cast<int>(metric));
    const auto codec = make_codec("Polar4", kDim, metric);
    const auto store = make_float_row_store(kDim, normal_numbers(kRows * kDim, 9));
    check_compared_rows(*store->make_scorer(*codec), codec->higher_is_nearer());
  }
}

}  // namespace
}  // namespace polarquant::test
