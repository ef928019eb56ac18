// SPDX-License-Identifier: MIT
// Which rows of a storage have the same code: equal rows, and those that no search can tell apart.
#pragma once

#include <faiss/IndexFlatCodes.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "polarquant/faiss.h"
#include "src/codec/codec.h"
#include "src/scan/stores/row_store.h"

namespace polarquant {

/// For one thread. In storages whose codes are not known no rows are equal.
class EqualRows {
 public:
  explicit EqualRows(const ::faiss::Index& storage)
      : polar_(dynamic_cast<const IndexPolar*>(&storage)),
        flat_(dynamic_cast<const ::faiss::IndexFlatCodes*>(&storage)) {
    if (polar_ != nullptr && polar_->codec().layout().group_rows != 1) polar_ = nullptr;
    if (polar_ == nullptr) return;
    for (auto& code : codes_) code.resize(polar_->codec().layout().bytes(1));
  }

  bool are_equal(int64_t a, int64_t b) {
    if (flat_ != nullptr) {
      const auto at = [&](int64_t row) {
        return flat_->codes.data() + static_cast<size_t>(row) * flat_->code_size;
      };
      return std::memcmp(at(a), at(b), flat_->code_size) == 0;
    }
    if (polar_ == nullptr) return false;
    if (polar_->codes().holds_floats()) {
      const auto at = [&](int64_t row) {
        return polar_->codes().floats().data() + row * polar_->d;
      };
      return std::equal(at(a), at(a) + polar_->d, at(b));
    }
    polar_->codes().get(polar_->codec(), a, codes_[0].data());
    polar_->codes().get(polar_->codec(), b, codes_[1].data());
    return codes_[0] == codes_[1];
  }

 private:
  const IndexPolar* polar_;
  const ::faiss::IndexFlatCodes* flat_;
  std::vector<uint8_t> codes_[2];
};

}  // namespace polarquant
