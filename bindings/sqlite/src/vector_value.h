// SPDX-License-Identifier: MIT
// Vectors as SQL values: blobs of float32, little-endian, or JSON texts "[0.5, -1, 2]".
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "sqlite_api.h"

namespace polarquant::sqlite {

/// Refuses, naming the value by `name`, what is no vector of finite floats and, unless dim is 0,
/// vectors of other dimensions.
std::vector<float> read_vector(sqlite3* db, sqlite3_value* value, const std::string& name,
                               size_t dim);

void return_vector(sqlite3_context* context, std::span<const float> vector);

}  // namespace polarquant::sqlite
