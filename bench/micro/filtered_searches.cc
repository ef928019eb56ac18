// SPDX-License-Identifier: MIT
// polar-filters: how long searches with a filter take through the C API, as shares of the time
// without one, by one thread and in turns, and what they find of the nearest rows that the filter
// keeps. A row of the table is a filter: how many rows it keeps, drawn at random, one after the
// other, or alike; queries one by one with the bits and with the prepared filter, and all in one
// call with the prepared one.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "bench/bench_check.h"
#include "bench/median.h"
#include "bench/synthetic_rows.h"
#include "polarquant/polarquant.h"
#include "src/core/random.h"

namespace {

using polarquant::bench::check;

constexpr int32_t kDim = 384;
constexpr int64_t kRows = 117'659;
constexpr int64_t kQueries = 200;
constexpr int64_t kResults = 10;
constexpr int kRounds = 15;

polar_filter as_filter(const std::vector<uint64_t>& bits) {
  polar_filter filter;
  polar_filter_init(&filter);
  if (bits.empty()) return filter;
  filter.kind = POLAR_FILTER_BITSET;
  filter.bitset = {bits.data(), kRows};
  return filter;
}

/// The same filter, prepared.
class Prepared {
 public:
  explicit Prepared(const std::vector<uint64_t>& bits) {
    const polar_filter filter = as_filter(bits);
    polar_prepared_filter* prepared = nullptr;
    check(polar_prepared_filter_create(&filter, &prepared));
    prepared_.reset(prepared);
  }
  polar_filter filter() const {
    polar_filter filter;
    polar_filter_init(&filter);
    filter.kind = POLAR_FILTER_PREPARED;
    filter.prepared = prepared_.get();
    return filter;
  }

 private:
  std::unique_ptr<polar_prepared_filter, polarquant::bench::Deleter> prepared_;
};

/// The rows of an index, and queries.
struct Data {
  std::vector<float> rows;
  std::vector<float> queries;

  Data() : rows(kRows * kDim), queries(kQueries * kDim) {
    const polarquant::bench::SyntheticRows made(polarquant::bench::SyntheticKind::clustered, kRows,
                                                kDim, 2);
    made.fill(0, kRows, rows.data());
    made.fill(kRows, kQueries, queries.data());
  }
};

struct Kept {
  std::string name;
  std::vector<uint64_t> bits;  // empty: all
  int64_t count = kRows;
  std::vector<int64_t> truth = {};  // (kQueries, kResults)
};

Kept keep_random(const char* name, double share) {
  Kept kept = {name, std::vector<uint64_t>(kRows / 64 + 1), 0};
  polarquant::Random random(7);
  const auto wanted = static_cast<int64_t>(std::lround(share * kRows));
  while (kept.count < wanted) {
    const int64_t row = random.below(kRows);
    uint64_t& word = kept.bits[static_cast<size_t>(row / 64)];
    kept.count += (word >> row % 64 & 1) == 0 ? 1 : 0;
    word |= uint64_t{1} << row % 64;
  }
  return kept;
}

/// Rows that are alike: those nearest to one of them.
Kept keep_alike(const char* name, double share, const Data& data) {
  Kept kept = {name, std::vector<uint64_t>(kRows / 64 + 1), std::lround(share * kRows)};
  std::vector<std::pair<float, int64_t>> similar;
  for (int64_t row = 0; row < kRows; ++row) {
    const float* x = data.rows.data() + row * kDim;
    similar.emplace_back(-std::inner_product(x, x + kDim, data.rows.data(), 0.0F), row);
  }
  std::nth_element(similar.begin(), similar.begin() + kept.count, similar.end());
  for (int64_t i = 0; i < kept.count; ++i) {
    const int64_t row = similar[static_cast<size_t>(i)].second;
    kept.bits[static_cast<size_t>(row / 64)] |= uint64_t{1} << row % 64;
  }
  return kept;
}

Kept keep_first_half() {
  Kept kept = {"first half", std::vector<uint64_t>(kRows / 64 + 1), kRows / 2};
  for (int64_t row = 0; row < kept.count; ++row)
    kept.bits[static_cast<size_t>(row / 64)] |= uint64_t{1} << row % 64;
  return kept;
}

class Index {
 public:
  Index(const char* description, const Data& data, bool own_ids) : data_(data) {
    polar_search_options_init(&options_);
    options_.num_threads = 1;
    index_ = polarquant::bench::make_index(description, kDim);
    check(polar_index_train(index_.get(), 40'000, data.rows.data(), nullptr));
    if (polar_index_nlist(index_.get()) > 0) options_.nprobe = 32;
    if (description[0] == 'H') options_.ef_search = 64;
    if (!own_ids) {
      check(polar_index_add(index_.get(), kRows, data.rows.data(), nullptr));
      return;
    }
    std::vector<int64_t> ids(kRows);
    for (int64_t i = 0; i < kRows; ++i) ids[static_cast<size_t>(i)] = i;
    check(polar_index_add_with_ids(index_.get(), kRows, data.rows.data(), ids.data(), nullptr));
  }

  /// Microseconds a query, of `at_once` in one call; ids (kQueries, kResults).
  double search(const polar_filter& filter, int64_t at_once, int64_t* ids) {
    options_.filter = &filter;
    std::vector<float> scores(static_cast<size_t>(at_once * kResults));
    const auto start = std::chrono::steady_clock::now();
    for (int64_t query = 0; query < kQueries; query += at_once)
      check(polar_index_search(index_.get(), at_once, data_.queries.data() + query * kDim, kResults,
                               &options_, scores.data(), ids + query * kResults));
    const std::chrono::duration<double, std::micro> time = std::chrono::steady_clock::now() - start;
    return time.count() / kQueries;
  }

 private:
  const Data& data_;
  polar_search_options options_;
  polarquant::bench::IndexHandle index_;
};

double recall(const std::vector<int64_t>& truth, const std::vector<int64_t>& ids) {
  int64_t found = 0;
  for (size_t query = 0; query < kQueries; ++query) {
    const auto first = truth.begin() + static_cast<std::ptrdiff_t>(query * kResults);
    for (size_t i = 0; i < kResults; ++i)
      found += std::count(first, first + kResults, ids[query * kResults + i]);
  }
  return static_cast<double>(found) / (kQueries * kResults);
}

/// One index's table.
void measure(const char* description, const Data& data, const std::vector<Kept>& filters,
             bool own_ids) {
  Index index(description, data, own_ids);
  const size_t count = filters.size();
  std::vector<Prepared> prepared;
  for (const Kept& kept : filters) prepared.emplace_back(kept.bits);
  std::vector<std::vector<double>> single(count);
  std::vector<std::vector<double>> single_prepared(count);
  std::vector<std::vector<double>> batch(count);
  std::vector<std::vector<int64_t>> ids(count, std::vector<int64_t>(kQueries * kResults));
  for (int round = 0; round < kRounds; ++round) {
    for (size_t i = 0; i < count; ++i) {
      const polar_filter filter = prepared[i].filter();
      single[i].push_back(index.search(as_filter(filters[i].bits), 1, ids[i].data()));
      batch[i].push_back(index.search(filter, kQueries, ids[i].data()));
      single_prepared[i].push_back(index.search(filter, 1, ids[i].data()));
    }
  }
  std::printf("%s%s\n", description, own_ids ? ", rows with ids of the caller's" : "");
  const double one = polarquant::bench::median(single[0]);
  const double many = polarquant::bench::median(batch[0]);
  for (size_t i = 0; i < count; ++i) {
    const double of_one = polarquant::bench::median(single[i]);
    const double of_prepared = polarquant::bench::median(single_prepared[i]);
    const double of_many = polarquant::bench::median(batch[i]);
    std::printf(
        "  %-10s %6lld rows  one %7.1f us %5.2f  prepared %7.1f us %5.2f  batch %7.1f us %5.2f  "
        "recall %.3f",
        filters[i].name.c_str(), static_cast<long long>(filters[i].count), of_one, of_one / one,
        of_prepared, of_prepared / one, of_many, of_many / many, recall(filters[i].truth, ids[i]));
    const auto empty = std::count(ids[i].begin(), ids[i].end(), -1);
    if (empty > 0) std::printf("  %lld places empty", static_cast<long long>(empty));
    std::printf("\n");
  }
  std::fflush(stdout);
}

void measure_all(const std::vector<std::string>& names) {
  const Data data;
  std::vector<Kept> filters = {{"none", {}},
                               keep_random("half", .5),
                               keep_random("10 %", .1),
                               keep_random("1 %", .01),
                               keep_random(".1 %", .001),
                               keep_random("64 rows", 64.0 / kRows),
                               keep_first_half(),
                               keep_alike("10 % alike", .1, data),
                               keep_alike("1 % alike", .01, data)};
  Index exact("Flat", data, false);
  for (Kept& filter : filters) {
    filter.truth.resize(kQueries * kResults);
    exact.search(as_filter(filter.bits), kQueries, filter.truth.data());
  }
  const std::vector<std::string> all = {"Polar4", "IVF1024,Polar4", "HNSW32,Polar4"};
  for (const std::string& name : names.empty() ? all : names) {
    measure(name.c_str(), data, filters, false);
    if (name[0] != 'H') measure(name.c_str(), data, filters, true);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> names(argv + 1, argv + argc);
  if (!names.empty() && names[0][0] == '-') {
    std::printf(
        "polar-filters [INDEX…]: searches with filters beside searches without, one thread\n"
        "  polar-filters\n  polar-filters Polar4 IVF1024,Polar4 HNSW32,Polar4\n");
    return names[0] == "--help" ? 0 : 1;
  }
  try {
    measure_all(names);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "polar-filters: %s\n", error.what());
    return 1;
  }
  return 0;
}
