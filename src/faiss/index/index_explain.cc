// SPDX-License-Identifier: MIT
#include "src/faiss/index/index_explain.h"

#include <faiss/IndexFlat.h>
#include <faiss/IndexHNSW.h>
#include <faiss/IndexIDMap.h>
#include <faiss/IndexIVF.h>
#include <faiss/IndexNSG.h>
#include <faiss/IndexPreTransform.h>
#include <faiss/IndexRefine.h>

#include <algorithm>
#include <optional>

#include "polarquant/faiss.h"
#include "src/core/format.h"
#include "src/core/parallel.h"
#include "src/faiss/graphs/graph_filter.h"
#include "src/faiss/graphs/graph_search.h"
#include "src/faiss/index/id_map_filter.h"
#include "src/faiss/index/polar_inverted_lists.h"
#include "src/faiss/index/refine_rows.h"
#include "src/scan/layout/block_layout.h"
#include "src/scan/search/explain.h"
#include "src/scan/search/list_search.h"
#include "src/scan/stores/row_store.h"

namespace polarquant {
namespace {

std::string explain_polar(const IndexPolar& index, const SearchRequest& search) {
  const RowStore& store = index.codes();
  if (store.holds_floats()) {
    return format_text(
        "scan: exact: rows are kept as floats until they are coded, and every one is scored\n"
        "rows: {}\nreads: about {} bytes a query\n",
        index.ntotal, index.ntotal * index.d * static_cast<idx_t>(sizeof(float)));
  }
  const int64_t blocks = (index.ntotal + kBlockRows - 1) / kBlockRows;
  ScanRequest request = {search.nq, search.goal.k,        index.ntotal, search.options.exactness,
                         1,         store.spans().empty()};
  if (!BlockLayout::supports(index.codec())) {
    request.threads = thread_count(0, std::max<int64_t>(index.ntotal, search.nq));
    return explain_scan(index.codec(), nullptr, ScanMachine::here(), request);
  }
  request.threads = thread_count(0, std::max<int64_t>(blocks, search.nq));
  const ScanCodec scan(index.codec());
  return explain_scan(index.codec(), &scan, ScanMachine::here(), request);
}

idx_t probes_of(const ::faiss::IndexIVF& index, const SearchOptions& options) {
  const idx_t nprobe = options.nprobe > 0 ? options.nprobe : static_cast<idx_t>(index.nprobe);
  return std::min(nprobe, static_cast<idx_t>(index.nlist));
}

std::string explain_inverted_file(const IndexIVFPolar& index, const SearchRequest& search) {
  const InvertedFile file = index.inverted_file();
  const idx_t nprobe = probes_of(index, search.options);
  const ListRequest request = {search.nq, nprobe, static_cast<int64_t>(index.nlist),
                               search.options.exactness, thread_count(0, search.nq * nprobe)};
  return explain_lists(file.codec, file.scan_codec, ScanMachine::here(), request, search.goal.k,
                       index.ntotal);
}

/// storage: the index of the graph's rows.
std::string explain_graph(const SearchRequest& search, idx_t ef, const ::faiss::Index& storage) {
  const auto* polar = dynamic_cast<const IndexPolar*>(&storage);
  const idx_t rows = storage.ntotal;
  const GraphFilter filter(search, nodes_kept(ef, search, rows), rows,
                           polar != nullptr && polar->codes().records_are_written());
  const std::optional<int64_t> kept = filter.nodes().counted();
  if (kept.has_value() && *kept <= filter.most_copies()) {
    return format_text(
        "scan: of copies of the rows that the filter keeps, once it had more than {} queries\n"
        "rows: {} of {}\n",
        kQueriesBeforeCopy, *kept, rows);
  }
  if (!filter.walks()) {
    return format_text(
        "scan: gathered: every row that the filter keeps is scored, since they are few\nrows: {}\n",
        rows);
  }
  return format_text(
      "scan: a walk along the links of a graph, which keeps the best {} nodes and scores the "
      "neighbours that it meets; how many these are is not known before\nrows: {}\n",
      filter.ef(), rows);
}

std::string explain_faiss(const ::faiss::Index& index, const SearchOptions& options) {
  if (const auto* ivf = dynamic_cast<const ::faiss::IndexIVF*>(&index)) {
    return format_text(
        "scan: FAISS's own, of the rows in {} of {} lists a query\nrows: {} in all lists\n",
        probes_of(*ivf, options), ivf->nlist, index.ntotal);
  }
  if (dynamic_cast<const ::faiss::IndexFlat*>(&index) != nullptr) {
    return format_text(
        "scan: FAISS's own: the floats of every row are scored for every query\n"
        "rows: {}\n",
        index.ntotal);
  }
  return format_text("scan: FAISS's own, which does not tell what it reads\nrows: {}\n",
                     index.ntotal);
}

std::string explain(const ::faiss::Index& index, const SearchRequest& search) {
  const idx_t k = search.goal.k;
  const SearchOptions& options = search.options;
  if (const auto* chain = dynamic_cast<const ::faiss::IndexPreTransform*>(&index)) {
    return format_text("transform: queries of {} dimensions get {} first\n", index.d,
                       chain->index->d) +
           explain(*chain->index, search);
  }
  if (const auto* map = dynamic_cast<const ::faiss::IndexIDMap*>(&index)) {
    SearchRequest inside = search;
    inside.filter = filter_inside(*map, search);
    return explain(*map->index, inside);
  }
  if (const auto* both = dynamic_cast<const ::faiss::IndexRefine*>(&index)) {
    const double factor = options.k_factor != 0 ? options.k_factor : both->k_factor;
    const idx_t found = refined_rows(k, factor, both->ntotal);
    SearchRequest base_request = search;
    base_request.goal.k = found;
    return explain(*both->base_index, base_request) +
           format_text("refinement: the {} rows found are scored again by the second codes\n",
                       found);
  }
  if (const auto* polar = dynamic_cast<const IndexPolar*>(&index))
    return explain_polar(*polar, search);
  const auto* ivf = dynamic_cast<const IndexIVFPolar*>(&index);
  // Its lists may have been replaced by FAISS's.
  if (ivf != nullptr && dynamic_cast<const PolarInvertedLists*>(ivf->invlists) != nullptr)
    return explain_inverted_file(*ivf, search);
  if (const auto* hnsw = dynamic_cast<const ::faiss::IndexHNSW*>(&index))
    return explain_graph(search, hnsw->hnsw.efSearch, *hnsw->storage);
  if (const auto* nsg = dynamic_cast<const ::faiss::IndexNSG*>(&index))
    return explain_graph(search, nsg->nsg.search_L, *nsg->storage);
  return explain_faiss(index, options);
}

}  // namespace

std::string explain_search(const ::faiss::Index& index, const SearchRequest& search) {
  require_use_for(index, search.options);
  if (index.ntotal == 0) return "scan: none, since the index holds no rows\nrows: 0\n";
  std::string text = explain(index, search);
  if (!search.filter.keeps_all())
    text += "filter: fewer rows are read, as many as it leaves of these\n";
  return text;
}

}  // namespace polarquant
