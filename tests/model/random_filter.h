// SPDX-License-Identifier: MIT
// Filters of every kind, with the rule that says what they keep.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "polarquant/polarquant.h"
#include "src/core/random.h"
#include "tests/model/plain_rows.h"

namespace polarquant::test {

class RandomFilter {
 public:
  RandomFilter(Random& random, const PlainRows& rows);

  bool keeps(int64_t id) const;
  /// Points into this object.
  polar_filter filter() const;
  std::string name() const;

 private:
  polar_filter_kind kind_;
  std::vector<uint64_t> bits_;
  int64_t num_bits_;
  std::vector<int64_t> ids_;
  int64_t first_id_;
  int64_t end_id_;
  int64_t divisor_;
};

}  // namespace polarquant::test
