// SPDX-License-Identifier: MIT
#include "src/scan/single_row_store.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>
#include <vector>

#include "src/core/checked_size.h"
#include "src/scan/kernels/level_rows.h"
#include "src/scan/kernels/survivor_dots.h"
#include "src/scan/kernels/tile.h"
#include "src/scan/row_levels.h"
#include "src/scan/row_removal.h"
#include "src/scan/row_search.h"
#include "src/scan/scan_query.h"

namespace polarquant {
namespace {

/// Rows, each its words, its rest and then its factors.
class SingleRows {
 public:
  explicit SingleRows(const Codec& codec) : layout_(codec, RowOrder::single) {}

  const BlockLayout& layout() const { return layout_; }
  int64_t rows() const { return rows_; }
  size_t memory_bytes() const { return bytes_.capacity(); }
  RowPlace place(int64_t row) const {
    const uint8_t* rest = bytes_.data() + kReadAhead + static_cast<size_t>(row) * row_bytes();
    return {rest + layout_.rest_bytes(), rest, kGroupRows, 0};
  }
  void get(int64_t row, uint8_t* code) const { layout_.get_row(place(row), code); }
  void overwrite(int64_t row, const uint8_t* code) noexcept {
    layout_.put_row(code, writable(place(row)));
  }
  /// Unchanged after an error (out of memory). Growth is by an eighth.
  void append(int64_t n, const uint8_t* codes) {
    const size_t size = bytes_of(static_cast<int64_t>(checked_add(rows_, n, "rows")));
    if (size > bytes_.capacity()) {
      AlignedVector<uint8_t> larger;
      larger.reserve(std::max(size, bytes_.capacity() + bytes_.capacity() / 8));
      larger.assign(bytes_.begin(), bytes_.end());
      bytes_.swap(larger);
    }
    bytes_.resize(size);
    for (int64_t i = 0; i < n; ++i, codes += layout_.row_format_bytes())
      overwrite(rows_ + i, codes);
    rows_ += n;
  }
  void truncate(int64_t rows) noexcept {
    rows_ = rows;
    bytes_.resize(rows == 0 ? 0 : bytes_of(rows));
  }
  void clear() noexcept {
    AlignedVector<uint8_t>().swap(bytes_);
    rows_ = 0;
  }

 private:
  size_t row_bytes() const { return layout_.row_bytes(); }
  size_t bytes_of(int64_t rows) const {
    return checked_add(checked_mul(rows, row_bytes(), "bytes of rows"), 2 * kReadAhead,
                       "bytes of rows");
  }

  BlockLayout layout_;
  int64_t rows_ = 0;
  AlignedVector<uint8_t> bytes_;
};

/// Scores by levels. Rows are handed to the scan's kernels as a tile of blocks of one row each.
class LevelScorer final : public RowScorer {
 public:
  LevelScorer(const Codec& codec, const ScanCodec& scan, const SingleRows& rows)
      : codec_(codec),
        scan_(scan),
        rows_(rows),
        integer_pairs_(scan.stages().size() == 1 && scan.scales().empty()),
        tile_(std::make_unique<ScanTile>()),
        scratch_(static_cast<size_t>(scan.lanes())),
        row_levels_(static_cast<size_t>(scan.lanes())),
        decoded_(static_cast<size_t>(codec.dim())),
        code_(rows.layout().row_format_bytes()) {
    for (const float value : codec.centre()) centre_norm2_ += double{value} * value;
    as_query_.levels.resize(static_cast<size_t>(scan.lanes()));
    for (int i = 0; i < kMostTogether; ++i) {
      tile_->room[i] = kGroupRows;
      tile_->allowed[i] = 1;
    }
  }

  void set_query(const float* q) override {
    prepared_ = codec_.prepare_query(q);
    query_ = make_scan_query(scan_, prepared_, 0);
  }

  void score(const int32_t* rows, int count, float* scores) override {
    const float sign = codec_.higher_is_nearer() ? 1.0F : -1.0F;
    for (int first = 0; first < count; first += kMostTogether) {
      const int some = std::min(kMostTogether, count - first);
      take(rows + first, some);
      dots(query_, 0, some);
      if (scan_.stages().size() == 2) dots(query_, 1, some);
      for (int i = 0; i < some; ++i) {
        const ScanTerms terms = load_terms(scan_, place_of(*tile_, numbers_of(i)));
        const float score = scan_.stages().size() == 2
                                ? goodness(query_.score, terms, dots_[0][i], dots_[1][i])
                                : goodness(query_.score, terms, dots_[0][i]);
        scores[first + i] = sign * score;
      }
    }
  }

  float exact_score(int64_t row) override {
    rows_.get(row, code_.data());
    const RowTerms terms = codec_.decode_for_score({code_.data(), 1}, 0, decoded_.data());
    return codec_.score_decoded(prepared_, terms, decoded_.data());
  }

  float score_rows(int64_t a, int64_t b) override {
    if (!integer_pairs_) return score_by_codes(a, b);
    // Graph building compares one row with many: its levels are kept.
    if (a != row_of_levels_ && b != row_of_levels_) keep_levels_of(a == last_[0] ? a : b);
    last_[0] = a;
    last_[1] = b;
    const auto other = static_cast<int32_t>(a == row_of_levels_ ? b : a);
    take(&other, 1);
    dots(as_query_, 0, 1);
    const Factors x = factors(a);
    const Factors y = factors(b);
    const double step = scan_.stages()[0].step;
    const double dot = step * step * dots_[0][0] * (double{x.scale} * y.scale);
    if (scan_.metric() == Metric::l2)
      return static_cast<float>(double{x.bias} * x.bias + double{y.bias} * y.bias - 2 * dot);
    return static_cast<float>(centre_norm2_ + (double{x.bias} + y.bias) + dot);
  }

  void fetch(int64_t row) const override {
    const RowPlace at = rows_.place(row);
    polarquant::fetch(at.rest, rows_.layout().row_bytes());
  }

 private:
  static constexpr int kMostTogether = 64;

  static uint32_t numbers_of(int i) { return static_cast<uint32_t>(i * kBlockRows); }
  void take(const int32_t* rows, int count) {
    for (int i = 0; i < count; ++i) {
      const RowPlace at = rows_.place(rows[i]);
      tile_->front[i] = at.front;
      tile_->rest[i] = at.rest;
    }
  }
  void dots(const ScanQuery& query, size_t stage, int count) {
    for (int i = 0; i < count; ++i) numbers_[i] = numbers_of(i);
    survivor_dots(*tile_, scan_, scan_.stages()[stage], query, numbers_, count, scratch_.data(),
                  dots_[stage]);
  }
  Factors factors(int64_t row) const {
    return load_factors(scan_.factor_format(), rows_.layout().row_factors(rows_.place(row)));
  }
  void keep_levels_of(int64_t row) {
    const auto taken = static_cast<int32_t>(row);
    take(&taken, 1);
    const uint32_t number = 0;
    decode_level_rows(*tile_, scan_, scan_.stages()[0], &number, 1, row_levels_.data());
    // Lanes without a coordinate have any value; a query has 0 there.
    std::fill(as_query_.levels.begin(), as_query_.levels.end(), int8_t{0});
    const int dim = scan_.dim();
    const int full = dim / kSegmentLanes * kSegmentLanes;
    std::copy_n(row_levels_.begin(), full, as_query_.levels.begin());
    for (int j = full; j < dim; ++j) {
      const auto lane = static_cast<size_t>(lane_of(j, dim));
      as_query_.levels[lane] = row_levels_[lane];
    }
    row_of_levels_ = row;
  }
  float score_by_codes(int64_t a, int64_t b) {
    std::vector<uint8_t> code_a(code_.size());
    rows_.get(a, code_a.data());
    rows_.get(b, code_.data());
    return codec_.score_codes({code_a.data(), 1}, 0, {code_.data(), 1}, 0);
  }

  const Codec& codec_;
  const ScanCodec& scan_;
  const SingleRows& rows_;
  double centre_norm2_ = 0;
  bool integer_pairs_;  // pairs of rows have scores by levels too
  PreparedQuery prepared_;
  ScanQuery query_;
  std::unique_ptr<ScanTile> tile_;
  uint32_t numbers_[kMostTogether + 4];
  int32_t dots_[2][kMostTogether + 4];
  AlignedVector<int8_t> scratch_;
  ScanQuery as_query_;  // levels of a row
  int64_t row_of_levels_ = -1;
  int64_t last_[2] = {-1, -1};
  AlignedVector<int8_t> row_levels_;
  AlignedVector<float> decoded_;
  std::vector<uint8_t> code_;
};

class SingleRowStore final : public RowStore {
 public:
  explicit SingleRowStore(const Codec& codec) : rows_(codec) {}

  int64_t rows() const override { return rows_.rows(); }
  size_t memory_bytes() const override { return rows_.memory_bytes(); }

  void append(const Codec& codec, int64_t n, const float* x, int threads) override {
    require(n >= 0, StatusCode::bad_argument, "n: {} rows are not allowed; 0 or more", n);
    if (n == 0) return;
    std::vector<uint8_t> codes(codec.layout().bytes(n));
    codec.encode(n, x, codes.data(), threads);
    append_codes(codec, n, codes.data());
  }
  void append_codes(const Codec& codec, int64_t n, const uint8_t* codes) override {
    // The codec's state is final once it has encoded.
    auto scan_codec = std::make_unique<ScanCodec>(codec, RowOrder::single);
    rows_.append(n, codes);
    scan_codec_ = std::move(scan_codec);
  }
  void clear() noexcept override { rows_.clear(); }

  void get(const Codec& /*codec*/, int64_t row, uint8_t* code) const override {
    rows_.get(row, code);
  }
  void overwrite(const Codec& /*codec*/, int64_t row, const uint8_t* code) noexcept override {
    rows_.overwrite(row, code);
  }
  void remove(const Codec& /*codec*/, std::span<const uint64_t> removed) override {
    std::vector<uint8_t> code(rows_.layout().row_format_bytes());
    rows_.truncate(move_kept_rows(rows_, code, removed));
  }

  Mark mark(const Codec& /*codec*/) const override { return {rows(), {}}; }
  void go_back_to(const Codec& /*codec*/, const Mark& mark) noexcept override {
    rows_.truncate(mark.rows);
  }

  void search(const Codec& codec, int64_t nq, const float* queries, int64_t k,
              const RowFilter& filter, const SearchOptions& options, float* scores,
              int64_t* ids) const override {
    const std::vector<uint8_t> codes = unpacked(codec);
    row_search(codec, {codes.data(), rows()}, nq, queries, k, filter, options, scores, ids);
  }
  void range_search(const Codec& codec, int64_t nq, const float* queries, float radius,
                    const RowFilter& filter, const SearchOptions& options,
                    RangeFound* found) const override {
    const std::vector<uint8_t> codes = unpacked(codec);
    row_range_search(codec, {codes.data(), rows()}, nq, queries, radius, filter, options, found);
  }

  std::unique_ptr<RowScorer> make_scorer(const Codec& codec) const override {
    if (scan_codec_ == nullptr) return make_float_scorer(codec, *this);
    return std::make_unique<LevelScorer>(codec, *scan_codec_, rows_);
  }

 private:
  std::vector<uint8_t> unpacked(const Codec& codec) const {
    std::vector<uint8_t> codes(codec.layout().bytes(rows()));
    for (int64_t row = 0; row < rows(); ++row)
      rows_.get(row, codes.data() + static_cast<size_t>(row) * rows_.layout().row_format_bytes());
    return codes;
  }

  SingleRows rows_;
  std::unique_ptr<ScanCodec> scan_codec_;  // of the state that the rows were encoded in
};

}  // namespace

std::unique_ptr<RowStore> make_single_row_store(const Codec& codec) {
  return std::make_unique<SingleRowStore>(codec);
}

}  // namespace polarquant
