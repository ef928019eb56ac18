// SPDX-License-Identifier: MIT
#include "src/scan/search/measure_margins.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "src/core/parallel.h"
#include "src/core/work_progress.h"
#include "src/scan/layout/code_blocks.h"
#include "src/scan/model/row_values.h"
#include "src/scan/model/scan_query.h"
#include "src/scan/search/top_k.h"

namespace polarquant {
namespace {

constexpr int64_t kMostRows = 8192;
constexpr int64_t kMostQueries = 1024;
constexpr int64_t kQueriesTogether = 64;
constexpr int64_t kNeighbours = 10;
/// With fewer rows the neighbours say little of the few that a search loses.
constexpr int64_t kLeastRows = 512;

/// The share of neighbours that a bound may lose, and the exactness at which it does so with
/// margins of 1: on real embeddings of 2 to 4 bits, for inner product and L2, 2.34 to 2.51 for the
/// sketch and 1.41 to 1.66 for the next stage. (The nearest of 8192 rows are further away than
/// those of all, so that a search of all loses .0006 at the default of 2.25.)
constexpr double kLostShare = .002;
constexpr double kSketchExactness = 2.5;
constexpr double kNextExactness = 1.65;

/// Rows of x at even distances, encoded.
class SampledRows {
 public:
  SampledRows(Codec& codec, const ScanCodec& scan_codec, int64_t n, const float* x)
      : codec_(codec),
        scan_codec_(scan_codec),
        x_(x),
        n_(n),
        count_(std::min(n, kMostRows)),
        blocks_(scan_codec.layout()) {
    const auto dim = static_cast<size_t>(codec.dim());
    constexpr int64_t kTogether = 256;
    std::vector<float> rows(kTogether * dim);
    codes_.resize(codec.layout().bytes(count_));
    for (int64_t first = 0; first < count_; first += kTogether) {
      const int64_t some = std::min(kTogether, count_ - first);
      for (int64_t i = 0; i < some; ++i)
        std::copy_n(row(first + i), dim, rows.begin() + i * static_cast<ptrdiff_t>(dim));
      codec.encode(some, rows.data(), codes_.data() + codec.layout().bytes(first), 0);
    }
    blocks_.append(count_, codes_.data());
    spans_ = blocks_.spans();
  }

  const Codec& codec() const { return codec_; }
  const ScanCodec& scan_codec() const { return scan_codec_; }
  int64_t count() const { return count_; }
  const float* row(int64_t i) const { return x_ + i * n_ / count_ * codec_.dim(); }
  CodeRows codes() const { return {codes_.data(), count_}; }
  RowPlace place(int64_t i) const { return spans_[0].place(blocks_.layout(), i); }

 private:
  const Codec& codec_;
  const ScanCodec& scan_codec_;
  const float* x_;
  int64_t n_;
  int64_t count_;
  std::vector<uint8_t> codes_;
  CodeBlocks blocks_;
  std::vector<BlockRows> spans_;
};

/// The exactness at which a row reaches its query's threshold, by the sketch and by the next stage.
struct NeededExactness {
  double sketch;
  double next;
};

NeededExactness needed_exactness(const ScanCodec& codec, const ScanQuery& at_0,
                                 const ScanQuery& at_1, const RowPlace& at, float threshold) {
  // Bounds grow by the same amount for each 1 of exactness.
  const auto reaching = [&](float bound_at_0, float bound_at_1) {
    return (double{threshold} - bound_at_0) / (double{bound_at_1} - bound_at_0);
  };
  ScanTerms terms = load_terms(codec, at);
  const int distance = sketch_distance(codec, at_0, at);
  const SignSums sums = {distance, other_sum(codec, at_0, at)};
  const double sketch =
      reaching(sketch_bound(at_0, terms, distance), sketch_bound(at_1, terms, distance));
  if (!codec.has_split_stages())
    return {sketch, reaching(sign_bound(at_0, terms, sums), sign_bound(at_1, terms, sums))};
  const Int8Stage& stage = codec.stages()[0];
  AlignedVector<int8_t> values(static_cast<size_t>(stage.padded_dim()));
  decode_int8(codec, stage, at, values.data());
  const int32_t dot = int8_dot(stage, at_0, values.data());
  terms.squared_norm = first_stage_squared_norm(codec, at);
  return {sketch, reaching(first_stage_bound(at_0, terms, dot, sums),
                           first_stage_bound(at_1, terms, dot, sums))};
}

/// Sets needed[i·kNeighbours …] of queries first … end−1, which are some of the rows.
void add_needed(const SampledRows& rows, int64_t queries, int64_t first, int64_t end,
                NeededExactness* needed) {
  const Codec& codec = rows.codec();
  const auto row_of = [&](int64_t query) { return query * rows.count() / queries; };
  std::vector<PreparedQuery> prepared;
  std::vector<TopK> best;
  for (int64_t query = first; query < end; ++query) {
    prepared.push_back(codec.prepare_query(rows.row(row_of(query))));
    best.emplace_back(kNeighbours);
  }
  AlignedVector<float> decoded(static_cast<size_t>(codec.dim()));
  for (int64_t row = 0; row < rows.count(); ++row) {
    const RowTerms terms = codec.decode_for_score(rows.codes(), row, decoded.data());
    for (size_t i = 0; i < prepared.size(); ++i) {
      if (row == row_of(first + static_cast<int64_t>(i))) continue;
      const float score = codec.score_decoded(prepared[i], terms, decoded.data());
      best[i].push({key_of_score(score, codec.higher_is_nearer()), row});
    }
  }
  for (size_t i = 0; i < prepared.size(); ++i) {
    const ScanQuery at_0 = make_scan_query(rows.scan_codec(), prepared[i], 0);
    const ScanQuery at_1 = make_scan_query(rows.scan_codec(), prepared[i], 1);
    const float threshold = -best[i].worst_key();
    NeededExactness* out = needed + (first + static_cast<int64_t>(i)) * kNeighbours;
    for (const Neighbor& neighbor : best[i].neighbors())
      *out++ = needed_exactness(rows.scan_codec(), at_0, at_1, rows.place(neighbor.id), threshold);
  }
}

/// The factor by which a margin loses kLostShare at the wanted exactness.
float factor_of(std::vector<double> needed, double wanted) {
  std::erase_if(needed, [](double exactness) { return !std::isfinite(exactness); });
  if (needed.empty()) return 1;
  const auto count = static_cast<double>(needed.size());
  const auto at = needed.begin() + static_cast<ptrdiff_t>((1 - kLostShare) * (count - 1));
  std::nth_element(needed.begin(), at, needed.end());
  return std::clamp(static_cast<float>(*at / wanted), SearchMargins::kLeast, SearchMargins::kMost);
}

SearchMargins measure(Codec& trained, const ScanCodec& scan_codec, int64_t n, const float* x) {
  const SampledRows rows(trained, scan_codec, n, x);
  const int64_t queries = std::min(kMostQueries, rows.count());
  std::vector<NeededExactness> needed(static_cast<size_t>(queries * kNeighbours));
  const int64_t groups = (queries + kQueriesTogether - 1) / kQueriesTogether;
  parallel_for(groups, thread_count(0, groups), [&](int64_t group, int /*thread*/) {
    const int64_t first = group * kQueriesTogether;
    add_needed(rows, queries, first, std::min(queries, first + kQueriesTogether), needed.data());
  });
  std::vector<double> sketch;
  std::vector<double> next;
  for (const NeededExactness& row_needed : needed) {
    sketch.push_back(row_needed.sketch);
    next.push_back(row_needed.next);
  }
  return {factor_of(std::move(sketch), kSketchExactness),
          factor_of(std::move(next), kNextExactness)};
}

}  // namespace

SearchMargins measure_margins(Codec& trained, int64_t n, const float* x) {
  if (!trained.has_basis() || n < kLeastRows || !BlockLayout::supports(trained)) return {};
  const WorkStage last(0.9, 1);
  const ScanCodec scan_codec(trained);
  if (!scan_codec.has_sketch()) return {};
  return measure(trained, scan_codec, n, x);
}

}  // namespace polarquant
