// SPDX-License-Identifier: MIT
// Working memory that searches leave to later ones. New memory would often come from the system,
// which clears it (docs/dev/tuning.md, "Memory").
#pragma once

#include <cstddef>
#include <cstring>
#include <memory>
#include <mutex>
#include <type_traits>
#include <utility>
#include <vector>

namespace polarquant {

/// A T whose members are not set, or are as another search left them. kMostSpare of each T are kept
/// for good. Threads: as other memory.
template <class T>
class SpareMemory {
 public:
  SpareMemory() : value_(take()) {}
  ~SpareMemory() {
    if (value_ != nullptr) give(std::move(value_));
  }
  SpareMemory(SpareMemory&&) noexcept = default;
  SpareMemory& operator=(SpareMemory&&) = delete;

  T* get() const { return value_.get(); }
  T* operator->() const { return value_.get(); }
  T& operator*() const { return *value_; }

 private:
  static constexpr size_t kMostSpare = 16;

  struct Spares {
    std::mutex mutex;
    std::vector<std::unique_ptr<T>> values;

    Spares() { values.reserve(kMostSpare); }
  };
  /// Never destroyed: threads may search while the process ends.
  static Spares& spares() {
    static auto* all = new Spares;
    return *all;
  }
  // New memory where another thread holds the lock, and always in a child that was forked then.
  static std::unique_ptr<T> take() {
    {
      const std::unique_lock<std::mutex> lock(spares().mutex, std::try_to_lock);
      if (lock.owns_lock() && !spares().values.empty()) {
        std::unique_ptr<T> value = std::move(spares().values.back());
        spares().values.pop_back();
        fill(value.get());
        return value;
      }
    }
    std::unique_ptr<T> value = std::make_unique_for_overwrite<T>();
    fill(value.get());
    return value;
  }
  // In builds with sanitizers, so that tests see whether a search reads what it has not written: it
  // would be what another search left, which may have failed.
  static void fill([[maybe_unused]] T* value) {
#ifdef POLARQUANT_FILL_SPARE_MEMORY
    if constexpr (std::is_trivially_copyable_v<T>)
      std::memset(static_cast<void*>(value), 0xA5, sizeof(T));
#endif
  }
  static void give(std::unique_ptr<T> value) {
    const std::unique_lock<std::mutex> lock(spares().mutex, std::try_to_lock);
    if (lock.owns_lock() && spares().values.size() < kMostSpare)
      spares().values.push_back(std::move(value));
  }

  std::unique_ptr<T> value_;
};

}  // namespace polarquant
