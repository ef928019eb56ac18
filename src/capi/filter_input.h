// SPDX-License-Identifier: MIT
// Filters of the C ABI.
#pragma once

#include "polarquant/polarquant.h"
#include "src/core/turn_lock.h"
#include "src/scan/search/row_filter.h"

namespace polarquant::capi {

/// The caller's filter, checked, over ids; NULL keeps every one. Borrows what it points to. `use`:
/// of the object whose call asks it, for functions of the caller's.
RowFilter read_filter(const polar_filter* given, const TurnLock* use = nullptr);

}  // namespace polarquant::capi
