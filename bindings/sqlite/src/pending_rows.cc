// SPDX-License-Identifier: MIT
#include "pending_rows.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <unordered_set>

#include "checksum.h"

namespace polarquant::sqlite {
namespace {

std::span<const uint8_t> as_bytes(std::span<const float> values) {
  return {reinterpret_cast<const uint8_t*>(values.data()), values.size_bytes()};
}

}  // namespace

PendingRows::PendingRows(ShadowTables& tables, const TableDefinition& definition)
    : tables_(tables), definition_(definition), dim_(static_cast<size_t>(definition.dim)) {
  const Codec codec = make_codec(definition.code, definition.dim, definition.metric);
  // An index of a code that needs no training keeps so few rows as floats, too, and has its ties.
  description_ = codec_info(codec.get()).is_trained != 0 ? definition.code : "Flat";
}

std::span<const float> PendingRows::row(int64_t slot) const {
  return {vectors_.data() + static_cast<size_t>(slot) * dim_, dim_};
}

std::string PendingRows::read(const Use& use) {
  const int64_t id = use.integer(1);
  const std::span<const uint8_t> bytes = use.bytes(3);
  if (bytes.size() != dim_ * sizeof(float)) return "its vector is of another size";
  if (checksum({use.integer(0), id}, {bytes}) != use.integer(2))
    return "its checksum is not that of its bytes";
  std::vector<float> vector(dim_);
  std::memcpy(vector.data(), bytes.data(), bytes.size());
  if (!std::all_of(vector.begin(), vector.end(), [](float value) { return std::isfinite(value); }))
    return "its vector is not finite";
  keep({&id, 1}, vector);
  return "";
}
void PendingRows::refresh(int64_t count) {
  const auto fail = [this](const std::string& what) {
    throw damaged(tables_.table() + "_pending, row " + std::to_string(count_) + ": " + what);
  };
  clear();
  Use use(tables_.statements(), tables_.queries().read_pending);
  while (use.next()) {
    if (use.integer(0) != count_) fail("it is not there");
    if (const std::string what = read(use); !what.empty()) fail(what);
  }
  if (count_ != count) fail(count_ < count ? "it is not there" : "the table has fewer rows");
}
void PendingRows::salvage(const std::function<bool(int64_t)>& is_wanted) {
  clear();
  std::unordered_set<int64_t> kept;
  Use use(tables_.statements(), tables_.queries().read_pending);
  while (use.next())
    if (is_wanted(use.integer(1)) && !kept.contains(use.integer(1)) && read(use).empty())
      kept.insert(use.integer(1));
  for (int64_t slot = 0; slot < count_; ++slot) changed_.insert(slot);
  Use(tables_.statements(), tables_.queries().delete_all_pending).run();
}
void PendingRows::clear() {
  index_.reset();
  ids_.clear();
  vectors_.clear();
  changed_.clear();
  count_ = 0;
}

void PendingRows::write(int64_t) {
  for (const int64_t slot : changed_) {
    if (slot >= count_) {
      Use(tables_.statements(), tables_.queries().delete_pending).with(slot).run();
      continue;
    }
    const int64_t id = ids_[static_cast<size_t>(slot)];
    const std::span<const uint8_t> bytes = as_bytes(row(slot));
    Use(tables_.statements(), tables_.queries().write_pending)
        .with(slot)
        .with(id)
        .with(checksum({slot, id}, {bytes}))
        .with(bytes)
        .run();
  }
  changed_.clear();
}

void PendingRows::set_id(int64_t slot, int64_t id) {
  changed_.insert(slot);
  ids_[static_cast<size_t>(slot)] = id;
}
std::vector<float> PendingRows::vector(int64_t slot) {
  return {row(slot).begin(), row(slot).end()};
}

void PendingRows::append(std::span<const int64_t> ids, std::span<const float> vectors) {
  for (int64_t i = 0; i < std::ssize(ids); ++i) changed_.insert(count_ + i);
  keep(ids, vectors);
}
void PendingRows::keep(std::span<const int64_t> ids, std::span<const float> vectors) {
  ids_.insert(ids_.end(), ids.begin(), ids.end());
  vectors_.insert(vectors_.end(), vectors.begin(), vectors.end());
  count_ = std::ssize(ids_);
  index_.reset();
}
void PendingRows::overwrite(int64_t slot, std::span<const float> vector) {
  changed_.insert(slot);
  std::copy(vector.begin(), vector.end(), vectors_.begin() + slot * static_cast<int64_t>(dim_));
  index_.reset();
}
void PendingRows::take_out(int64_t slot) {
  changed_.insert(slot);
  changed_.insert(count_ - 1);
  const std::span<const float> last = row(count_ - 1);
  std::copy(last.begin(), last.end(), vectors_.begin() + slot * static_cast<int64_t>(dim_));
  ids_[static_cast<size_t>(slot)] = ids_.back();
  ids_.pop_back();
  vectors_.resize(vectors_.size() - dim_);
  --count_;
  index_.reset();
}

const polar_index* PendingRows::index() {
  if (index_ != nullptr) return index_.get();
  polar_index* made = nullptr;
  check(polar_index_create(description_.c_str(), definition_.dim, definition_.metric, &made));
  Index index(made);
  check(polar_index_add(made, count_, vectors_.data(), nullptr));
  index_ = std::move(index);
  return index_.get();
}
Neighbors PendingRows::search(std::span<const float> query, int64_t k, const polar_filter* filter) {
  polar_search_options options;
  polar_search_options_init(&options);
  options.filter = filter;
  Neighbors found{std::vector<float>(static_cast<size_t>(k)),
                  std::vector<int64_t>(static_cast<size_t>(k))};
  check(polar_index_search(index(), 1, query.data(), k, &options, found.scores.data(),
                           found.slots.data()));
  drop_missing(found);
  return found;
}
Neighbors PendingRows::range_search(std::span<const float> query, float radius,
                                    const polar_filter* filter) {
  polar_search_options options;
  polar_search_options_init(&options);
  options.filter = filter;
  return find_in_range([&](int64_t capacity, int64_t* lims, float* scores, int64_t* slots) {
    check(polar_index_range_search(index(), 1, query.data(), radius, &options, capacity, lims,
                                   scores, slots));
  });
}

}  // namespace polarquant::sqlite
