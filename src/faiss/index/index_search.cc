// SPDX-License-Identifier: MIT
#include "src/faiss/index/index_search.h"

#include <faiss/IndexFlat.h>
#include <faiss/IndexIDMap.h>
#include <faiss/IndexIVF.h>
#include <faiss/IndexIVFFastScan.h>
#include <faiss/IndexPreTransform.h>
#include <faiss/IndexRefine.h>
#include <faiss/IndexScalarQuantizer.h>
#include <faiss/impl/AuxIndexStructures.h>  // RangeSearchResult

#include <algorithm>
#include <memory>
#include <vector>

#include "polarquant/faiss.h"
#include "src/core/parallel.h"
#include "src/core/status.h"
#include "src/core/work_progress.h"
#include "src/faiss/foreign/faiss_error.h"
#include "src/faiss/foreign/faiss_graph_search.h"
#include "src/faiss/graphs/graph_links.h"
#include "src/faiss/graphs/graph_over_polar.h"
#include "src/faiss/index/index_parts.h"
#include "src/faiss/index/refine_rows.h"
#include "src/faiss/index/search_parameters.h"
#include "src/scan/search/search_progress.h"
#include "src/scan/search/top_k.h"

namespace polarquant {
namespace {

/// search(), in which FAISS asks whether to stop.
template <typename Search>
void stoppable(const WorkProgress& work, Search&& search) {
  try {
    search();
  } catch (const ::faiss::FaissException&) {
    work.check_stopped();
    throw;
  }
}

/// search(), with a text that names the option where it is FAISS that refuses.
template <typename Search>
void or_refused(const char* option, Search&& search) {
  try {
    search();
  } catch (const FaissError&) {
    throw;  // ours: its text says what is wrong
  } catch (const ::faiss::FaissException& error) {
    fail(StatusCode::unsupported, "{}: the index does not do that ({})", option, error.what());
  }
}

/// The index's rows behind a transform chain.
class Transformed {
 public:
  Transformed(const ::faiss::IndexPreTransform& chain, idx_t n, const float* x)
      : rows_(chain.apply_chain(n, x)), owned_(rows_ == x ? nullptr : rows_) {}
  const float* data() const { return rows_; }

 private:
  const float* rows_;
  std::unique_ptr<const float[]> owned_;
};

class IndexSearch {
 public:
  explicit IndexSearch(const IndexSearchOptions& options) : options_(options) {}

  void search(const ::faiss::Index& index, const ::faiss::IDSelector* selector, idx_t n,
              const float* x, idx_t k, float* distances, idx_t* labels) {
    if (const auto* chain = dynamic_cast<const ::faiss::IndexPreTransform*>(&index)) {
      const Transformed rows(*chain, n, x);
      search(*chain->index, selector, n, rows.data(), k, distances, labels);
    } else if (const auto* map = dynamic_cast<const ::faiss::IndexIDMap*>(&index)) {
      const TranslatedSelector translated(selector, map->id_map);
      search(*map->index, selector != nullptr ? &translated : nullptr, n, x, k, distances, labels);
      for (idx_t i = 0; i < n * k; ++i)
        if (labels[i] >= 0) labels[i] = map->id_map[static_cast<size_t>(labels[i])];
    } else if (const auto* both = dynamic_cast<const ::faiss::IndexRefine*>(&index)) {
      const double factor = options_.k_factor != 0 ? options_.k_factor : both->k_factor;
      const auto find = [&](idx_t k_base, float* base_distances, idx_t* base_labels) {
        search(*both->base_index, selector, n, x, k_base, base_distances, base_labels);
      };
      refine_rows(*both, n, x, k, factor, find, distances, labels);
    } else {
      search_leaf(index, selector, n, x, k, distances, labels);
    }
  }

  void range_search(const ::faiss::Index& index, const ::faiss::IDSelector* selector, idx_t n,
                    const float* x, float radius, ::faiss::RangeSearchResult* result) {
    if (const auto* chain = dynamic_cast<const ::faiss::IndexPreTransform*>(&index)) {
      const Transformed rows(*chain, n, x);
      range_search(*chain->index, selector, n, rows.data(), radius, result);
    } else if (const auto* map = dynamic_cast<const ::faiss::IndexIDMap*>(&index)) {
      const TranslatedSelector translated(selector, map->id_map);
      range_search(*map->index, selector != nullptr ? &translated : nullptr, n, x, radius, result);
      for (size_t i = 0; i < result->lims[n]; ++i)
        result->labels[i] = map->id_map[static_cast<size_t>(result->labels[i])];
    } else {
      range_search_leaf(index, selector, n, x, radius, result);
    }
  }

 private:
  void search_leaf(const ::faiss::Index& index, const ::faiss::IDSelector* selector, idx_t n,
                   const float* x, idx_t k, float* distances, idx_t* labels) {
    if (dynamic_cast<const IndexPolar*>(&index) != nullptr) {
      const SearchParametersPolar params = polar_parameters(selector);
      index.search(n, x, k, distances, labels, &params);
    } else if (const auto* polar_ivf = dynamic_cast<const IndexIVFPolar*>(&index)) {
      const SearchParametersIVFPolar params = ivf_polar_parameters(*polar_ivf, selector);
      index.search(n, x, k, distances, labels, &params);
    } else if (const auto* polar_hnsw = dynamic_cast<const HNSWOverPolar*>(&index)) {
      polar_hnsw->search_nodes(n, x, k, with_options(polar_hnsw->own_parameters(), selector),
                               distances, labels);
    } else if (const auto* polar_nsg = dynamic_cast<const NSGOverPolar*>(&index)) {
      polar_nsg->search_nodes(n, x, k, with_options(polar_nsg->own_parameters(), selector),
                              distances, labels);
    } else {
      search_faiss_leaf(index, selector, n, x, k, distances, labels);
    }
  }

  void search_faiss_leaf(const ::faiss::Index& index, const ::faiss::IDSelector* selector, idx_t n,
                         const float* x, idx_t k, float* distances, idx_t* labels) {
    if (const auto* ivf = dynamic_cast<const ::faiss::IndexIVF*>(&index)) {
      if (selector == nullptr && options_.nprobe == 0) {
        search_parts(*ivf, nullptr, n, x, k, distances, labels);
        return;
      }
      const ::faiss::SearchParametersIVF params = ivf_parameters(*ivf, selector);
      or_refused(selector != nullptr ? "options.filter" : "options.nprobe", [&] {
        // Codes whose scanner takes no selector say so here, and not in FAISS's loop
        // over threads, where it would end the process. Fast scans have no scanner.
        if (selector != nullptr && dynamic_cast<const ::faiss::IndexIVFFastScan*>(ivf) == nullptr)
          delete ivf->get_InvertedListScanner(false, selector);
        search_parts(index, &params, n, x, k, distances, labels);
      });
      require_heeded(selector, n * k, labels);
    } else if (const auto* hnsw = dynamic_cast<const ::faiss::IndexHNSW*>(&index)) {
      // FAISS's search keeps k nodes where efSearch is less, but stops as if it kept efSearch, and
      // leaves places empty.
      if (selector == nullptr && options_.ef_search == 0 && k <= hnsw->hnsw.efSearch) {
        search_parts(index, nullptr, n, x, k, distances, labels);
        return;
      }
      const GraphParameters own = {.ef = hnsw->hnsw.efSearch,
                                   .stops_by_distance = hnsw->hnsw.check_relative_distance};
      or_refused(selector != nullptr ? "options.filter" : "options.ef_search", [&] {
        search_faiss_graph(links_of(*hnsw), *hnsw->storage, n, x, k, with_options(own, selector),
                           distances, labels);
      });
    } else if (const auto* nsg = dynamic_cast<const ::faiss::IndexNSG*>(&index)) {
      // FAISS's search draws as many different rows as it keeps, and never ends where there are
      // fewer.
      const bool ends = std::max<idx_t>(nsg->nsg.search_L, k) <= nsg->ntotal;
      if (selector == nullptr && options_.ef_search == 0 && ends) {
        search_parts(index, nullptr, n, x, k, distances, labels);
        return;
      }
      const GraphParameters own = {.ef = std::max(nsg->nsg.search_L, 1)};
      const NsgLevels levels(*nsg);
      or_refused(selector != nullptr ? "options.filter" : "options.ef_search", [&] {
        search_faiss_graph(levels.links(), *nsg->storage, n, x, k, with_options(own, selector),
                           distances, labels);
      });
    } else if (selector == nullptr) {
      search_parts(index, nullptr, n, x, k, distances, labels);
    } else if (dynamic_cast<const ::faiss::IndexFlat*>(&index) != nullptr ||
               dynamic_cast<const ::faiss::IndexScalarQuantizer*>(&index) != nullptr) {
      ::faiss::SearchParameters params;
      params.sel = const_cast<::faiss::IDSelector*>(selector);
      or_refused("options.filter",
                 [&] { search_parts(index, &params, n, x, k, distances, labels); });
    } else {
      or_refused("options.filter",
                 [&] { scan_rows(index, *selector, n, x, k, distances, labels); });
    }
  }

  void range_search_leaf(const ::faiss::Index& index, const ::faiss::IDSelector* selector, idx_t n,
                         const float* x, float radius, ::faiss::RangeSearchResult* result) {
    if (dynamic_cast<const IndexPolar*>(&index) != nullptr) {
      const SearchParametersPolar params = polar_parameters(selector);
      index.range_search(n, x, radius, result, &params);
      return;
    }
    if (const auto* polar_ivf = dynamic_cast<const IndexIVFPolar*>(&index)) {
      const SearchParametersIVFPolar params = ivf_polar_parameters(*polar_ivf, selector);
      index.range_search(n, x, radius, result, &params);
      return;
    }
    // Which of FAISS's heed a selector here differs by class and release; all rows within the
    // radius are few enough to leave the others out afterwards.
    const auto* ivf = dynamic_cast<const ::faiss::IndexIVF*>(&index);
    // FAISS's loop over threads would end the process for want of one.
    if (ivf != nullptr) {
      const std::unique_ptr<::faiss::InvertedListScanner> scanner(
          ivf->get_InvertedListScanner(false));
      require(scanner != nullptr, StatusCode::unsupported,
              "range_search: the inverted file's codes are not scanned one by one");
    }
    const WorkProgress work(options_.progress, "range_search");
    stoppable(work, [&] {
      if (ivf != nullptr && options_.nprobe != 0) {
        const ::faiss::SearchParametersIVF params = ivf_parameters(*ivf, nullptr);
        index.range_search(n, x, radius, result, &params);
      } else {
        index.range_search(n, x, radius, result);
      }
    });
    if (selector != nullptr) keep_selected(*selector, n, result);
  }

  static void keep_selected(const ::faiss::IDSelector& selector, idx_t n,
                            ::faiss::RangeSearchResult* result) {
    size_t kept = 0;
    size_t begin = 0;
    for (idx_t query = 0; query < n; ++query) {
      const size_t end = result->lims[query + 1];
      for (size_t i = begin; i < end; ++i) {
        if (!selector.is_member(result->labels[i])) continue;
        result->labels[kept] = result->labels[i];
        result->distances[kept++] = result->distances[i];
      }
      begin = end;
      result->lims[query + 1] = kept;
    }
  }

  SearchParametersPolar polar_parameters(const ::faiss::IDSelector* selector) const {
    SearchParametersPolar params;
    params.sel = const_cast<::faiss::IDSelector*>(selector);
    params.exactness = options_.exactness;
    params.progress = options_.progress;
    return params;
  }

  template <typename Parameters>
  void fill_ivf(const ::faiss::IndexIVF& ivf, const ::faiss::IDSelector* selector,
                Parameters* params) const {
    params->sel = const_cast<::faiss::IDSelector*>(selector);
    params->nprobe = options_.nprobe > 0 ? static_cast<size_t>(options_.nprobe) : ivf.nprobe;
    params->max_codes = ivf.max_codes;
  }
  ::faiss::SearchParametersIVF ivf_parameters(const ::faiss::IndexIVF& ivf,
                                              const ::faiss::IDSelector* selector) const {
    ::faiss::SearchParametersIVF params;
    fill_ivf(ivf, selector, &params);
    return params;
  }
  SearchParametersIVFPolar ivf_polar_parameters(const ::faiss::IndexIVF& ivf,
                                                const ::faiss::IDSelector* selector) const {
    SearchParametersIVFPolar params;
    fill_ivf(ivf, selector, &params);
    params.exactness = options_.exactness;
    params.progress = options_.progress;
    return params;
  }
  GraphParameters with_options(GraphParameters parameters,
                               const ::faiss::IDSelector* selector) const {
    if (options_.ef_search > 0) parameters.ef = options_.ef_search;
    parameters.sel = selector;
    parameters.progress = options_.progress;
    return parameters;
  }

  /// FAISS's own search, in parts between which progress is told: not all of its loops ask.
  void search_parts(const ::faiss::Index& index, const ::faiss::SearchParameters* params, idx_t n,
                    const float* x, idx_t k, float* distances, idx_t* labels) {
    if (!options_.progress) {
      index.search(n, x, k, distances, labels, params);
      return;
    }
    WorkProgress work(options_.progress, "search");
    const idx_t at_once = queries_at_once(index);
    for (idx_t first = 0; first < n; first += at_once) {
      const idx_t count = std::min(at_once, n - first);
      stoppable(work, [&] {
        index.search(count, x + first * index.d, k, distances + first * k, labels + first * k,
                     params);
      });
      work.set_share(static_cast<double>(first + count) / static_cast<double>(n));
      work.begin_loop();
      work.poll();
    }
  }

  /// Some tenths of a second of them, and enough for FAISS's products of matrices and all threads.
  static idx_t queries_at_once(const ::faiss::Index& index) {
    constexpr idx_t kWork = idx_t{1} << 31;
    const idx_t least = std::max<idx_t>(64, 16 * thread_count(0, 1 << 20));
    // A flat index asks by itself, and is fastest with many.
    if (dynamic_cast<const ::faiss::IndexFlat*>(&index) != nullptr) return idx_t{1} << 40;
    return std::max(least, kWork / std::max<idx_t>(index.ntotal, 1) / index.d);
  }

  /// A release that ignored the selector would return rows that it does not name.
  static void require_heeded(const ::faiss::IDSelector* selector, idx_t count,
                             const idx_t* labels) {
    if (selector == nullptr) return;
    for (idx_t i = 0; i < count; ++i) {
      require(labels[i] < 0 || selector->is_member(labels[i]), StatusCode::unsupported,
              "options.filter: the FAISS of this library does not filter in an index of this kind");
    }
  }

  /// Every row that the selector names, scored one by one: for FAISS's kinds that do not filter.
  void scan_rows(const ::faiss::Index& index, const ::faiss::IDSelector& selector, idx_t n,
                 const float* x, idx_t k, float* distances, idx_t* labels) {
    std::vector<idx_t> rows;
    for (idx_t row = 0; row < index.ntotal; ++row)
      if (selector.is_member(row)) rows.push_back(row);
    const bool higher_is_nearer = index.metric_type == ::faiss::METRIC_INNER_PRODUCT;
    const int threads = thread_count(0, n);
    std::vector<std::unique_ptr<::faiss::DistanceComputer>> computers(static_cast<size_t>(threads));
    SearchProgress progress(options_.progress, static_cast<double>(n));
    parallel_for(n, threads, [&](int64_t query, int thread) {
      auto& computer = computers[static_cast<size_t>(thread)];
      if (computer == nullptr) computer.reset(index.get_distance_computer());
      computer->set_query(x + query * index.d);
      TopK best(k);
      for (const idx_t row : rows) {
        const float key = key_of_score((*computer)(row), higher_is_nearer);
        if (key <= best.worst_key()) best.push({key, row});
      }
      std::vector<Neighbor> found = best.neighbors();
      write_top_k(found, k, higher_is_nearer, distances + query * k, labels + query * k);
      progress.advance(1);
    });
  }

  const IndexSearchOptions& options_;
};

}  // namespace

void require_use_for(const ::faiss::Index& index, const IndexSearchOptions& options) {
  const ::faiss::Index& finding = finding_index(index);
  const bool is_ivf = dynamic_cast<const ::faiss::IndexIVF*>(&finding) != nullptr;
  const bool is_graph = dynamic_cast<const ::faiss::IndexHNSW*>(&finding) != nullptr ||
                        dynamic_cast<const ::faiss::IndexNSG*>(&finding) != nullptr;
  require(options.nprobe == 0 || is_ivf, StatusCode::unsupported,
          "options.nprobe: {} is for inverted files, which the index is not", options.nprobe);
  require(options.ef_search == 0 || is_graph, StatusCode::unsupported,
          "options.ef_search: {} is for graphs, HNSW and NSG, which the index is not",
          options.ef_search);
  // Elsewhere every row is scored where it is not read.
  require(options.exactness == kDefaultExactness || !is_graph, StatusCode::unsupported,
          "options.exactness: {} is for scans, and the index is a graph", options.exactness);
  require(options.k_factor == 0 || refinement_of(index) != nullptr, StatusCode::unsupported,
          "options.k_factor: {} is for refinements, which the index is not", options.k_factor);
}

void search_index(const ::faiss::Index& index, idx_t n, const float* x, idx_t k,
                  const IndexSearchOptions& options, float* distances, idx_t* labels) {
  require_use_for(index, options);
  IndexSearch(options).search(index, options.selector, n, x, k, distances, labels);
}

void range_search_index(const ::faiss::Index& index, idx_t n, const float* x, float radius,
                        const IndexSearchOptions& options, ::faiss::RangeSearchResult* result) {
  require_use_for(index, options);
  require(options.k_factor == 0, StatusCode::unsupported,
          "options.k_factor: {} is for searches of the k nearest", options.k_factor);
  require(options.ef_search == 0, StatusCode::unsupported,
          "options.ef_search: {} is for searches of the k nearest", options.ef_search);
  IndexSearch(options).range_search(index, options.selector, n, x, radius, result);
}

}  // namespace polarquant
