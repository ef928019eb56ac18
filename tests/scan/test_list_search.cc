// SPDX-License-Identifier: MIT
// list_search against sorting every row of the probed lists in plain code.
#include "src/scan/search/list_search.h"

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "src/scan/search/plan.h"
#include "tests/scan/every_target.h"
#include "tests/scan/file_of_rows.h"
#include "tests/scan/plain_search.h"

namespace polarquant::test {
namespace {

constexpr float kAll = kScoreEveryRow;
constexpr int64_t kLists = FileOfRows::kLists;

Found search(const InvertedFile& file, const std::vector<float>& queries, const ListProbes& probes,
             int64_t k, const SearchRequest& how, const RowFilter& filter = {},
             RowLabel label = RowLabel::id) {
  const SearchRequest request =
      with_queries(how, queries, file.codec.dim(), SearchGoal::best(k), filter);
  Found found = empty_results(request.nq, k);
  list_search(file, probes, label, request, found.result());
  return found;
}

/// A row of the probed lists, for one query, by plain code; higher is nearer.
struct PlainRow {
  float key;
  float bound;  // +inf without bounds
  float score;
  int64_t list_offset;
  int64_t label;
};
std::vector<PlainRow> plain_rows(const FileOfRows& rows, const float* q, const int64_t* lists,
                                 int64_t nprobe, float exactness, const RowFilter& filter,
                                 RowLabel label) {
  const Codec& codec = *rows.codec;
  const bool bounded = rows.scan != nullptr && search_is_bounded(*rows.scan, exactness);
  const PreparedQuery query = codec.prepare_query(q);
  std::vector<PlainRow> all;
  for (int64_t probe = 0; probe < nprobe; ++probe) {
    const int64_t list = lists[probe];
    if (list < 0) continue;
    PreparedQuery residual;
    codec.residual_query(query, rows.centres[static_cast<size_t>(list)], &residual);
    std::vector<uint8_t> code(rows.lists->code_bytes());
    for (int64_t row = 0; row < rows.lists->rows(list); ++row) {
      const int64_t id = rows.lists->ids(list)[row];
      if (!filter.keeps(id)) continue;
      rows.lists->get(list, row, code.data());
      float score = 0;
      codec.score(residual, {code.data(), 1}, 0, 1, &score);
      if (!codec.higher_is_nearer()) score = -score;
      float key = score;
      float bound = std::numeric_limits<float>::infinity();
      if (rows.scan != nullptr) {
        const ScanQuery scan = make_scan_query(*rows.scan, residual, bounded ? exactness : 0);
        const RowPlace at = rows.lists->span(list, 0).place(rows.lists->layout(), row);
        const auto scored = score_row(*rows.scan, scan, bounded, at);
        key = scored.key;
        bound = scored.bound;
      }
      const int64_t at = list_offset(list, row);
      all.push_back({key, bound, score, at, label == RowLabel::id ? id : at});
    }
  }
  return all;
}

bool has_better_score(const PlainRow& a, const PlainRow& b) {
  return a.score > b.score || (a.score == b.score && a.label < b.label);
}

/// What the search must find.
Found plain_search(const FileOfRows& rows, const std::vector<float>& queries,
                   const ListProbes& probes, int64_t k, float exactness,
                   const RowFilter& filter = {}, RowLabel label = RowLabel::id) {
  const int64_t dim = rows.codec->dim();
  Found found;
  for (int64_t q = 0; q * dim < std::ssize(queries); ++q) {
    std::vector<PlainRow> all =
        plain_rows(rows, queries.data() + q * dim, probes.lists + q * probes.nprobe, probes.nprobe,
                   exactness, filter, label);
    std::sort(all.begin(), all.end(), [](const PlainRow& a, const PlainRow& b) {
      return a.key > b.key || (a.key == b.key && a.list_offset < b.list_offset);
    });
    const int64_t kept = rows.scan != nullptr ? rows.scan->rescored_rows(k) : k;
    all.resize(static_cast<size_t>(std::min(std::ssize(all), kept)));
    std::sort(all.begin(), all.end(), has_better_score);
    all.resize(static_cast<size_t>(k), {0, 0, -std::numeric_limits<float>::infinity(), 0, -1});
    for (const PlainRow& row : all) {
      found.scores.push_back(rows.codec->higher_is_nearer() ? row.score : -row.score);
      found.ids.push_back(row.label);
    }
  }
  return found;
}

/// What the range search must find.
RangeFound plain_range_search(const FileOfRows& rows, const std::vector<float>& queries,
                              const ListProbes& probes, float radius, float exactness,
                              const RowFilter& filter) {
  const int64_t dim = rows.codec->dim();
  const float sign = rows.codec->higher_is_nearer() ? 1.0F : -1.0F;
  RangeFound found;
  found.lims.push_back(0);
  for (int64_t q = 0; q * dim < std::ssize(queries); ++q) {
    std::vector<PlainRow> all =
        plain_rows(rows, queries.data() + q * dim, probes.lists + q * probes.nprobe, probes.nprobe,
                   exactness, filter, RowLabel::id);
    std::sort(all.begin(), all.end(), has_better_score);
    for (const PlainRow& row : all) {
      if (!(row.score > sign * radius && row.bound > sign * radius)) continue;
      found.scores.push_back(sign * row.score);
      found.ids.push_back(row.label);
    }
    found.lims.push_back(std::ssize(found.ids));
  }
  return found;
}

/// (nq, nprobe), all different for a query, some −1.
std::vector<int64_t> made_up_probes(int64_t nq, int64_t nprobe) {
  std::vector<int64_t> lists;
  for (int64_t q = 0; q < nq; ++q)
    for (int64_t probe = 0; probe < nprobe; ++probe)
      lists.push_back((q + probe) % 7 == 6 ? -1 : (q + probe * 2) % kLists);
  return lists;
}

}  // namespace

TEST_CASE("list_search finds the plain search's rows and scores", "[scan][search][lists]") {
  for (const std::string spec : {"Polar1", "Polar2", "Polar4", "Polar8", "Polar2-pca", "Polar2+2",
                                 "PolarTree4.2.2.2", "PolarScalar4", "PolarB16"}) {
    for (const Metric metric : {Metric::inner_product, Metric::l2}) {
      const int dim = metric == Metric::l2 ? 100 : 128;
      const FileOfRows rows(spec, dim, metric, 400);
      const std::vector<float> queries = normal_numbers(int64_t{7} * dim, 33);
      for (const int64_t nprobe : {2, 9}) {
        const std::vector<int64_t> lists = made_up_probes(7, nprobe);
        const ListProbes probes = {lists.data(), nprobe};
        for (const float exactness : {1.0F, kAll}) {
          for (const int64_t k : {7, 400}) {
            const Found expected = plain_search(rows, queries, probes, k, exactness);
            for (const int threads : {1, 2, 5}) {
              CAPTURE(spec, static_cast<int>(metric), nprobe, exactness, k, threads);
              REQUIRE(search(rows.file(), queries, probes, k, search_with(exactness, threads)) ==
                      expected);
            }
          }
        }
      }
    }
  }
}

TEST_CASE("list_search finds the same on every target", "[scan][search][lists][kernels]") {
  for (const std::string spec : {"Polar1", "Polar4", "Polar8", "Polar2+2", "PolarB16"}) {
    const int dim = 192;
    const FileOfRows rows(spec, dim, Metric::inner_product, 400);
    const std::vector<float> queries = normal_numbers(int64_t{6} * dim, 34);
    const std::vector<int64_t> lists = made_up_probes(6, 5);
    const ListProbes probes = {lists.data(), 5};
    for (const float exactness : {1.0F, kAll}) {
      const Found expected = plain_search(rows, queries, probes, 12, exactness);
      on_every_target([&] {
        CAPTURE(spec, exactness);
        REQUIRE(search(rows.file(), queries, probes, 12, search_with(exactness, 2)) == expected);
      });
    }
  }
}

// The first stage, by 256 of 1,024 coordinates, leaves thousands of rows, the second few.
TEST_CASE("lists of many blocks go together", "[scan][search][lists]") {
  const int dim = 1024;
  const FileOfRows rows("Polar2", dim, Metric::inner_product, 20000);
  REQUIRE(rows.lists->rows(0) > 100 * 64);
  REQUIRE(rows.lists->rows(0) <= 128 * 64);
  const std::vector<int64_t> lists = {2, 3, 4, 0, 5, 1, 6, 7};
  const ListProbes probes = {lists.data(), std::ssize(lists)};
  const std::vector<float> query = normal_numbers(dim, 36);
  for (const float exactness : {.5F, 2.0F, 20.0F}) {
    const Found expected = plain_search(rows, query, probes, 2, exactness);
    CAPTURE(exactness);
    REQUIRE(search(rows.file(), query, probes, 2, search_with(exactness, 1)) == expected);
  }
}

TEST_CASE("one query alone is shared by threads, to the same end", "[scan][search][lists]") {
  const int dim = 128;
  const FileOfRows rows("Polar4", dim, Metric::l2, 900);
  const std::vector<int64_t> lists = {8, 1, 0, 4, 2, 3, 7, 6, 5};
  const ListProbes probes = {lists.data(), kLists};
  for (uint64_t seed = 40; seed < 50; ++seed) {
    const std::vector<float> query = normal_numbers(dim, seed);
    const Found expected = search(rows.file(), query, probes, 10, search_with(2, 1));
    for (const int threads : {2, 3, 8}) {
      CAPTURE(seed, threads);
      REQUIRE(search(rows.file(), query, probes, 10, search_with(2, threads)) == expected);
    }
  }
}

TEST_CASE("lists that many queries have are searched for all at once, to the same end",
          "[scan][search][lists]") {
  for (const std::string spec : {"Polar2", "Polar8", "Polar2+2", "PolarScalar4"}) {
    const int dim = 96;
    const FileOfRows rows(spec, dim, Metric::inner_product, 400);
    // Two lists are every query's, more than are searched together; one is some queries'; one twice
    // the same query's.
    constexpr int64_t kQueries = 150;
    const std::vector<float> queries = normal_numbers(kQueries * dim, 39);
    std::vector<int64_t> lists;
    for (int64_t q = 0; q < kQueries; ++q) {
      const int64_t third = q == 70 ? 1 : q % 50 == 0 ? 2 : -1;
      lists.insert(lists.end(), {q % 2, 1 - q % 2, third});
    }
    const RowFilter odd = [](int64_t id) { return id % 2 == 1; };
    for (const float exactness : {1.0F, kAll}) {
      for (const int64_t max_rows : {0, 1}) {
        const ListProbes probes = {lists.data(), 3, max_rows};
        std::vector<int64_t> first_lists = lists;
        for (size_t i = 0; i < lists.size() && max_rows > 0; ++i)
          if (i % 3 > 0) first_lists[i] = -1;
        for (const RowFilter& filter : {RowFilter{}, odd}) {
          const Found expected =
              plain_search(rows, queries, {first_lists.data(), 3}, 9, exactness, filter);
          for (const int threads : {1, 3}) {
            CAPTURE(spec, exactness, max_rows, threads);
            REQUIRE(search(rows.file(), queries, probes, 9, search_with(exactness, threads),
                           filter) == expected);
          }
        }
      }
    }
  }
}

TEST_CASE("list_range_search finds the plain search's rows and scores", "[scan][range][lists]") {
  for (const std::string spec : {"Polar1", "Polar4", "Polar8", "Polar2+2", "PolarScalar4"}) {
    for (const Metric metric : {Metric::inner_product, Metric::l2}) {
      const int dim = metric == Metric::l2 ? 100 : 128;
      const FileOfRows rows(spec, dim, metric, 400);
      // Few queries, each by itself, and so many that lists are searched for all of them at once.
      for (const int64_t nq : {3, 20}) {
        const std::vector<float> queries = normal_numbers(nq * dim, 46);
        const std::vector<int64_t> lists = made_up_probes(nq, 9);
        const ListProbes probes = {lists.data(), 9};
        const Found best = plain_search(rows, queries, probes, 60, kAll);
        const RowFilter odd = [](int64_t id) { return id % 2 == 1; };
        for (const float radius : {best.scores[4], best.scores[59]}) {
          for (const float exactness : {1.0F, kAll}) {
            for (const RowFilter& filter : {RowFilter{}, odd}) {
              const RangeFound expected =
                  plain_range_search(rows, queries, probes, radius, exactness, filter);
              for (const int threads : {1, 3}) {
                CAPTURE(spec, static_cast<int>(metric), nq, radius, exactness, threads);
                RangeFound found;
                list_search(rows.file(), probes, RowLabel::id,
                            with_queries(search_with(exactness, threads), queries, dim,
                                         SearchGoal::within(radius), filter),
                            &found);
                REQUIRE(found.lims == expected.lims);
                REQUIRE(found.ids == expected.ids);
                REQUIRE(found.scores == expected.scores);
              }
            }
          }
        }
      }
    }
  }
}

TEST_CASE("lists are searched about one centre where none are given", "[scan][search][lists]") {
  const int dim = 96;
  const FileOfRows rows("Polar2", dim, Metric::inner_product, 300);
  const std::vector<float> queries = normal_numbers(int64_t{3} * dim, 36);
  const std::vector<int64_t> lists = {0, 0, 0};
  const ListProbes probes = {lists.data(), 1};
  const InvertedFile without_centres = {*rows.codec, rows.scan.get(), *rows.lists, {}};
  const std::vector<BlockRows> spans = {rows.lists->span(0, 0)};
  const Found flat =
      search_blocks(*rows.codec, *rows.scan, spans, queries, 5, {}, search_with(2, 1));
  const Found found =
      search(without_centres, queries, probes, 5, search_with(2, 1), {}, RowLabel::list_offset);
  REQUIRE(found == flat);
}

TEST_CASE("filters, list_offsets and a limit of rows", "[scan][search][lists]") {
  const int dim = 128;
  for (const std::string spec : {"Polar4", "PolarScalar4"}) {
    const FileOfRows rows(spec, dim, Metric::inner_product, 500);
    const std::vector<float> queries = normal_numbers(int64_t{5} * dim, 35);
    const std::vector<int64_t> lists = made_up_probes(5, 4);
    ListProbes probes = {lists.data(), 4};
    const RowFilter odd = [](int64_t id) { return id % 2 == 1; };
    const RowFilter none = [](int64_t) { return false; };
    const SearchRequest options = search_with(2, 2);
    CAPTURE(spec);
    REQUIRE(search(rows.file(), queries, probes, 10, options, odd) ==
            plain_search(rows, queries, probes, 10, 2, odd));
    REQUIRE(search(rows.file(), queries, probes, 10, options, none) ==
            plain_search(rows, queries, probes, 10, 2, none));
    REQUIRE(search(rows.file(), queries, probes, 10, options, {}, RowLabel::list_offset) ==
            plain_search(rows, queries, probes, 10, 2, {}, RowLabel::list_offset));

    // The first list that is there, and no other.
    probes.max_rows = 1;
    std::vector<int64_t> first;
    for (int64_t q = 0; q < 5; ++q) {
      const auto end = lists.begin() + 4 * (q + 1);
      const auto list = std::find_if(lists.begin() + 4 * q, end, [&](int64_t one) {
        return one >= 0 && rows.lists->rows(one) > 0;
      });
      first.push_back(list == end ? -1 : *list);
    }
    REQUIRE(search(rows.file(), queries, probes, 10, options) ==
            plain_search(rows, queries, {first.data(), 1}, 10, 2));
  }
}

TEST_CASE("wrong searches of lists are told", "[scan][search][lists]") {
  const int dim = 64;
  const FileOfRows rows("Polar2", dim, Metric::l2, 100);
  std::vector<float> query = normal_numbers(dim, 37);
  std::vector<int64_t> lists = {0, 9};
  const auto run = [&](int64_t k, float exactness) {
    search(rows.file(), query, {lists.data(), 2}, k, search_with(exactness, 1));
  };
  require_error(StatusCode::bad_argument, "number 1 of query 0 is list 9; there are 9",
                [&] { run(1, 1); });
  lists[1] = -2;
  require_error(StatusCode::bad_argument, "list -2", [&] { run(1, 1); });
  lists[1] = 1;
  require_error(StatusCode::bad_argument, "k: 0", [&] { run(0, 1); });
  require_error(StatusCode::bad_argument, "exactness: -1", [&] { run(1, -1); });
  query[3] = std::numeric_limits<float>::quiet_NaN();
  require_error(StatusCode::bad_argument, "column 3", [&] { run(1, 1); });
}

TEST_CASE("a stopped search of lists says so", "[scan][search][lists]") {
  const int dim = 64;
  const FileOfRows rows("Polar2", dim, Metric::l2, 100);
  const std::vector<float> queries = normal_numbers(int64_t{20} * dim, 38);
  const std::vector<int64_t> lists(20, 0);
  SearchRequest options = search_with(2, 1);
  int calls = 0;
  options.progress = [&](double done) {
    REQUIRE(done <= 1);
    return ++calls < 3;
  };
  require_error(StatusCode::cancelled, "stopped", [&] {
    search(rows.file(), queries, {lists.data(), 1}, 1, options);
  });
  REQUIRE(calls == 3);
}

TEST_CASE("lists give back what was put in, whatever is changed", "[scan][lists]") {
  for (const std::string spec : {"Polar4", "PolarScalar4"}) {
    CAPTURE(spec);
    const FileOfRows rows(spec, 64, Metric::l2, 200);
    const std::unique_ptr<CodeLists> made = CodeLists::make(*rows.codec, 2);
    CodeLists& lists = *made;
    const size_t bytes = lists.code_bytes();
    std::vector<uint8_t> codes(150 * bytes);
    std::vector<int64_t> ids;
    for (int64_t row = 0; row < 150; ++row) {
      rows.lists->get(row < 100 ? 0 : 1, row % 50, codes.data() + static_cast<size_t>(row) * bytes);
      ids.push_back(1000 + row);
    }
    const auto holds = [&](int64_t list, int64_t row, int64_t number) {
      std::vector<uint8_t> code(bytes);
      lists.get(list, row, code.data());
      return lists.ids(list)[row] == ids[static_cast<size_t>(number)] &&
             std::equal(
                 code.begin(), code.end(),
                 codes.begin() + static_cast<ptrdiff_t>(static_cast<size_t>(number) * bytes));
    };
    lists.append(1, 70, ids.data(), codes.data());
    lists.append(1, 80, ids.data() + 70, codes.data() + 70 * bytes);
    REQUIRE((lists.rows(0) == 0 && lists.rows(1) == 150));
    for (int64_t row = 0; row < 150; ++row) REQUIRE(holds(1, row, row));
    REQUIRE(lists.memory_bytes() >= 150 * (bytes + 8));
    lists.overwrite(1, 64, ids[3], codes.data() + 3 * bytes);
    REQUIRE(holds(1, 64, 3));
    lists.truncate(1, 65);
    REQUIRE(lists.rows(1) == 65);
    REQUIRE(holds(1, 64, 3));
    lists.append(1, 1, &ids[149], codes.data() + 149 * bytes);
    REQUIRE(holds(1, 65, 149));
    lists.clear();
    REQUIRE(lists.rows(1) == 0);
  }
  const auto grouped = make_codec("PolarPair4x4g128", 64, Metric::l2);
  require_error(StatusCode::unsupported, "128 rows together",
                [&] { CodeLists::make(*grouped, 3); });
}

}  // namespace polarquant::test
