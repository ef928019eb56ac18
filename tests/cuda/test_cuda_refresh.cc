// SPDX-License-Identifier: MIT
// Copies on a device that follow their index find what copies made anew find, to the bit.
#include <cuda_runtime.h>

#include <string>
#include <utility>
#include <vector>

#include "tests/cuda/refreshed_copy.h"
#include "tests/cuda/started_search.h"

namespace polarquant::test {
namespace {

constexpr int kDim = 96;

std::vector<float> rows_of(int64_t n, uint64_t seed) { return falling_rows(n, kDim, .3, seed); }

/// Prepared ones are used before rows come and after, of few rows, which are copied side by side,
/// and of many.
struct Filters {
  std::vector<uint64_t> bits = scattered_bits(400);
  polar_filter plain = bitset_filter(bits.data(), 25600);
  PreparedFilter many{plain};
  polar_filter range = range_filter(40, 160);
  PreparedFilter few{range};

  std::vector<const polar_filter*> all() const { return {&plain, many.get(), few.get()}; }
};

TEST_CASE("copies without lists follow rows that are added", "[cuda][refresh]") {
  if (!has_indexes()) return;
  const std::string spec =
      GENERATE("Polar1", "Polar2", "Polar4", "Polar8", "Polar4+2", "Polar4-pca", "Polar4+2-pca");
  const polar_metric metric = GENERATE(POLAR_METRIC_INNER_PRODUCT, POLAR_METRIC_L2);
  const bool has_ids = GENERATE(false, true);
  CAPTURE(spec, metric, has_ids);
  RefreshedCopy copy(spec, kDim, metric, rows_of(2000, 3));
  const auto add = [&](int64_t n, float length) {
    std::vector<float> x = rows_of(n, static_cast<uint64_t>(100 + copy.rows()));
    for (float& value : x) value *= length;
    if (has_ids) return copy.add(x, 5 * copy.rows() + 1, 5);
    copy.add(x);
  };
  add(1500, 1);
  copy.make();
  const Filters filters;
  const std::vector<float> queries = rows_of(20, 9);
  copy.check(queries, filters.all());
  // In place, to more memory, and with the largest row of all.
  for (const auto& [n, length] :
       {std::pair{1, 1.0F}, {35, 1.0F}, {700, .5F}, {64, 3.0F}, {5000, 1.0F}, {1, 1.0F}}) {
    add(n, length);
    copy.refresh();
    copy.check(queries, filters.all());
  }
}

TEST_CASE("copies of lists follow rows that are added", "[cuda][refresh]") {
  if (!has_indexes()) return;
  const std::string spec = GENERATE("Polar2", "Polar4", "Polar8", "Polar4+2", "Polar4-pca");
  const polar_metric metric = GENERATE(POLAR_METRIC_INNER_PRODUCT, POLAR_METRIC_L2);
  const bool has_ids = GENERATE(false, true);
  CAPTURE(spec, metric, has_ids);
  RefreshedCopy copy("IVF40," + spec, kDim, metric, rows_of(3000, 3));
  if (has_ids) {
    copy.add(rows_of(4000, 4), 7, 3);
  } else {
    copy.add(rows_of(4000, 4));
  }
  copy.make();
  const Filters filters;
  const std::vector<float> queries = rows_of(20, 9);
  copy.check(queries, filters.all(), 5);
  int64_t id = 20000;
  const auto add = [&](const std::vector<float>& x) {
    if (has_ids) {
      copy.add(x, id, 1);
    } else {
      copy.add(x);
    }
    id += copy.count(x);
    copy.refresh();
    copy.check(queries, filters.all(), 5);
  };
  add(rows_of(1, 5));
  add(rows_of(300, 6));
  // All of them in a few lists.
  std::vector<float> alike;
  for (int i = 0; i < 40; ++i) {
    const std::vector<float> some = rows_of(9, 7);
    alike.insert(alike.end(), some.begin(), some.end());
  }
  add(alike);
  add(rows_of(9000, 8));
}

TEST_CASE("copies follow other changes", "[cuda][refresh]") {
  if (!has_indexes()) return;
  const std::string description = GENERATE("Polar4", "IVF40,Polar4");
  const polar_cuda_layout layout = GENERATE(POLAR_CUDA_SHARDED, POLAR_CUDA_REPLICATED);
  const std::vector<int32_t> devices =
      GENERATE(std::vector<int32_t>{0}, std::vector<int32_t>{0, 0});
  RefreshedCopy copy(description, kDim, POLAR_METRIC_INNER_PRODUCT, rows_of(3000, 3));
  copy.add(rows_of(3000, 4), 0, 1);
  copy.make(devices, layout);
  const int64_t nprobe = description == "Polar4" ? 0 : 5;
  const Filters filters;
  const std::vector<float> queries = rows_of(20, 9);
  copy.add(rows_of(100, 5), 5000, 1);
  copy.refresh();
  copy.check(queries, filters.all(), nprobe);
  const std::vector<int64_t> ids = {17, 2999, 500};
  const std::vector<float> x = rows_of(3, 6);
  require_ok(polar_index_update(copy.index(), 3, ids.data(), x.data(), nullptr));
  copy.refresh();
  copy.check(queries, filters.all(), nprobe);
  require_ok(polar_index_remove(copy.index(), 3, ids.data(), nullptr));
  copy.refresh();
  copy.check(queries, filters.all(), nprobe);
}

TEST_CASE("copies of refinements follow rows that are added", "[cuda][refresh]") {
  if (!has_indexes()) return;
  const std::string description =
      GENERATE("Polar2,Refine(Polar8)", "IVF40,Polar2,Refine(Polar4+4)", "Polar2,RFlat");
  CAPTURE(description);
  RefreshedCopy copy(description, kDim, POLAR_METRIC_INNER_PRODUCT, rows_of(3000, 3));
  copy.add(rows_of(3000, 4));
  copy.make();
  const Filters filters;
  for (const int64_t n : {1, 500, 4000}) {
    copy.add(rows_of(n, static_cast<uint64_t>(n)));
    copy.refresh();
    copy.check(rows_of(20, 9), filters.all());
  }
}

TEST_CASE("small adds find room in a copy", "[cuda][refresh]") {
  if (!has_indexes()) return;
  RefreshedCopy copy("Polar4", kDim, POLAR_METRIC_L2, rows_of(2000, 3));
  copy.add(rows_of(20000, 4));
  copy.make();
  size_t last = memory_bytes(copy.copy());
  int moves = 0;
  for (uint64_t i = 0; i < 40; ++i) {
    copy.add(rows_of(200, 50 + i));
    copy.refresh();
    const size_t bytes = memory_bytes(copy.copy());
    CHECK(bytes >= last);
    moves += bytes > last ? 1 : 0;
    last = bytes;
  }
  CHECK(moves == 2);  // to 25,250 rows, and from there
  copy.check(rows_of(20, 9), {});
}

TEST_CASE("prepared searches and graphs find the rows that a copy had", "[cuda][refresh]") {
  if (!has_indexes()) return;
  const std::string spec = GENERATE("Polar4", "Polar4-pca");
  RefreshedCopy copy(spec, kDim, POLAR_METRIC_INNER_PRODUCT, rows_of(2000, 3));
  copy.add(rows_of(3001, 4), 10, 2);
  copy.make();
  // So that the next rows stay in place.
  copy.add(rows_of(30, 5), 20000, 1);
  copy.refresh();
  const polar_search_options options = search_options(2.25F);
  for (const int64_t nq : {1, 70}) {
    const Stream stream;
    const std::vector<float> queries = rows_of(nq, 9);
    const SearchResult before = copy.search(queries, 10, options);
    const Prepared search(copy.copy(), nq, kDim, 10, options);
    const SearchGraph graph(search, stream);
    search.put(queries, stream.get());
    const auto check = [&] {
      search.start(stream.get());
      stream.wait();
      CHECK(search.unfinished() == 0);
      CHECK(search.found() == before);
      graph.launch(stream);
      CHECK(search.found() == before);
    };
    check();
    // The queries themselves are new rows: in place, in other memory, and copied anew.
    copy.add(queries, 30000 * nq, 1);
    copy.refresh();
    check();
    CHECK_FALSE(copy.search(queries, 10, options) == before);
    copy.add(rows_of(4000, 6), 100000 * nq, 1);
    copy.refresh();
    check();
    const int64_t gone = 10 + 2 * nq;
    require_ok(polar_index_remove(copy.index(), 1, &gone, nullptr));
    copy.refresh();
    check();
    copy.check(queries, {});
  }
}

TEST_CASE("a copy follows while a prepared search of it is on its way", "[cuda][refresh]") {
  if (!has_indexes()) return;
  RefreshedCopy copy("Polar4", kDim, POLAR_METRIC_INNER_PRODUCT, rows_of(2000, 3));
  copy.add(rows_of(3001, 4));
  copy.make();
  const polar_search_options options = search_options(2.25F);
  const std::vector<float> queries = rows_of(40, 9);
  const SearchResult before = copy.search(queries, 10, options);
  const Stream stream;
  const Prepared search(copy.copy(), 40, kDim, 10, options);
  search.put(queries, stream.get());
  for (uint64_t i = 0; i < 20; ++i) {
    search.start(stream.get());
    copy.add(rows_of(100, i));
    copy.refresh();  // while the search is on its way
    stream.wait();
    CHECK(search.found() == before);
  }
  copy.check(queries, {});
}

}  // namespace
}  // namespace polarquant::test
