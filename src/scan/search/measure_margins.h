// SPDX-License-Identifier: MIT
// How far the bounds of a staged search have to stand off on rows like those a code was trained
// with. Signs of a trained code's axes say more of a score, or less, by how squared_norm is spread
// over axes and rows: with the same margins for all a search loses .0003 of recall on sentence
// embeddings, and .01 on heavy-tailed rows.
#pragma once

#include <cstdint>

#include "src/codec/codec.h"

namespace polarquant {

/// The margins with which a search loses no more of what is nearest to some of the rows among
/// others than it does of the embeddings that margins of 1 are made for; no smaller ones, since
/// queries may be unlike the rows. 1 and 1 where searches of the code have no bounds, n is too
/// small to tell, or one of the rows lies too far out to be encoded. `trained` encodes rows. Takes
/// the time of n rows' encoding, 8192 at the most, and of as many scores of 1024 queries. The same
/// for any number of threads.
SearchMargins measure_margins(Codec& trained, int64_t n, const float* x);

}  // namespace polarquant
