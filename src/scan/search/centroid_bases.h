// SPDX-License-Identifier: MIT
// The numbers that a query needs for codes about centroids, one for each centroid.
#pragma once

#include <cstdint>

#include "src/codec/codec.h"
#include "src/scan/model/scan_query.h"

namespace polarquant {

/// Sets those of n queries, x (n, dim) as they were given, with what the codec prepared of them.
/// Nothing where the codec has no centroids.
void set_centroid_bases(const Codec& codec, const ScanCodec& scan_codec, int64_t n, const float* x,
                        const PreparedQuery* prepared, ScanQuery* queries);

}  // namespace polarquant
