// SPDX-License-Identifier: MIT
#include "src/capi/argument_checks.h"

#include <cmath>
#include <cstring>

#include "src/core/checked_size.h"

namespace polarquant::capi {

void require_count(const char* name, int64_t value, int64_t least) {
  require(value >= least, StatusCode::bad_argument, "{}: {} is not allowed; {} or more", name,
          value, least);
}

void require_array(const char* name, const void* pointer, int64_t rows, int64_t cols,
                   size_t item_bytes) {
  const size_t items = checked_mul(rows, cols, name);
  checked_mul(items, item_bytes, name);
  require(pointer != nullptr || items == 0, StatusCode::bad_argument,
          "{}: NULL is not allowed; an array of {} x {} items", name, rows, cols);
}

void require_finite(const char* name, const float* x, int64_t rows, int64_t cols) {
  require_array(name, x, rows, cols, sizeof(float));
  for (int64_t row = 0; row < rows; ++row) {
    const float* values = x + row * cols;
    for (int64_t col = 0; col < cols; ++col) {
      require(std::isfinite(values[col]), StatusCode::bad_argument,
              "{}: row {} column {} is {}; finite numbers are allowed", name, row, col,
              values[col]);
    }
  }
}

void require_dim(int32_t dim) {
  require(dim >= 1 && dim <= kMaxDim, StatusCode::bad_argument, "dim: {} is not allowed; 1 to {}",
          dim, kMaxDim);
}

void require_threads(int32_t num_threads) {
  require(num_threads >= 0 && num_threads <= kMaxThreads, StatusCode::bad_argument,
          "num_threads: {} is not allowed; 0 (OpenMP's default) to {}", num_threads, kMaxThreads);
}

Metric require_metric(int32_t metric) {
  require(metric >= 0 && metric <= 2, StatusCode::bad_argument,
          "metric: {} is not allowed; 0 (inner product), 1 (L2) or 2 (cosine)", metric);
  return static_cast<Metric>(metric);
}

const char* require_path(const char* name, const char* path) {
  require_object(name, path);
  return path;
}

const char* require_name(const char* name, const char* text) {
  require_object(name, text);
  const size_t bytes = std::strlen(text);
  require(bytes <= kMaxNameBytes, StatusCode::bad_argument,
          "{}: {} bytes long; at most {} are allowed", name, bytes, kMaxNameBytes);
  return text;
}

CodeRows require_codes(const Codec& codec, const char* n_name, int64_t n, const char* codes_name,
                       const uint8_t* codes, size_t codes_bytes) {
  require_count(n_name, n, 0);
  const size_t needed = codec.layout().bytes(n);
  require(codes_bytes == needed, StatusCode::bad_argument,
          "{}_bytes: {} given; {} needed for {} rows", codes_name, codes_bytes, needed, n);
  require(codes != nullptr || needed == 0, StatusCode::bad_argument,
          "{}: NULL is not allowed; {} bytes", codes_name, needed);
  return {codes, n};
}

void require_trained(const Codec& codec) {
  require(codec.is_trained(), StatusCode::not_trained,
          "codec: {} is not trained; call polar_codec_train first", print_spec(codec.spec()));
}

}  // namespace polarquant::capi
