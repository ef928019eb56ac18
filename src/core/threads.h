// SPDX-License-Identifier: MIT
// The threads that loops run on: OpenMP's (threads_openmp.cc), or our own where the library is
// built without it (threads_own.cc, POLARQUANT_OPENMP=OFF). Either way each thread that calls has a
// team of its own, which waits for its next loop; a loop inside a loop runs on the thread that it
// is in.
#pragma once

#include <functional>

namespace polarquant {

/// How many threads a loop of the calling thread takes that names no number: what
/// set_default_threads said, else OpenMP's number, or OMP_NUM_THREADS and then the CPUs of the
/// machine.
int default_threads() noexcept;
/// For the calling thread alone.
void set_default_threads(int threads) noexcept;

/// Calls body(thread) at once for thread 0, which is the caller, to threads − 1, and returns when
/// all have. The body does not throw, and thread 0's returns when nothing is left to begin: fewer
/// take part where the system gives no more threads, or does not run them by then.
void run_on_threads(int threads, const std::function<void(int thread)>& body);

}  // namespace polarquant
