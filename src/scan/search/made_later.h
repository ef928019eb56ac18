// SPDX-License-Identifier: MIT
// Something that makes searches faster and takes as long to make as several of them: it is made
// once so many queries have asked for it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>

namespace polarquant {

/// Threads: get may be called from any, at the same time; they wait while one makes it.
template <typename Made>
class MadeLater {
 public:
  /// make(), or what it made before; null until calls for more than `queries` queries, this one's
  /// nq among them.
  std::shared_ptr<const Made> get(int64_t nq, int64_t queries,
                                  const std::function<std::unique_ptr<Made>()>& make) const {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (made_ == nullptr) {
      asked_ += nq;
      if (asked_ > queries) made_ = make();
    }
    return made_;
  }
  /// What was made; null before.
  std::shared_ptr<const Made> made() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return made_;
  }

 private:
  mutable std::mutex mutex_;
  mutable int64_t asked_ = 0;
  mutable std::shared_ptr<const Made> made_;
};

}  // namespace polarquant
