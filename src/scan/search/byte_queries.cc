// SPDX-License-Identifier: MIT
#include "src/scan/search/byte_queries.h"

#include <algorithm>

#include "src/scan/kernels/dense/query_tile_dots.h"
#include "src/scan/kernels/tile.h"
#include "src/scan/search/plan.h"

namespace polarquant {

void ByteQueries::begin(int64_t nq) {
  queries_.resize(static_cast<size_t>(nq));
  // Products take a whole chunk. With more threads than that, more queries come together.
  const int64_t rows = multiplies_chunk(nq) ? std::max<int64_t>(kChunkRows, nq) : nq;
  values_.assign(static_cast<size_t>(rows * vectors_.padded_dim()), 0);
  similarities_.resize(static_cast<size_t>(nq) * vectors_.similarities());
}

void ByteQueries::put(int64_t query, const float* q, float base, float weight, float factor) {
  queries_[static_cast<size_t>(query)] =
      vectors_.round_query(q, base, weight, factor, values_of(query));
}

void ByteQueries::score_one(int64_t query, int64_t first_tile, int64_t end_tile) {
  vectors_.score(queries_[static_cast<size_t>(query)], values_of(query), first_tile, end_tile,
                 similarities_of(query));
}

void ByteQueries::score() {
  const int64_t tiles = vectors_.tiles();
  if (!multiplies_chunk(count())) {
    for (int64_t query = 0; query < count(); ++query) score_one(query, 0, tiles);
    return;
  }
  const QueryTileSession session;
  const int together = query_tiles_together();
  dots_.resize(static_cast<size_t>(together) * kTileQueries * kChunkRows);
  for (int64_t tile = 0; tile < tiles; tile += together) {
    const int some = static_cast<int>(std::min<int64_t>(together, tiles - tile));
    vectors_.multiply(values_.data(), tile, some, dots_.data());
    for (int64_t query = 0; query < count(); ++query) {
      vectors_.set_similarities(queries_[static_cast<size_t>(query)], tile, some,
                                &dots_[static_cast<size_t>(query * kTileQueries)],
                                int64_t{kChunkRows} * kTileQueries, similarities_of(query));
    }
  }
}

std::span<const float> ByteQueries::similarities(int64_t query) const {
  return {similarities_.data() + static_cast<size_t>(query) * vectors_.similarities(),
          static_cast<size_t>(vectors_.count())};
}

}  // namespace polarquant
