// SPDX-License-Identifier: MIT
#pragma once

#include "src/scan/kernels/dense/amx_dots.h"

namespace polarquant::test {

/// Leaves AMX unused until the end of the scope.
class WithoutAmx {
 public:
  WithoutAmx() { allow_amx(false); }
  ~WithoutAmx() { allow_amx(true); }
  WithoutAmx(const WithoutAmx&) = delete;
  WithoutAmx& operator=(const WithoutAmx&) = delete;
};

}  // namespace polarquant::test
