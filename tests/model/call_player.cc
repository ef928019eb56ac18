// SPDX-License-Identifier: MIT
#include "tests/model/call_player.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <limits>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "src/core/format.h"
#include "tests/model/index_answers.h"
#include "tests/model/random_filter.h"

namespace polarquant::test {
namespace {

constexpr int64_t kMostRows = 400;
constexpr int64_t kMostUntrainedRows = 1300;
constexpr int64_t kTrainingRows = 280;

int64_t any_of(Random& random, int64_t bound) {
  return static_cast<int64_t>(random.below(static_cast<uint64_t>(bound)));
}

}  // namespace

std::span<const CallPlayer::Operation> CallPlayer::operations() {
  static constexpr Operation kOperations[] = {
      {"train", 1, &CallPlayer::train},
      {"add", 4, &CallPlayer::add},
      {"add_with_ids", 4, &CallPlayer::add_with_ids},
      {"remove", 3, &CallPlayer::remove},
      {"remove_filtered", 2, &CallPlayer::remove_filtered},
      {"update", 3, &CallPlayer::update},
      {"merge", 3, &CallPlayer::merge},
      {"reset", 1, &CallPlayer::reset},
      {"clone", 1, &CallPlayer::clone},
      {"save_and_load", 2, &CallPlayer::save_and_load},
      {"write_and_read", 1, &CallPlayer::write_and_read},
      {"set_nprobe", 1, &CallPlayer::set_nprobe},
      {"search", 2, &CallPlayer::search},
      {"search_filtered", 3, &CallPlayer::search_filtered},
      {"search_range", 2, &CallPlayer::search_range},
      {"reconstruct_none", 1, &CallPlayer::reconstruct_none},
      {"rebuild", 1, &CallPlayer::rebuild},
  };
  return kOperations;
}

CallPlayer::CallPlayer(const IndexKind& kind, polar_metric metric, std::string folder)
    : kind_(kind), metric_(metric), folder_(std::move(folder)) {}

void CallPlayer::play(const CallSequence& sequence) {
  log_.clear();
  try {
    begin(sequence.trains_first);
    for (const Call& call : sequence.calls) {
      Random random(call.seed);
      const auto at = static_cast<size_t>(random.below(2));
      now_ = &both_[at];
      other_ = &both_[1 - at];
      const Operation& operation = operations()[call.operation];
      log(std::string(at == 0 ? "\n  a." : "\n  b.") + operation.name);
      (this->*operation.play)(random);
      if (random.below(4) == 0) audit(kind_, metric_, *now_, random);
    }
    Random random(sequence.calls.size());
    for (const ModelledIndex& index : both_) audit(kind_, metric_, index, random);
  } catch (const ModelFailure& failure) {
    throw ModelFailure(std::string(failure.what()) + "\ncalls:" + log_);
  }
}

/// Two empty indexes. Where nothing is trained first, each learns from its own first rows.
void CallPlayer::begin(bool trains_first) {
  both_ = {};
  // Training takes longer than all calls of a sequence; each kind is trained once.
  static std::map<std::tuple<std::string, int32_t, polar_metric>, IndexHandle> trained;
  IndexHandle& kept = trained[{kind_.description, kind_.dim, metric_}];
  polar_index* made = nullptr;
  require_worked(polar_index_create(kind_.description, kind_.dim, metric_, &made), "create");
  empty_.reset(made);
  same_state_ = trains_first || polar_index_is_trained(made) == 0;
  if (same_state_ && kept == nullptr) {
    Random random(17);
    const std::vector<float> x = random_rows(random, kTrainingRows);
    require_worked(polar_index_train(made, kTrainingRows, x.data()), "train");
    kept = std::move(empty_);
  }
  if (same_state_) {
    require_worked(polar_index_clone(kept.get(), &made), "clone");
    empty_.reset(made);
  }
  for (ModelledIndex& index : both_) {
    polar_index* copy = nullptr;
    require_worked(polar_index_clone(empty_.get(), &copy), "clone");
    index.index.reset(copy);
  }
}

void CallPlayer::train(Random& random) {
  const int64_t n = kTrainingRows + any_of(random, 50);
  const std::vector<float> x = random_rows(random, n);
  const std::vector<uint8_t> before = saved_bytes(now_->index.get());
  const polar_status status = polar_index_train(now_->index.get(), n, x.data());
  log(std::string(": ") + polar_status_name(status));
  if (!now_->rows.empty()) {
    // Rows that are still kept as they came are coded by what is learned now.
    if (status == POLAR_OK && !same_state_) return;
    const bool is_refused = status == POLAR_ERROR_STATE_MISMATCH ||
                            (status == POLAR_ERROR_UNSUPPORTED && now_->is_mapped);
    require_that(is_refused, "training with rows is not refused");
    require_that(kind_.can(kHashesIds) || saved_bytes(now_->index.get()) == before,
                 "training that failed changed it");
    return;
  }
  require_worked(status, "train");
  now_->is_mapped = false;
  // Both have one state again.
  polar_index* copy = nullptr;
  if (other_->rows.empty()) {
    require_worked(polar_index_clone(now_->index.get(), &copy), "clone");
    other_->index.reset(copy);
    other_->is_mapped = false;
    require_worked(polar_index_clone(now_->index.get(), &copy), "clone");
    empty_.reset(copy);
    same_state_ = true;
  } else {
    reset(random);
  }
}

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
    ids[i] = random.below(4) == 0 ? std::numeric_limits<int64_t>::max() - 1 - any_of(random, 1000)
                                  : any_of(random, 3000);
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
      with_ids ? polar_index_add_with_ids(now_->index.get(), n, x.data(), ids.data())
               : polar_index_add(now_->index.get(), n, x.data());
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

/// A row that is not like the others: nothing, next to nothing, far away, or held already.
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
      const auto& held = now_->rows.rows();
      if (!held.empty()) std::copy_n(held[random.below(held.size())].x.begin(), kind_.dim, row);
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
  const RandomFilter filter(random, now_->rows);
  log(format_text("({})", filter.name()));
  polar_search_options options;
  polar_search_options_init(&options);
  filter.put_into(options);
  int64_t removed = -1;
  const polar_status status = polar_index_remove_filtered(now_->index.get(), &options, &removed);
  compare_removal(status, removed, [&](int64_t id) { return filter.keeps(id); });
}

void CallPlayer::update(Random& random) {
  PlainRows& rows = now_->rows;
  const auto n = static_cast<int64_t>(random.below(6));
  std::vector<int64_t> ids(static_cast<size_t>(n));
  bool all_held = true;
  for (int64_t& id : ids) {
    id = rows.empty() || random.below(10) == 0 ? any_of(random, 5000)
                                               : rows.rows()[random.below(rows.rows().size())].id;
    all_held = all_held && rows.find(id) != nullptr;
  }
  const std::vector<float> x = random_rows(random, n);
  const std::vector<uint8_t> before = saved_bytes(now_->index.get());
  const polar_status status = polar_index_update(now_->index.get(), n, ids.data(), x.data());
  log(format_text("({} rows): {}", n, polar_status_name(status)));
  if (status == POLAR_OK) {
    require_that(n == 0 || (all_held && kind_.can(kUpdates) && !now_->is_mapped),
                 "updating worked");
    for (int64_t i = 0; i < n; ++i) {
      const std::vector<float> row(x.begin() + i * kind_.dim, x.begin() + (i + 1) * kind_.dim);
      rows.update(ids[static_cast<size_t>(i)], kept_form(metric_, row));
    }
    return;
  }
  require_that(!(all_held && kind_.can(kUpdates) && !now_->is_mapped),
               "updating failed: " + last_error());
  require_that(status == POLAR_ERROR_UNSUPPORTED || status == POLAR_ERROR_NOT_FOUND,
               "updating is not refused by its cause: " + last_error());
  require_that(kind_.can(kHashesIds) || saved_bytes(now_->index.get()) == before,
               "updating failed and changed it");
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
  const polar_status status = polar_index_merge(now_->index.get(), other_->index.get());
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

/// As new: the rows gone, what was learned kept.
void CallPlayer::reset(Random&) {
  polar_index* copy = nullptr;
  require_worked(polar_index_clone(empty_.get(), &copy), "clone");
  *now_ = {IndexHandle(copy), {}, false};
}

void CallPlayer::clone(Random& random) {
  polar_index* copy = nullptr;
  require_worked(polar_index_clone(now_->index.get(), &copy), "clone");
  const IndexHandle before(now_->index.release());
  now_->index.reset(copy);
  now_->is_mapped = false;
  require_same_answers(before.get(), random);
}

void CallPlayer::save_and_load(Random& random) {
  const std::string path = folder_ + "/index-" + std::to_string(random.below(2));
  require_worked(polar_index_save(now_->index.get(), path.c_str()), "save");
  polar_load_options options = load_options();
  options.memory_map = random.below(3) == 0 ? 1 : 0;
  log(options.memory_map == 1 ? " mapped" : "");
  polar_index* loaded = nullptr;
  require_worked(polar_index_load(path.c_str(), &options, &loaded), "load");
  const IndexHandle before(now_->index.release());
  now_->index.reset(loaded);
  now_->is_mapped = options.memory_map == 1 && kind_.can(kMaps);
  if (random.below(2) == 0) std::filesystem::remove(path);
  require_worked(polar_index_verify(loaded), "verify");
  require_same_answers(before.get(), random);
}

/// Indexes of FAISS's alone are read from whom one trusts.
polar_load_options CallPlayer::load_options() const {
  polar_load_options options;
  polar_load_options_init(&options);
  const bool has_codes = std::string(kind_.description).find("Polar") != std::string::npos;
  options.trust_faiss = has_codes ? 0 : 1;
  return options;
}

void CallPlayer::write_and_read(Random& random) {
  struct Source {
    std::vector<uint8_t> bytes;
    size_t position = 0;
    size_t piece = 0;
  };
  Source source{saved_bytes(now_->index.get()), 0, 1 + random.below(5000)};
  const polar_read_fn read = [](void* user, void* data, size_t bytes) -> int64_t {
    auto& from = *static_cast<Source*>(user);
    const size_t count = std::min({bytes, from.piece, from.bytes.size() - from.position});
    std::copy_n(from.bytes.begin() + static_cast<ptrdiff_t>(from.position), count,
                static_cast<uint8_t*>(data));
    from.position += count;
    return static_cast<int64_t>(count);
  };
  const polar_load_options options = load_options();
  polar_index* loaded = nullptr;
  require_worked(polar_index_load_from(read, &source, &options, &loaded), "load_from");
  const IndexHandle before(now_->index.release());
  now_->index.reset(loaded);
  now_->is_mapped = false;
  require_that(kind_.can(kHashesIds) || saved_bytes(loaded) == source.bytes,
               "what was loaded is saved as other bytes");
  require_same_answers(before.get(), random);
}

void CallPlayer::require_same_answers(const polar_index* before, Random& random) {
  if (polar_index_is_trained(before) == 0) return;
  for (int i = 0; i < 2; ++i) {
    const std::vector<float> query = random_rows(random, 1);
    require_that(search_all(before, metric_, query, exhaustive_options(kind_, before)) ==
                     search_all(now_->index.get(), metric_, query,
                                exhaustive_options(kind_, now_->index.get())),
                 "the copy finds other rows");
  }
  require_that(polar_index_nprobe(before) == polar_index_nprobe(now_->index.get()),
               "the copy has another nprobe");
}

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
  const RandomFilter filter(random, now_->rows);
  log(format_text("({})", filter.name()));
  polar_search_options options = exhaustive_options(kind_, now_->index.get());
  filter.put_into(options);
  const Found found = search_all(now_->index.get(), metric_, random_rows(random, 1), options);
  for (const auto& [score, id] : found) {
    require_that(now_->rows.find(id) != nullptr && filter.keeps(id),
                 "a filtered search found id " + std::to_string(id));
  }
  const auto& rows = now_->rows.rows();
  const auto kept = std::count_if(rows.begin(), rows.end(),
                                  [&](const PlainRows::Row& row) { return filter.keeps(row.id); });
  require_that(!kind_.can(kFindsAll) || std::ssize(found) == kept,
               "a filtered search found " + std::to_string(found.size()) + " of " +
                   std::to_string(kept) + " rows");
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
  const float slack = 1e-5F * (1 + std::abs(radius));
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
    require_that(is_found ? inside(score, slack) : !inside(score, -slack),
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
                     ? polar_index_add_with_ids(copy, rows.size(), x.data(), ids.data())
                     : polar_index_add(copy, rows.size(), x.data()),
                 "add to a new index");
  const std::vector<float> query = random_rows(random, 1);
  require_that(search_all(copy, metric_, query, exhaustive_options(kind_, copy)) ==
                   search_all(now_->index.get(), metric_, query,
                              exhaustive_options(kind_, now_->index.get())),
               "an index with the same rows finds others");
}

std::vector<float> CallPlayer::random_rows(Random& random, int64_t n) const {
  std::vector<float> x(static_cast<size_t>(n * kind_.dim));
  for (float& value : x) value = static_cast<float>(random.normal());
  return x;
}

void CallPlayer::log(const std::string& line) { log_ += line; }

void CallPlayer::require_that(bool holds, const std::string& what) const {
  if (!holds) throw ModelFailure(what);
}

void CallPlayer::require_worked(polar_status status, const std::string& what) const {
  require_that(status == POLAR_OK, what + " failed: " + last_error());
}

}  // namespace polarquant::test
