// SPDX-License-Identifier: MIT
#include "src/advice/advice_choice.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "src/core/format.h"

namespace polarquant {
namespace {

/// Standard errors to either side that hold 95 % of a normal distribution.
constexpr double kStandardErrors = 1.96;
constexpr double kRuleOfThree = 3;

QueryMean mean_of(size_t count, const std::function<double(size_t)>& value) {
  const auto n = static_cast<double>(count);
  double sum = 0;
  for (size_t i = 0; i < count; ++i) sum += value(i);
  const double mean = sum / n;
  double squares = 0;
  for (size_t i = 0; i < count; ++i) squares += (value(i) - mean) * (value(i) - mean);
  const double variance = count > 1 ? squares / (n - 1) : 0;
  return {mean, kStandardErrors * std::sqrt(variance / n)};
}

/// +inf for 1.
double odds(double share) { return share / (1 - share); }

bool can_be_chosen(const AdviceRow& row) { return row.problem.empty() && row.pays; }

/// The row of the largest value among those for which `value` is a number; ties as `choose` says.
int best_row(std::span<const AdviceRow> rows,
             const std::function<double(const AdviceRow&)>& value) {
  int best = -1;
  for (size_t i = 0; i < rows.size(); ++i) {
    const AdviceRow& row = rows[i];
    if (!can_be_chosen(row) || std::isnan(value(row))) continue;
    if (best >= 0) {
      const AdviceRow& chosen = rows[static_cast<size_t>(best)];
      const double difference = value(row) - value(chosen);
      const bool better = difference != 0 ? difference > 0
                          : row.bytes != chosen.bytes
                              ? row.bytes < chosen.bytes
                              : row.expected_recall > chosen.expected_recall;
      if (!better) continue;
    }
    best = static_cast<int>(i);
  }
  return best;
}

std::string recall_text(const AdviceRow& row) {
  return format_text("{:.4f} ± {:.4f} expected", row.expected_recall, row.recall.margin);
}

/// What training gains, of the chosen code or of the trained one of its name.
std::string training_text(const AdviceRow& chosen, std::span<const AdviceRow> rows) {
  if (chosen.gain) {
    return format_text(
        " Training gains {:.4f} ± {:.4f} of recall over {:g} untrained bytes; it takes a sample, "
        "and dim² operations a query.",
        chosen.gain->mean, chosen.gain->margin, chosen.bytes);
  }
  for (const AdviceRow& row : rows) {
    if (row.spec != chosen.spec + "-pca" || !row.gain) continue;
    return format_text(" {} gains {:.4f} ± {:.4f}: no more than noise.", row.spec, row.gain->mean,
                       row.gain->margin);
  }
  return {};
}

AdviceChoice describe(int row, std::span<const AdviceRow> rows, const std::string& why) {
  const AdviceRow& chosen = rows[static_cast<size_t>(row)];
  return {row, format_text("{}: {}{}", chosen.spec, why, training_text(chosen, rows))};
}

AdviceChoice choose_by_bytes(const AdviceWish& wish, std::span<const AdviceRow> rows) {
  const int highest = best_row(rows, [&](const AdviceRow& row) {
    return row.bytes <= wish.bytes ? row.expected_recall : NAN;
  });
  if (highest < 0) {
    const AdviceRow& smallest =
        rows[static_cast<size_t>(best_row(rows, [](const AdviceRow& row) { return -row.bytes; }))];
    return {-1, format_text("No code: the smallest, {}, takes {:g} bytes, {:g} are allowed.",
                            smallest.spec, smallest.bytes, wish.bytes)};
  }
  const AdviceRow& row = rows[static_cast<size_t>(highest)];
  return describe(highest, rows,
                  format_text("the highest recall@{} ({}) within {:g} bytes; it takes {:g}.",
                              wish.k, recall_text(row), wish.bytes, row.bytes));
}

AdviceChoice choose_by_recall(const AdviceWish& wish, std::span<const AdviceRow> rows) {
  const int fewest = best_row(rows, [&](const AdviceRow& row) {
    return row.expected_recall - row.recall.margin >= wish.recall ? -row.bytes : NAN;
  });
  if (fewest < 0) {
    const AdviceRow& highest = rows[static_cast<size_t>(
        best_row(rows, [](const AdviceRow& row) { return row.expected_recall; }))];
    return {-1,
            format_text("No code: none surely reaches recall@{} of {}; {} comes nearest with "
                        "{} in {:g} bytes. Scoring the best candidates again with the floats "
                        "(\"…,RFlat\") reaches more.",
                        wish.k, wish.recall, highest.spec, recall_text(highest), highest.bytes)};
  }
  const AdviceRow& row = rows[static_cast<size_t>(fewest)];
  if (wish.bytes > 0 && row.bytes > wish.bytes) {
    const AdviceChoice within = choose_by_bytes(wish, rows);
    return {-1, format_text("No code: recall@{} of {} surely takes {:g} bytes ({}), {:g} are "
                            "allowed. Within these: {}",
                            wish.k, wish.recall, row.bytes, row.spec, wish.bytes, within.reason)};
  }
  return describe(fewest, rows,
                  format_text("the fewest bytes, {:g}, that surely reach recall@{} of {} ({}).",
                              row.bytes, wish.k, wish.recall, recall_text(row)));
}

AdviceChoice choose_by_value(int dim, const AdviceWish& wish, std::span<const AdviceRow> rows) {
  const int best = best_row(rows, [&](const AdviceRow& row) {
    const double half_bits = 2 * 8 * row.bytes / dim;
    return row.expected_recall - kRecallPerHalfBit * half_bits;
  });
  const AdviceRow& row = rows[static_cast<size_t>(best)];
  return describe(
      best, rows,
      format_text("the best value: recall@{} of {} in {:g} bytes; more bytes would find "
                  "less than one more of 100 true neighbours for each half bit a "
                  "dimension.",
                  wish.k, recall_text(row), row.bytes));
}

}  // namespace

QueryMean mean_recall(std::span<const int64_t> found, int64_t k) {
  const auto all = static_cast<double>(k);
  QueryMean recall =
      mean_of(found.size(), [&](size_t i) { return static_cast<double>(found[i]) / all; });
  recall.margin = std::max(recall.margin, kRuleOfThree / (static_cast<double>(found.size()) * all));
  return recall;
}

QueryMean mean_gain(std::span<const int64_t> found, std::span<const int64_t> other, int64_t k) {
  return mean_of(found.size(), [&](size_t i) {
    return static_cast<double>(found[i] - other[i]) / static_cast<double>(k);
  });
}

void expect_recall(int64_t quarter, int64_t base, int64_t total, std::vector<AdviceRow>* rows) {
  double missed = 0;
  double missed_in_quarter = 0;
  double count = 0;
  for (const AdviceRow& row : *rows) {
    if (!row.problem.empty()) continue;
    missed += 1 - row.recall.mean;
    missed_in_quarter += 1 - row.quarter_recall;
    ++count;
  }
  double growth = 1;
  if (missed_in_quarter > 0 && base > quarter && total > base) {
    const double steps = std::log(static_cast<double>(total) / static_cast<double>(base)) /
                         std::log(static_cast<double>(base) / static_cast<double>(quarter));
    const double ratio = odds(missed / count) / odds(missed_in_quarter / count);
    growth = std::pow(std::max(1.0, ratio), steps);
  }
  for (AdviceRow& row : *rows) {
    row.expected_recall =
        growth > 1 ? 1 / (1 + growth * odds(1 - row.recall.mean)) : row.recall.mean;
  }
}

AdviceChoice choose(int dim, const AdviceWish& wish, std::span<const AdviceRow> rows) {
  if (std::none_of(rows.begin(), rows.end(), can_be_chosen)) {
    const auto failed = std::find_if(rows.begin(), rows.end(),
                                     [](const AdviceRow& row) { return !row.problem.empty(); });
    return {-1, format_text("No code could be measured: {}",
                            failed == rows.end() ? "none was named" : failed->problem)};
  }
  if (wish.recall > 0) return choose_by_recall(wish, rows);
  if (wish.bytes > 0) return choose_by_bytes(wish, rows);
  return choose_by_value(dim, wish, rows);
}

}  // namespace polarquant
