// SPDX-License-Identifier: MIT
// A hash table from ids to the places of what they name, whose owner can tell the id at a place. So
// it keeps no ids: a slot has 8 bytes, and 70 to 88 % of the slots of a table that grew are used.
//
// Open addressing by the "Robin Hood" rule (Celis, Larson, Munro, FOCS 1985): entries stand in the
// order of the slots that they hash to, which a slot's distance from there tells. So most entries
// that are passed are not looked at, and an erased one is closed up without any id. Six bits of the
// hash beside them tell most others apart, so that an id is rarely read in vain: it lies anywhere
// in memory. Hashes differ from process to process: nobody can choose ids that collide.
//
// Threads: const member functions may run at the same time; the others need sole use.
#pragma once

#include <algorithm>
#include <array>
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
    const uint64_t hash = hash_of(id);
    uint64_t wanted = kOneStep + tag(hash);
    for (size_t at = home(hash);; at = next(at), wanted += kOneStep) {
      const uint64_t slot = slots_[at];
      if (steps(slot) < steps(wanted)) return -1;
      if (slot - wanted < kTagUnit && id_at(place(slot)) == id) return place(slot);
    }
  }

  /// Asks for the memory where a later call looks for this id; kLookAhead ids before that call.
  void prefetch(int64_t id) const {
    if (!slots_.empty()) __builtin_prefetch(&slots_[home(hash_of(id))]);
  }
  static constexpr int64_t kLookAhead = 16;

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
  // A slot: how many steps from its hash's slot, counted from 1, then the hash's tag, and the
  // place; 0: none. 1,023 steps are passed with a probability of e^-276 where seven in eight slots
  // are used (steps are the waiting times of a queue with one arrival in 8/7 services).
  static constexpr uint64_t kTagUnit = uint64_t{1} << 48;
  static constexpr uint64_t kOneStep = uint64_t{1} << 54;
  static uint64_t steps(uint64_t slot) { return slot / kOneStep; }
  static int64_t place(uint64_t slot) { return static_cast<int64_t>(slot % kTagUnit); }
  static uint64_t tag(uint64_t hash) { return hash % (kOneStep / kTagUnit) * kTagUnit; }
  static size_t slots_for(int64_t entries) {
    return static_cast<size_t>(entries) + static_cast<size_t>(entries) / 7 + 1;
  }

  size_t next(size_t at) const { return at + 1 == slots_.size() ? 0 : at + 1; }
  static uint64_t hash_of(int64_t id);
  size_t home(uint64_t hash) const {
    return static_cast<size_t>(static_cast<unsigned __int128>(hash) * slots_.size() >> 64);
  }
  size_t slot_of(int64_t id, int64_t at) const;
  void put(int64_t id, int64_t at) noexcept;
  template <typename IdAt>
  void rebuild(size_t slots, const IdAt& id_at) {
    PlaceTable other;
    other.slots_.resize(slots);
    // The ids of many entries are read one right after the other: the processor waits for them
    // together.
    std::array<std::pair<int64_t, int64_t>, 64> entries;
    size_t count = 0;
    const auto put_entries = [&] {
      for (size_t i = 0; i < count; ++i) other.put(entries[i].first, entries[i].second);
      count = 0;
    };
    for (const uint64_t slot : slots_) {
      if (slot == 0) continue;
      entries[count++] = {id_at(place(slot)), place(slot)};
      if (count == entries.size()) put_entries();
    }
    put_entries();
    *this = std::move(other);
  }

  int64_t size_ = 0;
  std::vector<uint64_t> slots_;
};

}  // namespace polarquant
