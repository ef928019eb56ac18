// SPDX-License-Identifier: MIT
// Seeded Gaussian rows and the error of coding them, for the tests of the quantizers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "src/codec/quantizer.h"
#include "src/core/random.h"

namespace polarquant::test {

inline std::vector<float> gaussian_rows(int64_t n, int dim, uint64_t seed) {
  Random random(seed);
  std::vector<float> rows(static_cast<size_t>(n * dim));
  for (float& value : rows) value = static_cast<float>(random.normal());
  return rows;
}

/// The 16-bit float that a value ≥ 0 is stored as.
inline double as_stored(double value, ShortFloat form = ShortFloat::wide16) {
  uint8_t bytes[2];
  write_short_float(form, static_cast<float>(value), bytes);
  return static_cast<double>(read_short_float(form, bytes));
}

/// The codes of all whole groups among `rows`, one after another.
inline std::vector<uint8_t> encode_rows(const Quantizer& quantizer, const std::vector<float>& rows,
                                        int dim) {
  const auto group_floats = static_cast<size_t>(quantizer.group_rows()) * static_cast<size_t>(dim);
  const size_t groups = rows.size() / group_floats;
  // Not zero: an encoder that only sets bits would show.
  std::vector<uint8_t> codes(groups * quantizer.code_bytes(), 0xa5);
  for (size_t i = 0; i < groups; ++i) {
    quantizer.encode(rows.data() + i * group_floats, codes.data() + i * quantizer.code_bytes());
  }
  return codes;
}

inline std::vector<float> decode_rows(const Quantizer& quantizer, const std::vector<uint8_t>& codes,
                                      int dim) {
  const auto group_rows = static_cast<size_t>(quantizer.group_rows());
  const size_t groups = codes.size() / quantizer.code_bytes();
  std::vector<float> rows(groups * group_rows * static_cast<size_t>(dim));
  for (size_t i = 0; i < groups * group_rows; ++i) {
    quantizer.decode(codes.data() + i / group_rows * quantizer.code_bytes(),
                     static_cast<int>(i % group_rows), rows.data() + i * static_cast<size_t>(dim));
  }
  return rows;
}

inline std::vector<float> round_trip(const Quantizer& quantizer, const std::vector<float>& rows,
                                     int dim) {
  return decode_rows(quantizer, encode_rows(quantizer, rows, dim), dim);
}

inline double mean_squared_error(const std::vector<float>& a, const std::vector<float>& b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    const double difference = static_cast<double>(a[i]) - static_cast<double>(b[i]);
    sum += difference * difference;
  }
  return sum / static_cast<double>(a.size());
}

/// Mean squared error per dimension of coding n Gaussian rows.
inline double coding_error(const Quantizer& quantizer, int64_t n, int dim, uint64_t seed) {
  const std::vector<float> rows = gaussian_rows(n, dim, seed);
  return mean_squared_error(rows, round_trip(quantizer, rows, dim));
}

}  // namespace polarquant::test
