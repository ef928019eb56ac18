// SPDX-License-Identifier: MIT
#include "src/capi/training_rows.h"

#include <faiss/IndexIVF.h>
#include <faiss/IndexIVFPQ.h>
#include <faiss/IndexIVFPQFastScan.h>
#include <faiss/IndexPQ.h>
#include <faiss/IndexPQFastScan.h>
#include <faiss/IndexPreTransform.h>
#include <faiss/VectorTransform.h>

#include "src/core/status.h"
#include "src/faiss/index/index_parts.h"

namespace polarquant::capi {
namespace {

/// From so many k-means makes a centroid without a warning of FAISS.
constexpr int64_t kRowsPerCentroid = 39;

struct Training {
  const std::string& description;
  int64_t rows;

  /// Refuses less than a row for each of `count` centroids.
  void need(int64_t count, const char* what) const {
    require(
        rows >= count, StatusCode::bad_argument,
        "n: {} training rows are too few for \"{}\": its {} {} need {} or more, and do well from "
        "{} on",
        rows, description, count, what, count, kRowsPerCentroid * count);
  }
  void need_for(const ::faiss::ProductQuantizer& quantizer) const {
    need(static_cast<int64_t>(quantizer.ksub), "centroids of a product quantizer");
  }
};

void require_rows_for_transform(const ::faiss::VectorTransform& transform,
                                const Training& training) {
  if (dynamic_cast<const ::faiss::OPQMatrix*>(&transform) != nullptr) {
    training.need(256, "centroids of OPQ's product quantizer");
  }
  if (dynamic_cast<const ::faiss::PCAMatrix*>(&transform) != nullptr) {
    require(training.rows >= transform.d_out, StatusCode::bad_argument,
            "n: {} training rows are too few for \"{}\": PCA to {} dimensions needs {} or more",
            training.rows, training.description, transform.d_out, transform.d_out);
  }
}

void require_rows_for(const ::faiss::Index& index, const Training& training) {
  if (const auto* outer = dynamic_cast<const ::faiss::IndexPreTransform*>(&index)) {
    for (const ::faiss::VectorTransform* transform : outer->chain)
      require_rows_for_transform(*transform, training);
  }
  if (const auto* ivf = dynamic_cast<const ::faiss::IndexIVF*>(&index)) {
    // Others make their own lists.
    const bool lists_are_clusters = ivf->quantizer_trains_alone != 1;
    if (lists_are_clusters) training.need(static_cast<int64_t>(ivf->nlist), "lists");
  }
  if (const auto* pq = dynamic_cast<const ::faiss::IndexPQ*>(&index)) training.need_for(pq->pq);
  if (const auto* pq = dynamic_cast<const ::faiss::IndexIVFPQ*>(&index)) training.need_for(pq->pq);
  if (const auto* pq = dynamic_cast<const ::faiss::IndexPQFastScan*>(&index)) {
    training.need_for(pq->pq);
  }
  if (const auto* pq = dynamic_cast<const ::faiss::IndexIVFPQFastScan*>(&index)) {
    training.need_for(pq->pq);
  }
  if (const auto* pq = dynamic_cast<const ::faiss::MultiIndexQuantizer*>(&index)) {
    training.need_for(pq->pq);
  }
}

}  // namespace

void require_training_rows(const ::faiss::Index& index, const std::string& description, int64_t n) {
  const Training training{description, n};
  for_each_part(index, [&](const ::faiss::Index& part) {
    if (!part.is_trained) require_rows_for(part, training);
  });
}

}  // namespace polarquant::capi
