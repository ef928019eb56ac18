// SPDX-License-Identifier: MIT
// A warp's rows copied to shared memory while it works on others: by the copy engine on sm_90, one
// lane asking for it, and by 16 bytes a lane elsewhere.
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

/// One warp's buffers, which it fills in turns.
class RowCopies {
 public:
  /// `arrivals`: as many as buffers. Called by whole warps, with a barrier of the block behind it.
  __device__ RowCopies(const CodeView& code, uint8_t* buffers, uint64_t* arrivals, int count,
                       int warp)
      : code_(code),
        sizes_(code),
        buffers_(buffers),
        arrivals_(shared_address(arrivals)),
        count_(count),
        warp_(warp) {
#if POLAR_HAS_BULK_COPIES
    if (threadIdx.x % 32 == 0) {
      for (int i = 0; i < count; ++i)
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(arrivals_ + 8 * i));
      asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    }
#endif
  }

  /// Begins to copy the warp's rows of a block to the buffer that is next; its lanes must be done
  /// with what it held.
  __device__ void begin(int64_t block) {
    const uint8_t* rests =
        code_.rests + (block * kBlockRows + warp_ * kWarpRows) * code_.rest_bytes;
    const uint8_t* words = block_front(code_, block);
    const uint8_t* factors =
        words + (kBlockRows / kWarpRows) * sizes_.words_bytes + warp_ * sizes_.factors_bytes;
    words += warp_ * sizes_.words_bytes;
    uint8_t* to = buffers_ + filled_ * sizes_.bytes();
#if POLAR_HAS_BULK_COPIES
    if (threadIdx.x % 32 == 0) {
      const uint32_t arrival = arrivals_ + 8 * filled_;
      const uint32_t all = sizes_.rests_bytes + sizes_.words_bytes + sizes_.factors_bytes;
      asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(arrival), "r"(all)
                   : "memory");
      copy(to, rests, sizes_.rests_bytes, arrival);
      copy(to + sizes_.words_offset(), words, sizes_.words_bytes, arrival);
      copy(to + sizes_.factors_offset(), factors, sizes_.factors_bytes, arrival);
    }
#else
    copy(to, rests, sizes_.rests_bytes);
    copy(to + sizes_.words_offset(), words, sizes_.words_bytes);
    copy(to + sizes_.factors_offset(), factors, sizes_.factors_bytes);
    asm volatile("cp.async.commit_group;" ::: "memory");
#endif
    filled_ = filled_ + 1 == count_ ? 0 : filled_ + 1;
  }

  /// A block that will be copied later: brought nearer, where that costs nothing.
  __device__ void announce(int64_t block) const {
#if POLAR_HAS_BULK_COPIES
    const uint8_t* rests =
        code_.rests + (block * kBlockRows + warp_ * kWarpRows) * code_.rest_bytes;
    if (threadIdx.x % 32 == 0)
      asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(rests),
                   "r"(sizes_.rests_bytes)
                   : "memory");
#else
    (void)block;
#endif
  }

  /// Waits for the copy that was begun first; `more`: another was begun behind it.
  __device__ const uint8_t* wait(bool more) {
    const uint8_t* rows = buffers_ + next_ * sizes_.bytes();
#if POLAR_HAS_BULK_COPIES
    const uint32_t arrival = arrivals_ + 8 * next_;
    asm volatile(
        "{\n"
        ".reg .pred done;\n"
        "again:\n"
        "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
        "@!done bra again;\n"
        "}\n" ::"r"(arrival),
        "r"(phase_)
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
    if (++next_ == count_) {
      next_ = 0;
      phase_ ^= 1;
    }
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
#else
  __device__ static void copy(uint8_t* to, const uint8_t* from, uint32_t bytes) {
    for (uint32_t at = threadIdx.x % 32 * 16; at < bytes; at += 512)
      asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared_address(to + at)),
                   "l"(from + at));
  }
#endif

  const CodeView& code_;
  WarpBuffer sizes_;
  uint8_t* buffers_;
  uint32_t arrivals_;
  int count_;
  int warp_;
  int filled_ = 0;
  int next_ = 0;
  uint32_t phase_ = 0;
};

}  // namespace polarquant::cuda
