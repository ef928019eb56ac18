// SPDX-License-Identifier: MIT
// A codec of every kind for inputs that are codes: made and trained when first wanted.
#pragma once

#include "polarquant/polarquant.h"
#include "tests/fuzz/fuzz.h"

namespace polarquant::fuzz {

struct TrainedCodec {
  const polar_codec* codec;  // nullptr: there is none of this spec and these dimensions
  polar_codec_info info;
};

/// Chosen by the first three bytes of the input.
TrainedCodec take_codec(Input& input);

/// Rows, and bytes, of as many codes as the input has.
struct CodeCount {
  int64_t rows;
  size_t bytes;
};
CodeCount count_codes(const TrainedCodec& trained, size_t bytes, int64_t most);

/// Options chosen by a byte: exactness, and a filter by row.
class ChosenOptions {
 public:
  ChosenOptions(uint8_t choice, int64_t rows);
  ChosenOptions(const ChosenOptions&) = delete;
  ChosenOptions& operator=(const ChosenOptions&) = delete;
  const polar_search_options* get() const { return &options_; }

 private:
  polar_search_options options_;
  polar_filter filter_;
  uint64_t bits_[8];
};

}  // namespace polarquant::fuzz
