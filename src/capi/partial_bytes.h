// SPDX-License-Identifier: MIT
// Partial results as bytes, which go from process to process.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "src/scan/search/partial_result.h"

namespace polarquant::capi {

/// What a partial result answers.
struct PartialQuestion {
  int64_t nq = 0;
  int64_t k = 0;
  bool higher_is_nearer = true;
};

/// Throws bad_argument for numbers that are not allowed.
PartialQuestion read_question(int64_t nq, int64_t k, bool higher_is_nearer = true);

/// The most that a part of ntotal rows needs; throws bad_argument for a size that no machine has.
size_t most_partial_bytes(const PartialQuestion& question, int64_t ntotal);
/// Returns the bytes that it writes to `partial`; throws bad_argument where capacity is less.
size_t write_partial(const PartialQuestion& question, const PartialResult& result, size_t capacity,
                     uint8_t* partial);

/// Throws bad_argument for an answer to another nq or k, newer_format and corrupt_data for other
/// bytes; texts name partials[number].
PartialResult read_partial(int64_t number, std::span<const uint8_t> bytes,
                           PartialQuestion* question);

}  // namespace polarquant::capi
