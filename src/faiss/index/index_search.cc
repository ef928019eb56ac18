// SPDX-License-Identifier: MIT
#include "src/faiss/index/index_search.h"

#include <faiss/IndexFlat.h>
#include <faiss/IndexIDMap.h>
#include <faiss/IndexIVF.h>
#include <faiss/IndexIVFFastScan.h>
#include <faiss/IndexPreTransform.h>
#include <faiss/IndexRefine.h>
#include <faiss/IndexScalarQuantizer.h>

#include <algorithm>
#include <memory>
#include <new>
#include <string_view>
#include <vector>

#include "polarquant/faiss.h"
#include "src/core/parallel.h"
#include "src/core/status.h"
#include "src/core/work_progress.h"
#include "src/faiss/foreign/faiss_error.h"
#include "src/faiss/foreign/faiss_graph_search.h"
#include "src/faiss/foreign/faiss_range_search.h"
#include "src/faiss/foreign/memory_check.h"
#include "src/faiss/graphs/graph_links.h"
#include "src/faiss/graphs/graph_over_polar.h"
#include "src/faiss/index/id_map_filter.h"
#include "src/faiss/index/index_parts.h"
#include "src/faiss/index/refine_range.h"
#include "src/faiss/index/refine_rows.h"
#include "src/faiss/index/search_parameters.h"
#include "src/faiss/index/selector_filter.h"
#include "src/scan/search/search_progress.h"
#include "src/scan/search/search_request.h"
#include "src/scan/search/top_k.h"

namespace polarquant {
namespace {

/// search(), of FAISS's; a lack of memory that its threads met comes as a text.
template <typename Search>
void or_out_of_memory(Search&& search) {
  try {
    search();
  } catch (const ::faiss::FaissException& error) {
    if (std::string_view(error.what()).find("bad_alloc") != std::string_view::npos)
      throw std::bad_alloc();
    throw;
  }
}

/// search(), in which FAISS asks whether to stop.
template <typename Search>
void stoppable(const WorkProgress& work, Search&& search) {
  try {
    or_out_of_memory(search);
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

/// The index's rows after a transform chain.
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
  IndexSearch(const SearchRequest& request, const SearchResult& result)
      : request_(request), result_(result), selector_(request.filter) {}

  void search(const ::faiss::Index& index) {
    const auto* both = dynamic_cast<const ::faiss::IndexRefine*>(&index);
    if (const auto* chain = dynamic_cast<const ::faiss::IndexPreTransform*>(&index)) {
      const Transformed rows(*chain, request_.nq, request_.queries);
      SearchRequest inside = request_;
      inside.queries = rows.data();
      IndexSearch(inside, result_).search(*chain->index);
    } else if (const auto* map = dynamic_cast<const ::faiss::IndexIDMap*>(&index)) {
      SearchRequest inside = request_;
      inside.filter = filter_inside(*map, request_);
      IndexSearch(inside, result_).search(*map->index);
      replace_ids(request_, result_,
                  [map](int64_t row) { return map->id_map[static_cast<size_t>(row)]; });
    } else if (both != nullptr && result_.partial == nullptr) {
      const FindCandidates find = [both](const SearchRequest& request, const SearchResult& result) {
        IndexSearch(request, result).search(*both->base_index);
      };
      if (request_.goal.is_range) {
        refine_range(*both, request_, result_.found, find);
      } else {
        refine_rows(*both, request_, result_, find);
      }
    } else if (const auto* polar = dynamic_cast<const IndexPolar*>(&index)) {
      polar->search_rows(request_, result_);
    } else if (const auto* polar_ivf = dynamic_cast<const IndexIVFPolar*>(&index)) {
      polar_ivf->search_lists(request_, result_);
    } else if (result_.partial != nullptr) {
      fail(StatusCode::unsupported,
           "index: only rows of our codes, alone or in inverted files, are searched in parts");
    } else if (const auto* polar_hnsw = dynamic_cast<const HNSWOverPolar*>(&index)) {
      polar_hnsw->search_nodes(request_, result_);
    } else if (const auto* polar_nsg = dynamic_cast<const NSGOverPolar*>(&index)) {
      polar_nsg->search_nodes(request_, result_);
    } else if (request_.goal.is_range) {
      range_search_faiss(index);
    } else {
      search_faiss(index);
    }
  }

 private:
  bool filters() const { return !request_.filter.keeps_all(); }
  const char* filter_or(const char* option) const { return filters() ? "options.filter" : option; }

  void search_faiss(const ::faiss::Index& index) {
    if (const auto* ivf = dynamic_cast<const ::faiss::IndexIVF*>(&index)) {
      if (!filters() && request_.options.nprobe == 0) {
        search_parts(*ivf, nullptr);
        return;
      }
      const ::faiss::SearchParametersIVF params = ivf_parameters(*ivf);
      or_refused(filter_or("options.nprobe"), [&] {
        // Codes whose scanner takes no selector say so here, and not in FAISS's loop
        // over threads, where it would end the process. Fast scans have no scanner.
        if (filters() && dynamic_cast<const ::faiss::IndexIVFFastScan*>(ivf) == nullptr)
          delete ivf->get_InvertedListScanner(false, params.sel);
        search_parts(index, &params);
      });
      require_heeded();
    } else if (const auto* hnsw = dynamic_cast<const ::faiss::IndexHNSW*>(&index)) {
      // FAISS's search keeps k nodes where efSearch is less, but stops as if it kept efSearch, and
      // leaves places empty.
      if (request_.goal.k <= hnsw->hnsw.efSearch && !asks_of_graph()) {
        search_parts(index, nullptr);
        return;
      }
      search_graph_of_faiss(links_of(*hnsw), *hnsw->storage);
    } else if (const auto* nsg = dynamic_cast<const ::faiss::IndexNSG*>(&index)) {
      // FAISS's search draws as many different rows as it keeps, and never ends where there are
      // fewer.
      if (std::max<idx_t>(nsg->nsg.search_L, request_.goal.k) <= nsg->ntotal && !asks_of_graph()) {
        search_parts(index, nullptr);
        return;
      }
      search_graph_of_faiss(NsgLevels(*nsg).links(), *nsg->storage);
    } else if (!filters()) {
      search_parts(index, nullptr);
    } else if (dynamic_cast<const ::faiss::IndexFlat*>(&index) != nullptr ||
               dynamic_cast<const ::faiss::IndexScalarQuantizer*>(&index) != nullptr) {
      ::faiss::SearchParameters params;
      params.sel = &selector_;
      or_refused("options.filter", [&] { search_parts(index, &params); });
    } else {
      or_refused("options.filter", [&] { scan_rows(index); });
    }
  }

  bool asks_of_graph() const { return filters() || request_.options.ef_search != 0; }
  void search_graph_of_faiss(const GraphLinks& links, const ::faiss::Index& storage) {
    or_refused(filter_or("options.ef_search"),
               [&] { search_faiss_graph(links, storage, request_, result_); });
  }

  void range_search_faiss(const ::faiss::Index& index) {
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
    ::faiss::SearchParametersIVF params;
    const bool names_lists = ivf != nullptr && request_.options.nprobe != 0;
    if (names_lists) {
      params = ivf_parameters(*ivf);
      params.sel = nullptr;
    }
    const WorkProgress work(request_.progress, "range_search");
    stoppable(work, [&] {
      search_range_in_parts(index, request_, names_lists ? &params : nullptr, result_.found);
    });
    if (filters()) keep_selected();
  }

  void keep_selected() const {
    RangeFound& found = *result_.found;
    size_t kept = 0;
    int64_t begin = 0;
    for (size_t query = 1; query < found.lims.size(); ++query) {
      const int64_t end = found.lims[query];
      for (auto i = static_cast<size_t>(begin); i < static_cast<size_t>(end); ++i) {
        if (!request_.filter.keeps(found.ids[i])) continue;
        found.ids[kept] = found.ids[i];
        found.scores[kept++] = found.scores[i];
      }
      begin = end;
      found.lims[query] = static_cast<int64_t>(kept);
    }
    found.ids.resize(kept);
    found.scores.resize(kept);
  }

  ::faiss::SearchParametersIVF ivf_parameters(const ::faiss::IndexIVF& ivf) {
    const int64_t nprobe = request_.options.nprobe;
    ::faiss::SearchParametersIVF params;
    params.sel = selector_.pointer();
    params.nprobe = nprobe > 0 ? static_cast<size_t>(nprobe) : ivf.nprobe;
    params.max_codes = ivf.max_codes;
    return params;
  }

  /// FAISS's own search, in parts between which progress is told: not all of its loops ask.
  void search_parts(const ::faiss::Index& index, const ::faiss::SearchParameters* params) {
    const idx_t n = request_.nq;
    const idx_t k = request_.goal.k;
    if (!request_.progress) {
      require_search_memory(index, n, k, request_.options.nprobe);
      or_out_of_memory(
          [&] { index.search(n, request_.queries, k, result_.scores, result_.ids, params); });
      return;
    }
    WorkProgress work(request_.progress, "search");
    const idx_t at_once = queries_at_once(index);
    require_search_memory(index, std::min(n, at_once), k, request_.options.nprobe);
    for (idx_t first = 0; first < n; first += at_once) {
      const idx_t count = std::min(at_once, n - first);
      stoppable(work, [&] {
        index.search(count, request_.queries + first * index.d, k, result_.scores + first * k,
                     result_.ids + first * k, params);
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
  void require_heeded() const {
    if (!filters()) return;
    for (idx_t i = 0; i < request_.nq * request_.goal.k; ++i) {
      require(result_.ids[i] < 0 || request_.filter.keeps(result_.ids[i]), StatusCode::unsupported,
              "options.filter: the FAISS of this library does not filter in an index of this kind");
    }
  }

  /// Every row that the filter lets through, scored one by one: for FAISS's kinds that do not
  /// filter.
  void scan_rows(const ::faiss::Index& index) {
    std::vector<idx_t> rows;
    request_.filter.for_each(0, index.ntotal, [&](int64_t row) { rows.push_back(row); });
    const bool higher_is_nearer = index.metric_type == ::faiss::METRIC_INNER_PRODUCT;
    const idx_t k = request_.goal.k;
    const int threads = thread_count(0, request_.nq);
    std::vector<std::unique_ptr<::faiss::DistanceComputer>> computers(static_cast<size_t>(threads));
    SearchProgress progress(request_.progress, static_cast<double>(request_.nq));
    parallel_for(request_.nq, threads, [&](int64_t query, int thread) {
      auto& computer = computers[static_cast<size_t>(thread)];
      if (computer == nullptr) computer.reset(index.get_distance_computer());
      computer->set_query(request_.queries + query * index.d);
      TopK best(k);
      for (const idx_t row : rows) {
        const float key = key_of_score((*computer)(row), higher_is_nearer);
        if (key <= best.worst_key()) best.push({key, row});
      }
      std::vector<Neighbor> found = best.neighbors();
      write_top_k(found, k, higher_is_nearer, result_.scores + query * k, result_.ids + query * k);
      progress.advance(1);
    });
  }

  const SearchRequest& request_;
  SearchResult result_;
  FilterSelector selector_;
};

}  // namespace

void require_use_for(const ::faiss::Index& index, const SearchOptions& options) {
  // Casts that fail take as long as a search of few rows.
  if (options.nprobe == 0 && options.ef_search == 0 && options.exactness == kDefaultExactness &&
      options.k_factor == 0)
    return;
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

void search_index(const ::faiss::Index& index, const SearchRequest& request,
                  const SearchResult& result) {
  const SearchOptions& options = request.options;
  require_use_for(index, options);
  if (request.goal.is_range) {
    require(options.k_factor == 0, StatusCode::unsupported,
            "options.k_factor: {} is for searches of the k nearest", options.k_factor);
  }
  IndexSearch(request, result).search(index);
}

}  // namespace polarquant
