// SPDX-License-Identifier: MIT
#include "src/capi/index_adds.h"

#include <numeric>
#include <vector>

#include "src/capi/argument_checks.h"
#include "src/capi/faiss_parts.h"
#include "src/capi/held_ids.h"
#include "src/capi/index_checks.h"
#include "src/capi/metric_input.h"
#include "src/faiss/index/row_changes.h"

namespace polarquant::capi {
namespace {

void add_without_ids(polar_index& index, int64_t n, const MetricInput& input,
                     const CodedRows& coded) {
  if (id_support(*index.faiss) != IdSupport::required) {
    polarquant::add_rows(*index.faiss, n, input.data(), nullptr, coded);
    return;
  }
  std::vector<int64_t> positions(static_cast<size_t>(n));
  std::iota(positions.begin(), positions.end(), index.faiss->ntotal);
  polarquant::add_rows(*index.faiss, n, input.data(), positions.data(), coded);
}

void add_with_ids(polar_index& index, int64_t n, const MetricInput& input, const int64_t* ids,
                  const CodedRows& coded) {
  if (index.is_polar()) {
    polarquant::add_rows(*index.faiss, n, input.data(), ids, coded);
    return;
  }
  NewIds new_ids(index, n, ids);
  polarquant::add_rows(*index.faiss, n, input.data(), ids, coded);
  new_ids.commit();
}

}  // namespace

void add_rows(polar_index* index, int64_t n, const float* x) {
  IndexChange change("index", index);
  polar_index& checked = change.index();
  require_count("n", n, 0);
  const MetricInput input(checked.metric, checked.dim, n, x);
  require_trained(checked);
  require_row_ids(checked, polar_index::IdOrigin::positions);
  if (n == 0) return;
  const CodedRows coded = code_rows(*checked.faiss, n, input.data());
  change.begin();
  MapForReconstruct map(*checked.faiss, false);
  add_without_ids(checked, n, input, coded);
  map.keep();
  checked.row_ids = polar_index::IdOrigin::positions;
}

void add_rows_with_ids(polar_index* index, int64_t n, const float* x, const int64_t* ids) {
  IndexChange change("index", index);
  polar_index& checked = change.index();
  require_count("n", n, 0);
  const MetricInput input(checked.metric, checked.dim, n, x);
  require_new_row_ids(n, ids);
  require_trained(checked);
  require(id_support(*checked.faiss) != IdSupport::none, StatusCode::unsupported,
          "index: \"{}\" takes no ids; \"{},IDMap2\" does", checked.description,
          checked.description);
  require_row_ids(checked, polar_index::IdOrigin::callers);
  if (n == 0) return;
  const CodedRows coded = code_rows(*checked.faiss, n, input.data());
  change.begin();
  MapForReconstruct map(*checked.faiss, true);
  add_with_ids(checked, n, input, ids, coded);
  map.keep();
  checked.row_ids = polar_index::IdOrigin::callers;
}

}  // namespace polarquant::capi
