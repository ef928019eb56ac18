// SPDX-License-Identifier: MIT
// Copies that follow their index, on devices that are none (plain_devices.h): what comes from the
// host, that the answers are those of a copy made anew, and what failures leave. The library is set
// by test_cuda_places.cc.
#include <algorithm>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "tests/capi/lent_arrays.h"
#include "tests/cuda/refreshed_copy.h"

namespace polarquant::test {
namespace {

std::vector<float> rows_of(int64_t n, uint64_t seed) { return clustered_rows(n, kDim, seed); }

/// Blocks that a refresh brings from the host.
int64_t refreshed_blocks(const RefreshedCopy& copy) {
  const int64_t before = plain_devices().written_blocks();
  copy.refresh();
  return plain_devices().written_blocks() - before;
}
int64_t blocks_of(int64_t rows) { return (rows + 63) / 64; }

/// Filters, plain and prepared, of which the prepared ones are used before rows come and after. Few
/// rows of lists are left out: the host scores them, once a filter has served some queries, and
/// these devices have other scores.
struct Filters {
  explicit Filters(bool are_lists = false) : has_few(!are_lists) {}

  bool has_few;
  std::vector<uint64_t> bits = scattered_bits(100);
  polar_filter plain = bitset_filter(bits.data(), 6400);
  PreparedFilter many{plain};
  polar_filter range = range_filter(3, 60);
  PreparedFilter few{range};

  std::vector<const polar_filter*> all() const {
    if (!has_few) return {&plain, many.get()};
    return {&plain, many.get(), few.get()};
  }
};

TEST_CASE("rows that were added come to a copy without lists, and nothing else", "[capi]") {
  if (!has_indexes()) return;
  const std::string spec = GENERATE("Polar2", "Polar8", "Polar4+2");
  const polar_metric metric =
      GENERATE(POLAR_METRIC_INNER_PRODUCT, POLAR_METRIC_L2, POLAR_METRIC_COSINE);
  const bool has_ids = GENERATE(false, true);
  CAPTURE(spec, metric, has_ids);
  RefreshedCopy copy(spec, kDim, metric, rows_of(300, 3));
  const auto add = [&](int64_t n) {
    const std::vector<float> x = rows_of(n, static_cast<uint64_t>(100 + copy.rows()));
    if (has_ids) return copy.add(x, 5 * copy.rows() + 1, 5);
    copy.add(x);
  };
  add(100);
  copy.make();
  const Filters filters;
  const std::vector<float> queries = rows_of(7, 9);
  copy.check(queries, filters.all());
  CHECK(refreshed_blocks(copy) == 0);
  for (const int64_t n : {1, 27, 64, 65, 1, 700, 1}) {
    const int64_t before = copy.rows();
    add(n);
    CHECK(refreshed_blocks(copy) == blocks_of(copy.rows()) - before / 64);
    copy.check(queries, filters.all());
  }
}

TEST_CASE("rows that were added come to the lists of a copy, and nothing else", "[capi]") {
  if (!has_indexes()) return;
  const std::string spec = GENERATE("Polar2", "Polar8", "Polar4+2");
  const bool has_ids = GENERATE(false, true);
  CAPTURE(spec, has_ids);
  constexpr int64_t kLists = 9;
  RefreshedCopy copy("IVF9," + spec, kDim, POLAR_METRIC_L2, {});
  const std::vector<float> x = rows_of(600, 3);
  require_ok(
      polar_index_train_with_centroids(copy.index(), kLists, x.data(), 600, x.data(), nullptr));
  std::vector<int64_t> sizes(kLists);
  const auto add = [&](const std::vector<int64_t>& lists) {
    const auto n = static_cast<int64_t>(lists.size());
    const std::vector<float> more = rows_of(n, static_cast<uint64_t>(100 + copy.rows()));
    std::vector<int64_t> ids(lists.size());
    std::iota(ids.begin(), ids.end(), has_ids ? 3 * copy.rows() + 7 : copy.rows());
    require_ok(
        polar_index_add_to_lists(copy.index(), n, more.data(), ids.data(), lists.data(), nullptr));
    for (const int64_t list : lists) ++sizes[static_cast<size_t>(list)];
  };
  std::vector<int64_t> some;
  for (int64_t i = 0; i < 500; ++i) some.push_back(i % 7 == 0 ? 3 : i % 5);
  add(some);
  copy.make();
  const Filters filters(true);
  const std::vector<float> queries = rows_of(7, 9);
  copy.check(queries, filters.all(), 3);
  // One row; a list that had none; many of one list; some of each; a whole block.
  std::vector<int64_t> everywhere(45);
  for (size_t i = 0; i < everywhere.size(); ++i) everywhere[i] = static_cast<int64_t>(i) % kLists;
  for (const std::vector<int64_t>& lists :
       {std::vector<int64_t>{4}, std::vector<int64_t>{8, 8, 8}, std::vector<int64_t>(300, 1),
        everywhere, std::vector<int64_t>(64, 7)}) {
    const std::vector<int64_t> before = sizes;
    add(lists);
    int64_t expected = 0;
    for (size_t list = 0; list < kLists; ++list)
      if (sizes[list] > before[list]) expected += blocks_of(sizes[list]) - before[list] / 64;
    CHECK(refreshed_blocks(copy) == expected);
    copy.check(queries, filters.all(), 3);
  }
  require_ok(polar_index_set_nprobe(copy.index(), 5));
  CHECK(refreshed_blocks(copy) == 0);
  copy.check(queries, filters.all());
}

/// Merges so many new rows into an index.
void merge_rows(const RefreshedCopy& copy, int64_t n) {
  polar_index* made = nullptr;
  require_ok(polar_index_clone(copy.index(), &made));
  const Handle<polar_index> other(made);
  std::vector<int64_t> all(4000);
  std::iota(all.begin(), all.end(), 0);
  require_ok(polar_index_remove(made, std::ssize(all), all.data(), nullptr));
  std::vector<int64_t> ids(static_cast<size_t>(n));
  std::iota(ids.begin(), ids.end(), 5000);
  const std::vector<float> x = rows_of(n, 44);
  require_ok(polar_index_add_with_ids(made, n, x.data(), ids.data(), nullptr));
  require_ok(polar_index_merge(copy.index(), made, nullptr));
}

TEST_CASE("after any other change all rows come to a copy", "[capi]") {
  if (!has_indexes()) return;
  const std::string description = GENERATE("Polar4", "IVF9,Polar4");
  RefreshedCopy copy(description, kDim, POLAR_METRIC_INNER_PRODUCT, rows_of(900, 3));
  copy.add(rows_of(1200, 4), 0, 1);
  copy.make();
  polar_index* index = copy.index();
  const std::vector<float> x = rows_of(3, 5);
  const Filters filters(description == "IVF9,Polar4");
  const std::vector<float> queries = rows_of(7, 9);
  // Of lists there are more blocks than of rows side by side.
  const auto check = [&](const char* change, bool keeps_rows) {
    CAPTURE(description, change);
    const int64_t blocks = refreshed_blocks(copy);
    if (keeps_rows) {
      CHECK(blocks < blocks_of(copy.rows()) / 2);
    } else {
      CHECK(blocks >= blocks_of(copy.rows()));
    }
    copy.check(queries, filters.all());
  };
  const std::vector<int64_t> ids = {17, 1199, 500};
  require_ok(polar_index_update(index, 3, ids.data(), x.data(), nullptr));
  check("update", false);
  require_ok(polar_index_remove(index, 2, ids.data(), nullptr));
  check("remove", false);
  const polar_filter some = range_filter(600, 610);
  require_ok(polar_index_remove_filtered(index, &some, nullptr));
  check("remove_filtered", false);
  require_ok(polar_index_upsert(index, 3, ids.data(), x.data(), nullptr));
  check("upsert", false);
  copy.add(x, 1300, 1);
  check("add_with_ids", true);
  require_ok(polar_index_compact(index, nullptr));
  check("compact", true);
  merge_rows(copy, 70);
  check("merge", true);
  // The number of rows alone says nothing.
  require_ok(polar_index_remove(index, 1, &ids.back(), nullptr));
  copy.add(first_of(x, kDim, 1), ids.back(), 1);
  check("remove and add", false);
  std::vector<int64_t> all(6000);
  std::iota(all.begin(), all.end(), 0);
  require_ok(polar_index_remove(index, std::ssize(all), all.data(), nullptr));
  copy.refresh();
  CHECK(polar_cuda_index_ntotal(copy.copy()) == 0);
  if (description == "IVF9,Polar4") {
    const std::vector<float> other = rows_of(800, 77);
    require_ok(polar_index_train(index, 800, other.data(), nullptr));
  }
  copy.add(rows_of(1000, 6), 0, 1);
  check("all others", false);
  copy.add(rows_of(1, 7), 2000, 1);
  check("add_with_ids", true);
}

TEST_CASE("a copy of rows that wait to be coded follows", "[capi]") {
  if (!has_indexes()) return;
  RefreshedCopy copy("Polar4", kDim, POLAR_METRIC_L2, {});
  copy.make();
  const Filters filters;
  const std::vector<float> queries = rows_of(7, 9);
  for (const int64_t n : {300, 200, 600, 100}) {
    copy.add(rows_of(n, static_cast<uint64_t>(n)));
    const int64_t before = copy.rows() - n;
    // The last rows alone: all others came when they were floats.
    const bool were_floats = before < 1000;
    CHECK(refreshed_blocks(copy) == blocks_of(copy.rows()) - (were_floats ? 0 : before / 64));
    copy.check(queries, filters.all());
  }
}

TEST_CASE("copies on several devices follow", "[capi]") {
  if (!has_indexes()) return;
  const std::string description = GENERATE("Polar4", "IVF9,Polar4");
  const polar_cuda_layout layout = GENERATE(POLAR_CUDA_SHARDED, POLAR_CUDA_REPLICATED);
  const int64_t first = GENERATE(40, 1000);
  CAPTURE(description, layout, first);
  RefreshedCopy copy(description, kDim, POLAR_METRIC_INNER_PRODUCT, rows_of(900, 3));
  copy.add(rows_of(first, 4));
  copy.make({0, 1, 2}, layout);
  const Filters filters(description == "IVF9,Polar4");
  const std::vector<float> queries = rows_of(7, 9);
  for (const int64_t n : {1, 300}) {
    copy.add(rows_of(n, 5));
    const int64_t blocks = refreshed_blocks(copy);
    if (layout == POLAR_CUDA_REPLICATED && n == 1) CHECK(blocks == 3);
    if (layout == POLAR_CUDA_SHARDED) CHECK(blocks >= blocks_of(copy.rows()));
    copy.check(queries, filters.all());
  }
}

TEST_CASE("a copy of a refinement follows", "[capi]") {
  if (!has_indexes()) return;
  const std::string description =
      GENERATE("Polar2,Refine(Polar8)", "IVF9,Polar2,Refine(Polar4+4)", "IVF9,Polar2,RFlat");
  CAPTURE(description);
  RefreshedCopy copy(description, kDim, POLAR_METRIC_L2, rows_of(900, 3));
  copy.add(rows_of(1000, 4));
  copy.make();
  const std::vector<float> queries = rows_of(7, 9);
  copy.add(rows_of(1, 5));
  // A block of each step, where the devices have both.
  const bool are_on_devices = description != "IVF9,Polar2,RFlat";
  const int64_t blocks = refreshed_blocks(copy);
  CHECK((blocks == 2) == are_on_devices);
  copy.check(queries, {});
  // The first step fails when the second one has the rows.
  copy.add(rows_of(100, 6));
  const polar_search_options options = search_options(2.25F);
  const SearchResult before = copy.search(queries, 20, options);
  plain_devices().fail_create_after(are_on_devices ? 1 : 0);
  CHECK(copy.try_refresh() == POLAR_ERROR_OUT_OF_MEMORY);
  CHECK(polar_cuda_index_ntotal(copy.copy()) == 1001);
  CHECK(copy.search(queries, 20, options) == before);
  copy.refresh();
  copy.check(queries, {});
}

TEST_CASE("a failure leaves a copy as it was", "[capi]") {
  if (!has_indexes()) return;
  const std::string description = GENERATE("Polar4", "IVF9,Polar4");
  const bool is_copied_anew = GENERATE(false, true);
  RefreshedCopy copy(description, kDim, POLAR_METRIC_INNER_PRODUCT, rows_of(900, 3));
  copy.add(rows_of(1000, 4), 0, 1);
  copy.make({0, 2}, POLAR_CUDA_REPLICATED);
  const Filters filters(description == "IVF9,Polar4");
  const std::vector<float> queries = rows_of(7, 9);
  polar_search_options options = search_options(2.25F);
  std::vector<SearchResult> before;
  const auto search_all = [&] {
    std::vector<SearchResult> found;
    for (const polar_filter* filter : filters.all()) {
      options.filter = filter;
      found.push_back(copy.search(queries, 20, options));
    }
    return found;
  };
  const std::vector<SearchResult> expected = search_all();
  copy.add(rows_of(500, 5), 2000, 1);
  const int64_t gone = 3;
  if (is_copied_anew) require_ok(polar_index_remove(copy.index(), 1, &gone, nullptr));
  for (const bool writes : {false, true}) {
    const auto fail = writes ? plain_devices().fail_write : plain_devices().fail_create;
    fail(2, POLAR_ERROR_OUT_OF_MEMORY, "cudaMalloc: no memory");
    CHECK(copy.try_refresh() == POLAR_ERROR_OUT_OF_MEMORY);
    CHECK(last_error() == "CUDA device 2: cudaMalloc: no memory");
    CHECK(polar_cuda_index_ntotal(copy.copy()) == 1000);
    CHECK(search_all() == expected);
    fail(2, POLAR_OK, "");
  }
  CHECK(plain_devices().indexes(0) == 1 + (description == "Polar4" ? 1 : 0));  // few rows' copies
  copy.refresh();
  copy.check(queries, filters.all());
}

TEST_CASE("a prepared search finds the rows that the copy had", "[capi]") {
  if (!has_indexes()) return;
  const bool is_copied_anew = GENERATE(false, true);
  CAPTURE(is_copied_anew);
  RefreshedCopy copy("Polar4-norot", kDim, POLAR_METRIC_INNER_PRODUCT, rows_of(900, 3));
  copy.add(rows_of(40, 4), 10, 2);  // few: many have the highest of these devices' scores
  copy.make({1});
  const polar_search_options options = search_options(2.25F);
  polar_cuda_search* made = nullptr;
  require_ok(polar_cuda_search_create(copy.copy(), 5, 9, &options, &made));
  Handle<polar_cuda_search> search(made);
  LentArray<float> queries(rows_of(5, 9), 1);
  const auto start = [&](const polar_cuda_search* prepared) {
    LentArray<float> scores(std::vector<float>(45, 77.0F), 1);
    LentArray<int64_t> ids(std::vector<int64_t>(45, 77), 1);
    LentArray<int32_t> unfinished({77}, 1);
    require_ok(polar_cuda_search_start(prepared, queries.data(), nullptr, scores.data(), ids.data(),
                                       unfinished.data()));
    return SearchResult{scores.values(), ids.values()};
  };
  const SearchResult before = start(made);
  copy.add(rows_of(3000, 5), 5000, 1);
  const int64_t gone = 10;
  if (is_copied_anew) require_ok(polar_index_remove(copy.index(), 1, &gone, nullptr));
  copy.refresh();
  CHECK(plain_devices().indexes(1) == 2);
  CHECK(start(made) == before);
  polar_cuda_search* again = nullptr;
  require_ok(polar_cuda_search_create(copy.copy(), 5, 9, &options, &again));
  const Handle<polar_cuda_search> now(again);
  CHECK(polar_cuda_index_ntotal(copy.copy()) == copy.rows());
  CHECK_FALSE(start(again) == before);
  search.reset();
  CHECK(plain_devices().indexes(1) == 1);
}

TEST_CASE("what a refresh refuses", "[capi]") {
  if (!has_indexes()) return;
  RefreshedCopy copy("Polar4", kDim, POLAR_METRIC_L2, rows_of(900, 3));
  copy.add(rows_of(100, 4));
  copy.make();
  CHECK(polar_cuda_index_refresh(nullptr, copy.index()) == POLAR_ERROR_BAD_ARGUMENT);
  CHECK(last_error() == "copy: NULL is not allowed");
  CHECK(polar_cuda_index_refresh(copy.copy(), nullptr) == POLAR_ERROR_BAD_ARGUMENT);
  CHECK(last_error() == "index: NULL is not allowed");
  const auto refuses = [&](const char* description, int dim, polar_metric metric,
                           polar_status status, const std::string& text) {
    const RefreshedCopy other(description, dim, metric, clustered_rows(900, dim, 3));
    CHECK(polar_cuda_index_refresh(copy.copy(), other.index()) == status);
    CHECK_THAT(last_error(), Catch::Matchers::ContainsSubstring(text));
  };
  refuses("Polar2", kDim, POLAR_METRIC_L2, POLAR_ERROR_STATE_MISMATCH,
          "index: it is of Polar2, the copy of Polar4");
  refuses("Polar4", 30, POLAR_METRIC_L2, POLAR_ERROR_STATE_MISMATCH,
          "index: it has 30 dimensions, the copy 24");
  refuses("Polar4", kDim, POLAR_METRIC_COSINE, POLAR_ERROR_STATE_MISMATCH,
          "index: its metric is not that of the copy");
  refuses("IVF9,Polar4", kDim, POLAR_METRIC_L2, POLAR_ERROR_STATE_MISMATCH,
          "index: it has 9 lists, the copy 0");
  refuses("Polar4,RFlat", kDim, POLAR_METRIC_L2, POLAR_ERROR_STATE_MISMATCH,
          "index: it is a refinement, the copy is none");
  refuses("HNSW16,Polar4", kDim, POLAR_METRIC_L2, POLAR_ERROR_UNSUPPORTED,
          "is not searched on CUDA devices");
  CHECK(polar_cuda_index_ntotal(copy.copy()) == 100);
  // Another index of the kind is copied as a whole.
  polar_index* clone = nullptr;
  require_ok(polar_index_clone(copy.index(), &clone));
  const Handle<polar_index> other(clone);
  copy.add(rows_of(20, 8));
  require_ok(polar_cuda_index_refresh(copy.copy(), clone));
  CHECK(polar_cuda_index_ntotal(copy.copy()) == 100);
  copy.refresh();
  copy.check(rows_of(7, 9), {});
}

}  // namespace
}  // namespace polarquant::test
