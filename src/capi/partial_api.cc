// SPDX-License-Identifier: MIT
// The calls of the C ABI that search parts of an index, and make one answer of what these found.
#include <algorithm>
#include <vector>

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

namespace polarquant::capi {
namespace {

PartialQuestion read_question(const polar_index& index, int64_t nq, int64_t k) {
  require_count("nq", nq, 0);
  require_count("k", k, 1);
  return {nq, k, index.metric != Metric::l2};
}

}  // namespace
}  // namespace polarquant::capi

using namespace polarquant;        // NOLINT: this file is the ABI's definitions and nothing else
using namespace polarquant::capi;  // NOLINT

extern "C" polar_status polar_index_partial_bytes(const polar_index* index, int64_t nq, int64_t k,
                                                  size_t* bytes) {
  return run_guarded([&] {
    const polar_index& checked = require_object("index", index);
    const Reading reading(checked.use);
    size_t& most = require_object("bytes", bytes);
    most = most_partial_bytes(read_question(checked, nq, k), checked.faiss->ntotal);
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
    const PartialQuestion question = read_question(checked, nq, k);
    const MetricInput input(checked.metric, checked.dim, nq, queries, "queries");
    const SearchRequest request = read_request(nq, input.data(), SearchGoal::best(k), options,
                                               {checked.rows_state, &checked.use});
    require(partial != nullptr || capacity == 0, StatusCode::bad_argument,
            "partial: NULL is not allowed");
    size_t& written = require_object("bytes", bytes);
    require_trained(checked);
    PartialResult found;
    if (nq > 0 && checked.faiss->ntotal > 0) {
      const CallThreads threads(request.threads);
      found = search_part(*checked.faiss, request,
                          {first_row, checked.row_ids != polar_index::IdOrigin::callers});
    }
    const std::vector<uint8_t> all = write_partial(question, found);
    require(all.size() <= capacity, StatusCode::bad_argument,
            "capacity: {} bytes; {} are needed, and polar_index_partial_bytes says how many can be",
            capacity, all.size());
    std::copy(all.begin(), all.end(), partial);
    written = all.size();
  });
}

extern "C" polar_status polar_merge_partials(int64_t n, const uint8_t* const* partials,
                                             const size_t* bytes, int64_t nq, int64_t k,
                                             float* scores, int64_t* ids) {
  return run_guarded([&] {
    require_count("n", n, 1);
    require_count("nq", nq, 0);
    require_count("k", k, 1);
    require_array("partials", partials, n, 1, sizeof(uint8_t*));
    require_array("bytes", bytes, n, 1, sizeof(size_t));
    require_array("scores", scores, nq, k, sizeof(float));
    require_array("ids", ids, nq, k, sizeof(int64_t));
    PartialQuestion question = {nq, k};
    std::vector<PartialResult> parts;
    int64_t kept = 0;
    for (int64_t i = 0; i < n; ++i) {
      require(partials[i] != nullptr, StatusCode::bad_argument, "partials[{}]: NULL is not allowed",
              i);
      PartialQuestion own = {nq, k};
      const PartialResult& part =
          parts.emplace_back(read_partial(i, {partials[i], bytes[i]}, &own));
      require(i == 0 || own.higher_is_nearer == question.higher_is_nearer,
              StatusCode::state_mismatch, "partials[{}]: of another metric than partials[0]", i);
      question = own;
      require(kept == 0 || part.kept == 0 || part.kept == kept, StatusCode::state_mismatch,
              "partials[{}]: {} rows were kept for {} results, and {} by others; parts are of one "
              "kind of index",
              i, part.kept, k, kept);
      kept = std::max(kept, part.kept);
    }
    std::vector<std::vector<PartialRow>> rows(parts.size());
    for (int64_t query = 0; query < nq; ++query) {
      for (size_t part = 0; part < parts.size(); ++part)
        rows[part] = std::move(parts[part].queries[static_cast<size_t>(query)]);
      merge_partial_rows(rows, kept, k, question.higher_is_nearer, scores + query * k,
                         ids + query * k);
    }
  });
}
