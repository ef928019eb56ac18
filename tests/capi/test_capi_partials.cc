// SPDX-License-Identifier: MIT
// Parts of an index that are searched apart make, to the bit, the answer of one index of all.
#include <algorithm>
#include <string>
#include <vector>

#include "tests/capi/shard_files.h"

using namespace polarquant::test;

namespace {

using Bytes = std::vector<uint8_t>;

/// An index in parts, one after another, and as one.
struct Parts {
  /// A part ends before each of `ends`, numbers of files.
  Parts(const Both& both, const std::vector<size_t>& ends) {
    size_t first = 0;
    for (const size_t end : ends) {
      opened.push_back(both.open(first, end));
      first_rows.push_back(total);
      total += polar_index_ntotal(opened.back().get());
      first = end;
    }
  }

  std::vector<IndexHandle> opened;
  std::vector<int64_t> first_rows;
  int64_t total = 0;
};

Bytes search_partial(const IndexHandle& index, int64_t first_row, int64_t nq, int64_t k,
                     const polar_search_options& options) {
  size_t bytes = 0;
  require_ok(polar_index_partial_bytes(index.get(), nq, k, &bytes));
  Bytes partial(bytes);
  require_ok(polar_index_search_partial(index.get(), first_row, nq, rows().row(500), k, &options,
                                        bytes, partial.data(), &bytes));
  REQUIRE(bytes <= partial.size());
  partial.resize(bytes);
  return partial;
}

polar_status merge_partials(const std::vector<Bytes>& partials, int64_t nq, int64_t k,
                            Found* found) {
  std::vector<const uint8_t*> data;
  std::vector<size_t> sizes;
  for (const Bytes& partial : partials) {
    data.push_back(partial.data());
    sizes.push_back(partial.size());
  }
  found->scores.assign(static_cast<size_t>(nq * k), 0);
  found->ids.assign(static_cast<size_t>(nq * k), 0);
  return polar_merge_partials(std::ssize(data), data.data(), sizes.data(), nq, k,
                              found->scores.data(), found->ids.data());
}

Found search_parts(const Parts& parts, int64_t nq, int64_t k, const polar_search_options& options) {
  std::vector<Bytes> partials;
  for (size_t i = 0; i < parts.opened.size(); ++i)
    partials.push_back(search_partial(parts.opened[i], parts.first_rows[i], nq, k, options));
  Found found;
  require_ok(merge_partials(partials, nq, k, &found));
  return found;
}

void check_same_answers(const Both& both, const Parts& parts) {
  const bool is_ivf = polar_index_nlist(both.merged.get()) > 0;
  for_each_search(both, [&](const polar_search_options& options, int64_t nq) {
    if (is_ivf && options.filter->kind != POLAR_FILTER_NONE) return;
    for (const int64_t k : {1, 10, 100, 5000}) {
      INFO("nq " << nq << ", k " << k);
      CHECK((search_parts(parts, nq, k, options) == search(both.merged, nq, k, options)));
    }
  });
}

TEST_CASE("parts searched apart answer as one index", "[capi][partials]") {
  for (const BuiltKind& kind : kBuiltKinds) {
    const std::string description = kind.description;
    if (description == "PolarScalar4" || description == "PolarTree4.2.2.2" ||
        description.find("Refine") != std::string::npos)
      continue;
    for (const bool with_ids : {false, true}) {
      if (with_ids ? !kind.takes_ids : !kind.takes_none) continue;
      for (const polar_metric metric : {POLAR_METRIC_L2, POLAR_METRIC_COSINE}) {
        INFO(description << ", with ids " << with_ids << ", metric " << metric);
        const Both both(kind, metric, with_ids, {1000, 1001, 2300, 2300, 4500});
        check_same_answers(both, Parts(both, {1, 3, 4, 5}));
      }
    }
  }
}

TEST_CASE("equal rows in several parts go to the first of them", "[capi][partials]") {
  for (const char* description : {"Polar4", "IVF7,Polar2", "IVF7,Polar8"}) {
    for (const bool with_ids : {false, true}) {
      INFO(description << ", with ids " << with_ids);
      const IndexHandle trained = rows().trained(description, POLAR_METRIC_INNER_PRODUCT);
      const TemporaryFolder folder;
      std::vector<std::string> paths;
      std::vector<IndexHandle> pieces;
      for (int64_t part = 0; part < 3; ++part) {
        const IndexHandle& piece = pieces.emplace_back(clone(trained));
        for (int64_t repeat = 0; repeat < 4; ++repeat) {
          std::vector<int64_t> ids(1100);
          // The later ones have the lower ids.
          for (size_t i = 0; i < ids.size(); ++i)
            ids[i] = 100'000 - 1100 * (4 * part + repeat) - static_cast<int64_t>(i);
          if (with_ids) {
            require_ok(
                polar_index_add_with_ids(piece.get(), 1100, rows().row(0), ids.data(), nullptr));
          } else {
            require_ok(polar_index_add(piece.get(), 1100, rows().row(0), nullptr));
          }
        }
        paths.push_back(folder.file("piece" + std::to_string(part)));
        save(piece, paths.back());
      }
      require_ok(merge(paths, folder.file("merged")));
      const IndexHandle merged = load(folder.file("merged"), 1);
      for (const int64_t k : {1, 5, 10, 30}) {
        for (const float exactness : {2.25F, kInfinity}) {
          polar_search_options options = searching_on(1);
          options.exactness = exactness;
          std::vector<Bytes> partials;
          int64_t first_row = 0;
          for (const IndexHandle& piece : pieces) {
            partials.push_back(search_partial(piece, first_row, kQueries, k, options));
            first_row += polar_index_ntotal(piece.get());
          }
          Found found;
          require_ok(merge_partials(partials, kQueries, k, &found));
          INFO("k " << k << ", exactness " << exactness);
          CHECK((found == search(merged, kQueries, k, options)));
        }
      }
    }
  }
}

TEST_CASE("partial searches that cannot be are refused", "[capi][partials]") {
  const Both both(BuiltKind{"IVF7,Polar4"}, POLAR_METRIC_L2, true, {1000, 2300});
  const polar_search_options plain = searching_on(1);
  Bytes partial(1000);
  size_t bytes = 0;
  const auto search_with = [&](int64_t first_row, int64_t nq, const polar_search_options& options,
                               size_t capacity) {
    return polar_index_search_partial(both.shards.get(), first_row, nq, rows().row(0), 1, &options,
                                      capacity, partial.data(), &bytes);
  };
  check_failed(search_with(-1, 1, plain, 1000), POLAR_ERROR_BAD_ARGUMENT, {"first_row: -1"});
  check_failed(search_with(0, -1, plain, 1000), POLAR_ERROR_BAD_ARGUMENT, {"nq: -1"});
  check_failed(search_with(0, 1, plain, 10), POLAR_ERROR_BAD_ARGUMENT, {"capacity: 10"});
  polar_filter filter = filter_of(POLAR_FILTER_RANGE);
  filter.range = {0, 100};
  polar_search_options filtered = plain;
  filtered.filter = &filter;
  check_failed(search_with(0, 1, filtered, 1000), POLAR_ERROR_UNSUPPORTED, {"options.filter"});
  check_failed(polar_index_partial_bytes(both.shards.get(), INT64_MAX, INT64_MAX, &bytes),
               POLAR_ERROR_BAD_ARGUMENT, {"does not fit"});
  for (const char* description : {"HNSW8,Polar4", "Polar2,Refine(Polar8)"}) {
    const IndexHandle other = rows().trained(description, POLAR_METRIC_L2);
    require_ok(polar_index_add(other.get(), 100, rows().row(0), nullptr));
    check_failed(polar_index_search_partial(other.get(), 0, 1, rows().row(0), 1, &plain, 1000,
                                            partial.data(), &bytes),
                 POLAR_ERROR_UNSUPPORTED, {"searched in parts"});
  }
}

TEST_CASE("bytes that are no partial results are refused", "[capi][partials]") {
  const Both both(BuiltKind{"Polar4"}, POLAR_METRIC_L2, false, {1000, 2300});
  const polar_search_options plain = searching_on(1);
  const Parts parts(both, {1, 2});
  const std::vector<Bytes> good = {search_partial(parts.opened[0], 0, 3, 5, plain),
                                   search_partial(parts.opened[1], 1000, 3, 5, plain)};
  Found found;
  require_ok(merge_partials(good, 3, 5, &found));
  const Found expected = found;
  check_failed(merge_partials({}, 3, 5, &found), POLAR_ERROR_BAD_ARGUMENT, {"n: 0"});
  check_failed(merge_partials(good, 2, 5, &found), POLAR_ERROR_BAD_ARGUMENT,
               {"partials[0]: for 3 queries"});
  check_failed(
      merge_partials({good[0], search_partial(parts.opened[1], 0, 3, 6, plain)}, 3, 5, &found),
      POLAR_ERROR_BAD_ARGUMENT, {"partials[1]", "6 results"});
  const IndexHandle other = rows().trained("Polar4", POLAR_METRIC_COSINE);
  require_ok(polar_index_add(other.get(), 100, rows().row(0), nullptr));
  check_failed(merge_partials({good[0], search_partial(other, 0, 3, 5, plain)}, 3, 5, &found),
               POLAR_ERROR_STATE_MISMATCH, {"partials[1]: of another metric"});
  // Whatever the bytes, nothing is read outside of them, and no sort goes astray.
  for (size_t bytes = 1; bytes < good[1].size(); bytes += 7) {
    Bytes less(good[1].begin(), good[1].begin() + static_cast<std::ptrdiff_t>(bytes));
    check_failed(merge_partials({good[0], less}, 3, 5, &found), POLAR_ERROR_CORRUPT_DATA,
                 {"partials[1]"});
  }
  for (size_t at = 0; at < good[1].size(); ++at) {
    for (const uint8_t value : {0x00, 0x7f, 0xff}) {
      Bytes changed = good[1];
      changed[at] = value;
      const polar_status status = merge_partials({good[0], changed}, 3, 5, &found);
      const bool is_known = status == POLAR_OK || status == POLAR_ERROR_CORRUPT_DATA ||
                            status == POLAR_ERROR_BAD_ARGUMENT ||
                            status == POLAR_ERROR_STATE_MISMATCH ||
                            status == POLAR_ERROR_NEWER_FORMAT;
      REQUIRE(is_known);
    }
  }
  CHECK((search_parts(parts, 3, 5, plain) == expected));
}

TEST_CASE("parts without rows change nothing", "[capi][partials]") {
  const Both both(BuiltKind{"IVF7,Polar4"}, POLAR_METRIC_L2, false, {0, 1000, 1000, 2300});
  const polar_search_options plain = searching_on(1);
  const Parts parts(both, {1, 2, 3, 4});
  CHECK((search_parts(parts, 9, 10, plain) == search(both.merged, 9, 10, plain)));
  const Parts none(both, {1});
  const Found found = search_parts(none, 2, 3, plain);
  CHECK(found.ids == std::vector<int64_t>(6, -1));
  CHECK(found.scores == std::vector<float>(6, kInfinity));
}

}  // namespace
