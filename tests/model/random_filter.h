// SPDX-License-Identifier: MIT
// Filters of every kind, prepared ones too, with the rule that says what they keep.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "polarquant/polarquant.h"
#include "src/core/random.h"
#include "tests/capi/capi_support.h"
#include "tests/model/plain_rows.h"

namespace polarquant::test {

class RandomFilter {
 public:
  RandomFilter(Random& random, const PlainRows& rows);

  /// Unless it calls back.
  void prepare();

  bool keeps(int64_t id) const;
  /// Points into this object.
  polar_filter filter() const;
  std::string name() const;

 private:
  std::string rule_name() const;

  polar_filter_kind kind_;
  std::vector<uint64_t> bits_;
  int64_t num_bits_;
  std::vector<int64_t> ids_;
  int64_t first_id_;
  int64_t end_id_;
  int64_t divisor_;
  PreparedFilterHandle prepared_;
};

}  // namespace polarquant::test
