// SPDX-License-Identifier: MIT
// Lets FAISS's own long loops poll the progress of the thread that calls them
// (core/work_progress.h): its training and searches ask a process-wide InterruptCallback.
#pragma once

namespace polarquant {

/// Makes FAISS ask, unless the process has such a callback already. Once; from any thread. A
/// stopped call leaves FAISS as a FaissException, which WorkProgress::is_stopped tells from others.
void let_faiss_be_stopped();

}  // namespace polarquant
