// SPDX-License-Identifier: MIT
// Changes of the rows that the C ABI's indexes hold: removal, update, merge. Each leaves ids, rows
// and handles as they were when it fails.
#include <algorithm>
#include <functional>
#include <iterator>
#include <span>
#include <unordered_set>
#include <utility>
#include <vector>

#include "polarquant/faiss.h"
#include "polarquant/polarquant.h"
#include "src/capi/argument_checks.h"
#include "src/capi/exception_wall.h"
#include "src/capi/faiss_parts.h"
#include "src/capi/filter_input.h"
#include "src/capi/held_ids.h"
#include "src/capi/index_checks.h"
#include "src/capi/index_handle.h"
#include "src/capi/merge_rules.h"
#include "src/capi/metric_input.h"
#include "src/capi/work_call.h"
#include "src/faiss/foreign/faiss_error.h"
#include "src/faiss/index/row_changes.h"
#include "src/faiss/index/selector_filter.h"

namespace polarquant::capi {
namespace {

/// change() of a FAISS index, whose refusal is told as "unsupported".
template <typename Change>
auto try_change(const polar_index& index, const char* what, const Change& change) {
  try {
    return change();
  } catch (const FaissError&) {
    throw;  // ours: its text says what is wrong
  } catch (const ::faiss::FaissException& error) {
    fail(StatusCode::unsupported, "index: \"{}\" does not {} ({})", index.description, what,
         error.what());
  }
}

/// Of the ids that the index has those that the filter keeps; of listed ids also such as an index
/// that keeps its ids itself may not have.
std::vector<int64_t> ids_to_remove(const polar_index& index, const polar_filter& given,
                                   const RowFilter& filter) {
  std::vector<int64_t> gone;
  const auto take = [&gone](const auto& ids, const auto& goes) {
    std::copy_if(std::begin(ids), std::end(ids), std::back_inserter(gone), goes);
  };
  if (given.kind != POLAR_FILTER_IDS) {
    take(held_ids(index), [&](int64_t id) { return filter.keeps(id); });
  } else {
    take(std::span(given.ids.ids, static_cast<size_t>(given.ids.count)),
         [&](int64_t id) { return index.is_polar() || holds_id(index, id); });
  }
  return gone;
}

/// Removes the rows that a filter keeps.
int64_t remove_rows(polar_index& index, const polar_filter& given) {
  const RowFilter filter = read_filter(&given, &index.use);
  require(!filter.keeps_all(), StatusCode::bad_argument,
          "filter.kind: POLAR_FILTER_NONE is not allowed; a filter that names what goes");
  require(index.row_ids != polar_index::IdOrigin::positions || positions_close_up(*index.faiss),
          StatusCode::unsupported,
          "index: \"{}\" removes rows only by ids of the caller's; add rows with "
          "polar_index_add_with_ids",
          index.description);
  const std::vector<int64_t> gone = ids_to_remove(index, given, filter);
  // Inverted files with a map of ids take nothing but a list of these; id maps take a short one.
  const bool is_listed = given.kind == POLAR_FILTER_IDS;
  const bool as_list =
      index.row_ids == polar_index::IdOrigin::callers &&
      (finds_ids(*index.faiss) ? is_listed || !index.is_polar() : is_listed && gone.size() == 1);
  const ::faiss::IDSelectorArray listed(gone.size(), gone.data());
  const FilterSelector selected(filter);
  const size_t removed = try_change(index, "remove rows", [&] {
    if (as_list) return polarquant::remove_rows(*index.faiss, listed);
    return polarquant::remove_rows(*index.faiss, selected);
  });
  if (lists_with_ids(index) == nullptr)
    for (const int64_t id : gone) index.ids.held().erase(id);
  if (index.faiss->ntotal == 0) index.row_ids = polar_index::IdOrigin::undecided;
  return static_cast<int64_t>(removed);
}

/// The ids of `other`, which come to be in `index`.
void require_new_ids(const polar_index& index, const polar_index& other) {
  for (const int64_t id : held_ids(other)) {
    require(!holds_id(index, id), StatusCode::bad_argument,
            "other: id {} is in the index already; ids must differ", id);
  }
}

void merge(polar_index& index, polar_index& from) {
  require_rows_mix(index, from);
  if (from.faiss->ntotal == 0) return;
  require_new_ids(index, from);
  // Memory for ids that the handle keeps is taken before rows move.
  const bool lists_take_ids = lists_with_ids(index) != nullptr ||
                              (index.faiss->ntotal == 0 && lists_with_ids(from) != nullptr);
  std::unordered_set<int64_t>& ids = index.ids.held();
  std::unordered_set<int64_t> coming;
  if (!lists_take_ids && lists_with_ids(from) != nullptr) {
    const std::vector<int64_t> listed = held_ids(from);
    coming.insert(listed.begin(), listed.end());
  }
  ids.reserve(ids.size() + coming.size() + from.ids.held().size());
  with_merge_errors(index, from, StatusCode::unsupported,
                    [&] { merge_rows(*index.faiss, *from.faiss, numbers_before(index, from)); });
  ids.merge(coming);
  if (!lists_take_ids) ids.merge(from.ids.held());
  from.ids.held().clear();
  index.row_ids = from.row_ids;
  from.row_ids = polar_index::IdOrigin::undecided;
}

}  // namespace
}  // namespace polarquant::capi

using namespace polarquant;        // NOLINT: this file is the ABI's definitions and nothing else
using namespace polarquant::capi;  // NOLINT

extern "C" polar_status polar_index_remove(polar_index* index, int64_t n, const int64_t* ids,
                                           int64_t* removed) {
  return run_guarded([&] {
    IndexChange change("index", index);
    polar_index& checked = change.index();
    require_count("n", n, 0);
    require_array("ids", ids, n, 1, sizeof(int64_t));
    std::vector<int64_t> sorted(ids, ids + n);
    std::sort(sorted.begin(), sorted.end());
    sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
    polar_filter filter;
    polar_filter_init(&filter);
    filter.kind = POLAR_FILTER_IDS;
    filter.ids = {sorted.data(), std::ssize(sorted)};
    change.begin();
    const int64_t count = remove_rows(checked, filter);
    if (removed != nullptr) *removed = count;
  });
}

extern "C" polar_status polar_index_remove_filtered(polar_index* index, const polar_filter* filter,
                                                    int64_t* removed) {
  return run_guarded([&] {
    IndexChange change("index", index);
    const polar_filter& given = require_object("filter", filter);
    change.begin();
    const int64_t count = remove_rows(change.index(), given);
    if (removed != nullptr) *removed = count;
  });
}

extern "C" polar_status polar_index_update(polar_index* index, int64_t n, const int64_t* ids,
                                           const float* x, const polar_work_options* options) {
  return run_work("update", options, [&] {
    IndexChange change("index", index);
    polar_index& checked = change.index();
    require_count("n", n, 0);
    require_array("ids", ids, n, 1, sizeof(int64_t));
    const MetricInput input(checked.metric, checked.dim, n, x);
    if (n == 0) return;
    const CodedRows coded = code_rows(*checked.faiss, n, input.data());
    change.begin();
    try_change(checked, "update rows",
               [&] { put_rows(*checked.faiss, n, ids, input.data(), false, coded); });
  });
}

extern "C" polar_status polar_index_upsert(polar_index* index, int64_t n, const int64_t* ids,
                                           const float* x, const polar_work_options* options) {
  return run_work("upsert", options, [&] {
    IndexChange change("index", index);
    polar_index& checked = change.index();
    require_count("n", n, 0);
    const MetricInput input(checked.metric, checked.dim, n, x);
    require_new_row_ids(n, ids);
    require_trained(checked);
    require(finds_ids(*checked.faiss), StatusCode::unsupported,
            "index: \"{}\" does not put rows by ids", checked.description);
    require_row_ids(checked, polar_index::IdOrigin::callers);
    if (n == 0) return;
    const CodedRows coded = code_rows(*checked.faiss, n, input.data());
    change.begin();
    MapForReconstruct map(*checked.faiss, true);
    std::vector<int64_t> new_ids;
    if (!checked.is_polar() && lists_with_ids(checked) == nullptr) {
      std::copy_if(ids, ids + n, std::back_inserter(new_ids),
                   [&](int64_t id) { return !holds_id(checked, id); });
      std::sort(new_ids.begin(), new_ids.end());
      new_ids.erase(std::unique(new_ids.begin(), new_ids.end()), new_ids.end());
    }
    NewIds taken(checked, std::ssize(new_ids), new_ids.data());
    try_change(checked, "put rows by ids",
               [&] { put_rows(*checked.faiss, n, ids, input.data(), true, coded); });
    taken.commit();
    map.keep();
    checked.row_ids = polar_index::IdOrigin::callers;
  });
}

extern "C" polar_status polar_index_compact(polar_index* index, const polar_work_options* options) {
  return run_work("compact", options, [&] {
    IndexChange change("index", index);
    change.begin();
    try_change(change.index(), "compact", [&] { compact_index(*change.index().faiss); });
  });
}

extern "C" polar_status polar_index_merge(polar_index* index, polar_index* other,
                                          const polar_work_options* options) {
  return run_work("merge", options, [&] {
    require_object("index", index);
    require_object("other", other);
    require(index != other, StatusCode::bad_argument, "other: is the index itself");
    // In one order, so that two merges of two indexes into each other do not wait for ever.
    const bool other_first = std::less<>()(other, index);
    IndexChange first(other_first ? "other" : "index", other_first ? other : index);
    IndexChange second(other_first ? "index" : "other", other_first ? index : other);
    first.begin();
    second.begin();
    merge(*index, *other);
  });
}
