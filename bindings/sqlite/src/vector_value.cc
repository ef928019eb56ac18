// SPDX-License-Identifier: MIT
#include "vector_value.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "sql_error.h"
#include "statement.h"

namespace polarquant::sqlite {
namespace {

static_assert(std::endian::native == std::endian::little, "blobs of vectors are little-endian");

std::vector<float> read_blob(sqlite3_value* value, const std::string& name) {
  const void* data = sqlite3_value_blob(value);
  const auto bytes = static_cast<size_t>(sqlite3_value_bytes(value));
  if (bytes % sizeof(float) != 0 || bytes == 0)
    throw refused(name + ": a blob of " + std::to_string(bytes) +
                  " bytes, which is no vector: 4 bytes for each dimension");
  if (data == nullptr) throw std::bad_alloc();
  std::vector<float> vector(bytes / sizeof(float));
  std::memcpy(vector.data(), data, bytes);
  return vector;
}

std::vector<float> read_json(sqlite3* db, sqlite3_value* value, const std::string& name) {
  const Statement elements(db, "SELECT value, type FROM json_each(?)");
  sqlite3_stmt* statement = elements.get();
  int code = sqlite3_bind_value(statement, 1, value);
  if (code != SQLITE_OK) throw connection_error(db, code);
  std::vector<float> vector;
  while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
    const int type = sqlite3_column_type(statement, 0);
    if (type != SQLITE_FLOAT && type != SQLITE_INTEGER)
      throw refused(name + ": element " + std::to_string(vector.size()) +
                    " of the JSON text is not a number");
    vector.push_back(static_cast<float>(sqlite3_column_double(statement, 0)));
  }
  if (code == SQLITE_NOMEM) throw std::bad_alloc();
  if (code != SQLITE_DONE)
    throw refused(name + ": a text that is no JSON array of numbers, as '[0.5, -1, 2]'");
  return vector;
}

}  // namespace

std::vector<float> read_vector(sqlite3* db, sqlite3_value* value, const std::string& name,
                               size_t dim) {
  std::vector<float> vector;
  switch (sqlite3_value_type(value)) {
    case SQLITE_BLOB:
      vector = read_blob(value, name);
      break;
    case SQLITE_TEXT:
      vector = read_json(db, value, name);
      break;
    default:
      throw refused(name +
                    (sqlite3_value_type(value) == SQLITE_NULL ? " is NULL" : " is a number") +
                    "; a vector is a blob of float32 or a JSON array");
  }
  if (dim != 0 && vector.size() != dim)
    throw refused(name + " has " + std::to_string(vector.size()) + " dimensions, not " +
                  std::to_string(dim));
  for (size_t i = 0; i < vector.size(); ++i) {
    if (!std::isfinite(vector[i]))
      throw refused(name + ": element " + std::to_string(i) + " is not a finite float");
  }
  return vector;
}

void return_vector(sqlite3_context* context, std::span<const float> vector) {
  sqlite3_result_blob64(context, vector.data(), vector.size_bytes(), SQLITE_TRANSIENT);
}

}  // namespace polarquant::sqlite
