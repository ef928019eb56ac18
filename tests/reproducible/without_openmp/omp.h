// SPDX-License-Identifier: MIT
// What a program compiled without OpenMP sees of it: one thread.
#pragma once

inline int omp_get_max_threads() { return 1; }
inline int omp_get_thread_num() { return 0; }
