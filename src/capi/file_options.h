// SPDX-License-Identifier: MIT
#pragma once

#include "polarquant/polarquant.h"

namespace polarquant::capi {

/// The caller's options checked and merged with the defaults; NULL gives the defaults.
polar_load_options read_load_options(const polar_load_options* given);
polar_save_options read_save_options(const polar_save_options* given);
polar_builder_options read_builder_options(const polar_builder_options* given);

}  // namespace polarquant::capi
