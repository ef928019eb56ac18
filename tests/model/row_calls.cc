// SPDX-License-Identifier: MIT
// Calls that bring rows, change them and take them away.
#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "src/core/format.h"
#include "tests/model/call_player.h"
#include "tests/model/index_answers.h"
#include "tests/model/random_filter.h"

namespace polarquant::test {
namespace {

constexpr int64_t kMostRows = 400;
constexpr int64_t kMostUntrainedRows = 1300;

}  // namespace

void CallPlayer::add(Random& random) { add_rows(random, false); }
void CallPlayer::add_with_ids(Random& random) { add_rows(random, true); }

void CallPlayer::add_rows(Random& random, bool with_ids) {
  PlainRows& rows = now_->rows;
  int64_t n = random.below(4) == 0 ? 60 + any_of(random, 90) : any_of(random, 9);
  // Indexes that nobody trained learn from their first thousand rows.
  if (!same_state_ && random.below(6) == 0) n = 300 + any_of(random, 400);
  if (kind_.can(kBuildsOnce)) n = 80 + any_of(random, 40);
  if (rows.size() + n > (same_state_ ? kMostRows : kMostUntrainedRows)) n = 0;
  std::vector<float> x = random_rows(random, n);
  if (n > 2 && random.below(8) == 0) make_strange(random, x.data());
  const bool finite = n == 0 || random.below(10) != 0;
  if (!finite) x[random.below(x.size())] = random.below(2) == 0 ? kNan : -kInfinity;

  std::vector<int64_t> ids(static_cast<size_t>(n));
  bool new_ids = true;
  for (size_t i = 0; i < ids.size(); ++i) {
    constexpr int64_t kLast = std::numeric_limits<int64_t>::max();
    ids[i] = random.below(4) == 0 ? kLast - any_of(random, 1000) : any_of(random, 3000);
    if (random.below(40) == 0) ids[i] = kLast;
    if (random.below(200) == 0) ids[i] = -1 - any_of(random, 5);
    // Most calls are meant to work.
    while (random.below(30) != 0 &&
           (rows.find(ids[i]) != nullptr || std::count(ids.begin(), ids.end(), ids[i]) > 1)) {
      ids[i] = any_of(random, 30000);
    }
    new_ids = new_ids && ids[i] >= 0 && rows.find(ids[i]) == nullptr &&
              std::count(ids.begin(), ids.begin() + static_cast<ptrdiff_t>(i), ids[i]) == 0;
  }

  const std::vector<uint8_t> before = saved_bytes(now_->index.get());
  const polar_status status =
      with_ids ? polar_index_add_with_ids(now_->index.get(), n, x.data(), ids.data(), nullptr)
               : polar_index_add(now_->index.get(), n, x.data(), nullptr);
  log(format_text("({} rows): {}", n, polar_status_name(status)));
  const PlainRows::Ids wanted = with_ids ? PlainRows::Ids::callers : PlainRows::Ids::numbered;
  const bool fits = rows.ids() == PlainRows::Ids::undecided || rows.ids() == wanted;
  const bool allowed = finite && fits && (!with_ids || (new_ids && kind_.can(kTakesIds))) &&
                       !now_->is_mapped && !(kind_.can(kBuildsOnce) && !rows.empty());
  if (status == POLAR_OK) {
    require_that(allowed || n == 0, "adding worked");
    for (int64_t i = 0; i < n; ++i) {
      const std::vector<float> row(x.begin() + i * kind_.dim, x.begin() + (i + 1) * kind_.dim);
      rows.add(1, kind_.dim, kept_form(metric_, row).data(),
               with_ids ? &ids[static_cast<size_t>(i)] : nullptr);
    }
    return;
  }
  require_that(!allowed, "adding failed: " + last_error());
  require_that(kind_.can(kHashesIds) || saved_bytes(now_->index.get()) == before,
               "adding failed and changed it: " + last_error());
}

/// A row that is not like the others: nothing, next to nothing, far away, or stored already.
void CallPlayer::make_strange(Random& random, float* row) const {
  switch (random.below(4)) {
    case 0:
      std::fill_n(row, kind_.dim, 0.F);
      break;
    case 1:
      std::for_each_n(row, kind_.dim, [](float& value) { value *= 1e-6F; });
      break;
    case 2:
      if (kind_.can(kClips)) break;
      std::for_each_n(row, kind_.dim, [](float& value) { value *= 1e4F; });
      break;
    default: {
      const auto& stored = now_->rows.rows();
      if (!stored.empty())
        std::copy_n(stored[random.below(stored.size())].x.begin(), kind_.dim, row);
    }
  }
}

void CallPlayer::compare_removal(polar_status status, int64_t removed,
                                 const std::function<bool(int64_t)>& goes) {
  PlainRows& rows = now_->rows;
  log(std::string(": ") + polar_status_name(status));
  bool any = false;
  for (const PlainRows::Row& row : rows.rows()) any = any || goes(row.id);
  const bool can =
      rows.ids() == PlainRows::Ids::numbered ? kind_.can(kRenumbers) : kind_.can(kRemovesIds);
  if (status == POLAR_OK) {
    require_that(!any || (can && !now_->is_mapped), "removing worked");
    const int64_t gone = rows.remove(goes);
    require_that(removed == gone, "it removed " + std::to_string(removed) + " rows, " +
                                      std::to_string(gone) + " were there");
    return;
  }
  require_that(!can || now_->is_mapped || rows.empty(), "removing failed: " + last_error());
  require_that(status == POLAR_ERROR_UNSUPPORTED, "removing is not refused as unsupported");
}

void CallPlayer::remove(Random& random) {
  std::vector<int64_t> ids(random.below(8));
  for (int64_t& id : ids) {
    id = now_->rows.empty() || random.below(3) == 0
             ? any_of(random, 4000) - 10
             : now_->rows.rows()[random.below(now_->rows.rows().size())].id;
  }
  const std::vector<uint8_t> before = saved_bytes(now_->index.get());
  int64_t removed = -1;
  const polar_status status =
      polar_index_remove(now_->index.get(), static_cast<int64_t>(ids.size()), ids.data(), &removed);
  compare_removal(status, removed,
                  [&](int64_t id) { return std::count(ids.begin(), ids.end(), id) > 0; });
  require_that(
      status == POLAR_OK || kind_.can(kHashesIds) || saved_bytes(now_->index.get()) == before,
      "removing failed and changed it");
}

void CallPlayer::remove_filtered(Random& random) {
  const RandomFilter& filter = random_filter(random);
  log(format_text("({})", filter.name()));
  const polar_filter given = filter.filter();
  int64_t removed = -1;
  const polar_status status = polar_index_remove_filtered(now_->index.get(), &given, &removed);
  compare_removal(status, removed, [&](int64_t id) { return filter.keeps(id); });
}

void CallPlayer::update(Random& random) {
  PlainRows& rows = now_->rows;
  const auto n = static_cast<int64_t>(random.below(6));
  std::vector<int64_t> ids(static_cast<size_t>(n));
  bool all_stored = true;
  for (int64_t& id : ids) {
    id = rows.empty() || random.below(10) == 0 ? any_of(random, 5000)
                                               : rows.rows()[random.below(rows.rows().size())].id;
    all_stored = all_stored && rows.find(id) != nullptr;
  }
  const std::vector<float> x = random_rows(random, n);
  const std::vector<uint8_t> before = saved_bytes(now_->index.get());
  const polar_status status =
      polar_index_update(now_->index.get(), n, ids.data(), x.data(), nullptr);
  log(format_text("({} rows): {}", n, polar_status_name(status)));
  if (status == POLAR_OK) {
    require_that(n == 0 || (all_stored && kind_.can(kUpdates) && !now_->is_mapped),
                 "updating worked");
    for (int64_t i = 0; i < n; ++i) {
      const std::vector<float> row(x.begin() + i * kind_.dim, x.begin() + (i + 1) * kind_.dim);
      rows.update(ids[static_cast<size_t>(i)], kept_form(metric_, row));
    }
    return;
  }
  require_that(!(all_stored && kind_.can(kUpdates) && !now_->is_mapped),
               "updating failed: " + last_error());
  require_that(status == POLAR_ERROR_UNSUPPORTED || status == POLAR_ERROR_NOT_FOUND,
               "updating is not refused by its cause: " + last_error());
  require_that(kind_.can(kHashesIds) || saved_bytes(now_->index.get()) == before,
               "updating failed and changed it");
}

void CallPlayer::upsert(Random& random) {
  PlainRows& rows = now_->rows;
  const auto n = static_cast<int64_t>(1 + random.below(6));
  std::vector<int64_t> ids(static_cast<size_t>(n));
  for (int64_t& id : ids) {
    id = rows.empty() || random.below(2) == 0 ? any_of(random, 30000)
                                              : rows.rows()[random.below(rows.rows().size())].id;
  }
  const std::vector<float> x = random_rows(random, n);
  const std::vector<uint8_t> before = saved_bytes(now_->index.get());
  const polar_status status =
      polar_index_upsert(now_->index.get(), n, ids.data(), x.data(), nullptr);
  log(format_text("({} rows): {}", n, polar_status_name(status)));
  const bool allowed =
      kind_.can(kUpserts) && !now_->is_mapped && rows.ids() != PlainRows::Ids::numbered;
  if (status != POLAR_OK) {
    require_that(!allowed, "putting rows failed: " + last_error());
    require_that(kind_.can(kHashesIds) || saved_bytes(now_->index.get()) == before,
                 "putting rows failed and changed it: " + last_error());
    return;
  }
  require_that(allowed, "putting rows worked");
  for (int64_t i = 0; i < n; ++i) {
    const int64_t id = ids[static_cast<size_t>(i)];
    const std::vector<float> row =
        kept_form(metric_, {x.begin() + i * kind_.dim, x.begin() + (i + 1) * kind_.dim});
    if (rows.find(id) != nullptr) {
      rows.update(id, row);
    } else {
      rows.add(1, kind_.dim, row.data(), &id);
    }
  }
}

/// Of the same rows; what a graph finds when it keeps all nodes is the same.
void CallPlayer::compact(Random& /*random*/) {
  require_worked(polar_index_compact(now_->index.get(), nullptr), "compact");
}

void CallPlayer::merge(Random& random) {
  bool clash = false;
  for (const PlainRows::Row& row : other_->rows.rows()) {
    clash = clash ||
            (now_->rows.ids() == PlainRows::Ids::callers &&
             other_->rows.ids() == PlainRows::Ids::callers && now_->rows.find(row.id) != nullptr);
  }
  const bool fits =
      now_->rows.empty() || other_->rows.empty() || now_->rows.ids() == other_->rows.ids();
  const bool is_mapped = now_->is_mapped || other_->is_mapped;
  const std::vector<uint8_t> before = saved_bytes(now_->index.get());
  const std::vector<uint8_t> other_before = saved_bytes(other_->index.get());
  const polar_status status = polar_index_merge(now_->index.get(), other_->index.get(), nullptr);
  log(std::string(": ") + polar_status_name(status));
  if (status == POLAR_OK) {
    require_that(other_->rows.empty() || (fits && !clash && !is_mapped && kind_.can(kMerges)),
                 "merging worked");
    now_->rows.take_over(other_->rows);
    audit(kind_, metric_, *now_, random);
    audit(kind_, metric_, *other_, random);
    return;
  }
  const bool may_differ = !same_state_ && status == POLAR_ERROR_STATE_MISMATCH;
  require_that(!fits || clash || is_mapped || !kind_.can(kMerges) || may_differ,
               "merging failed: " + last_error());
  require_that(kind_.can(kHashesIds) || (saved_bytes(now_->index.get()) == before &&
                                         saved_bytes(other_->index.get()) == other_before),
               "merging failed and changed them: " + last_error());
}

}  // namespace polarquant::test
