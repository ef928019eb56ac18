// SPDX-License-Identifier: MIT
// Metrics as SQL texts: cosine, ip, l2.
#pragma once

#include <polarquant/polarquant.h>

#include <string>

#include "sql_error.h"

namespace polarquant::sqlite {

inline polar_metric parse_metric(const std::string& name) {
  if (name == "cosine") return POLAR_METRIC_COSINE;
  if (name == "ip" || name == "inner_product") return POLAR_METRIC_INNER_PRODUCT;
  if (name == "l2") return POLAR_METRIC_L2;
  throw refused("metric \"" + name + "\": cosine, ip and l2 are understood");
}

}  // namespace polarquant::sqlite
