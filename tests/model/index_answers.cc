// SPDX-License-Identifier: MIT
#include "tests/model/index_answers.h"
#include "tests/support/filters.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <string>

namespace polarquant::test {
namespace {

std::string number(double value) { return std::to_string(value); }

void require_that(bool holds, const std::string& what) {
  if (!holds) throw ModelFailure(what);
}

bool is_graph(const IndexKind& kind) { return !kind.can(kFindsAll); }

/// The squared length that the error of a row's code may have. Codes are about a centre, from which
/// a row of zeros is as far as the centre is long.
double allowed_error(const IndexKind& kind, polar_metric metric, const std::vector<float>& x) {
  const double typical = metric == POLAR_METRIC_COSINE ? 1 : kind.dim;
  return kind.error * (squared_length(x) + typical / 2) + 1e-9;
}

/// How far the score of a row may be from that of its vector: the code's error is as long as it may
/// be, and lies along the query; half as much again, since scores are not those of the
/// reconstruction of least error.
double allowed_difference(const IndexKind& kind, polar_metric metric, const std::vector<float>& q,
                          const std::vector<float>& x) {
  const double error = 1.5 * std::sqrt(allowed_error(kind, metric, x)) + 1e-5;
  const double length = std::sqrt(squared_length(q)) + std::sqrt(squared_length(x));
  return metric == POLAR_METRIC_L2 ? (2 * length + error) * error + 1e-4 : length * error + 1e-4;
}

void audit_scores(const IndexKind& kind, polar_metric metric, const ModelledIndex& checked,
                  const std::vector<float>& query, const Found& found) {
  const std::vector<float> q = kept_form(metric, query);
  for (const auto& [score, id] : found) {
    const PlainRows::Row* row = checked.rows.find(id);
    require_that(row != nullptr, "a search found id " + std::to_string(id) + ", which no row has");
    const double plain = plain_score(metric, q, row->x);
    require_that(std::abs(score - plain) <= allowed_difference(kind, metric, q, row->x),
                 "id " + std::to_string(id) + " has the score " + number(score) +
                     ", its vector has " + number(plain));
  }
}

void audit_reconstruction(const IndexKind& kind, polar_metric metric, const ModelledIndex& checked,
                          const PlainRows::Row& row) {
  std::vector<float> x(row.x.size());
  const polar_status status = polar_index_reconstruct(checked.index.get(), row.id, x.data());
  if (!kind.can(kReconstructs)) {
    require_that(status == POLAR_ERROR_UNSUPPORTED, "it reconstructs, which is not supported");
    return;
  }
  require_that(status == POLAR_OK,
               "reconstruct(" + std::to_string(row.id) + ") failed: " + last_error());
  const double error = distance(x.data(), row.x.data(), static_cast<int64_t>(x.size()));
  require_that(error <= allowed_error(kind, metric, row.x),
               "the reconstruction of id " + std::to_string(row.id) + " is off by " +
                   number(error) + " of " + number(squared_length(row.x)));
}

/// A row found among all has the same score when it alone may be found.
void audit_single(const IndexKind& kind, polar_metric metric, const ModelledIndex& checked,
                  const std::vector<float>& query, const Found& found, Random& random) {
  if (found.empty() || !filters(kind, checked.index.get())) return;
  const auto [score, id] = found[random.below(found.size())];
  polar_search_options options = exhaustive_options(kind, checked.index.get());
  const polar_filter filter = id_list_filter(&id, 1);
  options.filter = &filter;
  const Found alone = search_all(checked.index.get(), metric, query, options);
  if (is_graph(kind) && alone.empty()) return;  // the way to it leads over rows left out
  require_that(alone.size() == 1 && alone[0].second == id,
               "a search for id " + std::to_string(id) + " alone found " +
                   std::to_string(alone.size()) + " rows");
  require_that(std::abs(alone[0].first - score) <= 1e-5 * (1 + std::abs(score)),
               "id " + std::to_string(id) + " alone has the score " + number(alone[0].first) +
                   ", among all " + number(score));
}

}  // namespace

bool filters(const IndexKind& kind, const polar_index* index) {
  if (kind.can(kFilters)) return true;
  const std::vector<float> query(static_cast<size_t>(kind.dim));
  polar_search_options options = exhaustive_options(kind, index);
  const polar_filter filter = range_filter(0, 0);
  options.filter = &filter;
  float score = 0;
  int64_t id = 0;
  return polar_index_search(index, 1, query.data(), 1, &options, &score, &id) !=
         POLAR_ERROR_UNSUPPORTED;
}

polar_search_options exhaustive_options(const IndexKind& kind, const polar_index* index) {
  polar_search_options options;
  polar_search_options_init(&options);
  options.num_threads = 1;
  // Graphs have no scan that it could speak of.
  if (!is_graph(kind)) options.exactness = kInfinity;
  if (polar_index_nlist(index) > 0) options.nprobe = polar_index_nlist(index);
  if (is_graph(kind)) options.ef_search = polar_index_ntotal(index) + 5;
  return options;
}

Found search_all(const polar_index* index, polar_metric metric, const std::vector<float>& query,
                 const polar_search_options& options) {
  const auto k = static_cast<size_t>(polar_index_ntotal(index) + 3);
  std::vector<float> scores(k);
  std::vector<int64_t> ids(k);
  const polar_status status = polar_index_search(index, 1, query.data(), static_cast<int64_t>(k),
                                                 &options, scores.data(), ids.data());
  require_that(status == POLAR_OK, "a search failed: " + last_error());
  const bool rises = metric == POLAR_METRIC_L2;
  Found found;
  std::set<int64_t> seen;
  for (size_t i = 0; i < k; ++i) {
    if (ids[i] < 0) {
      require_that(ids[i] == -1 && scores[i] == (rises ? kInfinity : -kInfinity),
                   "id " + std::to_string(ids[i]) + " and score " + number(scores[i]) +
                       " stand where there is no row");
      continue;
    }
    require_that(found.size() == i, "a row was found after an empty place");
    require_that(seen.insert(ids[i]).second, "id " + std::to_string(ids[i]) + " was found twice");
    require_that(
        i == 0 || (rises ? scores[i - 1] <= scores[i] : scores[i - 1] >= scores[i]),
        "scores " + number(scores[i - (i > 0)]) + ", " + number(scores[i]) + " are not in order");
    found.emplace_back(scores[i], ids[i]);
  }
  std::sort(found.begin(), found.end());
  return found;
}

std::vector<uint8_t> saved_bytes(const polar_index* index) {
  std::vector<uint8_t> bytes;
  const polar_write_fn append = [](void* user, const void* data, size_t count) -> int32_t {
    const auto* from = static_cast<const uint8_t*>(data);
    auto& to = *static_cast<std::vector<uint8_t>*>(user);
    to.insert(to.end(), from, from + count);
    return 0;
  };
  require_that(polar_index_save_to(index, append, &bytes, nullptr) == POLAR_OK,
               "saving failed: " + last_error());
  return bytes;
}

void audit(const IndexKind& kind, polar_metric metric, const ModelledIndex& checked,
           Random& random) {
  const polar_index* index = checked.index.get();
  const PlainRows& rows = checked.rows;
  require_that(polar_index_ntotal(index) == rows.size(),
               "it has " + std::to_string(polar_index_ntotal(index)) + " rows, its model has " +
                   std::to_string(rows.size()));
  if (polar_index_is_trained(index) == 0) return;
  std::vector<float> query(static_cast<size_t>(kind.dim));
  for (float& value : query) value = static_cast<float>(random.normal());
  const Found found = search_all(index, metric, query, exhaustive_options(kind, index));
  if (kind.can(kFindsAll)) {
    require_that(static_cast<int64_t>(found.size()) == rows.size(),
                 "a search found " + std::to_string(found.size()) + " of " +
                     std::to_string(rows.size()) + " rows");
  } else {
    require_that(found.empty() == rows.empty(), "a graph's search found nothing");
  }
  audit_scores(kind, metric, checked, query, found);
  audit_single(kind, metric, checked, query, found, random);
  for (int i = 0; i < 5 && !rows.empty(); ++i) {
    audit_reconstruction(kind, metric, checked, rows.rows()[random.below(rows.rows().size())]);
  }
}

}  // namespace polarquant::test
