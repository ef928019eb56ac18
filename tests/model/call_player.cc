// SPDX-License-Identifier: MIT
#include "tests/model/call_player.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "tests/model/index_answers.h"
#include "tests/support/systems.h"

namespace polarquant::test {
namespace {

constexpr int64_t kTrainingRows = 280;

}  // namespace

std::span<const CallPlayer::Operation> CallPlayer::operations() {
  static constexpr Operation kOperations[] = {
      {"train", 1, &CallPlayer::train},
      {"add", 4, &CallPlayer::add},
      {"add_with_ids", 4, &CallPlayer::add_with_ids},
      {"remove", 3, &CallPlayer::remove},
      {"remove_filtered", 2, &CallPlayer::remove_filtered},
      {"update", 3, &CallPlayer::update},
      {"upsert", 3, &CallPlayer::upsert},
      {"merge", 3, &CallPlayer::merge},
      {"compact", 1, &CallPlayer::compact},
      {"reset", 1, &CallPlayer::reset},
      {"clone", 1, &CallPlayer::clone},
      {"save_and_load", 2, &CallPlayer::save_and_load},
      {"write_and_read", 1, &CallPlayer::write_and_read},
      {"set_nprobe", 1, &CallPlayer::set_nprobe},
      {"search", 2, &CallPlayer::search},
      {"search_filtered", 4, &CallPlayer::search_filtered},
      {"search_range", 2, &CallPlayer::search_range},
      {"reconstruct_none", 1, &CallPlayer::reconstruct_none},
      {"rebuild", 1, &CallPlayer::rebuild},
  };
  return kOperations;
}

CallPlayer::CallPlayer(const IndexKind& kind, polar_metric metric, std::string folder)
    : kind_(kind), metric_(metric), folder_(std::move(folder)) {}

const RandomFilter& CallPlayer::random_filter(Random& random) {
  std::unique_ptr<RandomFilter>& filter = filters_[random.below(filters_.size())];
  if (filter == nullptr || random.below(2) == 0) {
    filter = std::make_unique<RandomFilter>(random, now_->rows);
    if (random.below(2) == 0) filter->prepare();
  } else {
    filter->prepare();
  }
  return *filter;
}

void CallPlayer::play(const CallSequence& sequence) {
  log_.clear();
  filters_ = {};
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
    require_worked(polar_index_train(made, kTrainingRows, x.data(), nullptr), "train");
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
  const polar_status status = polar_index_train(now_->index.get(), n, x.data(), nullptr);
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
  const auto drawn = static_cast<int64_t>(random.below(2));
  const std::string path =
      folder_ + "/index-" + std::to_string(kMappedFilesMayGo ? drawn : saves_++);
  polar_save_options save_options;
  polar_save_options_init(&save_options);
  save_options.verify = random.below(4) == 0 ? 1 : 0;
  log(save_options.verify == 1 ? " verified" : "");
  require_worked(polar_index_save(now_->index.get(), path.c_str(), &save_options), "save");
  polar_load_options options = load_options();
  options.memory_map = random.below(3) == 0 ? 1 : 0;
  log(options.memory_map == 1 ? " mapped" : "");
  polar_index* loaded = nullptr;
  require_worked(polar_index_load(path.c_str(), &options, &loaded), "load");
  const IndexHandle before(now_->index.release());
  now_->index.reset(loaded);
  now_->is_mapped = options.memory_map == 1 && kind_.can(kMaps);
  const bool may_go = kMappedFilesMayGo || !now_->is_mapped;
  if (random.below(2) == 0 && may_go) std::filesystem::remove(path);
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
