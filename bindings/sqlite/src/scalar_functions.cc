// SPDX-License-Identifier: MIT
#include "scalar_functions.h"

#include <array>
#include <cmath>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "codec_calls.h"
#include "metric_name.h"
#include "sql_error.h"
#include "vector_value.h"

namespace polarquant::sqlite {
namespace {

using Arguments = std::span<sqlite3_value*>;

std::string text(sqlite3_value* value, const char* name) {
  const auto* data = reinterpret_cast<const char*>(sqlite3_value_text(value));
  if (data == nullptr) throw refused(std::string(name) + " is NULL");
  return data;
}
polar_metric metric(Arguments arguments, size_t at) {
  return at < arguments.size() ? parse_metric(text(arguments[at], "metric")) : POLAR_METRIC_COSINE;
}
int32_t dimensions(sqlite3_value* value) {
  const int64_t dim = sqlite3_value_int64(value);
  if (sqlite3_value_type(value) != SQLITE_INTEGER || dim < 1 || dim > 65535)
    throw refused("dim is not an integer from 1 to 65535");
  return static_cast<int32_t>(dim);
}

/// The codec of the first argument, a spec; kept from row to row while that is the same.
struct KeptCodec {
  int32_t dim;
  polar_metric metric;
  Codec codec;
};
const polar_codec* codec(sqlite3_context* context, Arguments arguments, int32_t dim,
                         polar_metric metric) {
  auto* kept = static_cast<KeptCodec*>(sqlite3_get_auxdata(context, 0));
  if (kept != nullptr && kept->dim == dim && kept->metric == metric) return kept->codec.get();
  auto made = std::make_unique<KeptCodec>(
      KeptCodec{dim, metric, make_codec(text(arguments[0], "spec"), dim, metric)});
  if (codec_info(made->codec.get()).is_trained == 0)
    throw refused("codes of " + text(arguments[0], "spec") + " need training, which a table does");
  sqlite3_set_auxdata(context, 0, made.release(),
                      [](void* data) { delete static_cast<KeptCodec*>(data); });
  // SQLite may have let go of it at once.
  kept = static_cast<KeptCodec*>(sqlite3_get_auxdata(context, 0));
  if (kept == nullptr) throw std::bad_alloc();
  return kept->codec.get();
}
std::span<const uint8_t> code(const polar_codec* codec, sqlite3_value* value) {
  const auto* data = static_cast<const uint8_t*>(sqlite3_value_blob(value));
  const auto bytes = static_cast<size_t>(sqlite3_value_bytes(value));
  size_t expected = 0;
  check(polar_codec_encoded_bytes(codec, 1, &expected));
  if (sqlite3_value_type(value) != SQLITE_BLOB || bytes != expected)
    throw refused("a code of this spec is a blob of " + std::to_string(expected) + " bytes");
  if (data == nullptr) throw std::bad_alloc();
  return {data, bytes};
}

void version(sqlite3_context* context, Arguments) {
  sqlite3_result_text(context, polar_version_string(), -1, SQLITE_STATIC);
}
/// (spec, vector[, metric])
void encode(sqlite3_context* context, Arguments arguments) {
  if (sqlite3_value_type(arguments[1]) == SQLITE_NULL) return;
  const std::vector<float> vector =
      read_vector(sqlite3_context_db_handle(context), arguments[1], "vector", 0);
  const polar_codec* made =
      codec(context, arguments, static_cast<int32_t>(vector.size()), metric(arguments, 2));
  size_t bytes = 0;
  check(polar_codec_encoded_bytes(made, 1, &bytes));
  std::vector<uint8_t> code(bytes);
  check(polar_codec_encode(made, 1, vector.data(), nullptr, code.data(), code.size()));
  sqlite3_result_blob64(context, code.data(), code.size(), SQLITE_TRANSIENT);
}
/// (spec, code, dim[, metric])
void decode(sqlite3_context* context, Arguments arguments) {
  if (sqlite3_value_type(arguments[1]) == SQLITE_NULL) return;
  const int32_t dim = dimensions(arguments[2]);
  const polar_codec* made = codec(context, arguments, dim, metric(arguments, 3));
  const std::span<const uint8_t> bytes = code(made, arguments[1]);
  std::vector<float> vector(static_cast<size_t>(dim));
  check(polar_codec_decode(made, 1, bytes.data(), bytes.size(), POLAR_RECONSTRUCTION_LEAST_ERROR,
                           nullptr, vector.data()));
  return_vector(context, vector);
}
/// (vector, vector[, metric])
void distance(sqlite3_context* context, Arguments arguments) {
  if (sqlite3_value_type(arguments[0]) == SQLITE_NULL ||
      sqlite3_value_type(arguments[1]) == SQLITE_NULL)
    return;
  sqlite3* db = sqlite3_context_db_handle(context);
  const std::vector<float> a = read_vector(db, arguments[0], "the first vector", 0);
  const std::vector<float> b = read_vector(db, arguments[1], "the second vector", a.size());
  double product = 0;
  double squares_a = 0;
  double squares_b = 0;
  double squares = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    const double x = a[i];
    const double y = b[i];
    product += x * y;
    squares_a += x * x;
    squares_b += y * y;
    squares += (x - y) * (x - y);
  }
  switch (metric(arguments, 2)) {
    case POLAR_METRIC_COSINE: {
      const double norms = std::sqrt(squares_a) * std::sqrt(squares_b);
      return sqlite3_result_double(context, norms > 0 ? 1 - product / norms : 1);
    }
    case POLAR_METRIC_INNER_PRODUCT:
      return sqlite3_result_double(context, -product);
    default:
      return sqlite3_result_double(context, squares);
  }
}

struct QueryDeleter {
  void operator()(polar_query* query) const { polar_query_destroy(query); }
};
/// (spec, code, vector[, metric])
void code_distance(sqlite3_context* context, Arguments arguments) {
  if (sqlite3_value_type(arguments[1]) == SQLITE_NULL ||
      sqlite3_value_type(arguments[2]) == SQLITE_NULL)
    return;
  const std::vector<float> vector =
      read_vector(sqlite3_context_db_handle(context), arguments[2], "vector", 0);
  const polar_metric by = metric(arguments, 3);
  const polar_codec* made = codec(context, arguments, static_cast<int32_t>(vector.size()), by);
  const std::span<const uint8_t> bytes = code(made, arguments[1]);
  polar_query* prepared = nullptr;
  check(polar_query_prepare(made, vector.data(), &prepared));
  const std::unique_ptr<polar_query, QueryDeleter> query(prepared);
  float score = 0;
  check(polar_codec_score(made, query.get(), 1, bytes.data(), bytes.size(), nullptr, &score));
  sqlite3_result_double(context, score_distance(by, score));
}

template <void (*function)(sqlite3_context*, Arguments)>
void call(sqlite3_context* context, int count, sqlite3_value** values) {
  char* error = nullptr;
  const int status = catch_errors(
      &error, [&] { function(context, Arguments(values, static_cast<size_t>(count))); });
  if (status == SQLITE_NOMEM) {
    sqlite3_result_error_nomem(context);
  } else if (status != SQLITE_OK) {
    sqlite3_result_error(context, error == nullptr ? "out of memory" : error, -1);
    sqlite3_result_error_code(context, status);
  }
  sqlite3_free(error);
}

struct Function {
  const char* name;
  int least_arguments;
  int most_arguments;
  void (*call)(sqlite3_context*, int, sqlite3_value**);
};
constexpr std::array<Function, 5> kFunctions = {{
    {"polar_version", 0, 0, call<version>},
    {"polar_encode", 2, 3, call<encode>},
    {"polar_decode", 3, 4, call<decode>},
    {"polar_distance", 2, 3, call<distance>},
    {"polar_code_distance", 3, 4, call<code_distance>},
}};

}  // namespace

int register_functions(sqlite3* db) {
  for (const Function& function : kFunctions) {
    for (int count = function.least_arguments; count <= function.most_arguments; ++count) {
      const int status = sqlite3_create_function_v2(
          db, function.name, count, SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS, nullptr,
          function.call, nullptr, nullptr, nullptr);
      if (status != SQLITE_OK) return status;
    }
  }
  return SQLITE_OK;
}

}  // namespace polarquant::sqlite
