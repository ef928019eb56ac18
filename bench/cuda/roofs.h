// SPDX-License-Identifier: MIT
// What the device can do at best, measured beside our kernels.
#pragma once

namespace polarquant::bench {

/// Bytes read plus bytes written per second by a copy within the device's memory, GB/s.
double copy_bandwidth();
/// Operations per second (two a multiplication) of cuBLAS on random square matrices, in 10¹².
double bf16_peak();
double int8_peak();
/// GB/s at which the first stage of a search reads sketches of `rows` rows, for `queries` queries
/// together, none of which any row reaches.
double sketch_scan_bandwidth(long rows, int queries);

}  // namespace polarquant::bench
