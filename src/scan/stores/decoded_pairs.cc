// SPDX-License-Identifier: MIT
#include "src/scan/stores/decoded_pairs.h"

#include <algorithm>
#include <utility>

#include "src/scan/search/top_k.h"

namespace polarquant {

DecodedPairs::DecodedPairs(const Codec& codec, Decode decode)
    : codec_(codec), decode_(std::move(decode)), dim_(static_cast<size_t>(codec.dim())) {}

void DecodedPairs::score(int64_t row, const int32_t* others, int count, float* scores) {
  take(row);
  other_.resize(dim_);
  for (int i = 0; i < count; ++i) {
    const RowTerms terms = decode_(others[i], other_.data());
    scores[i] = codec_.score_decoded_rows(terms_, y_.data(), terms, other_.data());
  }
}

bool DecodedPairs::is_near_chosen(int32_t row, float key) {
  take(row);
  for (size_t i = 0; i < chosen_terms_.size(); ++i) {
    const float score =
        codec_.score_decoded_rows(terms_, y_.data(), chosen_terms_[i], chosen_.data() + i * dim_);
    if (key_of_score(score, codec_.higher_is_nearer()) < key) return true;
  }
  return false;
}

void DecodedPairs::choose() {
  chosen_terms_.push_back(terms_);
  const size_t size = chosen_terms_.size() * dim_;
  if (chosen_.size() < size) chosen_.resize(2 * size);
  std::copy(y_.begin(), y_.end(), chosen_.data() + size - dim_);
}

void DecodedPairs::take(int64_t row) {
  if (row == row_) return;
  y_.resize(dim_);
  terms_ = decode_(row, y_.data());
  row_ = row;
}

}  // namespace polarquant
