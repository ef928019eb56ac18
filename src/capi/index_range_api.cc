// SPDX-License-Identifier: MIT
// Range search of the C ABI's indexes.
#include <algorithm>
#include <cmath>

#include "polarquant/polarquant.h"
#include "src/capi/argument_checks.h"
#include "src/capi/exception_wall.h"
#include "src/capi/index_handle.h"
#include "src/capi/metric_input.h"
#include "src/capi/search_options.h"
#include "src/faiss/foreign/faiss_error.h"
#include "src/faiss/foreign/omp_threads.h"
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
    require_count("nq", nq, 0);
    require(!std::isnan(radius), StatusCode::bad_argument,
            "radius: {} is not allowed; a number or an infinity", radius);
    const polar_search_options read = read_search_options(options);
    const MetricInput input(checked.metric, checked.dim, nq, queries, "queries");
    require_count("capacity", capacity, 0);
    require_object("lims", lims);
    require_array("scores", scores, capacity, 1, sizeof(float));
    require_array("ids", ids, capacity, 1, sizeof(int64_t));
    require(checked.faiss->is_trained, StatusCode::not_trained,
            "index: \"{}\" is not trained; call polar_index_train first", checked.description);
    if (nq == 0 || checked.faiss->ntotal == 0) {
      std::fill_n(lims, nq + 1, int64_t{0});
      return;
    }
    const OmpThreads threads(read.num_threads);
    const RangeFound found =
        search_range(checked, make_request(nq, input.data(), SearchGoal::within(radius), read, 0));
    std::copy(found.lims.begin(), found.lims.end(), lims);
    const int64_t written = std::min(capacity, lims[nq]);
    std::copy_n(found.scores.begin(), written, scores);
    std::copy_n(found.ids.begin(), written, ids);
  });
}
