// SPDX-License-Identifier: MIT
#include "src/scan/stores/int8_row_scorer.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "src/scan/kernels/bounds/load_terms.h"
#include "src/scan/kernels/bounds/sign_dots.h"
#include "src/scan/kernels/decode/candidate_dots.h"
#include "src/scan/kernels/decode/decode_rows.h"
#include "src/scan/kernels/decode/level_floats.h"
#include "src/scan/kernels/sketch/link_estimates.h"
#include "src/scan/kernels/tile.h"
#include "src/scan/model/row_values.h"
#include "src/scan/model/scan_query.h"
#include "src/scan/search/plan.h"
#include "src/scan/search/spare_memory.h"
#include "src/scan/search/top_k.h"
#include "src/scan/stores/decoded_pairs.h"
#include "src/simd/exact_sums.h"

namespace polarquant {
namespace {

/// Scores by int8 values.
class Int8Scorer final : public RowScorer {
 public:
  Int8Scorer(const Codec& codec, const ScanCodec& scan, const SingleRows& rows)
      : codec_(codec),
        scan_(scan),
        rows_(rows),
        integer_pairs_(scan.stages().size() == 1 && scan.scales().empty()),
        scratch_(static_cast<size_t>(scan.padded_dim())),
        decoded_(static_cast<size_t>(codec.dim())),
        code_(rows.layout().row_format_bytes()) {
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
    if (!scan_.split_levels().empty()) {
      decode_split_levels(rows_.layout(), rows_.place(row), scan_.split_levels().data(),
                          decoded_.data());
      return codec_.score_decoded(prepared_, codec_.score_terms(factors(row)), decoded_.data());
    }
    const RowTerms terms = decode(row, decoded_.data());
    return codec_.score_decoded(prepared_, terms, decoded_.data());
  }

  void score_rows(int64_t row, const int32_t* others, int count, float* scores) override {
    if (!integer_pairs_) return float_pairs_.score(row, others, count, scores);
    take_values_of(row);
    const size_t code_bytes = rows_.layout().row_format_bytes();
    for (int first = 0; first < count; first += kMostTogether) {
      const int some = std::min(kMostTogether, count - first);
      take(others + first, some, at_);
      for (int i = 0; i < some; ++i) polarquant::fetch(at_[i].sketch, code_bytes);
      dots(as_query_, 0, some);
      for (int i = 0; i < some; ++i) scores[first + i] = pair_score(factors(at_[i]), dots_[0][i]);
    }
  }

  void forget_chosen() override {
    float_pairs_.forget_chosen();
    chosen_.clear();
  }
  bool is_near_chosen(int32_t row, float key) override {
    if (!integer_pairs_) return float_pairs_.is_near_chosen(row, key);
    take_values_of(row);
    const auto chosen = static_cast<int>(chosen_.size());
    for (int first = 0; first < chosen; first += kComparedTogether) {
      const int some = std::min(kComparedTogether, chosen - first);
      dot_int8_rows(scan_.stages()[0], as_query_, values_of_chosen(first), some, dots_[0]);
      for (int i = 0; i < some; ++i) {
        const float score = pair_score(chosen_[static_cast<size_t>(first + i)], dots_[0][i]);
        if (key_of_score(score, codec_.higher_is_nearer()) < key) return true;
      }
    }
    return false;
  }
  void choose() override {
    if (!integer_pairs_) return float_pairs_.choose();
    chosen_.push_back(factors_of_values_);
    const size_t bytes = as_query_.values.size();
    if (chosen_values_.size() < chosen_.size() * bytes)
      chosen_values_.resize(2 * chosen_.size() * bytes);
    std::copy_n(as_query_.values.data(), bytes, values_of_chosen(std::ssize(chosen_) - 1));
  }

  void fetch(const int32_t* rows, int count) const override {
    const BlockLayout& layout = rows_.layout();
    const size_t bytes =
        layout.factor_bytes() + (bounded_ ? layout.payload_sign_bytes() : payload_bytes_);
    for (int i = 0; i < count; ++i) polarquant::fetch(rows_.place(rows[i]).sketch, bytes);
  }

  float begin_links() override {
    const LinkRecordLayout& records = *rows_.records();
    tables_->make(*query_, records.signs());
    estimates_.resize(static_cast<size_t>(records.slots()));
    const float* q = prepared_.rotated.data();
    const double squares = simd_exact_sums().dot_exact(q, q, codec_.dim());
    const double factor = codec_.metric() == Metric::l2 ? 2 : 1;
    return static_cast<float>(factor * codec_.norm_unit() * std::sqrt(squares / codec_.dim()));
  }
  LinkScores score_links(int32_t row) override {
    const LinkRecordLayout& records = *rows_.records();
    const uint8_t* record = rows_.record(row);
    take(&row, 1, at_);
    const ScanTerms terms = load_terms(scan_, at_[0]);
    dots(*query_, 0, 1);
    const float score = similarity(query_->score, terms, dots_[0][0]);
    const float along =
        terms.scale * (query_->score.dot_scale[0] * static_cast<float>(dots_[0][0]));
    estimate_links(*tables_, records, record, {records, record, query_->score, score, along},
                   estimates_.data());
    return {score, reinterpret_cast<const int32_t*>(record + records.links_offset()),
            estimates_.data(), records.slots()};
  }
  void fetch_record(int32_t row) const override {
    polarquant::fetch<kFirstLevel>(rows_.record(row), rows_.records()->bytes());
  }
  void fetch_next_record(int32_t row, bool whole) const override {
    const size_t bytes = rows_.records()->bytes();
    polarquant::fetch(rows_.record(row), whole ? bytes : std::min(kRecordStart, bytes));
  }

 private:
  /// So many bytes of the next record are on their way while a node is scored: with all of them,
  /// more lines than a core has under way, a search took a twelfth longer (docs/dev/tuning.md,
  /// "Graphs in records").
  static constexpr size_t kRecordStart = 512;
  static constexpr int kMostTogether = 64;
  static constexpr int kCapacity = kMostTogether + 4;
  /// Chosen rows that are compared at a time: the first ones are the likeliest to be near.
  static constexpr int kComparedTogether = 8;

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
  /// A query asks for it only where rows are compared: a sum in order takes as long as ten rows.
  double centre_norm2() {
    if (centre_norm2_ < 0) {
      centre_norm2_ = 0;
      for (const float value : codec_.centre()) centre_norm2_ += double{value} * value;
    }
    return centre_norm2_;
  }
  Factors factors(const RowPlace& at) const {
    return load_factors(scan_.factor_format(), rows_.layout().row_factors(at));
  }
  Factors factors(int64_t row) const { return factors(rows_.place(row)); }
  /// Makes a row the one that others are compared with.
  void take_values_of(int64_t row) {
    if (row == row_of_values_) return;
    const RowPlace at = rows_.place(row);
    decode_padded_row(scan_, at, as_query_.values.data());
    factors_of_values_ = factors(at);
    row_of_values_ = row;
  }
  /// Of that row and one of these factors, from the dot product of their values.
  float pair_score(const Factors& other, int32_t values_dot) {
    const Factors& own = factors_of_values_;
    const double step = scan_.stages()[0].step;
    const double dot = step * step * values_dot * (double{own.scale} * other.scale);
    if (scan_.metric() == Metric::l2)
      return static_cast<float>(double{own.bias} * own.bias + double{other.bias} * other.bias -
                                2 * dot);
    return static_cast<float>(centre_norm2() + (double{own.bias} + other.bias) + dot);
  }
  int8_t* values_of_chosen(ptrdiff_t i) {
    return chosen_values_.data() + i * std::ssize(as_query_.values);
  }
  RowTerms decode(int64_t row, float* y) {
    rows_.get(row, code_.data());
    return codec_.decode_for_score({code_.data(), 1}, 0, y);
  }

  const Codec& codec_;
  const ScanCodec& scan_;
  const SingleRows& rows_;
  double centre_norm2_ = -1;  // not known yet
  bool integer_pairs_;        // pairs of rows have scores by values too
  size_t payload_bytes_ =
      0;  // bytes of a row's payload that a score reads, which may be more than there are
  PreparedQuery prepared_;
  bool bounded_ = false;
  SpareMemory<ScanQuery> query_;
  SpareMemory<LinkTables> tables_;
  AlignedVector<float> estimates_;
  RowPlace at_[kCapacity];
  ScanTerms terms_[kCapacity];
  int32_t dots_[2][kCapacity];
  alignas(64) uint8_t factors_[kMostTogether * 2 * sizeof(float)] = {};
  AlignedVector<int8_t> scratch_;
  // Of the row that others are compared with.
  int64_t row_of_values_ = -1;
  ScanQuery as_query_;
  Factors factors_of_values_ = {};
  std::vector<Factors> chosen_;
  AlignedVector<int8_t> chosen_values_;  // a row for each, and space for more
  AlignedVector<float> decoded_;
  std::vector<uint8_t> code_;
  DecodedPairs float_pairs_{codec_, [this](int64_t row, float* y) { return decode(row, y); }};
};

}  // namespace

std::unique_ptr<RowScorer> make_int8_row_scorer(const Codec& codec, const ScanCodec& scan,
                                                const SingleRows& rows) {
  return std::make_unique<Int8Scorer>(codec, scan, rows);
}

void decode_padded_row(const ScanCodec& scan, const RowPlace& at, int8_t* values) {
  decode_int8_rows(scan, scan.stages()[0], &at, 1, values);
  clear_padding(values, scan.dim());
}

}  // namespace polarquant
