// SPDX-License-Identifier: MIT
// Copies a warp's rows to shared memory while it works on others: by the copy engine on sm_90,
// asked by one lane, and by 16 bytes a lane elsewhere.
#pragma once

#include "cuda/row_terms.cuh"
#include "cuda/shared_decode.cuh"
#include "cuda/tile_plan.h"

namespace polarquant::cuda {

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
#define POLAR_HAS_BULK_COPIES 1
#else
#define POLAR_HAS_BULK_COPIES 0
#endif

/// One warp's buffers, which it fills in turn with its rows of every `block_step`-th block.
class RowCopies {
 public:
  /// `arrivals`: one for each buffer. Called by whole warps; a barrier of the block must follow.
  __device__ RowCopies(const CodeView& code, uint8_t* buffers, uint64_t* arrivals, int count,
                       int warp, int64_t first_block, int64_t block_step)
      : sizes_(code),
        buffers_(buffers),
        arrivals_(shared_address(arrivals)),
        last_(static_cast<uint32_t>(count) - 1),
        payloads_(code.payloads +
                  (first_block * kBlockRows + warp * kWarpRows) * code.payload_bytes),
        words_(block_sketch(code, first_block) + warp * sizes_.words_bytes),
        factors_(static_cast<uint32_t>(kGroupWarps - warp) * sizes_.words_bytes +
                 static_cast<uint32_t>(warp) * sizes_.factors_bytes),
        payloads_step_(block_step * kBlockRows * code.payload_bytes),
        words_step_(block_step * code.sketch_bytes()) {
#if POLAR_HAS_BULK_COPIES
    if (threadIdx.x % 32 == 0) {
      for (int i = 0; i < count; ++i)
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(arrivals_ + 8 * i));
      asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    }
#endif
  }

  /// Begins to copy the warp's rows of the next block to the next buffer; its lanes must be done
  /// with the rows before.
  __device__ void begin() {
    const uint32_t number = begun_ & last_;
    uint8_t* to = buffers_ + number * sizes_.bytes();
#if POLAR_HAS_BULK_COPIES
    if (threadIdx.x % 32 == 0) {
      const uint32_t arrival = arrivals_ + 8 * number;
      const uint32_t all = sizes_.payloads_bytes + sizes_.words_bytes + sizes_.factors_bytes;
      asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(arrival), "r"(all)
                   : "memory");
      copy(to + sizes_.payloads_offset(), payloads_, sizes_.payloads_bytes, arrival);
      copy(to + sizes_.words_offset(), words_, sizes_.words_bytes, arrival);
      copy(to, words_ + factors_, sizes_.factors_bytes, arrival);
    }
#else
    copy(to + sizes_.payloads_offset(), payloads_, sizes_.payloads_bytes);
    copy(to + sizes_.words_offset(), words_, sizes_.words_bytes);
    copy(to, words_ + factors_, sizes_.factors_bytes);
    asm volatile("cp.async.commit_group;" ::: "memory");
#endif
    ++begun_;
    payloads_ += payloads_step_;
    words_ += words_step_;
  }

  /// Prefetches the next block, which will be copied later, where that costs nothing.
  __device__ void announce() const {
#if POLAR_HAS_BULK_COPIES
    if (threadIdx.x % 32 == 0) {
      prefetch(payloads_, sizes_.payloads_bytes);
      prefetch(words_, sizes_.words_bytes);
    }
#endif
  }

  /// Waits for the copy that was begun first; `more`: another was begun after it.
  __device__ const uint8_t* wait(bool more) {
    const uint32_t number = waited_ & last_;
    const uint8_t* rows = buffers_ + number * sizes_.bytes();
#if POLAR_HAS_BULK_COPIES
    const uint32_t arrival = arrivals_ + 8 * number;
    asm volatile(
        "{\n"
        ".reg .pred done;\n"
        "again:\n"
        "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
        "@!done bra again;\n"
        "}\n" ::"r"(arrival),
        "r"(waited_ >> last_ & 1)
        : "memory");
#else
    if (more) {
      asm volatile("cp.async.wait_group 1;" ::: "memory");
    } else {
      asm volatile("cp.async.wait_group 0;" ::: "memory");
    }
#endif
    (void)more;
    __syncwarp();
    ++waited_;
    return rows;
  }

 private:
#if POLAR_HAS_BULK_COPIES
  __device__ static void copy(void* to, const void* from, uint32_t bytes, uint32_t arrival) {
    if (bytes == 0) return;
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::
            "r"(shared_address(to)),
        "l"(from), "r"(bytes), "r"(arrival)
        : "memory");
  }
  __device__ static void prefetch(const void* from, uint32_t bytes) {
    if (bytes == 0) return;
    asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(from), "r"(bytes) : "memory");
  }
#else
  __device__ static void copy(uint8_t* to, const uint8_t* from, uint32_t bytes) {
    for (uint32_t at = threadIdx.x % 32 * 16; at < bytes; at += 512)
      asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared_address(to + at)),
                   "l"(from + at));
  }
#endif

  WarpBuffer sizes_;
  uint8_t* buffers_;
  uint32_t arrivals_;
  uint32_t last_;  // the last buffer; there are one or two
  const uint8_t* payloads_;
  const uint8_t* words_;
  uint32_t factors_;  // from words on
  int64_t payloads_step_;
  int64_t words_step_;
  uint32_t begun_ = 0;
  uint32_t waited_ = 0;
};

}  // namespace polarquant::cuda
