// SPDX-License-Identifier: MIT
// The C ABI's calls for inverted files: how many lists, how many of them a search looks through,
// and taking over lists that were made elsewhere.
#include <faiss/IndexIVF.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "polarquant/faiss.h"
#include "polarquant/polarquant.h"
#include "src/capi/argument_checks.h"
#include "src/capi/exception_wall.h"
#include "src/capi/faiss_parts.h"
#include "src/capi/held_ids.h"
#include "src/capi/index_checks.h"
#include "src/capi/index_handle.h"
#include "src/capi/metric_input.h"
#include "src/capi/work_call.h"
#include "src/core/row_length.h"
#include "src/faiss/foreign/faiss_error.h"
#include "src/faiss/foreign/memory_check.h"
#include "src/faiss/index/coded_rows.h"

namespace polarquant::capi {
namespace {

/// The index as an inverted file of ours, which takes lists of the caller's. After a transform or
/// an id map, centroids and ids would be others than the caller's.
IndexIVFPolar& require_lists(const polar_index& index, ::faiss::Index& faiss) {
  auto* ivf = dynamic_cast<IndexIVFPolar*>(&faiss);
  require(ivf != nullptr, StatusCode::unsupported,
          "index: \"{}\" is no inverted file of one of our specs alone, as \"IVF1024,Polar4\"",
          index.description);
  return *ivf;
}

/// Fails with "unsupported" for a coarse quantizer that takes no centroids.
void set_centroids(const polar_index& index, ::faiss::Index& quantizer, int64_t nlist,
                   const float* centroids) {
  try {
    quantizer.train(nlist, centroids);
    quantizer.add(nlist, centroids);
  } catch (const FaissError&) {
    throw;  // ours: its text says what is wrong
  } catch (const ::faiss::FaissException& error) {
    fail(StatusCode::unsupported, "index: \"{}\" finds its lists without centroids ({})",
         index.description, error.what());
  }
}

}  // namespace
}  // namespace polarquant::capi

using namespace polarquant;        // NOLINT: this file is the ABI's definitions and nothing else
using namespace polarquant::capi;  // NOLINT

extern "C" int64_t polar_index_nlist(const polar_index* index) {
  if (index == nullptr) return 0;
  const Reading reading(index->use);
  const ::faiss::IndexIVF* ivf = inverted_file(*index->faiss);
  return ivf != nullptr ? static_cast<int64_t>(ivf->nlist) : 0;
}

extern "C" int64_t polar_index_nprobe(const polar_index* index) {
  if (index == nullptr) return 0;
  const Reading reading(index->use);
  const ::faiss::IndexIVF* ivf = inverted_file(*index->faiss);
  return ivf != nullptr ? static_cast<int64_t>(ivf->nprobe) : 0;
}

extern "C" polar_status polar_index_set_nprobe(polar_index* index, int64_t nprobe) {
  return run_guarded([&] {
    IndexChange change("index", index);
    polar_index& checked = change.index();
    require_count("nprobe", nprobe, 1);
    ::faiss::IndexIVF* ivf = inverted_file(*checked.faiss);
    require(ivf != nullptr, StatusCode::unsupported,
            "nprobe: {} is for inverted files, which \"{}\" is not", nprobe, checked.description);
    change.begin();
    ivf->nprobe = static_cast<size_t>(nprobe);
  });
}

extern "C" polar_status polar_index_train_with_centroids(polar_index* index, int64_t nlist,
                                                         const float* centroids, int64_t n,
                                                         const float* x,
                                                         const polar_work_options* options) {
  return run_work("train", options, [&] {
    IndexChange change("index", index);
    polar_index& checked = change.index();
    require_no_rows(checked);
    auto trained = make_untrained(checked);
    IndexIVFPolar& ivf = require_lists(checked, *trained);
    require(nlist == static_cast<int64_t>(ivf.nlist), StatusCode::bad_argument,
            "nlist: {} is not allowed; \"{}\" has {} lists", nlist, checked.description, ivf.nlist);
    require_array("centroids", centroids, nlist, checked.dim, sizeof(float));
    require_row_lengths("centroids", nlist, checked.dim, centroids);
    require_count("n", n, 1);
    const MetricInput input = MetricInput::for_training(checked.metric, checked.dim, n, x);
    require_training_memory(ivf, std::max(n, nlist));
    set_centroids(checked, *ivf.quantizer, nlist, centroids);
    ivf.train(n, input.data());
    change.begin();
    keep_nprobe(*checked.faiss, ivf);
    checked.faiss = std::move(trained);
  });
}

extern "C" polar_status polar_index_add_to_lists(polar_index* index, int64_t n, const float* x,
                                                 const int64_t* ids, const int64_t* lists,
                                                 const polar_work_options* options) {
  return run_work("add", options, [&] {
    IndexChange change("index", index);
    polar_index& checked = change.index();
    IndexIVFPolar& ivf = require_lists(checked, *checked.faiss);
    require_count("n", n, 0);
    const MetricInput input(checked.metric, checked.dim, n, x);
    require_new_row_ids(n, ids);
    require_array("lists", lists, n, 1, sizeof(int64_t));
    for (int64_t i = 0; i < n; ++i) {
      require(lists[i] >= 0 && lists[i] < static_cast<int64_t>(ivf.nlist), StatusCode::bad_argument,
              "lists: {} at {} is not allowed; 0 to {}", lists[i], i, ivf.nlist - 1);
    }
    require_trained(checked);
    require_row_ids(checked, polar_index::IdOrigin::callers);
    if (n == 0) return;
    const CodedRows coded = ivf.encode_rows(n, input.data(), lists);
    change.begin();
    MapForReconstruct map(ivf, true);
    NewIds new_ids(checked, n, ids);
    ivf.add_rows(n, ids, coded);
    new_ids.commit();
    map.keep();
    checked.row_ids = polar_index::IdOrigin::callers;
  });
}
