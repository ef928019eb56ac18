// SPDX-License-Identifier: MIT
#include "src/core/place_table.h"

#include "src/core/platform/platform.h"
#include "src/core/random.h"

namespace polarquant {

uint64_t PlaceTable::hash_of(int64_t id) {
  static const uint64_t seed = platform::random_number();
  return Random(seed, static_cast<uint64_t>(id)).next();
}

size_t PlaceTable::slot_of(int64_t id, int64_t at) const {
  const uint64_t hash = hash_of(id);
  size_t slot = home(hash);
  for (uint64_t wanted = kOneStep + tag(hash) + static_cast<uint64_t>(at); slots_[slot] != wanted;
       slot = next(slot))
    wanted += kOneStep;
  return slot;
}

void PlaceTable::put(int64_t id, int64_t at) noexcept {
  const uint64_t hash = hash_of(id);
  uint64_t carried = kOneStep + tag(hash) + static_cast<uint64_t>(at);
  size_t slot = home(hash);
  for (; slots_[slot] != 0; slot = next(slot), carried += kOneStep)
    if (steps(slots_[slot]) < steps(carried)) std::swap(slots_[slot], carried);
  slots_[slot] = carried;
  ++size_;
}

void PlaceTable::erase(int64_t id, int64_t at) noexcept {
  size_t hole = slot_of(id, at);
  for (size_t after = next(hole); steps(slots_[after]) > 1; hole = after, after = next(after))
    slots_[hole] = slots_[after] - kOneStep;
  slots_[hole] = 0;
  --size_;
}

void PlaceTable::move(int64_t id, int64_t from, int64_t to) noexcept {
  slots_[slot_of(id, from)] += static_cast<uint64_t>(to) - static_cast<uint64_t>(from);
}

}  // namespace polarquant
