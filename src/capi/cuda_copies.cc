// SPDX-License-Identifier: MIT
#include "src/capi/cuda_copies.h"

#include <string>
#include <utility>
#include <vector>

#include "polarquant/faiss.h"
#include "src/core/call_threads.h"
#include "src/core/status.h"
#include "src/faiss/foreign/faiss_metric.h"
#include "src/faiss/index/polar_inverted_lists.h"
#include "src/scan/layout/block_layout.h"
#include "src/scan/layout/code_lists.h"
#include "src/scan/stores/row_store.h"

namespace polarquant::capi {
namespace {

/// What of an index is searched on devices; all is borrowed, and one of `flat` and `lists` there.
struct SearchedIndex {
  const Codec& codec;
  const IndexPolar* flat;
  const IndexIVFPolar* lists;
  const ::faiss::IndexRefine* refinement;  // around it, or null
};

SearchedIndex searched_part(const polar_index& index) {
  const auto* both = dynamic_cast<const ::faiss::IndexRefine*>(index.faiss.get());
  const ::faiss::Index* first = both != nullptr ? both->base_index : index.faiss.get();
  const auto* flat = dynamic_cast<const IndexPolar*>(first);
  const auto* lists = dynamic_cast<const IndexIVFPolar*>(first);
  const Codec* codec = flat != nullptr    ? &flat->codec()
                       : lists != nullptr ? &lists->codec()
                                          : nullptr;
  require(
      codec != nullptr && BlockLayout::supports(*codec), StatusCode::unsupported,
      "index: \"{}\" is not searched on CUDA devices; Polar0.5 to Polar8, residual and trained "
      "codes are, alone (\"Polar4\") or in an inverted file (\"IVF1024,Polar4\"), refined or not "
      "(\"Polar2,Refine(Polar8)\")",
      index.description);
  require(index.faiss->is_trained, StatusCode::not_trained,
          "index: \"{}\" is not trained; call polar_index_train first", index.description);
  return {*codec, flat, lists, both};
}

std::unique_ptr<device::CudaIndex> copy_flat(const IndexPolar& polar,
                                             const device::CudaPlaces& places) {
  if (polar.rows_as_floats() > 0) {
    // Devices search codes alone: the copy has them, by what its rows teach.
    const std::unique_ptr<::faiss::Index> coded = clone_index(polar);
    auto& polar_of_codes = dynamic_cast<IndexPolar&>(*coded);
    polar_of_codes.code_rows();
    return copy_flat(polar_of_codes, places);
  }
  const std::vector<BlockRows> spans = polar.codes().spans();
  return std::make_unique<device::CudaIndex>(polar.codec(), spans, polar.ids(), places);
}

device::ListsSource source_of(const polar_index& index, const IndexIVFPolar& ivf) {
  const float* centroids = ivf.flat_centroids();
  require(centroids != nullptr, StatusCode::unsupported,
          "index: \"{}\" does not find its lists by comparing all centroids, as CUDA devices do; "
          "\"IVF{},{}\" does",
          index.description, ivf.nlist, ivf.spec());
  require(
      ivf.max_codes == 0, StatusCode::unsupported,
      "index: its max_codes is {}; 0, all rows of the probed lists, is searched on CUDA devices",
      ivf.max_codes);
  return {ivf.inverted_file(), centroids, codec_metric(ivf.quantizer->metric_type),
          static_cast<int64_t>(ivf.nprobe)};
}

/// Rows that are floats are not those that are copied.
uint64_t held_rows_state(const SearchedIndex& part) {
  if (part.lists != nullptr) return part.lists->inverted_file().lists.held_rows_state();
  return part.flat->codes().held_rows_state();
}

void require_same_kind(const SearchedIndex& part, const polar_index& index,
                       const polar_cuda_index& copy) {
  const device::CudaIndex& there = *copy.index;
  const std::string spec = print_spec(part.codec.spec());
  const std::string own_spec = print_spec(there.codec().spec());
  require(spec == own_spec, StatusCode::state_mismatch, "index: it is of {}, the copy of {}", spec,
          own_spec);
  require(index.dim == there.dim(), StatusCode::state_mismatch,
          "index: it has {} dimensions, the copy {}", index.dim, there.dim());
  require(index.metric == copy.metric && part.codec.metric() == there.codec().metric(),
          StatusCode::state_mismatch, "index: its metric is not that of the copy");
  const int64_t lists = part.lists != nullptr ? static_cast<int64_t>(part.lists->nlist) : 0;
  require(lists == there.list_count(), StatusCode::state_mismatch,
          "index: it has {} lists, the copy {}", lists, there.list_count());
  require((part.refinement != nullptr) == copy.refines(), StatusCode::state_mismatch,
          "index: it is {} refinement, the copy is {}", copy.refines() ? "no" : "a",
          copy.refines() ? "one" : "none");
}

}  // namespace

std::unique_ptr<polar_cuda_index> copy_to_devices(const polar_index& index,
                                                  const device::CudaPlaces& places,
                                                  int32_t num_threads) {
  const CallThreads threads(num_threads);
  const SearchedIndex part = searched_part(index);
  auto copy = std::make_unique<polar_cuda_index>();
  copy->index = part.lists != nullptr
                    ? std::make_unique<device::CudaIndex>(source_of(index, *part.lists), places)
                    : copy_flat(*part.flat, places);
  copy->metric = index.metric;
  copy->places = places;
  copy->num_threads = num_threads;
  copy->copied_rows = held_rows_state(part);
  if (part.refinement != nullptr)
    copy->refinement = std::make_unique<CudaRefinement>(*part.refinement, places);
  return copy;
}

void refresh_copy(const polar_index& index, polar_cuda_index* copy) {
  const SearchedIndex part = searched_part(index);
  require_same_kind(part, index, *copy);
  const uint64_t held = held_rows_state(part);
  const bool were_only_added = held != kUnknownRows && held == copy->copied_rows;
  const bool is_refined_there = !copy->refines() || copy->refinement->takes_rows(*part.refinement);
  if (!were_only_added || !copy->index->takes_rows() || !is_refined_there) {
    *copy = std::move(*copy_to_devices(index, copy->places, copy->num_threads));
    return;
  }
  if (copy->refines()) copy->refinement->add_rows(*part.refinement);
  if (part.lists != nullptr) {
    copy->index->add_rows(source_of(index, *part.lists));
  } else {
    copy->index->add_rows(part.flat->codes().spans(), part.flat->ids());
  }
  if (copy->refines()) copy->refinement->follow(*part.refinement);
}

}  // namespace polarquant::capi
