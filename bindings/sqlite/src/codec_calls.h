// SPDX-License-Identifier: MIT
// The C library's handles, and its errors as SQLite's.
#pragma once

#include <polarquant/polarquant.h>

#include <memory>
#include <string>

#include "sql_error.h"

namespace polarquant::sqlite {

/// Throws what a call of the library failed with.
inline void check(polar_status status) {
  if (status == POLAR_OK) return;
  std::string text(polar_last_error(nullptr, 0), '\0');
  polar_last_error(text.data(), text.size() + 1);
  switch (status) {
    case POLAR_ERROR_OUT_OF_MEMORY:
      throw SqlError(SQLITE_NOMEM, text);
    case POLAR_ERROR_CORRUPT_DATA:
    case POLAR_ERROR_NEWER_FORMAT:
      throw damaged(text);
    case POLAR_ERROR_CANCELLED:
      throw SqlError(SQLITE_INTERRUPT, text);
    default:
      throw refused(text);
  }
}

struct CodecDeleter {
  void operator()(polar_codec* codec) const { polar_codec_destroy(codec); }
};
using Codec = std::unique_ptr<polar_codec, CodecDeleter>;

struct IndexDeleter {
  void operator()(polar_index* index) const { polar_index_destroy(index); }
};
using Index = std::unique_ptr<polar_index, IndexDeleter>;

inline Codec make_codec(const std::string& spec, int32_t dim, polar_metric metric) {
  polar_codec* codec = nullptr;
  check(polar_codec_create(spec.c_str(), dim, metric, nullptr, &codec));
  return Codec(codec);
}

inline polar_codec_info codec_info(const polar_codec* codec) {
  polar_codec_info info = {};
  info.struct_size = sizeof info;
  check(polar_codec_get_info(codec, &info));
  return info;
}

inline std::string codec_spec(const polar_codec* codec) {
  std::string spec(polar_codec_spec(codec, nullptr, 0), '\0');
  polar_codec_spec(codec, spec.data(), spec.size() + 1);
  return spec;
}

/// `distance` of a score: smaller is nearer, whatever the metric.
inline double score_distance(polar_metric metric, float score) {
  switch (metric) {
    case POLAR_METRIC_COSINE:
      return 1 - static_cast<double>(score);
    case POLAR_METRIC_INNER_PRODUCT:
      return -static_cast<double>(score);
    default:
      return score;
  }
}

}  // namespace polarquant::sqlite
