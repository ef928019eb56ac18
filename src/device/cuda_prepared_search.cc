// SPDX-License-Identifier: MIT
// Of an index on devices: searches that nobody waits for.
#include "src/device/cuda_index.h"
#include "src/device/cuda_query_description.h"
#include "src/scan/search/filter_rules.h"

namespace polarquant::device {

void CudaPreparedSearch::start(const cuda::PreparedSearchArrays& arrays) const {
  name_device(rows->device(),
              [&] { call_cuda(cuda_functions().start_search, search.get(), &arrays); });
}

CudaPreparedSearch CudaIndex::prepare_search(const SearchRequest& wanted, bool normalizes) const {
  require(lists_ == nullptr, StatusCode::unsupported,
          "index: it is an inverted file; one without lists takes prepared searches");
  require(devices_ == 1, StatusCode::unsupported,
          "index: it is on {} devices; one on a single device takes prepared searches", devices_);
  require(prepares_queries(*codec_), StatusCode::unsupported,
          "index: the host prepares queries of {} with {} dimensions; codes without \"-dense\" of "
          "up to {} take prepared searches",
          print_spec(codec_->spec()), dim(), cuda::kMostPreparedDims);
  require(row_numbers_ > 0, StatusCode::unsupported,
          "index: it has no rows; one with rows takes prepared searches");
  const CudaRows& rows = *parts_.front();
  CudaPreparedSearch prepared = {};
  prepared.rows = parts_.front();
  const ResidentArrays no_arrays;
  const Request request = make_request(wanted, no_arrays, nullptr);
  cuda::SearchRequest shape = {};
  shape.nq = wanted.nq;
  shape.k = request.kept;
  shape.results = request.k;
  shape.bounded = request.bounded ? 1 : 0;
  shape.exactness = request.exactness;
  shape.resident.normalizes = normalizes ? 1 : 0;
  const RowFilter allowed = allowed_rows(wanted.filter);
  if (!allowed.keeps_all()) {
    const auto& kept = static_cast<const KeptRows&>(*allowed.rule());
    prepared.bits = rows.copy_bits(kept.words().data());
    shape.kept_bits = prepared.bits.get();
    shape.kept_share = kept_share(kept);
  }
  prepared.search = rows.prepare_search(shape, ids_);
  return prepared;
}

}  // namespace polarquant::device
