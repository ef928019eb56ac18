// SPDX-License-Identifier: MIT
// Arrays of a search that lie in the memory of an index's device and are used there.
#pragma once

#include "cuda/interface.h"

namespace polarquant::device {

struct ResidentArrays {
  cuda::ResidentQueries queries = {};  // in the place of the request's
  cuda::ResidentBits allowed = {};     // in the place of the request's filter
  bool scores = false;                 // the result's, as are the ids
  bool ids = false;
};

/// Which of them an index uses there; the others have to be copied.
struct ResidentUse {
  int32_t device = cuda::kHostMemory;  // whose memory they are to be in
  bool queries = false;                // of an inverted file only without a filter
  bool allowed = false;
  bool scores = false;
  bool ids = false;
};

}  // namespace polarquant::device
