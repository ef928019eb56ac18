// SPDX-License-Identifier: MIT
// A hash table from ids to the places of what they name, whose owner can tell the id at a place. So
// it keeps no ids: a slot has 8 bytes, and 70 to 88 % of the slots of a table that grew are used.
//
// Open addressing by the "Robin Hood" rule (Celis, Larson, Munro, FOCS 1985): entries stand in the
// order of the slots that they hash to, which a slot's distance from there tells. So most entries
// that are passed are not looked at, and an erased one is closed up without any id. Hashes differ
// from process to process: nobody can choose ids that collide.
//
// Threads: const member functions may run at the same time; the others need sole use.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace polarquant {

class PlaceTable {
 public:
  /// Places are 0 to this.
  static constexpr int64_t kMostPlace = (int64_t{1} << 48) - 1;

  int64_t size() const noexcept { return size_; }
  size_t memory_bytes() const noexcept { return slots_.capacity() * sizeof(uint64_t); }

  /// The place of an entry with this id, −1 for none. id_at(place) is asked for places of entries.
  template <typename IdAt>
  int64_t find(int64_t id, const IdAt& id_at) const {
    if (slots_.empty()) return -1;
    uint64_t passed = kOneStep;
    for (size_t at = home(id);; at = next(at), passed += kOneStep) {
      const uint64_t slot = slots_[at];
      if (steps(slot) < steps(passed)) return -1;
      if (steps(slot) == steps(passed) && id_at(place(slot)) == id) return place(slot);
    }
  }

  /// Ids may occur more than once, at different places. Unchanged after an error (out of memory),
  /// and none where reserve has made space.
  template <typename IdAt>
  void insert(int64_t id, int64_t at, const IdAt& id_at) {
    reserve(size_ + 1, id_at);
    put(id, at);
  }
  /// Space for `entries` entries in all. Grown tables are a quarter larger.
  template <typename IdAt>
  void reserve(int64_t entries, const IdAt& id_at) {
    if (slots_for(entries) > slots_.size())
      rebuild(slots_for(std::max(entries, size_ + size_ / 4)), id_at);
  }
  /// Gives back memory that entries erased leave, unless there is none to do it with.
  template <typename IdAt>
  void return_spare(const IdAt& id_at) noexcept {
    if (slots_.size() < 2 * slots_for(size_)) return;
    try {
      rebuild(slots_for(size_), id_at);
    } catch (...) {
      // The larger table serves as well.
    }
  }

  /// An entry that is there goes, or gets another place.
  void erase(int64_t id, int64_t at) noexcept;
  void move(int64_t id, int64_t from, int64_t to) noexcept;
  void clear() noexcept {
    slots_ = std::vector<uint64_t>();
    size_ = 0;
  }

 private:
  // A slot: how many steps from its hash's slot, counted from 1, and the place; 0: none. Steps
  // would not fit with a probability of e^-700 (seven in eight slots used).
  static constexpr uint64_t kOneStep = uint64_t{1} << 48;
  static uint64_t steps(uint64_t slot) { return slot / kOneStep; }
  static int64_t place(uint64_t slot) { return static_cast<int64_t>(slot % kOneStep); }
  static size_t slots_for(int64_t entries) {
    return static_cast<size_t>(entries) + static_cast<size_t>(entries) / 7 + 1;
  }

  size_t next(size_t at) const { return at + 1 == slots_.size() ? 0 : at + 1; }
  size_t home(int64_t id) const;
  size_t slot_of(int64_t id, int64_t at) const;
  void put(int64_t id, int64_t at) noexcept;
  template <typename IdAt>
  void rebuild(size_t slots, const IdAt& id_at) {
    PlaceTable other;
    other.slots_.resize(slots);
    for (const uint64_t slot : slots_)
      if (slot != 0) other.put(id_at(place(slot)), place(slot));
    *this = std::move(other);
  }

  int64_t size_ = 0;
  std::vector<uint64_t> slots_;
};

}  // namespace polarquant
