// SPDX-License-Identifier: MIT
#include "src/scan/stores/codec_copy.h"

#include <vector>

#include "src/scan/search/fast_codec_kernels.h"

namespace polarquant {

std::unique_ptr<Codec> copy_of(const Codec& codec) {
  const std::vector<uint8_t> state = codec.save_state();
  return Codec::load_state(state.data(), state.size(), fast_codec_kernels());
}

}  // namespace polarquant
