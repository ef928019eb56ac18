// SPDX-License-Identifier: MIT
// FAISS's own long loops, made to hear the progress of the thread that calls them
// (core/work_progress.h): its training and searches ask a process-wide InterruptCallback.
#pragma once

namespace polarquant {

/// Makes FAISS ask, unless the process has such a callback already. Once; from any thread. What is
/// stopped leaves FAISS as a FaissException, which WorkProgress::is_stopped tells from others.
void let_faiss_be_stopped();

}  // namespace polarquant
