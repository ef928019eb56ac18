// SPDX-License-Identifier: MIT
// Calls that ask.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "src/core/format.h"
#include "tests/model/call_player.h"
#include "tests/model/index_answers.h"
#include "tests/model/random_filter.h"

namespace polarquant::test {
namespace {

/// Between what a filtered search found, and what a search of all rows found of those that are
/// kept; "" for none.
std::string difference_of(const IndexKind& kind, const Found& found, const Found& expected) {
  if (found.size() != expected.size())
    return format_text("a filtered search found {} of {} rows", found.size(), expected.size());
  // FAISS's own kinds add up in another order with a filter.
  const bool is_ours = std::string(kind.description).find("Polar") != std::string::npos;
  for (size_t i = 0; i < found.size(); ++i) {
    const auto [score, id] = found[i];
    const auto [plain_score, plain_id] = expected[i];
    const float allowed = is_ours ? 0 : 1e-5F * (1 + std::abs(plain_score));
    if (std::abs(score - plain_score) <= allowed && (!is_ours || id == plain_id)) continue;
    return format_text(
        "a filtered search found id {} of score {} in place {}, where id {} of score {} stands "
        "without it",
        id, score, i, plain_id, plain_score);
  }
  return "";
}

}  // namespace

void CallPlayer::set_nprobe(Random& random) {
  const int64_t nprobe = 1 + any_of(random, 5);
  const polar_status status = polar_index_set_nprobe(now_->index.get(), nprobe);
  if (polar_index_nlist(now_->index.get()) == 0) {
    require_that(status == POLAR_ERROR_UNSUPPORTED, "it took an nprobe, and has no lists");
    return;
  }
  require_worked(status, "set_nprobe");
  require_that(polar_index_nprobe(now_->index.get()) == nprobe, "it has another nprobe");
}

/// By default options: what they leave out is the index's choice, what is found is not.
void CallPlayer::search(Random& random) {
  if (polar_index_is_trained(now_->index.get()) == 0) return;
  polar_search_options options;
  polar_search_options_init(&options);
  options.num_threads = 1 + static_cast<int32_t>(random.below(8) == 0);
  const Found found = search_all(now_->index.get(), metric_, random_rows(random, 1), options);
  for (const auto& [score, id] : found) {
    require_that(now_->rows.find(id) != nullptr,
                 "a search found id " + std::to_string(id) + ", which no row has");
  }
}

void CallPlayer::search_filtered(Random& random) {
  if (polar_index_is_trained(now_->index.get()) == 0 || !filters(kind_, now_->index.get())) return;
  const RandomFilter& filter = random_filter(random);
  log(format_text("({})", filter.name()));
  const polar_index* index = now_->index.get();
  polar_search_options options = exhaustive_options(kind_, index);
  const std::vector<float> query = random_rows(random, 1);
  Found expected = search_all(index, metric_, query, options);
  std::erase_if(expected, [&](const auto& neighbor) { return !filter.keeps(neighbor.second); });
  const polar_filter given = filter.filter();
  options.filter = &given;
  // What a prepared filter found is copied after some searches.
  const int times = given.kind == POLAR_FILTER_PREPARED && random.below(4) == 0 ? 10 : 1;
  for (int i = 0; i < times; ++i) {
    const Found found = search_all(index, metric_, query, options);
    for (const auto& [score, id] : found) {
      require_that(now_->rows.find(id) != nullptr && filter.keeps(id),
                   "a filtered search found id " + std::to_string(id));
    }
    if (!kind_.can(kFindsAll)) continue;
    const std::string difference = difference_of(kind_, found, expected);
    require_that(difference.empty(), difference);
  }
}

void CallPlayer::search_range(Random& random) {
  const polar_index* index = now_->index.get();
  if (polar_index_is_trained(index) == 0) return;
  const std::vector<float> query = random_rows(random, 1);
  const polar_search_options options = exhaustive_options(kind_, index);
  const Found all = search_all(index, metric_, query, options);
  const float radius = all.empty() ? 1.F : all[random.below(all.size())].first;
  const auto capacity = static_cast<size_t>(now_->rows.size() + 1);
  std::vector<int64_t> lims(2);
  std::vector<float> scores(capacity);
  std::vector<int64_t> ids(capacity);
  const polar_status status = polar_index_range_search(index, 1, query.data(), radius, &options,
                                                       static_cast<int64_t>(capacity), lims.data(),
                                                       scores.data(), ids.data());
  if (!kind_.can(kFindsRanges)) {
    require_that(status == POLAR_ERROR_UNSUPPORTED || now_->rows.empty(),
                 "range search is not refused");
    return;
  }
  require_worked(status, "range_search");
  require_that(lims[0] == 0 && lims[1] <= now_->rows.size(), "it found more rows than there are");
  Found within;
  for (size_t i = 0; i < static_cast<size_t>(lims[1]); ++i) {
    within.emplace_back(scores[i], ids[i]);
  }
  std::sort(within.begin(), within.end());
  const float error_bound = 1e-5F * (1 + std::abs(radius));
  const auto inside = [&](float score, float margin) {
    return metric_ == POLAR_METRIC_L2 ? score < radius + margin : score > radius - margin;
  };
  for (const auto& [score, id] : within) {
    require_that(now_->rows.find(id) != nullptr && inside(score, 0),
                 "a range search found id " + std::to_string(id) + " of score " +
                     std::to_string(score) + ", radius " + std::to_string(radius));
  }
  for (const auto& neighbor : all) {
    const auto [score, id] = neighbor;
    const bool is_found = std::any_of(within.begin(), within.end(), [&](const auto& one) {
      return one.second == neighbor.second;
    });
    require_that(is_found ? inside(score, error_bound) : !inside(score, -error_bound),
                 "id " + std::to_string(id) + " of score " + std::to_string(score) +
                     (is_found ? " is" : " is not") + " within " + std::to_string(radius));
  }
}

void CallPlayer::reconstruct_none(Random& random) {
  const int64_t id = any_of(random, 5000) - 100;
  if (now_->rows.find(id) != nullptr) return;
  std::vector<float> x(static_cast<size_t>(kind_.dim));
  const polar_status status = polar_index_reconstruct(now_->index.get(), id, x.data());
  require_that(status == POLAR_ERROR_NOT_FOUND || status == POLAR_ERROR_UNSUPPORTED,
               "it reconstructed id " + std::to_string(id) + ", which no row has");
}

/// However the rows came to be where they are: an index to which they are added in one call answers
/// the same.
void CallPlayer::rebuild(Random& random) {
  const PlainRows& rows = now_->rows;
  // Rows that were normalized once would change in their last bits.
  if (metric_ == POLAR_METRIC_COSINE || kind_.can(kBatchesShow)) return;
  if (!same_state_ || rows.empty()) return;
  polar_index* copy = nullptr;
  require_worked(polar_index_clone(empty_.get(), &copy), "clone");
  const IndexHandle rebuilt(copy);
  std::vector<float> x;
  std::vector<int64_t> ids;
  for (const PlainRows::Row& row : rows.rows()) {
    x.insert(x.end(), row.x.begin(), row.x.end());
    ids.push_back(row.id);
  }
  require_worked(rows.ids() == PlainRows::Ids::callers
                     ? polar_index_add_with_ids(copy, rows.size(), x.data(), ids.data(), nullptr)
                     : polar_index_add(copy, rows.size(), x.data(), nullptr),
                 "add to a new index");
  const std::vector<float> query = random_rows(random, 1);
  require_that(search_all(copy, metric_, query, exhaustive_options(kind_, copy)) ==
                   search_all(now_->index.get(), metric_, query,
                              exhaustive_options(kind_, now_->index.get())),
               "an index with the same rows finds others");
}

}  // namespace polarquant::test
