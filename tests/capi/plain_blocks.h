// SPDX-License-Identifier: MIT
// An index on a device that is none, whose rows lie in blocks as they do on a device, and what is
// made of one.
#pragma once

#include <cstdint>
#include <cstring>
#include <vector>

#include "cuda/interface.h"

namespace polarquant::cuda {

class DeviceIndex {
 public:
  int32_t device = 0;
  CodeDescription code = {};
  int64_t rows = 0;
  std::vector<uint8_t> sketches;
  std::vector<uint8_t> payloads;
  std::vector<char> is_written;  // of each block
  bool is_finished = false;
  // Only of an inverted file:
  std::vector<int64_t> list_rows;
  std::vector<float> centroids;
  bool centroids_are_l2 = false;
  // How queries in its memory are prepared:
  bool prepares = false;
  Rotation rotation = Rotation::none;

  int64_t blocks() const { return (rows + kBlockRows - 1) / kBlockRows; }
  size_t factor_bytes() const { return code.factor_form == FactorForm::float32 ? 8 : 4; }
  size_t sketch_bytes() const {
    return kBlockRows * (size_t{8} * static_cast<size_t>(code.sketch_words) + factor_bytes());
  }
  size_t payload_bytes() const { return size_t{kBlockRows} * code.payload_bytes; }

  /// Block `number`, of which there was none.
  void put(int64_t number, const uint8_t* sketch, const uint8_t* payload) {
    const auto at = static_cast<size_t>(number);
    is_written[at] = 1;
    std::memcpy(sketches.data() + at * sketch_bytes(), sketch, sketch_bytes());
    if (payload_bytes() > 0)
      std::memcpy(payloads.data() + at * payload_bytes(), payload, payload_bytes());
  }
  /// FunctionTable::extend.
  void take_blocks(const DeviceIndex& from, const int64_t* sources) {
    const int64_t full = from.rows / kBlockRows;
    for (int64_t block = 0; block < blocks(); ++block) {
      const int64_t source = sources != nullptr ? sources[block] : block < full ? block : -1;
      if (source < 0) continue;
      const auto at = static_cast<size_t>(source);
      put(block, from.sketches.data() + at * sketch_bytes(),
          from.payloads.data() + at * payload_bytes());
    }
  }
  /// FunctionTable::read_rows.
  void read_rows(int64_t n, const int64_t* numbers, uint8_t* to_sketches,
                 uint8_t* to_payloads) const {
    const size_t bytes = code.payload_bytes;
    for (int64_t at = 0; at < n; ++at) {
      const int64_t row = numbers[at];
      for (size_t word = 0; word < words(); ++word)
        std::memcpy(to_sketches + word_offset(at, word), sketches.data() + word_offset(row, word),
                    8);
      std::memcpy(to_sketches + factors_offset(at), sketches.data() + factors_offset(row),
                  factor_bytes());
      std::memcpy(to_payloads + static_cast<size_t>(at) * bytes,
                  payloads.data() + static_cast<size_t>(row) * bytes, bytes);
    }
  }

  size_t words() const { return static_cast<size_t>(code.sketch_words); }
  /// Of the sketches.
  size_t word_offset(int64_t row, size_t word) const {
    const auto in_block = static_cast<size_t>(row % kBlockRows);
    return block_offset(row) + ((in_block / 8 * words() + word) * 8 + in_block % 8) * 8;
  }
  size_t factors_offset(int64_t row) const {
    return block_offset(row) + kBlockRows * 8 * words() +
           static_cast<size_t>(row % kBlockRows) * factor_bytes();
  }

 private:
  size_t block_offset(int64_t row) const {
    return static_cast<size_t>(row / kBlockRows) * sketch_bytes();
  }
};

class DeviceBits {
 public:
  std::vector<uint64_t> words;
};

class PreparedSearch {
 public:
  const DeviceIndex* index;
  SearchRequest shape;
  std::vector<int64_t> ids;
};

}  // namespace polarquant::cuda
