// SPDX-License-Identifier: MIT
// Ids of the caller's on their way into an index that does not check them itself.
#pragma once

#include <cstdint>
#include <unordered_set>

#include "src/core/status.h"

namespace polarquant::capi {

/// Takes new ids into the index's set, and out again unless commit() is called.
class NewIds {
 public:
  NewIds(std::unordered_set<int64_t>& held, int64_t n, const int64_t* ids)
      : held_(held), ids_(ids) {
    try {
      held_.reserve(held_.size() + static_cast<size_t>(n));
      for (; taken_ < n; ++taken_) {
        require(held_.insert(ids[taken_]).second, StatusCode::bad_argument,
                "ids: {} at {} is in the index or given twice; new ids are allowed", ids[taken_],
                taken_);
      }
    } catch (...) {
      give_back();
      throw;
    }
  }
  ~NewIds() {
    if (!committed_) give_back();
  }
  NewIds(const NewIds&) = delete;
  NewIds& operator=(const NewIds&) = delete;
  void commit() { committed_ = true; }

 private:
  void give_back() {
    for (int64_t i = 0; i < taken_; ++i) held_.erase(ids_[i]);
  }

  std::unordered_set<int64_t>& held_;
  const int64_t* ids_;
  int64_t taken_ = 0;
  bool committed_ = false;
};

}  // namespace polarquant::capi
