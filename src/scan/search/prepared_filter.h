// SPDX-License-Identifier: MIT
// Filters for many searches: what such a filter keeps of the rows of an index is found by the first
// search, and found again once the rows have changed.
#pragma once

#include "src/scan/search/row_filter.h"

namespace polarquant {

/// The same rule, which keeps what is found(…) of the last few states of rows. Functions of the
/// caller's, whose answers may change, are not to be prepared.
RowFilter prepare(RowFilter filter);

}  // namespace polarquant
