// SPDX-License-Identifier: MIT
// Range search of the C ABI's indexes.
#include "polarquant/polarquant.h"
#include "src/capi/argument_checks.h"
#include "src/capi/exception_wall.h"
#include "src/capi/index_handle.h"
#include "src/capi/metric_input.h"
#include "src/capi/range_output.h"
#include "src/capi/search_options.h"
#include "src/core/call_threads.h"
#include "src/faiss/foreign/faiss_error.h"
#include "src/faiss/index/index_search.h"

namespace polarquant::capi {
namespace {

RangeFound search_range(const polar_index& index, const SearchRequest& request) {
  RangeFound found;
  try {
    search_index(*index.faiss, request, &found);
  } catch (const FaissError&) {
    throw;  // ours: its text says what is wrong
  } catch (const ::faiss::FaissException& error) {
    fail(StatusCode::unsupported, "index: \"{}\" has no range search ({})", index.description,
         error.what());
  }
  return found;
}

}  // namespace
}  // namespace polarquant::capi

using namespace polarquant;        // NOLINT: this file is the ABI's definitions and nothing else
using namespace polarquant::capi;  // NOLINT

extern "C" polar_status polar_index_range_search(const polar_index* index, int64_t nq,
                                                 const float* queries, float radius,
                                                 const polar_search_options* options,
                                                 int64_t capacity, int64_t* lims, float* scores,
                                                 int64_t* ids) {
  return run_guarded([&] {
    const polar_index& checked = require_object("index", index);
    const Reading reading(checked.use);
    require_count("nq", nq, 0);
    const MetricInput input(checked.metric, checked.dim, nq, queries, "queries");
    const SearchRequest request = read_request(nq, input.data(), SearchGoal::within(radius),
                                               options, {checked.rows_state, &checked.use});
    const RangeOutput output(radius, nq, capacity, lims, scores, ids);
    require(checked.faiss->is_trained, StatusCode::not_trained,
            "index: \"{}\" is not trained; call polar_index_train first", checked.description);
    if (nq == 0 || checked.faiss->ntotal == 0) {
      output.write_nothing_found();
      return;
    }
    const CallThreads threads(request.threads);
    output.write(search_range(checked, request));
  });
}
