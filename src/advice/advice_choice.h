// SPDX-License-Identifier: MIT
// What the advisor says of codes it has measured: which differences are more than noise, and which
// code to take.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace polarquant {

/// A mean over queries, and half of its 95 % interval.
struct QueryMean {
  double mean = 0;
  double margin = 0;
};

/// Share of k neighbours found, by the number found for each query (one or more). The margin is
/// never 0: no miss in n trials says only that fewer than 3/n are missed (rule of three).
QueryMean mean_recall(std::span<const int64_t> found, int64_t k);
/// Recall of `found` less that of `other`, query by query, so that what is hard for both cancels.
QueryMean mean_gain(std::span<const int64_t> found, std::span<const int64_t> other, int64_t k);

/// One code on the sample.
struct AdviceRow {
  std::string spec;
  std::string problem;  // why the code was not measured; then the fields below mean nothing
  bool needs_training = false;
  double bytes = 0;        // of a vector, factors included
  size_t codec_bytes = 0;  // of memory for rotation and tables, once
  QueryMean recall;
  double quarter_recall = 0;   // where a quarter of the base is all there is
  double expected_recall = 0;  // over all rows there will be; see expect_recall
  double error = 0;  // mean ‖x̂−x‖²/‖x−c‖², x̂ unbiased, of rows not trained on
  std::optional<QueryMean> gain;  // of "…-pca" over the same name without it
  /// False for a trained code that gains no more than noise.
  bool pays = true;
};

/// Sets expected_recall of measured rows: more is missed among more rows, on some data, as
/// neighbours lie closer together. From `quarter` rows to `base` rows the odds of a miss, by the
/// mean of all codes, grew g-fold, 1 at least; to `total` rows each code's odds grow g^e-fold, e =
/// log(total/base) / log(base/quarter), 0 at least. Odds, since shares would pass 1.
void expect_recall(int64_t quarter, int64_t base, int64_t total, std::vector<AdviceRow>* rows);

/// What the user asks for; 0: not given.
struct AdviceWish {
  int64_t k = 10;
  double recall = 0;
  double bytes = 0;
};

/// Recall that half a bit a dimension more has to bring where nothing is asked for: one more of 100
/// neighbours. Each bit halves what is missed, roughly; so a price twice as high or low would move
/// the choice by no more than one bit.
inline constexpr double kRecallPerHalfBit = .01;

struct AdviceChoice {
  int row = -1;        // −1: none
  std::string reason;  // for people
};

/// The chosen one of the rows that were measured and pay, by expected recall: with a wanted recall,
/// the fewest bytes that reach it by more than the margin of recall (none, when these are more than
/// the bytes allowed); with allowed bytes alone, the most recall within them; with neither, the
/// most of recall − kRecallPerHalfBit per half bit a dimension. Ties to fewer bytes, then more
/// recall, then the earlier row.
AdviceChoice choose(int dim, const AdviceWish& wish, std::span<const AdviceRow> rows);

}  // namespace polarquant
