// SPDX-License-Identifier: MIT
// The index calls of the C ABI, over FAISS indexes made by polarquant::index_factory.
//
// What FAISS leaves to each of its classes is made the same for all here: checked arguments, ids
// that are unique, scores of ±inf where there is no result, cosine by normalized copies of what
// comes in, and training that either works or changes nothing.
#include <faiss/Index.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <numeric>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "polarquant/faiss.h"
#include "polarquant/polarquant.h"
#include "src/capi/argument_checks.h"
#include "src/capi/error_text.h"
#include "src/capi/exception_wall.h"
#include "src/capi/faiss_parts.h"
#include "src/capi/held_ids.h"
#include "src/capi/index_adds.h"
#include "src/capi/index_checks.h"
#include "src/capi/index_handle.h"
#include "src/capi/metric_input.h"
#include "src/capi/options.h"
#include "src/capi/search_options.h"
#include "src/capi/training_rows.h"
#include "src/capi/work_call.h"
#include "src/core/call_threads.h"
#include "src/faiss/foreign/faiss_compat.h"
#include "src/faiss/foreign/faiss_error.h"
#include "src/faiss/foreign/memory_check.h"
#include "src/faiss/index/index_search.h"
#include "src/faiss/index/row_changes.h"

namespace polarquant::capi {
namespace {

[[noreturn]] void fail_not_found(int64_t id) {
  fail(StatusCode::not_found, "id: {} is not in the index", id);
}

}  // namespace
}  // namespace polarquant::capi

using namespace polarquant;        // NOLINT: this file is the ABI's definitions and nothing else
using namespace polarquant::capi;  // NOLINT

extern "C" polar_status polar_index_create(const char* description, int32_t dim,
                                           polar_metric metric, polar_index** out) {
  if (out != nullptr) *out = nullptr;
  return run_guarded([&] {
    require_object("out", out);
    auto handle = std::make_unique<polar_index>();
    handle->description = require_name("description", description);
    require_dim(dim);
    handle->dim = dim;
    handle->metric = require_metric(metric);
    handle->faiss = make_untrained(*handle);
    *out = handle.release();
  });
}

extern "C" void polar_index_destroy(polar_index* index) { delete index; }

extern "C" polar_status polar_index_train(polar_index* index, int64_t n, const float* x,
                                          const polar_work_options* options) {
  return run_work("train", options, [&] {
    IndexChange change("index", index);
    polar_index& checked = change.index();
    require_count("n", n, 1);
    const MetricInput input = MetricInput::for_training(checked.metric, checked.dim, n, x);
    auto* polar = dynamic_cast<IndexPolar*>(checked.faiss.get());
    if (polar != nullptr && polar->rows_as_floats() > 0) {
      change.begin();
      polar->train(n, input.data());
      return;
    }
    require_no_rows(checked);
    // A new index is trained and takes the old one's place: FAISS's parts keep what they learned
    // before a failure.
    auto trained = make_untrained(checked);
    require_training_rows(*trained, checked.description, n);
    require_training_memory(*trained, n);
    trained->train(n, input.data());
    change.begin();
    keep_nprobe(*checked.faiss, *trained);
    checked.faiss = std::move(trained);
  });
}

extern "C" polar_status polar_index_add(polar_index* index, int64_t n, const float* x,
                                        const polar_work_options* options) {
  return run_work("add", options, [&] { add_rows(index, n, x); });
}

extern "C" polar_status polar_index_add_with_ids(polar_index* index, int64_t n, const float* x,
                                                 const int64_t* ids,
                                                 const polar_work_options* options) {
  return run_work("add", options, [&] { add_rows_with_ids(index, n, x, ids); });
}

extern "C" polar_status polar_index_search(const polar_index* index, int64_t nq,
                                           const float* queries, int64_t k,
                                           const polar_search_options* options, float* scores,
                                           int64_t* ids) {
  return run_guarded([&] {
    const polar_index& checked = require_object("index", index);
    const Reading reading(checked.use);
    require_count("nq", nq, 0);
    require_count("k", k, 1);
    const MetricInput input(checked.metric, checked.dim, nq, queries, "queries");
    const SearchRequest request = read_request(nq, input.data(), SearchGoal::best(k), options,
                                               {checked.rows_state, &checked.use});
    require_array("scores", scores, nq, k, sizeof(float));
    require_array("ids", ids, nq, k, sizeof(int64_t));
    require_trained(checked);
    std::fill_n(ids, nq * k, int64_t{-1});
    // An empty graph of FAISS's reads before its first node.
    if (nq > 0 && checked.faiss->ntotal > 0) {
      const CallThreads threads(request.threads);
      search_index(*checked.faiss, request, {scores, ids});
    }
    // FAISS pads with the largest float, with infinity or with nothing, by class.
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    const float worst = checked.metric == Metric::l2 ? kInfinity : -kInfinity;
    for (int64_t i = 0; i < nq * k; ++i) {
      if (ids[i] < 0) ids[i] = -1, scores[i] = worst;
    }
  });
}

extern "C" polar_status polar_index_get_info(const polar_index* index, polar_index_info* info) {
  return run_guarded([&] {
    const polar_index& checked = require_object("index", index);
    const Reading reading(checked.use);
    require_object("info", info);
    polar_index_info full = {};
    full.dim = checked.dim;
    full.metric = static_cast<polar_metric>(checked.metric);
    full.is_trained = checked.faiss->is_trained ? 1 : 0;
    full.ntotal = checked.faiss->ntotal;
    write_over("info", full, info);
  });
}

extern "C" size_t polar_index_description(const polar_index* index, char* buf, size_t cap) {
  // No copy: memory that ran out would be thrown over the boundary.
  return copy_text(index != nullptr ? std::string_view(index->description) : "", buf, cap);
}

extern "C" int64_t polar_index_ntotal(const polar_index* index) {
  if (index == nullptr) return 0;
  const Reading reading(index->use);
  return index->faiss->ntotal;
}

extern "C" int32_t polar_index_is_trained(const polar_index* index) {
  if (index == nullptr) return 0;
  const Reading reading(index->use);
  return index->faiss->is_trained ? 1 : 0;
}

extern "C" polar_status polar_index_code_size(const polar_index* index, size_t* bytes) {
  return run_guarded([&] {
    const polar_index& checked = require_object("index", index);
    const Reading reading(checked.use);
    require_object("bytes", bytes) = stored_row_bytes(*checked.faiss);
  });
}

extern "C" polar_status polar_index_reconstruct(const polar_index* index, int64_t id, float* x) {
  return run_guarded([&] {
    const polar_index& checked = require_object("index", index);
    const Reading reading(checked.use);
    require_object("x", x);
    const bool ids_are_ours =
        checked.row_ids == polar_index::IdOrigin::callers && !checked.is_polar();
    const bool ids_are_positions = checked.row_ids != polar_index::IdOrigin::callers;
    if (ids_are_ours && !holds_id(checked, id)) fail_not_found(id);
    if (ids_are_positions && (id < 0 || id >= checked.faiss->ntotal)) fail_not_found(id);
    const CallThreads threads(0);
    try {
      checked.faiss->reconstruct(id, x);
    } catch (const FaissError&) {
      throw;  // ours: its text says what is wrong
    } catch (const ::faiss::FaissException& error) {
      fail(StatusCode::unsupported, "index: \"{}\" does not reconstruct ({})", checked.description,
           error.what());
    }
  });
}
