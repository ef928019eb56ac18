// SPDX-License-Identifier: MIT
#include "src/capi/index_checks.h"

#include <faiss/IndexIVFPQ.h>
#include <faiss/IndexPQ.h>

#include "src/capi/argument_checks.h"
#include "src/capi/faiss_parts.h"
#include "src/core/status.h"
#include "src/faiss/index/index_parts.h"

namespace polarquant::capi {

namespace {

/// It numbers centroids for a search that no option asks for, takes up to a minute for any number
/// of rows, and hears no stop.
void train_without_polysemous(::faiss::Index& index) {
  if (auto* pq = dynamic_cast<::faiss::IndexPQ*>(&index)) pq->do_polysemous_training = false;
  if (auto* pq = dynamic_cast<::faiss::IndexIVFPQ*>(&index)) pq->do_polysemous_training = false;
  for (const auto& part : parts_of(index)) train_without_polysemous(*part.index);
}

}  // namespace

IndexChange::IndexChange(const char* argument, polar_index* index)
    : index_(require_object(argument, index)), changing_(index_.use) {}

void IndexChange::begin() {
  changing_.wait_for_readers();
  index_.rows_state = new_rows_state();
}

std::unique_ptr<::faiss::Index> make_untrained(const polar_index& index) {
  auto made = make_index(index.description.c_str(), index.dim, index.metric != Metric::l2);
  train_without_polysemous(*made);
  return made;
}

void require_trained(const polar_index& index) {
  require(index.faiss->is_trained, StatusCode::not_trained,
          "index: \"{}\" is not trained; call polar_index_train first", index.description);
}

void require_no_rows(const polar_index& index) {
  require(index.faiss->ntotal == 0, StatusCode::state_mismatch,
          "index: holds {} rows; training is allowed before the first", index.faiss->ntotal);
}

void require_row_ids(const polar_index& index, polar_index::IdOrigin wanted) {
  require(index.row_ids == polar_index::IdOrigin::undecided || index.row_ids == wanted,
          StatusCode::bad_argument, "index: holds rows {} ids of the caller's; {} is allowed",
          index.row_ids == polar_index::IdOrigin::callers ? "with" : "without",
          index.row_ids == polar_index::IdOrigin::callers ? "polar_index_add_with_ids"
                                                          : "polar_index_add");
}

void require_new_row_ids(int64_t n, const int64_t* ids) {
  require_array("ids", ids, n, 1, sizeof(int64_t));
  for (int64_t i = 0; i < n; ++i) {
    require(ids[i] >= 0, StatusCode::bad_argument, "ids: {} at {} is not allowed; 0 or more",
            ids[i], i);
  }
}

}  // namespace polarquant::capi
