// SPDX-License-Identifier: MIT
// How recall counts. Where rows are equally near, as copies of one row are, chance decides which of
// them are the true k: every row as near as the k-th counts as found.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

namespace polarquant {

/// The distance of a row from the query; less is nearer. Equal rows have the same.
using RowCost = std::function<double(int64_t row)>;

/// How many of the rows in `wanted`, which are all different and best first, are among `got`, or
/// have one in their place that is as near as the last of them. An id got twice counts once.
/// Without `cost` ids alone count.
int64_t neighbours_found(std::span<const int64_t> got, std::span<const int64_t> wanted,
                         const RowCost& cost = {});

}  // namespace polarquant
