// SPDX-License-Identifier: MIT
// What an index answers, to be compared: with what it answered before, with another index, and with
// a model.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "src/core/random.h"
#include "tests/model/call_player.h"

namespace polarquant::test {

/// What one query finds: score and id of each row, by rising score and id.
using Found = std::vector<std::pair<float, int64_t>>;

/// Options with which a search leaves nothing out: every row scored, all lists and nodes looked at.
polar_search_options exhaustive_options(const IndexKind& kind, const polar_index* index);

/// Whether it filters: FAISS's own kinds learned it release by release.
bool filters(const IndexKind& kind, const polar_index* index);

/// All rows that the search finds. Throws ModelFailure unless ids are different, scores in order,
/// and what is after the last one found is empty.
Found search_all(const polar_index* index, polar_metric metric, const std::vector<float>& query,
                 const polar_search_options& options);

/// All bytes that saving writes.
std::vector<uint8_t> saved_bytes(const polar_index* index);

/// Compares an index with its model, by ids, scores and reconstructions. Throws ModelFailure.
void audit(const IndexKind& kind, polar_metric metric, const ModelledIndex& checked,
           Random& random);

}  // namespace polarquant::test
