// SPDX-License-Identifier: MIT
// train_index and add_to_index of faiss.h: what the classes of ours check by themselves, for any.
#include "polarquant/faiss.h"
#include "src/core/call_threads.h"
#include "src/faiss/foreign/faiss_error.h"
#include "src/faiss/index/row_changes.h"
#include "src/faiss/index/row_checks.h"

namespace polarquant {

void train_index(::faiss::Index& index, int64_t n, const float* x) {
  with_faiss_errors([&] {
    require_training_rows("train", n, index.d, x);
    const CallThreads call_threads(0);
    index.train(n, x);
  });
}

void add_to_index(::faiss::Index& index, int64_t n, const float* x, const int64_t* ids) {
  with_faiss_errors([&] {
    require_rows("add", n, index.d, x);
    add_rows(index, n, x, ids);
  });
}

}  // namespace polarquant
