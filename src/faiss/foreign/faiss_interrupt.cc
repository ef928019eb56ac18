// SPDX-License-Identifier: MIT
#include "src/faiss/foreign/faiss_interrupt.h"

#include <faiss/impl/AuxIndexStructures.h>

#include <memory>
#include <mutex>

#include "src/core/work_progress.h"

namespace polarquant {
namespace {

class ThreadsProgress final : public ::faiss::InterruptCallback {
 public:
  bool want_interrupt() override {
    WorkProgress* const work = WorkProgress::current();
    if (work == nullptr) return false;  // FAISS's worker threads among others
    // FAISS asks with its lock held where several threads may ask at once. The caller's function is
    // not called then: it may itself search an index, which would wait for that lock.
    if (!lock.try_lock()) return work->is_stopped();
    lock.unlock();
    return work->wants_stop();
  }
};

}  // namespace

void let_faiss_be_stopped() {
  static std::once_flag once;
  std::call_once(once, [] {
    auto& instance = ::faiss::InterruptCallback::instance;
    if (instance == nullptr) instance = std::make_unique<ThreadsProgress>();
  });
}

}  // namespace polarquant
