// SPDX-License-Identifier: MIT
// Searches of IndexIVFPolar: which lists, and list_search over their blocks.
#include <faiss/IndexFlat.h>

#include <algorithm>
#include <mutex>
#include <span>
#include <vector>

#include "polarquant/faiss.h"
#include "src/codec/codec.h"
#include "src/core/call_threads.h"
#include "src/core/checked_size.h"
#include "src/faiss/foreign/faiss_compat.h"
#include "src/faiss/foreign/faiss_error.h"
#include "src/faiss/foreign/memory_check.h"
#include "src/faiss/index/polar_inverted_lists.h"
#include "src/faiss/index/range_result.h"
#include "src/faiss/index/row_checks.h"
#include "src/faiss/index/search_parameters.h"
#include "src/faiss/index/selector_filter.h"
#include "src/scan/model/scan_codec.h"
#include "src/scan/search/centroid_search.h"
#include "src/scan/search/kept_list_rows.h"
#include "src/scan/search/kept_list_search.h"
#include "src/scan/search/list_search.h"
#include "src/scan/search/more_lists.h"

namespace polarquant {
namespace {

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
  // FAISS's number of a list and an offset in it is our list_offset.
  std::span<const int64_t> list_offsets;
  if (direct_map.type == ::faiss::DirectMap::Array) list_offsets = direct_map.array;
  return {*codec_, scan_codec_.get(), lists.lists(), centres_, list_offsets};
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

/// The caller's parameters, or else the index's own.
struct IndexIVFPolar::Probing {
  idx_t nprobe;
  idx_t max_codes;
  const ::faiss::SearchParameters* quantizer_params = nullptr;

  Probing(const IndexIVFPolar& index, const ::faiss::SearchParameters* params, idx_t asked = 0)
      : nprobe(asked > 0 ? asked : static_cast<idx_t>(index.nprobe)),
        max_codes(static_cast<idx_t>(index.max_codes)) {
    if (const auto* ivf = dynamic_cast<const ::faiss::SearchParametersIVF*>(params)) {
      nprobe = static_cast<idx_t>(ivf->nprobe);
      max_codes = static_cast<idx_t>(ivf->max_codes);
      quantizer_params = ivf->quantizer_params;
    }
    require(nprobe >= 1, StatusCode::bad_argument, "search: nprobe is {}; at least 1 is needed",
            nprobe);
    nprobe = std::min(nprobe, static_cast<idx_t>(index.nlist));
  }
};

// As the quantizer finds them, or what stands in for a flat one: this looks only at lists with rows
// that the filter is known to keep.
void IndexIVFPolar::find_lists(const SearchRequest& request, const Probing& probing,
                               float* centroid_dis, idx_t* lists) const {
  const ::faiss::SearchParameters* params = probing.quantizer_params;
  if (params == nullptr && uses_centroid_search()) {
    const auto* kept =
        request.goal.is_range ? nullptr : dynamic_cast<const KeptListRows*>(request.filter.rule());
    centroid_search_->search({request.nq, request.queries, probing.nprobe, 0,
                              kept != nullptr ? &kept->lists() : nullptr},
                             centroid_dis, lists);
  } else {
    require_search_memory(*quantizer, request.nq, probing.nprobe);
    quantizer->search(request.nq, request.queries, probing.nprobe, centroid_dis, lists, params);
  }
}

void IndexIVFPolar::find_nearest_lists(idx_t n, const float* x, idx_t* lists) const {
  std::vector<float> scores(static_cast<size_t>(n));
  find_lists({.nq = n, .queries = x}, Probing(*this, nullptr, 1), scores.data(), lists);
}

void IndexIVFPolar::search_lists(const SearchRequest& request, const SearchResult& result) const {
  const Probing own(*this, nullptr, request.options.nprobe);
  SearchRequest asked = request;
  asked.options.nprobe = own.nprobe;
  const PolarInvertedLists* lists = polar_lists();
  int64_t wanted_rows = 0;
  if (result.partial != nullptr) {
    // Lists are chosen, and rows left out, by what a filter keeps of all parts.
    require(request.filter.keeps_all(), StatusCode::unsupported,
            "options.filter: parts of an inverted file are not searched with one, of which results "
            "would depend on the other parts");
    require(own.max_codes == 0 && lists != nullptr, StatusCode::unsupported,
            "index: parts of inverted files with max_codes, or lists that are not ours, are not "
            "searched");
  }
  if (lists != nullptr && own.max_codes == 0 && !request.filter.keeps_all()) {
    require_rows(request.goal.is_range ? "range_search" : "search", request.nq, d, request.queries);
    require_trained("search");
    const KeptRowsSearch search = search_kept_rows(inverted_file(*lists), ntotal, &asked, result);
    if (search.done) return;
    wanted_rows = search.wanted_rows;
  }
  // A limit of rows would leave places empty in any number of lists.
  const idx_t most = own.max_codes > 0 ? own.nprobe : static_cast<idx_t>(nlist);
  search_until_filled(
      asked, d, most, result, [&](const SearchRequest& some, const SearchResult& found) {
        search_probed({*this, nullptr, some.options.nprobe}, some, found, wanted_rows);
      });
}

// Where it is known which rows the filter keeps, a query's lists end after `wanted_rows` of these.
void IndexIVFPolar::search_probed(const Probing& probing, const SearchRequest& request,
                                  const SearchResult& result, idx_t wanted_rows) const {
  const idx_t n = request.nq;
  const bool is_range = request.goal.is_range;
  const char* call = is_range ? "range_search" : "search";
  require_rows(call, n, d, request.queries);
  require_trained(call);
  if (!is_range) require_parallel_mode();
  const CallThreads call_threads(0);
  std::vector<idx_t> assign(checked_mul(n, probing.nprobe, "n x nprobe lists"));
  std::vector<float> centroid_dis(assign.size());
  find_lists(request, probing, centroid_dis.data(), assign.data());
  const auto* kept = dynamic_cast<const KeptListRows*>(request.filter.rule());
  if (kept != nullptr && !is_range)
    leave_out_lists(*kept, wanted_rows, n, probing.nprobe, assign.data());
  if (const PolarInvertedLists* lists = polar_lists()) {
    const ListProbes probes = {assign.data(), probing.nprobe, probing.max_codes};
    list_search(inverted_file(*lists), probes, RowLabel::id, request, result);
    if (!is_range) add_stats(*this, n, probes, &::faiss::indexIVF_stats);
    return;
  }
  require(!is_range, StatusCode::unsupported,
          "range_search: invlists was replaced by lists that are not ours");
  FilterSelector selector(request.filter);
  ::faiss::SearchParametersIVF ivf;
  ivf.sel = selector.pointer();
  ivf.nprobe = static_cast<size_t>(probing.nprobe);
  ivf.max_codes = static_cast<size_t>(probing.max_codes);
  IndexIVF::search_preassigned(n, request.queries, request.goal.k, assign.data(),
                               centroid_dis.data(), result.scores, result.ids, false, &ivf,
                               &::faiss::indexIVF_stats);
}

void IndexIVFPolar::search(idx_t n, const float* x, idx_t k, float* distances, idx_t* labels,
                           const ::faiss::SearchParameters* params) const {
  with_faiss_errors([&] {
    require(k >= 1, StatusCode::bad_argument, "search: k is {}; at least 1 is needed", k);
    search_probed(Probing(*this, params),
                  make_request(n, x, SearchGoal::best(k), params, exactness), {distances, labels},
                  0);
  });
}

void IndexIVFPolar::range_search(idx_t n, const float* x, float radius,
                                 ::faiss::RangeSearchResult* result,
                                 const ::faiss::SearchParameters* params) const {
  with_faiss_errors([&] {
    require_range_result(n, result);
    if (polar_lists() == nullptr) {
      require_rows("range_search", n, d, x);
      require_trained("range_search");
      const CallThreads call_threads(0);
      IndexIVF::range_search(n, x, radius, result, params);
      return;
    }
    RangeFound found;
    search_probed(Probing(*this, params),
                  make_request(n, x, SearchGoal::within(radius), params, exactness), &found, 0);
    write_range_result(found, result);
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
      const CallThreads call_threads(0);
      IndexIVF::search_preassigned(n, x, k, assign, centroid_dis, distances, labels, store_pairs,
                                   params, stats);
      return;
    }
    const Probing probing(*this, params);
    const ListProbes probes = {assign, probing.nprobe, probing.max_codes};
    list_search(inverted_file(*lists), probes, store_pairs ? RowLabel::list_offset : RowLabel::id,
                make_request(n, x, SearchGoal::best(k), params, exactness), {distances, labels});
    if (store_pairs) require_intact_ids(lists->lists(), n * k, labels);
    if (stats != nullptr) add_stats(*this, n, probes, stats);
  });
}

}  // namespace polarquant
