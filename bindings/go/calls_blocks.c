/* SPDX-License-Identifier: MIT */
#include "call_options.h"

polargo_result polargo_blocks_bytes(polargo_codec codec, int64_t n, size_t* bytes) {
  return polargo_result_of(polar_blocks_bytes((const polar_codec*)codec, n, bytes));
}

polargo_result polargo_blocks_append(polargo_codec codec, polar_blocks blocks, int64_t n,
                                     const uint8_t* codes, size_t codes_bytes, int64_t* rows) {
  const polargo_result result = polargo_result_of(
      polar_blocks_append((const polar_codec*)codec, &blocks, n, codes, codes_bytes));
  *rows = blocks.rows;
  return result;
}

polargo_result polargo_blocks_get(polargo_codec codec, polar_blocks blocks, int64_t first,
                                  int64_t count, uint8_t* codes, size_t codes_bytes) {
  return polargo_result_of(
      polar_blocks_get((const polar_codec*)codec, &blocks, first, count, codes, codes_bytes));
}

polargo_result polargo_blocks_overwrite(polargo_codec codec, polar_blocks blocks, int64_t row,
                                        const uint8_t* code, size_t code_bytes) {
  return polargo_result_of(
      polar_blocks_overwrite((const polar_codec*)codec, &blocks, row, code, code_bytes));
}

polargo_result polargo_blocks_remove(polargo_codec codec, polar_blocks blocks,
                                     const uint64_t* removed, int64_t* rows) {
  const polargo_result result =
      polargo_result_of(polar_blocks_remove((const polar_codec*)codec, &blocks, removed));
  *rows = blocks.rows;
  return result;
}

polargo_result polargo_blocks_swap_remove(polargo_codec codec, polar_blocks blocks, int64_t row,
                                          int64_t* rows) {
  const polargo_result result =
      polargo_result_of(polar_blocks_swap_remove((const polar_codec*)codec, &blocks, row));
  *rows = blocks.rows;
  return result;
}

polargo_result polargo_blocks_search(polargo_codec codec, polar_blocks blocks, int64_t nq,
                                     const float* queries, int64_t k, polargo_search search,
                                     float* scores, int64_t* ids) {
  polar_search_options options;
  polar_filter filter;
  polargo_set_search(&search, &options, &filter);
  return polargo_result_of(polar_blocks_search((const polar_codec*)codec, &blocks, nq, queries, k,
                                               &options, scores, ids));
}

polargo_result polargo_blocks_range_search(polargo_codec codec, polar_blocks blocks, int64_t nq,
                                           const float* queries, float radius,
                                           polargo_search search, int64_t capacity, int64_t* lims,
                                           float* scores, int64_t* ids) {
  polar_search_options options;
  polar_filter filter;
  polargo_set_search(&search, &options, &filter);
  return polargo_result_of(polar_blocks_range_search((const polar_codec*)codec, &blocks, nq,
                                                     queries, radius, &options, capacity, lims,
                                                     scores, ids));
}
