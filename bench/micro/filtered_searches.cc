// SPDX-License-Identifier: MIT
// polar-filters: how long searches with a filter take through the C API, as shares of the time
// without one, by one thread and in turns, and what they find of the nearest rows that the filter
// keeps. A row of the table is a filter: how many rows it keeps, drawn at random, one after the
// other, or alike; queries one by one with the bits and with the prepared filter, and all in one
// call with the prepared one.
#include <CLI/CLI.hpp>
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
#include "bench/recall/matrix_reader.h"
#include "bench/synthetic_rows.h"
#include "polarquant/polarquant.h"
#include "src/core/random.h"

namespace {

using polarquant::bench::check;
using polarquant::bench::FloatMatrix;
using polarquant::bench::MatrixRole;

constexpr int64_t kResults = 10;
constexpr int64_t kMostQueries = 1000;

struct Options {
  std::vector<std::string> names = {"Polar4", "IVF1024,Polar4", "HNSW32,Polar4"};
  std::string base;
  std::string query;
  int64_t nprobe = 32;
  int64_t ef = 64;
  int rounds = 15;
};

bool is_graph(const std::string& description) { return description.find("HNSW") == 0; }

/// Bits of words beyond the rows are 0.
polar_filter as_filter(const std::vector<uint64_t>& bits) {
  polar_filter filter;
  polar_filter_init(&filter);
  if (bits.empty()) return filter;
  filter.kind = POLAR_FILTER_BITSET;
  filter.bitset = {bits.data(), std::ssize(bits) * 64};
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
  FloatMatrix rows;
  FloatMatrix queries;
};

Data read_data(const std::string& base, const std::string& query) {
  return {
      polarquant::bench::read_float_matrix(base, MatrixRole::base, polarquant::bench::kAllRows, {}),
      polarquant::bench::read_float_matrix(query, MatrixRole::query, kMostQueries, {})};
}

Data make_data() {
  constexpr int64_t kRows = 117'659;
  constexpr int64_t kQueries = 200;
  constexpr int32_t kDim = 384;
  const polarquant::bench::SyntheticRows made(polarquant::bench::SyntheticKind::clustered, kRows,
                                              kDim, 2);
  Data data = {{kRows, kDim, std::vector<float>(kRows * kDim)},
               {kQueries, kDim, std::vector<float>(kQueries * kDim)}};
  made.fill(0, kRows, data.rows.values.data());
  made.fill(kRows, kQueries, data.queries.values.data());
  return data;
}

struct Kept {
  std::string name;
  std::vector<uint64_t> bits;  // empty: all
  int64_t count = 0;
  std::vector<int64_t> truth = {};  // (queries, kResults)
};

std::vector<uint64_t> no_bits(int64_t rows) {
  return std::vector<uint64_t>(static_cast<size_t>((rows + 63) / 64));
}
void set_bit(int64_t row, std::vector<uint64_t>* bits) {
  (*bits)[static_cast<size_t>(row / 64)] |= uint64_t{1} << row % 64;
}

Kept keep_random(const char* name, int64_t count, int64_t rows) {
  Kept kept = {name, no_bits(rows), count};
  std::vector<int64_t> order(static_cast<size_t>(rows));
  std::iota(order.begin(), order.end(), 0);
  polarquant::Random random(7);
  for (int64_t i = 0; i < count; ++i) {
    std::swap(order[static_cast<size_t>(i)],
              order[static_cast<size_t>(i + random.below(rows - i))]);
    set_bit(order[static_cast<size_t>(i)], &kept.bits);
  }
  return kept;
}

/// Rows that are alike: those nearest to one of them.
Kept keep_alike(const char* name, int64_t count, const FloatMatrix& rows) {
  Kept kept = {name, no_bits(rows.rows), count};
  std::vector<std::pair<float, int64_t>> similar;
  for (int64_t row = 0; row < rows.rows; ++row)
    similar.emplace_back(
        -std::inner_product(rows.row(row), rows.row(row) + rows.dim, rows.row(0), 0.0F), row);
  std::nth_element(similar.begin(), similar.begin() + count, similar.end());
  for (int64_t i = 0; i < count; ++i) set_bit(similar[static_cast<size_t>(i)].second, &kept.bits);
  return kept;
}

Kept keep_first(const char* name, int64_t count, int64_t rows) {
  Kept kept = {name, no_bits(rows), count};
  for (int64_t row = 0; row < count; ++row) set_bit(row, &kept.bits);
  return kept;
}

class Index {
 public:
  Index(const std::string& description, const Data& data, int64_t nprobe, int64_t ef, bool own_ids)
      : data_(data) {
    polar_search_options_init(&options_);
    options_.num_threads = 1;
    const FloatMatrix& rows = data.rows;
    index_ = polarquant::bench::make_index(description, static_cast<int32_t>(rows.dim));
    check(polar_index_train(index_.get(), std::min<int64_t>(rows.rows, 40'000), rows.values.data(),
                            nullptr));
    if (polar_index_nlist(index_.get()) > 0) options_.nprobe = nprobe;
    if (is_graph(description)) options_.ef_search = ef;
    if (!own_ids) {
      check(polar_index_add(index_.get(), rows.rows, rows.values.data(), nullptr));
      return;
    }
    std::vector<int64_t> ids(static_cast<size_t>(rows.rows));
    std::iota(ids.begin(), ids.end(), 0);
    check(
        polar_index_add_with_ids(index_.get(), rows.rows, rows.values.data(), ids.data(), nullptr));
  }

  /// Microseconds a query, of `at_once` in one call; ids (queries, kResults).
  double search(const polar_filter& filter, int64_t at_once, int64_t* ids) {
    options_.filter = &filter;
    std::vector<float> scores(static_cast<size_t>(at_once * kResults));
    const auto start = std::chrono::steady_clock::now();
    for (int64_t query = 0; query < data_.queries.rows; query += at_once)
      check(polar_index_search(index_.get(), at_once, data_.queries.row(query), kResults, &options_,
                               scores.data(), ids + query * kResults));
    const std::chrono::duration<double, std::micro> time = std::chrono::steady_clock::now() - start;
    return time.count() / static_cast<double>(data_.queries.rows);
  }

 private:
  const Data& data_;
  polar_search_options options_;
  polarquant::bench::IndexHandle index_;
};

double recall(const std::vector<int64_t>& truth, const std::vector<int64_t>& ids) {
  int64_t found = 0;
  for (size_t at = 0; at < ids.size(); ++at) {
    const auto first = truth.begin() + static_cast<std::ptrdiff_t>(at / kResults * kResults);
    found += std::count(first, first + kResults, ids[at]);
  }
  return static_cast<double>(found) / static_cast<double>(ids.size());
}

/// One index's table.
void measure(const std::string& description, const Data& data, const Options& options,
             const std::vector<Kept>& filters, bool own_ids) {
  Index index(description, data, options.nprobe, options.ef, own_ids);
  const size_t count = filters.size();
  std::vector<Prepared> prepared;
  for (const Kept& kept : filters) prepared.emplace_back(kept.bits);
  std::vector<std::vector<double>> single(count);
  std::vector<std::vector<double>> single_prepared(count);
  std::vector<std::vector<double>> batch(count);
  const int64_t queries = data.queries.rows;
  std::vector<std::vector<int64_t>> ids(
      count, std::vector<int64_t>(static_cast<size_t>(queries * kResults)));
  for (int round = 0; round < options.rounds; ++round) {
    for (size_t i = 0; i < count; ++i) {
      const polar_filter filter = prepared[i].filter();
      single[i].push_back(index.search(as_filter(filters[i].bits), 1, ids[i].data()));
      batch[i].push_back(index.search(filter, queries, ids[i].data()));
      single_prepared[i].push_back(index.search(filter, 1, ids[i].data()));
    }
  }
  std::printf("%s%s\n", description.c_str(), own_ids ? ", rows with ids of the caller's" : "");
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

void measure_all(const Options& options) {
  const Data data = options.base.empty() ? make_data() : read_data(options.base, options.query);
  const int64_t rows = data.rows.rows;
  const auto share = [rows](double of) {
    return static_cast<int64_t>(std::lround(of * static_cast<double>(rows)));
  };
  std::vector<Kept> filters = {{"none", {}, rows},
                               keep_random("half", share(.5), rows),
                               keep_random("10 %", share(.1), rows),
                               keep_random("3 %", share(.03), rows),
                               keep_random("1 %", share(.01), rows),
                               keep_random(".1 %", share(.001), rows),
                               keep_random("64 rows", std::min<int64_t>(64, rows), rows),
                               keep_first("first half", share(.5), rows),
                               keep_alike("half alike", share(.5), data.rows),
                               keep_alike("10 % alike", share(.1), data.rows),
                               keep_alike("1 % alike", share(.01), data.rows)};
  Index exact("Flat", data, 0, 0, false);
  for (Kept& filter : filters) {
    filter.truth.resize(static_cast<size_t>(data.queries.rows * kResults));
    exact.search(as_filter(filter.bits), data.queries.rows, filter.truth.data());
  }
  for (const std::string& name : options.names) {
    measure(name, data, options, filters, false);
    if (!is_graph(name)) measure(name, data, options, filters, true);
  }
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app(
      "Searches with filters beside searches without, by one thread: their time as a share of that "
      "without, and their "
      "recall@10.");
  app.footer(
      "Examples:\n  polar-filters\n  polar-filters Polar4 IVF1024,Polar4 --nprobe 128\n"
      "  polar-filters --base base.npy --query query.npy HNSW32,Polar4 --ef 128");
  app.add_option("index", options.names, "index strings")->capture_default_str();
  CLI::Option* base =
      app.add_option("--base", options.base,
                     "rows of a file, instead of 117,659 synthetic ones of 384 dimensions: " +
                         polarquant::bench::float_formats());
  CLI::Option* query =
      app.add_option("--query", options.query, "queries of a file, the first 1,000");
  base->needs(query);
  query->needs(base);
  app.add_option("--nprobe", options.nprobe, "lists that an inverted file searches")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--ef", options.ef, "nodes that a graph keeps")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--rounds", options.rounds,
                 "each search is timed so often, in turns; the median counts")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  try {
    measure_all(options);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "polar-filters: %s\n", error.what());
    return 1;
  }
  return 0;
}
