// SPDX-License-Identifier: MIT
// FAISS's metrics as the codec's.
#pragma once

#include <faiss/MetricType.h>

#include "src/codec/factors.h"

namespace polarquant {

/// Throws bad_argument naming the metric and those that are supported.
Metric codec_metric(::faiss::MetricType metric);

}  // namespace polarquant
