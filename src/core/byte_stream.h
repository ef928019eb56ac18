// SPDX-License-Identifier: MIT
// Little-endian fields appended to, and read from, a byte string; reads are checked against its
// end.
#pragma once

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "src/core/status.h"

namespace polarquant {

static_assert(std::endian::native == std::endian::little,
              "stored fields are copied as they lie: a big-endian port must swap them here");

template <typename T>
concept StoredNumber = std::integral<T> || std::floating_point<T>;

class ByteWriter {
 public:
  template <StoredNumber T>
  void put(T value) {
    put_bytes(&value, sizeof value);
  }
  template <StoredNumber T, typename Allocator>
  void put_array(const std::vector<T, Allocator>& values) {
    put<uint64_t>(values.size());
    put_bytes(values.data(), values.size() * sizeof(T));
  }
  void put_string(const std::string& text) {
    put<uint32_t>(static_cast<uint32_t>(text.size()));
    put_bytes(text.data(), text.size());
  }
  void put_bytes(const void* data, size_t bytes);

  const std::vector<uint8_t>& bytes() const { return bytes_; }

 private:
  std::vector<uint8_t> bytes_;
};

class ByteReader {
 public:
  /// Borrows `data`; `what` names the source in error texts ("codec state").
  ByteReader(const uint8_t* data, size_t bytes, const char* what)
      : data_(data), bytes_(bytes), what_(what) {}

  template <StoredNumber T>
  T get(const char* field) {
    T value;
    std::memcpy(&value, take(sizeof value, field), sizeof value);
    return value;
  }
  /// An array written by put_array; its stored length is checked against `max_count` and the bytes
  /// left before anything is allocated.
  template <StoredNumber T>
  std::vector<T> get_array(const char* field, uint64_t max_count) {
    const uint64_t count = get_count(field, max_count, sizeof(T));
    std::vector<T> values(count);
    const uint8_t* source = take(count * sizeof(T), field);
    if (count > 0) std::memcpy(values.data(), source, count * sizeof(T));
    return values;
  }
  std::string get_string(const char* field, uint32_t max_bytes);
  /// Throws corrupt_data unless every byte was read.
  void expect_end() const;

 private:
  const uint8_t* take(size_t bytes, const char* field);
  uint64_t get_count(const char* field, uint64_t max_count, size_t item_bytes);

  const uint8_t* data_;
  size_t bytes_;
  size_t position_ = 0;
  const char* what_;
};

}  // namespace polarquant
