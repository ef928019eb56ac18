// SPDX-License-Identifier: MIT
// Runs a check on each instruction set that kernels are compiled for and this machine has.
#pragma once

#include "src/simd/targets.h"  // before highway
//
#include <hwy/targets.h>

#include <string>
#include <utility>
#include <vector>

#include "src/simd/kernel_target.h"
#include "tests/support/catch.h"

namespace polarquant::test {

/// Makes kernels of this process take one target until the end of the scope.
class ForcedTarget {
 public:
  explicit ForcedTarget(int64_t target) { force(target); }
  ~ForcedTarget() { force(0); }
  ForcedTarget(const ForcedTarget&) = delete;
  ForcedTarget& operator=(const ForcedTarget&) = delete;

 private:
  // Highway 1.0.3 only notes the targets; later versions also forget the one that was chosen.
  static void force(int64_t targets) {
    hwy::SetSupportedTargetsForTest(targets);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  }
};

/// Calls check() once for each target.
template <typename Check>
void on_every_target(Check&& check) {
  const std::vector<int64_t> targets = hwy::SupportedAndGeneratedTargets();
  REQUIRE(!targets.empty());
  for (const int64_t target : targets) {
    const ForcedTarget forced(target);
    CAPTURE(hwy::TargetName(target));
    REQUIRE(std::string(kernel_target()) == hwy::TargetName(target));
    check();
  }
}

}  // namespace polarquant::test
