// SPDX-License-Identifier: MIT
#include "src/core/byte_stream.h"

namespace polarquant {

void ByteWriter::put_bytes(const void* data, size_t bytes) {
  const auto* source = static_cast<const uint8_t*>(data);
  bytes_.insert(bytes_.end(), source, source + bytes);
}

std::string ByteReader::get_string(const char* field, uint32_t max_bytes) {
  const auto length = get<uint32_t>(field);
  require(length <= max_bytes, StatusCode::corrupt_data,
          "{}: {} has {} bytes; at most {} are allowed", what_, field, length, max_bytes);
  const uint8_t* source = take(length, field);
  return std::string(reinterpret_cast<const char*>(source), length);
}

void ByteReader::expect_end() const {
  require(position_ == bytes_, StatusCode::corrupt_data,
          "{}: {} bytes follow its last field; 0 expected", what_, bytes_ - position_);
}

const uint8_t* ByteReader::take(size_t bytes, const char* field) {
  require(bytes <= bytes_ - position_, StatusCode::corrupt_data,
          "{}: truncated at {}: {} bytes needed at offset {}, {} left", what_, field, bytes,
          position_, bytes_ - position_);
  const uint8_t* start = data_ + position_;
  position_ += bytes;
  return start;
}

uint64_t ByteReader::get_count(const char* field, uint64_t max_count, size_t item_bytes) {
  const auto count = get<uint64_t>(field);
  require(count <= max_count && count <= (bytes_ - position_) / item_bytes,
          StatusCode::corrupt_data,
          "{}: {} has {} items; at most {} are allowed and {} bytes are left", what_, field, count,
          max_count, bytes_ - position_);
  return count;
}

}  // namespace polarquant
