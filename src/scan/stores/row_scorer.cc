// SPDX-License-Identifier: MIT
#include "src/scan/stores/row_scorer.h"

#include "src/core/aligned_buffer.h"
#include "src/scan/stores/decoded_pairs.h"
#include "src/scan/stores/row_store.h"

namespace polarquant {
namespace {

class FloatScorer final : public RowScorer {
 public:
  FloatScorer(const Codec& codec, const RowStore& rows)
      : codec_(codec), rows_(rows), row_(static_cast<size_t>(codec.dim())) {}

  void set_query(const float* q, float /*exactness*/) override { query_ = codec_.prepare_query(q); }
  void score(const int32_t* rows, int count, float* scores) override {
    for (int i = 0; i < count; ++i) scores[i] = exact_score(rows[i]);
  }
  float exact_score(int64_t row) override {
    const RowTerms terms = rows_.decode_for_score(codec_, row, row_.data());
    return codec_.score_decoded(query_, terms, row_.data());
  }
  void score_rows(int64_t row, const int32_t* others, int count, float* scores) override {
    pairs_.score(row, others, count, scores);
  }
  void forget_chosen() override { pairs_.forget_chosen(); }
  bool is_near_chosen(int32_t row, float key) override { return pairs_.is_near_chosen(row, key); }
  void choose() override { pairs_.choose(); }

 private:
  const Codec& codec_;
  const RowStore& rows_;
  PreparedQuery query_;
  AlignedVector<float> row_;
  DecodedPairs pairs_{
      codec_, [this](int64_t row, float* y) { return rows_.decode_for_score(codec_, row, y); }};
};

}  // namespace

std::unique_ptr<RowScorer> make_float_scorer(const Codec& codec, const RowStore& rows) {
  return std::make_unique<FloatScorer>(codec, rows);
}

}  // namespace polarquant
