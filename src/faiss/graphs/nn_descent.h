// SPDX-License-Identifier: MIT
// The nearest neighbours of every row among all, nearly: NN-descent (Dong, Moses and Li, WWW 2011)
// as FAISS has it. FAISS's own reads neighbours that it never found where rows are few or equal,
// and cannot be stopped while it runs.
#pragma once

#include <faiss/Index.h>

#include <cstdint>
#include <vector>

namespace polarquant {

/// FAISS's names for its numbers.
struct DescentNumbers {
  int32_t K;     // neighbours wanted of a row
  int32_t S;     // of these compared with each other in one iteration
  int32_t R;     // rows that have a row as neighbour, compared too
  int32_t L;     // neighbours kept meanwhile
  int32_t iter;  // iterations
};

/// (rows, K), nearest first, −1 where there are fewer. Progress is that of the calling thread.
std::vector<int32_t> descend_to_neighbours(const ::faiss::Index& storage,
                                           const DescentNumbers& numbers);

}  // namespace polarquant
