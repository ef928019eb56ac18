// SPDX-License-Identifier: MIT
// The C ABI as benchmarks use it: failures are exceptions, handles free themselves.
#pragma once

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>

#include "polarquant/polarquant.h"

namespace polarquant::bench {

inline void check(polar_status status) {
  if (status == POLAR_OK) return;
  std::string text(polar_last_error(nullptr, 0), ' ');
  polar_last_error(text.data(), text.size() + 1);
  throw std::runtime_error(text);
}

struct Deleter {
  void operator()(polar_codec* codec) const { polar_codec_destroy(codec); }
  void operator()(polar_index* index) const { polar_index_destroy(index); }
  void operator()(polar_prepared_filter* filter) const { polar_prepared_filter_destroy(filter); }
  void operator()(polar_cuda_index* index) const { polar_cuda_index_destroy(index); }
  void operator()(polar_cuda_encoder* encoder) const { polar_cuda_encoder_destroy(encoder); }
};
using IndexHandle = std::unique_ptr<polar_index, Deleter>;

/// An index without rows, for inner product.
inline IndexHandle make_index(const std::string& description, int32_t dim) {
  polar_index* index = nullptr;
  check(polar_index_create(description.c_str(), dim, POLAR_METRIC_INNER_PRODUCT, &index));
  return IndexHandle(index);
}

}  // namespace polarquant::bench
