// SPDX-License-Identifier: MIT
// The C ABI's call that tells what a search would do.
#include <string>

#include "polarquant/polarquant.h"
#include "src/capi/argument_checks.h"
#include "src/capi/error_text.h"
#include "src/capi/exception_wall.h"
#include "src/capi/index_checks.h"
#include "src/capi/index_handle.h"
#include "src/capi/search_options.h"
#include "src/core/call_threads.h"
#include "src/faiss/index/index_explain.h"

namespace polarquant::capi {
namespace {

/// So that products with what an index has are numbers.
constexpr int64_t kMostQueries = int64_t{1} << 40;

}  // namespace
}  // namespace polarquant::capi

using namespace polarquant;        // NOLINT: this file is the ABI's definitions and nothing else
using namespace polarquant::capi;  // NOLINT

extern "C" polar_status polar_index_explain(const polar_index* index, int64_t nq, int64_t k,
                                            const polar_search_options* options, char* buf,
                                            size_t cap, size_t* needed) {
  return run_guarded([&] {
    const polar_index& checked = require_object("index", index);
    const Reading reading(checked.use);
    require_object("needed", needed);
    require_count("nq", nq, 1);
    require(nq <= kMostQueries, StatusCode::bad_argument, "nq: {} is not allowed; 1 to 2^40", nq);
    require_count("k", k, 1);
    const SearchRequest request =
        read_request(nq, nullptr, SearchGoal::best(k), options, {checked.rows_state, &checked.use});
    require_trained(checked);
    const CallThreads threads(request.threads);
    const std::string text = explain_search(*checked.faiss, request);
    *needed = copy_text(text, buf, cap);
  });
}
