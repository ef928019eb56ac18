// SPDX-License-Identifier: MIT
// The scoring calls of the C ABI: queries, scores, top-k, over codes the caller owns.
#include "polarquant/polarquant.h"

#include <memory>

#include "src/capi/argument_checks.h"
#include "src/capi/exception_wall.h"
#include "src/capi/handles.h"
#include "src/capi/range_output.h"
#include "src/capi/row_blocks.h"
#include "src/capi/search_options.h"
#include "src/capi/work_call.h"
#include "src/scan/search/row_search.h"

using namespace polarquant;        // NOLINT: this file is the ABI's definitions and nothing else
using namespace polarquant::capi;  // NOLINT

extern "C" polar_status polar_query_prepare(const polar_codec* codec, const float* q,
                                            polar_query** out) {
  if (out != nullptr) *out = nullptr;
  return run_guarded([&] {
    const Codec& checked = *require_object("codec", codec).codec;
    require_object("out", out);
    require_trained(checked);
    require_finite("q", q, 1, checked.dim());
    auto handle = std::make_unique<polar_query>();
    handle->query = checked.prepare_query(q);
    *out = handle.release();
  });
}

extern "C" polar_status polar_query_prepare_from_code(const polar_codec* codec, int64_t n,
                                                      const uint8_t* codes, size_t codes_bytes,
                                                      int64_t row, polar_query** out) {
  if (out != nullptr) *out = nullptr;
  return run_guarded([&] {
    const Codec& checked = *require_object("codec", codec).codec;
    require_object("out", out);
    const CodeRows rows = require_codes(checked, "n", n, "codes", codes, codes_bytes);
    require_trained(checked);
    require(row >= 0 && row < n, StatusCode::bad_argument,
            "row: {} is not allowed; 0 or more and below n = {}", row, n);
    auto handle = std::make_unique<polar_query>();
    handle->query = checked.prepare_query_from_code(rows, row);
    *out = handle.release();
  });
}

extern "C" void polar_query_destroy(polar_query* query) { delete query; }

extern "C" polar_status polar_codec_score(const polar_codec* codec, const polar_query* query,
                                          int64_t n, const uint8_t* codes, size_t codes_bytes,
                                          const polar_work_options* options, float* scores) {
  return run_work("score", options, [&] {
    const Codec& checked = *require_object("codec", codec).codec;
    const PreparedQuery& prepared = require_object("query", query).query;
    const CodeRows rows = require_codes(checked, "n", n, "codes", codes, codes_bytes);
    require_array("scores", scores, n, 1, sizeof(float));
    checked.require_same_state(prepared);
    for_row_blocks(n, [&](int64_t first, int64_t count) {
      checked.score(prepared, rows, first, count, scores + first);
    });
  });
}

extern "C" polar_status polar_codec_search(const polar_codec* codec, int64_t nq,
                                           const float* queries, int64_t n, const uint8_t* codes,
                                           size_t codes_bytes, int64_t k,
                                           const polar_search_options* options, float* scores,
                                           int64_t* ids) {
  return run_guarded([&] {
    const Codec& checked = *require_object("codec", codec).codec;
    require_count("nq", nq, 0);
    const CodeRows rows = require_codes(checked, "n", n, "codes", codes, codes_bytes);
    require_trained(checked);
    require_count("k", k, 1);
    require_finite("queries", queries, nq, checked.dim());
    const SearchRequest request = read_request(nq, queries, SearchGoal::best(k), options);
    require_array("scores", scores, nq, k, sizeof(float));
    require_array("ids", ids, nq, k, sizeof(int64_t));
    row_search(checked, rows, request, {scores, ids});
  });
}

extern "C" polar_status polar_codec_range_search(const polar_codec* codec, int64_t nq,
                                                 const float* queries, int64_t n,
                                                 const uint8_t* codes, size_t codes_bytes,
                                                 float radius, const polar_search_options* options,
                                                 int64_t capacity, int64_t* lims, float* scores,
                                                 int64_t* ids) {
  return run_guarded([&] {
    const Codec& checked = *require_object("codec", codec).codec;
    require_count("nq", nq, 0);
    const CodeRows rows = require_codes(checked, "n", n, "codes", codes, codes_bytes);
    require_trained(checked);
    require_finite("queries", queries, nq, checked.dim());
    const SearchRequest request = read_request(nq, queries, SearchGoal::within(radius), options);
    const RangeOutput output(radius, nq, capacity, lims, scores, ids);
    RangeFound found;
    row_search(checked, rows, request, &found);
    output.write(found);
  });
}

extern "C" polar_status polar_codec_score_codes(const polar_codec* codec, int64_t na,
                                                const uint8_t* codes_a, size_t codes_a_bytes,
                                                int64_t nb, const uint8_t* codes_b,
                                                size_t codes_b_bytes,
                                                const polar_work_options* options, float* scores) {
  return run_work("score_codes", options, [&] {
    const Codec& checked = *require_object("codec", codec).codec;
    const CodeRows a = require_codes(checked, "na", na, "codes_a", codes_a, codes_a_bytes);
    const CodeRows b = require_codes(checked, "nb", nb, "codes_b", codes_b, codes_b_bytes);
    require_trained(checked);
    require_array("scores", scores, na, nb, sizeof(float));
    parallel_for(na, thread_count(0, na), [&](int64_t i, int) {
      for (int64_t j = 0; j < nb; ++j) scores[i * nb + j] = checked.score_codes(a, i, b, j);
    });
  });
}
