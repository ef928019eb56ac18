// SPDX-License-Identifier: MIT
// The dense scan's kernels against plain sums, on every target and with and without AMX.
#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <tuple>
#include <vector>

#include "src/scan/kernels/dense/amx_dots.h"
#include "src/scan/kernels/dense/dense_matches.h"
#include "src/scan/kernels/dense/query_tile_dots.h"
#include "tests/scan/every_target.h"
#include "tests/scan/scan_rows.h"
#include "tests/scan/without_amx.h"

namespace polarquant::test {
namespace {

/// Where panel_dots leaves the dot of a row and a query.
size_t dot_at(int row, int query) {
  return static_cast<size_t>((query / kPanelQueries * kChunkRows + row) * kPanelQueries +
                             query % kPanelQueries);
}

/// A chunk's levels and panels of random queries, and their plain dot products.
struct Chunk {
  int lanes;
  int panels;
  AlignedVector<int8_t> levels;
  AlignedVector<int8_t> panel_levels;
  std::vector<int32_t> expected;

  /// `extreme`: all levels the largest in magnitude.
  Chunk(const ScanRows& rows, int panel_count, bool extreme)
      : lanes(rows.scan.lanes()), panels(panel_count) {
    Random random(static_cast<uint64_t>(lanes + panel_count));
    const auto level = [&] {
      const auto value = static_cast<int>(random.below(2 * kMaxLevel + 1)) - kMaxLevel;
      return static_cast<int8_t>(extreme ? kMaxLevel : value);
    };
    levels.resize(static_cast<size_t>(kChunkRows * lanes));
    for (int8_t& value : levels) value = level();
    panel_levels.resize(static_cast<size_t>(panels * kPanelQueries * lanes));
    expected.resize(static_cast<size_t>(kChunkRows * panels * kPanelQueries));
    for (int q = 0; q < panels * kPanelQueries; ++q) {
      ScanQuery query;
      query.levels.resize(static_cast<size_t>(lanes));
      for (int8_t& value : query.levels)
        value = extreme && q % 2 == 0 ? static_cast<int8_t>(-kMaxLevel) : level();
      int8_t* panel =
          panel_levels.data() + static_cast<size_t>(q / kPanelQueries * kPanelQueries * lanes);
      put_in_panel(query.levels.data(), lanes, q % kPanelQueries, panel);
      for (int row = 0; row < kChunkRows; ++row) {
        int32_t dot = 0;
        for (int lane = 0; lane < lanes; ++lane) {
          dot += query.levels[static_cast<size_t>(lane)] *
                 levels[static_cast<size_t>(row * lanes + lane)];
        }
        expected[dot_at(row, q)] = dot;
      }
    }
  }

  void check() const {
    AlignedVector<int32_t> dots(expected.size() + 16, 77);
    const PanelSession session;
    panel_dots(levels.data(), lanes, panel_levels.data(), panels, dots.data());
    REQUIRE(std::equal(expected.begin(), expected.end(), dots.begin()));
    REQUIRE(std::all_of(dots.end() - 16, dots.end(), [](int32_t dot) { return dot == 77; }));
  }

  /// Row by row.
  void check_rows() const {
    for (int row = 0; row < kChunkRows; row += 7) {
      AlignedVector<int32_t> dots(static_cast<size_t>(panels * kPanelQueries + 1), 77);
      row_panel_dots(levels.data() + row * lanes, lanes, panel_levels.data(), panels, dots.data());
      for (int q = 0; q < panels * kPanelQueries; ++q)
        REQUIRE(dots[static_cast<size_t>(q)] == expected[dot_at(row, q)]);
      REQUIRE(dots.back() == 77);
    }
  }
};

using Hit = std::tuple<int32_t, int32_t, int32_t, int32_t>;

}  // namespace

TEST_CASE("panels give the plain sums", "[scan][kernels]") {
  for (const int dim : {1, 64, 65, 192, 384, 1000}) {
    const ScanRows rows("Polar2", dim, Metric::l2);
    for (int panels = 1; panels <= 7; ++panels) {
      for (const bool extreme : {false, true}) {
        const Chunk chunk(rows, panels, extreme);
        CAPTURE(dim, panels, extreme);
        on_every_target([&] {
          chunk.check();
          chunk.check_rows();
          const WithoutAmx without;
          REQUIRE(!panel_dots_use_amx());
          chunk.check();
        });
      }
    }
  }
}

TEST_CASE("AMX gives the plain sums", "[scan][kernels]") {
  if (!amx_is_usable()) {
    WARN("this machine has no AMX");
    return;
  }
  for (const int dim : {1, 128, 129, 1000}) {
    const ScanRows rows("Polar4", dim, Metric::l2);
    for (int panels = 1; panels <= 5; ++panels) {
      const Chunk chunk(rows, panels, false);
      std::vector<int32_t> dots(chunk.expected.size());
      amx_begin();
      amx_panel_dots(chunk.levels.data(), chunk.lanes, chunk.panel_levels.data(), panels,
                     dots.data());
      amx_end();
      CAPTURE(dim, panels);
      REQUIRE(dots == chunk.expected);
    }
  }
  const WithoutAmx without;
  CHECK(!amx_is_usable());
}

TEST_CASE("dense hits are the rows that reach the threshold", "[scan][kernels]") {
  for (int panels = 1; panels <= 4; ++panels) {
    for (const bool two_stages : {false, true}) {
      Random random(static_cast<uint64_t>(panels));
      const int queries = panels * kPanelQueries;
      AlignedVector<int32_t> dots[2];
      for (AlignedVector<int32_t>& stage : dots) {
        stage.resize(static_cast<size_t>(kChunkRows * queries));
        for (int32_t& dot : stage) dot = static_cast<int32_t>(random.below(200001)) - 100000;
      }
      AlignedVector<PanelConstants> constants(static_cast<size_t>(panels));
      std::vector<ScoreConstants> scores(static_cast<size_t>(queries));
      for (int q = 0; q < queries; ++q) {
        ScoreConstants& score = scores[static_cast<size_t>(q)];
        score = {static_cast<float>(random.normal()),
                 static_cast<float>(random.normal()),
                 {static_cast<float>(1e-4 * std::fabs(random.normal())),
                  static_cast<float>(1e-5 * std::fabs(random.normal()))}};
        PanelConstants& panel = constants[static_cast<size_t>(q / kPanelQueries)];
        const int slot = q % kPanelQueries;
        panel.base[slot] = score.base;
        panel.weight[slot] = score.weight;
        panel.dot_scale[0][slot] = score.dot_scale[0];
        panel.dot_scale[1][slot] = score.dot_scale[1];
        if (!two_stages) panel.margin[slot] = static_cast<float>(random.uniform());
        if (!two_stages && q % 3 > 0)
          panel.energy_slope[slot] = static_cast<float>(1e-5 * random.uniform());
      }
      const float margin_unit = panels % 2 == 0 ? 0 : 2.5F;
      AlignedVector<float> scale(kChunkRows);
      AlignedVector<float> constant(kChunkRows);
      AlignedVector<float> energy(kChunkRows);
      for (size_t row = 0; row < kChunkRows; ++row) {
        energy[row] = static_cast<float>(50000 + random.below(40000));
        scale[row] = row % 11 == 6 ? 0.0F : static_cast<float>(std::fabs(random.normal()));
        constant[row] = row % 5 == 4 ? std::numeric_limits<float>::quiet_NaN()
                                     : static_cast<float>(random.normal());
      }
      const auto plain = [&](int row, int q) {
        const ScanTerms terms = {scale[static_cast<size_t>(row)],
                                 constant[static_cast<size_t>(row)], 0};
        const size_t at = dot_at(row, q);
        const ScoreConstants& score = scores[static_cast<size_t>(q)];
        if (two_stages) return goodness(score, terms, dots[0][at], dots[1][at]);
        const PanelConstants& panel = constants[static_cast<size_t>(q / kPanelQueries)];
        return score.base + score.weight * terms.constant +
               terms.scale *
                   (score.dot_scale[0] * static_cast<float>(dots[0][at]) +
                    panel.margin[q % kPanelQueries] * margin_unit -
                    panel.energy_slope[q % kPanelQueries] * energy[static_cast<size_t>(row)]);
      };
      ChunkTerms terms = make_chunk_terms(scale.data(), constant.data(), energy.data());
      terms.margin_unit = margin_unit;
      AlignedVector<float> thresholds(static_cast<size_t>(queries));
      for (int q = 0; q < queries; ++q) {
        // A row's own score, to the bit; for some every row, for some none.
        float threshold = plain(5 * (q % 12), q);
        if (q % 7 == 3) threshold = -std::numeric_limits<float>::infinity();
        if (q % 7 == 5) threshold = std::numeric_limits<float>::infinity();
        thresholds[static_cast<size_t>(q)] = threshold;
      }
      std::vector<Hit> expected;
      for (int row = 0; row < kChunkRows; ++row) {
        for (int q = 0; q < queries; ++q) {
          if (!(plain(row, q) >= thresholds[static_cast<size_t>(q)])) continue;
          const size_t at = dot_at(row, q);
          expected.emplace_back(row, q, dots[0][at], two_stages ? dots[1][at] : 0);
        }
      }
      REQUIRE(expected.size() > 50);
      on_every_target([&] {
        CAPTURE(panels, two_stages);
        std::vector<DenseHit> hits(static_cast<size_t>(kChunkRows * queries));
        const int count =
            find_dense_hits(dots[0].data(), two_stages ? dots[1].data() : nullptr, panels,
                            constants.data(), thresholds.data(), terms, hits.data());
        std::vector<Hit> found;
        for (int i = 0; i < count; ++i) {
          const DenseHit& hit = hits[static_cast<size_t>(i)];
          found.emplace_back(hit.row, hit.query, hit.dot[0], hit.dot[1]);
        }
        std::sort(found.begin(), found.end());
        REQUIRE(found == expected);
      });
    }
  }
}

}  // namespace polarquant::test
