// SPDX-License-Identifier: MIT
// The calls of the C ABI that search parts of an index.
#include "polarquant/polarquant.h"
#include "src/capi/argument_checks.h"
#include "src/capi/exception_wall.h"
#include "src/capi/index_checks.h"
#include "src/capi/index_handle.h"
#include "src/capi/metric_input.h"
#include "src/capi/partial_bytes.h"
#include "src/capi/search_options.h"
#include "src/core/call_threads.h"
#include "src/faiss/index/partial_search.h"

using namespace polarquant;        // NOLINT: this file is the ABI's definitions and nothing else
using namespace polarquant::capi;  // NOLINT

extern "C" polar_status polar_index_partial_bytes(const polar_index* index, int64_t nq, int64_t k,
                                                  size_t* bytes) {
  return run_guarded([&] {
    const polar_index& checked = require_object("index", index);
    const Reading reading(checked.use);
    size_t& most = require_object("bytes", bytes);
    most = most_partial_bytes(read_question(nq, k, checked.metric != Metric::l2),
                              checked.faiss->ntotal);
  });
}

extern "C" polar_status polar_index_search_partial(const polar_index* index, int64_t first_row,
                                                   int64_t nq, const float* queries, int64_t k,
                                                   const polar_search_options* options,
                                                   size_t capacity, uint8_t* partial,
                                                   size_t* bytes) {
  return run_guarded([&] {
    const polar_index& checked = require_object("index", index);
    const Reading reading(checked.use);
    require_count("first_row", first_row, 0);
    const PartialQuestion question = read_question(nq, k, checked.metric != Metric::l2);
    const MetricInput input(checked.metric, checked.dim, nq, queries, "queries");
    const SearchRequest request = read_request(nq, input.data(), SearchGoal::best(k), options,
                                               {checked.rows_state, &checked.use});
    size_t& written = require_object("bytes", bytes);
    require_trained(checked);
    PartialResult found;
    if (nq > 0 && checked.faiss->ntotal > 0) {
      const CallThreads threads(request.threads);
      found = search_part(*checked.faiss, request,
                          {first_row, checked.row_ids != polar_index::IdOrigin::callers});
    }
    written = write_partial(question, found, capacity, partial);
  });
}
