// SPDX-License-Identifier: MIT
// Rows are decoded a tile at a time. Few queries are scored against floats that stay in the L1
// cache; for many, bytes first tell which rows can be among the best (rounded_rows.h), which is
// much faster (docs/dev/tuning.md, "Plans"). The work is a grid of row ranges × query slices, so
// that one query uses all threads, and so do many queries over few rows.
#include "src/scan/search/exhaustive_search.h"

#include <algorithm>
#include <memory>
#include <vector>

#include "src/core/parallel.h"
#include "src/scan/search/plan.h"
#include "src/scan/search/query_groups.h"
#include "src/scan/search/rounded_rows.h"

namespace polarquant {
namespace {

/// Decoded rows of a tile: half of a 32 KiB L1 cache, the smallest in use.
constexpr size_t kTileBytes = 16 * 1024;
constexpr int64_t kMaxTileRows = 64;

/// Decoded rows side by side, each on a cache line boundary.
class Tile {
 public:
  explicit Tile(int dim)
      : stride_((static_cast<size_t>(dim) + 15) / 16 * 16),
        capacity_(std::clamp<int64_t>(static_cast<int64_t>(kTileBytes / (stride_ * sizeof(float))),
                                      1, kMaxTileRows)),
        values_(stride_ * static_cast<size_t>(capacity_)),
        terms_(static_cast<size_t>(capacity_)),
        ids_(static_cast<size_t>(capacity_)) {}

  bool full() const { return size_ == capacity_; }
  void clear() { size_ = 0; }
  void push(const Codec& codec, CodeRows codes, int64_t row) {
    const auto slot = static_cast<size_t>(size_++);
    terms_[slot] = codec.decode_for_score(codes, row, values_.data() + slot * stride_);
    ids_[slot] = row;
  }
  void score(const Codec& codec, const PreparedQuery& query, TopK& best) const {
    for (size_t slot = 0; slot < static_cast<size_t>(size_); ++slot) {
      const float* y = values_.data() + slot * stride_;
      const float score = codec.score_decoded(query, terms_[slot], y);
      best.push({key_of_score(score, codec.higher_is_nearer()), ids_[slot]});
    }
  }

 private:
  size_t stride_;
  int64_t capacity_;
  int64_t size_ = 0;
  AlignedVector<float> values_;
  std::vector<RowTerms> terms_;
  std::vector<int64_t> ids_;
};

class ExhaustiveSearch final : public QueryGroups {
 public:
  // As many threads as there can be tasks: a row and a query each.
  ExhaustiveSearch(const Codec& codec, CodeRows codes, const SearchRequest& request,
                   const SearchResult& result)
      : QueryGroups(codec, request, result,
                    thread_count(request.threads, std::max(codes.rows, request.nq)),
                    static_cast<double>(div_up(codes.rows, kExhaustiveTaskRows)) *
                        static_cast<double>(request.nq)),
        codes_(codes) {}

  void run() { QueryGroups::run(plan_for(request_.nq).group_queries); }

 private:
  /// The plan for so many queries of the search.
  ScanPlan plan_for(int64_t nq) const {
    return plan_scan(nullptr, {}, {nq, k(), codes_.rows, 0, threads_, true});
  }

  void search_group() override {
    prepare_queries();
    const ScanPlan plan = plan_for(nq_);
    rounded_ = plan.rounded ? std::make_unique<RoundedQueries>(prepared_, codec_.dim(),
                                                               codec_.higher_is_nearer())
                            : nullptr;
    begin_parts(threads_, k());
    for_each_task(plan, div_up(codes_.rows, kExhaustiveTaskRows),
                  [&](int64_t, int64_t first, int64_t count, int64_t range, int thread) {
                    progress_.advance(static_cast<double>(count));
                    if (rounded_ != nullptr) {
                      scan_rounded(range, first, first + count, best(thread));
                    } else {
                      scan(range, first, first + count, best(thread));
                    }
                  });
  }

  /// body(row) for the rows of a range that the filter lets through.
  template <typename Body>
  void for_each_row(int64_t range, const Body& body) const {
    const int64_t first = range * kExhaustiveTaskRows;
    request_.filter.for_each(first, std::min(codes_.rows, first + kExhaustiveTaskRows), body);
  }

  void scan(int64_t range, int64_t first_query, int64_t end_query, TopK* best) {
    Tile tile(codec_.dim());
    const auto score_tile = [&] {
      for (int64_t q = first_query; q < end_query; ++q) {
        tile.score(codec_, prepared_[static_cast<size_t>(q)], best[q]);
      }
      tile.clear();
    };
    for_each_row(range, [&](int64_t row) {
      tile.push(codec_, codes_, row);
      if (tile.full()) score_tile();
    });
    score_tile();
  }

  void scan_rounded(int64_t range, int64_t first_query, int64_t end_query, TopK* best) {
    RoundedRows rows(codec_);
    const auto score_rows = [&] {
      rows.score(*rounded_, first_query, end_query, best);
      rows.clear();
    };
    for_each_row(range, [&](int64_t row) {
      rows.push(codes_, row);
      if (rows.full()) score_rows();
    });
    if (!rows.empty()) score_rows();
  }

  CodeRows codes_;
  std::unique_ptr<RoundedQueries> rounded_;  // for many queries
};

}  // namespace

void exhaustive_search(const Codec& codec, CodeRows codes, const SearchRequest& request,
                       const SearchResult& result) {
  ExhaustiveSearch(codec, codes, request, result).run();
}

}  // namespace polarquant
