// SPDX-License-Identifier: MIT
// Searches of IndexIVFPolar: which lists, and list_search over their blocks.
#include <faiss/IndexFlat.h>

#include <algorithm>
#include <functional>
#include <mutex>
#include <vector>

#include "polarquant/faiss.h"
#include "src/codec/codec.h"
#include "src/core/checked_size.h"
#include "src/faiss/foreign/faiss_compat.h"
#include "src/faiss/foreign/faiss_error.h"
#include "src/faiss/foreign/omp_threads.h"
#include "src/faiss/index/polar_inverted_lists.h"
#include "src/faiss/index/range_result.h"
#include "src/faiss/index/row_checks.h"
#include "src/scan/model/scan_codec.h"
#include "src/scan/search/centroid_search.h"
#include "src/scan/search/list_search.h"

namespace polarquant {
namespace {

/// What a search goes by: the caller's parameters, or else the index's own.
struct IvfParameters {
  idx_t nprobe;
  idx_t max_codes;
  const ::faiss::SearchParameters* quantizer_params = nullptr;
  SearchRequest request;

  IvfParameters(const IndexIVFPolar& index, const ::faiss::SearchParameters* params)
      : nprobe(static_cast<idx_t>(index.nprobe)), max_codes(static_cast<idx_t>(index.max_codes)) {
    request.options.exactness = index.exactness;
    if (params != nullptr && params->sel != nullptr)
      request.filter = [sel = params->sel](int64_t id) { return sel->is_member(id); };
    if (const auto* ivf = dynamic_cast<const ::faiss::SearchParametersIVF*>(params)) {
      nprobe = static_cast<idx_t>(ivf->nprobe);
      max_codes = static_cast<idx_t>(ivf->max_codes);
      quantizer_params = ivf->quantizer_params;
    }
    if (const auto* polar = dynamic_cast<const SearchParametersIVFPolar*>(params)) {
      request.options.exactness = polar->exactness;
      request.progress = polar->progress;
    }
    require(nprobe >= 1, StatusCode::bad_argument, "search: nprobe is {}; at least 1 is needed",
            nprobe);
    nprobe = std::min(nprobe, static_cast<idx_t>(index.nlist));
  }
  SearchRequest request_for(idx_t n, const float* x, const SearchGoal& goal) const {
    SearchRequest made = request;
    made.nq = n;
    made.queries = x;
    made.goal = goal;
    return made;
  }
};

// FAISS looks up the ids of list_offsets in loops that no exception may leave: damage of a mapped
// file is to be told before.
void require_intact_ids(const CodeLists& lists, idx_t count, const idx_t* list_offsets) {
  if (!lists.is_mapped()) return;
  for (idx_t i = 0; i < count; ++i)
    if (list_offsets[i] >= 0) lists.ids(list_of_offset(list_offsets[i]));
}

// What FAISS's own inverted files count. Its counters are for all indexes of a process.
void add_stats(const IndexIVFPolar& index, idx_t n, const ListProbes& probes,
               ::faiss::IndexIVFStats* stats) {
  static std::mutex mutex;
  const std::lock_guard<std::mutex> lock(mutex);
  stats->nq += static_cast<size_t>(n);
  for (idx_t i = 0; i < n * probes.nprobe; ++i) {
    if (probes.lists[i] < 0) continue;
    ++stats->nlist;
    stats->ndis += index.get_list_size(static_cast<size_t>(probes.lists[i]));
  }
}

}  // namespace

InvertedFile IndexIVFPolar::inverted_file(const PolarInvertedLists& lists) const {
  return {*codec_, scan_codec_.get(), lists.lists(), centres_};
}

InvertedFile IndexIVFPolar::inverted_file() const {
  return with_faiss_errors([&] {
    require_trained("inverted_file");
    const PolarInvertedLists* lists = polar_lists();
    require(lists != nullptr, StatusCode::unsupported,
            "inverted_file: invlists was replaced by lists that are not ours");
    return inverted_file(*lists);
  });
}

const float* IndexIVFPolar::flat_centroids() const {
  return uses_centroid_search() && centroid_search_->count() == static_cast<int64_t>(nlist)
             ? centroid_search_->centroids()
             : nullptr;
}

// Not where the quantizer was replaced, or given more centroids.
bool IndexIVFPolar::uses_centroid_search() const {
  const auto* flat = dynamic_cast<const ::faiss::IndexFlat*>(quantizer);
  return centroid_search_ != nullptr && flat != nullptr &&
         flat->get_xb() == centroid_search_->centroids() &&
         flat->ntotal == centroid_search_->count();
}

void IndexIVFPolar::require_parallel_mode() const {
  require((parallel_mode & PARALLEL_MODE_NO_HEAP_INIT) == 0, StatusCode::unsupported,
          "search: parallel_mode {} asks to go on with given results, which is not supported",
          parallel_mode);
}

// As the quantizer finds them, or what stands in for a flat one.
void IndexIVFPolar::find_lists(idx_t n, const float* x, idx_t probes, float* centroid_dis,
                               idx_t* lists, const ::faiss::SearchParameters* params) const {
  if (params == nullptr && uses_centroid_search()) {
    centroid_search_->search(n, x, probes, 0, centroid_dis, lists);
  } else {
    quantizer->search(n, x, probes, centroid_dis, lists, params);
  }
}

void IndexIVFPolar::search(idx_t n, const float* x, idx_t k, float* distances, idx_t* labels,
                           const ::faiss::SearchParameters* params) const {
  with_faiss_errors([&] {
    require(k >= 1, StatusCode::bad_argument, "search: k is {}; at least 1 is needed", k);
    require_rows("search", n, d, x);
    require_trained("search");
    require_parallel_mode();
    const OmpThreads omp_threads(0);
    const IvfParameters parameters(*this, params);
    const size_t probes = checked_mul(n, parameters.nprobe, "n x nprobe lists");
    std::vector<idx_t> assign(probes);
    std::vector<float> centroid_dis(probes);
    find_lists(n, x, parameters.nprobe, centroid_dis.data(), assign.data(),
               parameters.quantizer_params);
    if (const PolarInvertedLists* lists = polar_lists()) {
      const ListProbes of_queries = {assign.data(), parameters.nprobe, parameters.max_codes};
      list_search(inverted_file(*lists), of_queries, RowLabel::id,
                  parameters.request_for(n, x, SearchGoal::best(k)), {distances, labels});
      add_stats(*this, n, of_queries, &::faiss::indexIVF_stats);
      return;
    }
    ::faiss::SearchParametersIVF ivf;
    ivf.sel = params != nullptr ? params->sel : nullptr;
    ivf.nprobe = static_cast<size_t>(parameters.nprobe);
    ivf.max_codes = static_cast<size_t>(parameters.max_codes);
    IndexIVF::search_preassigned(n, x, k, assign.data(), centroid_dis.data(), distances, labels,
                                 false, &ivf, &::faiss::indexIVF_stats);
  });
}

void IndexIVFPolar::range_search(idx_t n, const float* x, float radius,
                                 ::faiss::RangeSearchResult* result,
                                 const ::faiss::SearchParameters* params) const {
  with_faiss_errors([&] {
    require_range_result(n, result);
    require_rows("range_search", n, d, x);
    require_trained("range_search");
    const OmpThreads omp_threads(0);
    const PolarInvertedLists* lists = polar_lists();
    if (lists == nullptr) {
      IndexIVF::range_search(n, x, radius, result, params);
      return;
    }
    const IvfParameters parameters(*this, params);
    std::vector<idx_t> assign(checked_mul(n, parameters.nprobe, "n x nprobe lists"));
    std::vector<float> centroid_dis(assign.size());
    find_lists(n, x, parameters.nprobe, centroid_dis.data(), assign.data(),
               parameters.quantizer_params);
    RangeFound found;
    list_search(inverted_file(*lists), {assign.data(), parameters.nprobe, parameters.max_codes},
                RowLabel::id, parameters.request_for(n, x, SearchGoal::within(radius)), &found);
    write_range_result(found, result, std::identity());
  });
}

void IndexIVFPolar::search_preassigned(idx_t n, const float* x, idx_t k, const idx_t* assign,
                                       const float* centroid_dis, float* distances, idx_t* labels,
                                       bool store_pairs, const ::faiss::IVFSearchParameters* params,
                                       ::faiss::IndexIVFStats* stats) const {
  with_faiss_errors([&] {
    require_rows("search", n, d, x);
    require_trained("search");
    require_parallel_mode();
    const PolarInvertedLists* lists = polar_lists();
    if (lists == nullptr) {
      const OmpThreads omp_threads(0);
      IndexIVF::search_preassigned(n, x, k, assign, centroid_dis, distances, labels, store_pairs,
                                   params, stats);
      return;
    }
    const IvfParameters parameters(*this, params);
    const ListProbes probes = {assign, parameters.nprobe, parameters.max_codes};
    list_search(inverted_file(*lists), probes, store_pairs ? RowLabel::list_offset : RowLabel::id,
                parameters.request_for(n, x, SearchGoal::best(k)), {distances, labels});
    if (store_pairs) require_intact_ids(lists->lists(), n * k, labels);
    if (stats != nullptr) add_stats(*this, n, probes, stats);
  });
}

}  // namespace polarquant
