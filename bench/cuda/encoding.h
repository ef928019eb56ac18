// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "bench/synthetic_rows.h"

namespace polarquant::bench {

/// Prints how fast rows are encoded on the device, from its memory and from the host's, and on the
/// CPU by all threads, in turns; and whether bytes agree.
void print_encoding(const std::string& spec, int64_t rows, int dim, const SyntheticRows& synthetic);

}  // namespace polarquant::bench
