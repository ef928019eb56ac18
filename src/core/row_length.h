// SPDX-License-Identifier: MIT
// How long rows and queries may be. FAISS computes squared lengths and distances as floats, and
// infinities break it: training on them crashes, or makes centroids that are not numbers.
#pragma once

#include <cstdint>

namespace polarquant {

/// Squares of longer rows, and of distances between them, come near a float's limit, 2^128.
/// Everything that takes rows as they are, codecs included, has this limit.
inline constexpr float kMaxRowLength = 0x1p61F;
/// A limit for all rows of a training together: sums of products of coordinates are floats too.
inline constexpr double kMaxSquaredLengths = 0x1p125;

/// Throws bad_argument unless each of n rows of d floats is finite and no longer than
/// kMaxRowLength; the text begins with `name` and names the first row that is not.
void require_row_lengths(const char* name, int64_t n, int64_t d, const float* x);
/// The same for rows that something is trained on, whose squared lengths are added up.
void require_training_lengths(const char* name, int64_t n, int64_t d, const float* x);

}  // namespace polarquant
