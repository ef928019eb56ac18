// SPDX-License-Identifier: MIT
#include "src/scan/stores/single_row_store.h"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "src/core/checked_size.h"
#include "src/scan/kernels/bounds/load_terms.h"
#include "src/scan/kernels/bounds/sign_dots.h"
#include "src/scan/kernels/decode/candidate_dots.h"
#include "src/scan/kernels/decode/decode_rows.h"
#include "src/scan/kernels/tile.h"
#include "src/scan/layout/row_removal.h"
#include "src/scan/model/scan_query.h"
#include "src/scan/search/plan.h"
#include "src/scan/search/row_search.h"
#include "src/scan/search/spare_memory.h"

namespace polarquant {
namespace {

/// Rows, each its factors, its words and then its payload: bounds read the first two.
class SingleRows {
 public:
  explicit SingleRows(const Codec& codec) : layout_(codec, RowOrder::single) {}

  const BlockLayout& layout() const { return layout_; }
  int64_t rows() const { return rows_; }
  size_t memory_bytes() const { return bytes_.capacity(); }
  RowPlace place(int64_t row) const {
    const uint8_t* sketch = bytes_.data() + kReadAhead + static_cast<size_t>(row) * row_bytes();
    return {sketch, sketch + layout_.factor_bytes(), kGroupRows, 0};
  }
  void get(int64_t row, uint8_t* code) const { layout_.get_row(place(row), code); }
  void overwrite(int64_t row, const uint8_t* code) noexcept {
    layout_.put_row(code, writable(place(row)));
  }
  void copy_row(int64_t from, int64_t to) noexcept {
    uint8_t* first = bytes_.data() + kReadAhead;
    std::memcpy(first + static_cast<size_t>(to) * row_bytes(),
                first + static_cast<size_t>(from) * row_bytes(), row_bytes());
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

/// Scores by int8 values.
class Int8Scorer final : public RowScorer {
 public:
  Int8Scorer(const Codec& codec, const ScanCodec& scan, const SingleRows& rows)
      : codec_(codec),
        scan_(scan),
        rows_(rows),
        integer_pairs_(scan.stages().size() == 1 && scan.scales().empty()),
        scratch_(static_cast<size_t>(scan.padded_dim())),
        row_values_(static_cast<size_t>(scan.padded_dim())),
        decoded_(static_cast<size_t>(codec.dim())),
        code_(rows.layout().row_format_bytes()) {
    for (const float value : codec.centre()) centre_norm2_ += double{value} * value;
    as_query_.values.resize(static_cast<size_t>(scan.padded_dim()));
    for (const Int8Stage& stage : scan.stages())
      payload_bytes_ = std::max(payload_bytes_, stage.payload_bytes);
  }

  void set_query(const float* q, float exactness) override {
    prepared_ = codec_.prepare_query(q);
    bounded_ = single_rows_are_bounded(scan_, exactness);
    set_scan_query(scan_, prepared_, bounded_ ? exactness : 0, &*query_);
  }

  void score(const int32_t* rows, int count, float* scores) override {
    const float sign = codec_.higher_is_nearer() ? 1.0F : -1.0F;
    const size_t stages = scan_.stages().size();
    for (int first = 0; first < count; first += kMostTogether) {
      const int some = std::min(kMostTogether, count - first);
      take(rows + first, some, at_);
      load_terms_of(some);
      for (size_t stage = 0; stage < stages; ++stage) dots(*query_, stage, some);
      for (int i = 0; i < some; ++i) {
        const float score = stages == 2
                                ? similarity(query_->score, terms_[i], dots_[0][i], dots_[1][i])
                                : similarity(query_->score, terms_[i], dots_[0][i]);
        scores[first + i] = sign * score;
      }
    }
  }

  int keep_reaching(int32_t* rows, int count, float worst_key) const override {
    if (!bounded_) return count;
    RowPlace at[kCapacity];
    float bounds[kCapacity];
    int kept = 0;
    for (int first = 0; first < count; first += kMostTogether) {
      const int some = std::min(kMostTogether, count - first);
      take(rows + first, some, at);
      single_sign_bounds(scan_, *query_, at, some, bounds);
      // No branches: which rows stay is not predictable.
      for (int i = 0; i < some; ++i) {
        rows[kept] = rows[first + i];
        kept += -bounds[i] > worst_key ? 0 : 1;
      }
    }
    const size_t signs = rows_.layout().payload_sign_bytes();
    for (int i = 0; i < kept; ++i)
      polarquant::fetch(rows_.place(rows[i]).payload + signs, payload_bytes_ - signs);
    return kept;
  }

  float exact_score(int64_t row) override {
    rows_.get(row, code_.data());
    const RowTerms terms = codec_.decode_for_score({code_.data(), 1}, 0, decoded_.data());
    return codec_.score_decoded(prepared_, terms, decoded_.data());
  }

  float score_rows(int64_t a, int64_t b) override {
    if (!integer_pairs_) return score_by_codes(a, b);
    // Building a graph compares one row with many: its values are kept.
    if (a != row_of_values_ && b != row_of_values_) keep_values_of(a == last_[0] ? a : b);
    last_[0] = a;
    last_[1] = b;
    const auto other = static_cast<int32_t>(a == row_of_values_ ? b : a);
    take(&other, 1, at_);
    dots(as_query_, 0, 1);
    const Factors x = factors(a);
    const Factors y = factors(b);
    const double step = scan_.stages()[0].step;
    const double dot = step * step * dots_[0][0] * (double{x.scale} * y.scale);
    if (scan_.metric() == Metric::l2)
      return static_cast<float>(double{x.bias} * x.bias + double{y.bias} * y.bias - 2 * dot);
    return static_cast<float>(centre_norm2_ + (double{x.bias} + y.bias) + dot);
  }

  void fetch(const int32_t* rows, int count) const override {
    const BlockLayout& layout = rows_.layout();
    const size_t bytes =
        layout.factor_bytes() + (bounded_ ? layout.payload_sign_bytes() : payload_bytes_);
    for (int i = 0; i < count; ++i) polarquant::fetch(rows_.place(rows[i]).sketch, bytes);
  }

 private:
  static constexpr int kMostTogether = 64;
  static constexpr int kCapacity = kMostTogether + 4;

  void take(const int32_t* rows, int count, RowPlace* at) const {
    for (int i = 0; i < count; ++i) at[i] = rows_.place(rows[i]);
  }
  /// Loads the terms of the rows taken.
  void load_terms_of(int count) {
    const size_t bytes = scan_.factor_format().bytes();
    for (int i = 0; i < count; ++i)
      std::memcpy(factors_ + static_cast<size_t>(i) * bytes, at_[i].sketch, bytes);
    alignas(64) float scales[kBlockRows];
    alignas(64) float constants[kBlockRows];
    alignas(64) float biases[kBlockRows];
    load_block_terms(scan_, factors_, BlockLayout::capacity(count), scales, constants, biases);
    for (int i = 0; i < count; ++i) terms_[i] = {scales[i], constants[i], 0};
  }
  void dots(const ScanQuery& query, size_t stage, int count) {
    place_dots(scan_, scan_.stages()[stage], query, at_, count, scratch_.data(), dots_[stage]);
  }
  Factors factors(int64_t row) const {
    return load_factors(scan_.factor_format(), rows_.layout().row_factors(rows_.place(row)));
  }
  void keep_values_of(int64_t row) {
    const RowPlace at = rows_.place(row);
    decode_int8_rows(scan_, scan_.stages()[0], &at, 1, row_values_.data());
    // Positions without a coordinate have any value; a query has 0 there.
    std::fill(as_query_.values.begin(), as_query_.values.end(), int8_t{0});
    const int dim = scan_.dim();
    const int full = dim / kSegmentDims * kSegmentDims;
    std::copy_n(row_values_.begin(), full, as_query_.values.begin());
    for (int j = full; j < dim; ++j) {
      const auto position = static_cast<size_t>(position_of(j, dim));
      as_query_.values[position] = row_values_[position];
    }
    row_of_values_ = row;
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
  bool integer_pairs_;  // pairs of rows have scores by values too
  size_t payload_bytes_ =
      0;  // bytes of a row's payload that a score reads, which may be more than there are
  PreparedQuery prepared_;
  bool bounded_ = false;
  SpareMemory<ScanQuery> query_;
  RowPlace at_[kCapacity];
  ScanTerms terms_[kCapacity];
  int32_t dots_[2][kCapacity];
  alignas(64) uint8_t factors_[kMostTogether * 2 * sizeof(float)] = {};
  AlignedVector<int8_t> scratch_;
  ScanQuery as_query_;  // a row's values
  int64_t row_of_values_ = -1;
  int64_t last_[2] = {-1, -1};
  AlignedVector<int8_t> row_values_;
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
    std::unique_ptr<ScanCodec> scan_codec;
    if (rows() == 0) scan_codec = std::make_unique<ScanCodec>(codec, RowOrder::single);
    rows_.append(n, codes);
    if (scan_codec != nullptr) scan_codec_ = std::move(scan_codec);
  }
  void clear() noexcept override { rows_.clear(); }

  void get(const Codec& /*codec*/, int64_t row, uint8_t* code) const override {
    rows_.get(row, code);
  }
  void overwrite(const Codec& /*codec*/, int64_t row, const uint8_t* code) noexcept override {
    rows_.overwrite(row, code);
  }
  void remove(const Codec& /*codec*/, std::span<const uint64_t> removed) override {
    rows_.truncate(move_kept_rows(rows(), removed,
                                  [this](int64_t from, int64_t to) { rows_.copy_row(from, to); }));
  }

  Mark mark(const Codec& /*codec*/) const override { return {rows(), {}}; }
  void go_back_to(const Codec& /*codec*/, const Mark& mark) noexcept override {
    rows_.truncate(mark.rows);
  }

  void search(const Codec& codec, const SearchRequest& request,
              const SearchResult& result) const override {
    const std::vector<uint8_t> codes = unpacked(codec);
    row_search(codec, {codes.data(), rows()}, request, result);
  }

  std::unique_ptr<RowScorer> make_scorer(const Codec& codec) const override {
    if (scan_codec_ == nullptr) return make_float_scorer(codec, *this);
    return std::make_unique<Int8Scorer>(codec, *scan_codec_, rows_);
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
