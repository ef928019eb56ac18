// SPDX-License-Identifier: MIT
// FAISS's fields, read one after another from bytes that are not trusted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

#include "src/core/byte_stream.h"
#include "src/core/status.h"
#include "src/io/section_format.h"

namespace polarquant {

/// FAISS's four-character names are made as kinds of sections are.
constexpr SectionKind faiss_name(const char (&name)[5]) { return section_kind(name); }

/// Items of an array where they lie, not aligned.
template <typename T>
struct FaissArray {
  const uint8_t* data = nullptr;
  uint64_t size = 0;

  T operator[](uint64_t i) const {
    T value;
    std::memcpy(&value, data + i * sizeof(T), sizeof value);
    return value;
  }
};

class FaissByteReader {
 public:
  FaissByteReader(const uint8_t* data, size_t bytes) : data_(data), bytes_(bytes) {}

  size_t left() const { return bytes_ - position_; }

  template <StoredNumber T>
  T get() {
    return FaissArray<T>{take(1, sizeof(T)), 1}[0];
  }
  bool get_bool(const char* field) {
    const auto value = get<uint8_t>();
    expect(value <= 1, field, value);
    return value == 1;
  }
  /// An integer within a range.
  template <StoredNumber T>
  T get_between(const char* field, T least, T most) {
    const T value = get<T>();
    expect(value >= least && value <= most, field, value);
    return value;
  }
  /// `count` items.
  template <StoredNumber T>
  FaissArray<T> get_items(uint64_t count) {
    return {take(count, sizeof(T)), count};
  }
  /// A size, then so many items.
  template <StoredNumber T>
  FaissArray<T> get_vector() {
    return get_items<T>(get<uint64_t>());
  }

  /// Throws corrupt_data naming the field unless `condition` holds.
  template <typename T>
  static void expect(bool condition, const char* field, const T& value) {
    require(condition, StatusCode::corrupt_data,
            "index file: FAISS's field {} is {}, which no index has", field, value);
  }

 private:
  const uint8_t* take(uint64_t count, size_t item_bytes) {
    require(count <= left() / item_bytes, StatusCode::corrupt_data,
            "index file: FAISS's part has {} bytes left; {} items of {} bytes are needed", left(),
            count, item_bytes);
    const uint8_t* start = data_ + position_;
    position_ += static_cast<size_t>(count) * item_bytes;
    return start;
  }

  const uint8_t* data_;
  size_t bytes_;
  size_t position_ = 0;
};

}  // namespace polarquant
