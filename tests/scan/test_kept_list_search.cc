// SPDX-License-Identifier: MIT
// Few rows that a filter keeps of an inverted file: what is found is what Codec::score says of all
// of them, by whichever way.
#include "src/scan/search/kept_list_search.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "src/core/rows_state.h"
#include "src/scan/search/filter_rules.h"
#include "src/scan/search/kept_list_rows.h"
#include "src/scan/search/kept_vectors.h"
#include "src/scan/search/plan.h"
#include "src/scan/search/prepared_filter.h"
#include "tests/scan/file_of_rows.h"
#include "tests/scan/plain_search.h"

namespace polarquant::test {
namespace {

constexpr int64_t kRows = 3000;
constexpr int64_t kQueries = 12;

/// The k best by Codec::score of the rows that are kept, ties to the lower list_offset.
Found plain_search(const InvertedFile& file, const std::vector<float>& queries, int64_t k,
                   const RowFilter& filter) {
  const int64_t dim = file.codec.dim();
  Found found = empty_results(std::ssize(queries) / dim, k);
  std::vector<uint8_t> code(file.lists.code_bytes());
  for (int64_t q = 0; q * dim < std::ssize(queries); ++q) {
    const PreparedQuery query = file.codec.prepare_query(queries.data() + q * dim);
    std::vector<Neighbor> all;
    for (int64_t list = 0; list < file.lists.count(); ++list) {
      PreparedQuery residual = query;
      if (!file.centres.empty())
        file.codec.residual_query(query, file.centres[static_cast<size_t>(list)], &residual);
      for (int64_t row = 0; row < file.lists.rows(list); ++row) {
        if (!filter.keeps(file.lists.ids(list)[row])) continue;
        file.lists.get(list, row, code.data());
        float score = 0;
        file.codec.score(residual, {code.data(), 1}, 0, 1, &score);
        all.emplace_back(key_of_score(score, file.codec.higher_is_nearer()),
                         list_offset(list, row));
      }
    }
    write_top_k(all, k, file.codec.higher_is_nearer(), found.scores.data() + q * k,
                found.ids.data() + q * k);
    for (int64_t i = q * k; i < (q + 1) * k; ++i) {
      int64_t& id = found.ids[static_cast<size_t>(i)];
      if (id >= 0) id = file.lists.ids(list_of_offset(id))[row_of_offset(id)];
    }
  }
  return found;
}

/// Whether lists are to be searched.
bool search_kept(const InvertedFile& file, const std::vector<float>& queries, int64_t k,
                 const RowFilter& filter, uint64_t rows_state, int threads, Found* found) {
  SearchRequest request = with_queries({}, queries, file.codec.dim(), SearchGoal::best(k), filter);
  request.rows_state = rows_state;
  request.threads = threads;
  request.options.nprobe = 2;
  *found = empty_results(request.nq, k);
  return search_kept_rows(file, kRows, &request, found->result()).done;
}

RowFilter multiples_of(int64_t divisor) {
  std::vector<int64_t> ids;
  for (int64_t id = 0; id < 100'003; id += divisor) ids.push_back(id);
  return keep_ids(std::move(ids));
}

}  // namespace

TEST_CASE("the best of few rows that are kept are those of the highest scores",
          "[scan][search][lists][filter]") {
  for (const char* spec :
       {"Polar4", "Polar2+2", "Polar8", "Polar2-pca", "Polar1", "PolarScalar4", "PolarB16"}) {
    for (const Metric metric : {Metric::inner_product, Metric::l2}) {
      for (const int dim : {64, 100}) {
        CAPTURE(spec, dim, static_cast<int>(metric));
        const FileOfRows rows(spec, dim, metric, kRows);
        const std::vector<float> queries = normal_numbers(kQueries * dim, 5);
        InvertedFile one_centre = {*rows.codec, rows.scan.get(), *rows.lists, {}};
        for (const InvertedFile& file : {rows.file(), one_centre}) {
          // 3 to 150 rows, of which 8 and fewer are scored at once.
          for (const int64_t divisor : {20, 25, 500, 20'000}) {
            const RowFilter filter = prepare(multiples_of(divisor));
            const uint64_t state = new_rows_state();
            for (const int64_t k : {1, 10, 200}) {
              CAPTURE(divisor, k);
              const Found expected = plain_search(file, queries, k, filter);
              for (const int threads : {1, 3}) {
                Found found;
                REQUIRE(search_kept(file, queries, k, filter, state, threads, &found));
                CHECK(found.ids == expected.ids);
                CHECK(found.scores == expected.scores);
              }
            }
          }
        }
      }
    }
  }
}

TEST_CASE("vectors of rows that are kept are made after some queries, and for one state of rows",
          "[scan][search][lists][filter]") {
  const FileOfRows rows("Polar4", 64, Metric::l2, kRows);
  const InvertedFile file = rows.file();
  const std::vector<float> query = normal_numbers(64, 5);
  const RowFilter filter = prepare(multiples_of(20));
  Found found;
  for (const uint64_t state : {new_rows_state(), new_rows_state()}) {
    for (int64_t i = 0; i < kQueriesBeforeCopy; ++i)
      CHECK(!search_kept(file, query, 5, filter, state, 1, &found));
    CHECK(search_kept(file, query, 5, filter, state, 1, &found));
    CHECK(search_kept(file, query, 5, filter, state, 1, &found));
  }
  // Nothing is kept of rows that are not known.
  for (int64_t i = 0; i < 2 * kQueriesBeforeCopy; ++i)
    CHECK(!search_kept(file, query, 5, filter, kUnknownRows, 1, &found));
}

TEST_CASE("where lists are searched, a filter that keeps fewer rows has more of them",
          "[scan][search][lists][filter]") {
  const FileOfRows rows("Polar4", 64, Metric::l2, kRows);
  const InvertedFile file = rows.file();
  const std::vector<float> query = normal_numbers(64, 5);
  const auto probes_of = [&](const RowFilter& filter, float exactness) {
    SearchRequest request = with_queries({}, query, 64, SearchGoal::best(3), filter);
    request.options.nprobe = 2;
    request.options.exactness = exactness;
    Found found = empty_results(1, 3);
    REQUIRE(!search_kept_rows(file, kRows, &request, found.result()).done);
    for (int64_t list = 0; list < FileOfRows::kLists; ++list) {
      // Whatever filter it has now, it is the same.
      const RowFilter now = filter_of_list_offsets(*rows.lists, request.filter);
      for (int64_t row = 0; row < rows.lists->rows(list); ++row)
        REQUIRE(now.keeps(list_offset(list, row)) == filter.keeps(rows.lists->ids(list)[row]));
    }
    return request.options.nprobe;
  };
  CHECK(probes_of(multiples_of(2), 2) > 2);
  CHECK(probes_of(prepare(multiples_of(2)), 2) == 4);
  CHECK(probes_of(prepare(multiples_of(1)), 2) == 2);
  CHECK(probes_of(multiples_of(20), 2) > 2);
  CHECK(probes_of(prepare(multiples_of(20)), 2) > 2);
  CHECK(probes_of(RowFilter([](int64_t id) { return id % 20 == 0; }), 2) > 2);
  // Every row is to be scored that the lists have, by int8 values as without a filter.
  CHECK(probes_of(prepare(multiples_of(5000)), kScoreEveryRow) == FileOfRows::kLists);
}

TEST_CASE("of many vectors of kept rows those in the most promising tiles are read",
          "[scan][search][lists][filter]") {
  for (const Metric metric : {Metric::inner_product, Metric::l2}) {
    CAPTURE(static_cast<int>(metric));
    const FileOfRows rows("Polar4", 64, metric, kRows);
    const InvertedFile file = rows.file();
    const KeptListRows kept(file, multiples_of(2));
    const KeptVectors vectors(file, kept);
    const std::vector<float> queries = normal_numbers(kQueries * 64, 5);
    KeptVectors::Memory memory;
    std::vector<int64_t> all;
    std::vector<int64_t> some;
    size_t found = 0;
    for (int64_t q = 0; q < kQueries; ++q) {
      const PreparedQuery query = file.codec.prepare_query(queries.data() + q * 64);
      vectors.find_candidates(query, 10, kept.count(), &memory, &all);
      for (const int64_t most : {int64_t{1}, kept.count() / 4, kept.count() - 17}) {
        vectors.find_candidates(query, 10, most, &memory, &some);
        CHECK(some.size() >= 10);
        for (const int64_t row : some) REQUIRE(kept.members(&row, 1) == 1);
        std::sort(some.begin(), some.end());
        CHECK(std::adjacent_find(some.begin(), some.end()) == some.end());
        if (most != kept.count() / 4) continue;
        for (const int64_t row : all)
          found += std::binary_search(some.begin(), some.end(), row) ? 1 : 0;
      }
      // More than there are.
      vectors.find_candidates(query, 2 * kept.count(), 1, &memory, &some);
      CHECK(std::ssize(some) == kept.count());
    }
    // Rows drawn at random tell little of their neighbours: still more than a quarter.
    CHECK(found > kQueries * 10 / 4);
  }
}

TEST_CASE("lists by place are all lists, and neighbours are near each other",
          "[scan][search][lists][filter]") {
  const FileOfRows rows("Polar4", 64, Metric::l2, kRows);
  InvertedFile file = rows.file();
  std::vector<int64_t> order = lists_by_place(file);
  std::sort(order.begin(), order.end());
  std::vector<int64_t> rising(static_cast<size_t>(FileOfRows::kLists));
  std::iota(rising.begin(), rising.end(), int64_t{0});
  CHECK(order == rising);
  file.centres = {};
  CHECK(lists_by_place(file) == rising);
  // Centres on a line.
  constexpr int64_t kLists = FileOfRows::kLists;
  std::vector<float> places(kLists * 64);
  std::vector<ListCentre> centres;
  for (int64_t list = 0; list < kLists; ++list) {
    const auto place = static_cast<float>(list * 5 % kLists + 1);
    places[static_cast<size_t>(list * 64)] = place;
    centres.push_back({&places[static_cast<size_t>(list * 64)], place});
  }
  file.centres = centres;
  order = lists_by_place(file);
  float distance = 0;
  for (size_t i = 1; i < order.size(); ++i)
    distance += std::abs(centres[static_cast<size_t>(order[i])].norm -
                         centres[static_cast<size_t>(order[i - 1])].norm);
  CHECK(distance < 3 * kLists);
}

TEST_CASE("kept rows are the same by their ids and by asking for all",
          "[scan][search][lists][filter]") {
  const FileOfRows rows("Polar4", 64, Metric::l2, kRows);
  const InvertedFile asked = rows.file();
  InvertedFile looked_up = asked;
  std::vector<int64_t> list_offsets;
  for (int64_t list = 0; list < FileOfRows::kLists; ++list) {
    for (int64_t row = 0; row < rows.lists->rows(list); ++row) {
      const auto id = static_cast<size_t>(rows.lists->ids(list)[row]);
      if (id >= list_offsets.size()) list_offsets.resize(id + 1, -1);
      list_offsets[id] = list_offset(list, row);
    }
  }
  looked_up.list_offsets = list_offsets;
  std::vector<uint64_t> words(list_offsets.size() / 64 + 2, 0x0100'0010'0000'0001);
  const RowFilter bits = keep_bits(reinterpret_cast<const uint8_t*>(words.data()),
                                   64 * static_cast<int64_t>(words.size()));
  for (const RowFilter& filter : {multiples_of(1), multiples_of(3), multiples_of(20),
                                  keep_range(17, 90), keep_range(5, 5), bits}) {
    const KeptListRows expected(asked, filter);
    const KeptListRows found(looked_up, filter);
    CHECK(found.count() == expected.count());
    CHECK(found.lists() == expected.lists());
    for (int64_t list = 0; list < FileOfRows::kLists; ++list) {
      std::vector<int64_t> each[2];
      expected.for_each(list, [&](int64_t row) { each[0].push_back(row); });
      found.for_each(list, [&](int64_t row) { each[1].push_back(row); });
      CHECK(each[0] == each[1]);
      CHECK(found.count(list) == std::ssize(each[0]));
    }
  }
}

}  // namespace polarquant::test
