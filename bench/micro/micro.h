// SPDX-License-Identifier: MIT
// polar-micro: times kernels one by one, on every target this machine has. Each family of kernels
// is a file with a function that registers its rows, named family/kernel/target/size; main.cc lists
// them.
#pragma once

#include "src/simd/targets.h"  // before highway
//
#include <hwy/targets.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "src/core/random.h"

namespace polarquant::micro {

/// Takes one target for the current scope, whatever the machine has beside it.
class OnlyTarget {
 public:
  explicit OnlyTarget(int64_t target) { hwy::SetSupportedTargetsForTest(target); }
  ~OnlyTarget() { hwy::SetSupportedTargetsForTest(0); }
  OnlyTarget(const OnlyTarget&) = delete;
  OnlyTarget& operator=(const OnlyTarget&) = delete;
};

/// Every target that is compiled and can run here, best first.
inline std::vector<int64_t> targets() {
  std::vector<int64_t> all;
  for (int64_t targets = hwy::SupportedTargets() & HWY_TARGETS; targets != 0;
       targets &= targets - 1) {
    all.push_back(targets & -targets);
  }
  return all;
}

inline std::string row_name(const std::string& kernel, const std::string& target, int size) {
  return kernel + "/" + target + "/" + std::to_string(size);
}

inline std::vector<float> normal_numbers(size_t count, uint64_t seed) {
  Random random(seed);
  std::vector<float> numbers(count);
  for (float& number : numbers) number = static_cast<float>(random.normal());
  return numbers;
}

void register_centroid_searches();
void register_encode_kernels();
void register_rotate_kernels();
void register_scan_kernels();
/// Whole searches over so many rows of 384 dimensions.
void register_searches(int64_t rows);

}  // namespace polarquant::micro
