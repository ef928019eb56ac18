// SPDX-License-Identifier: MIT
#include "src/advice/advice.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <span>

#include "src/advice/advice_candidates.h"
#include "src/advice/advice_sample.h"
#include "src/advice/exact_search.h"
#include "src/advice/recall.h"
#include "src/codec/codec.h"
#include "src/core/parallel.h"
#include "src/scan/search/fast_codec_kernels.h"
#include "src/scan/search/measure_margins.h"
#include "src/scan/search/search_progress.h"
#include "src/scan/search/search_request.h"
#include "src/scan/stores/row_store.h"

namespace polarquant {
namespace {

/// Rows encoded between two reports of progress.
constexpr int64_t kEncodedRows = 2048;
/// Rows that the error is measured on: they tell it within 2 %.
constexpr int64_t kErrorRows = 1000;
constexpr int64_t kMostRows = int64_t{1} << 40;

/// Rough costs on one thread in nanoseconds, which only weigh the steps of progress: an exact
/// product, an encoded coordinate, and an element of a second moment.
constexpr double kExactNanoseconds = .2;
constexpr double kEncodeNanoseconds = 40;
constexpr double kMomentNanoseconds = .3;

void check_options(const AdviceOptions& options) {
  const AdviceWish& wish = options.wish;
  require(options.max_rows >= kLeastRowsPerNeighbour && options.max_rows <= kMostRows,
          StatusCode::bad_argument, "max_rows: {} is not allowed; {} to 2^40", options.max_rows,
          kLeastRowsPerNeighbour);
  require(options.max_queries >= kLeastQueries && options.max_queries <= kMostRows,
          StatusCode::bad_argument, "max_queries: {} is not allowed; {} to 2^40",
          options.max_queries, kLeastQueries);
  const int64_t most_k = options.max_rows / kLeastRowsPerNeighbour;
  require(wish.k >= 1 && wish.k <= most_k, StatusCode::bad_argument,
          "k: {} is not allowed; 1 to {}, a tenth of max_rows", wish.k, most_k);
  require(options.total_rows >= 0 && options.total_rows <= kMostRows, StatusCode::bad_argument,
          "total_rows: {} is not allowed; 0 (those of the sample) to 2^40", options.total_rows);
  // Written so that a NaN is refused too.
  require(wish.recall >= 0 && wish.recall <= 1, StatusCode::bad_argument,
          "wanted_recall: {} is not allowed; 0 (not given) to 1", wish.recall);
  require(wish.bytes >= 0 && std::isfinite(wish.bytes), StatusCode::bad_argument,
          "allowed_bytes: {} is not allowed; 0 (not given) or more", wish.bytes);
}

/// Exact neighbours of the queries, (nq, k), in the whole base and in its first quarter.
struct Truth {
  std::vector<int64_t> whole;
  std::vector<int64_t> quarter;
};

/// Measures one candidate after the other on one sample.
class Advisor {
 public:
  Advisor(Metric metric, const AdviceSample& sample, const AdviceOptions& options,
          size_t candidates)
      : metric_(metric),
        sample_(sample),
        options_(options),
        k_(options.wish.k),
        quarter_rows_(std::max(k_, sample.base_rows() / 4)),
        progress_(options.progress,
                  truth_work() + static_cast<double>(candidates) * candidate_work(), "advise") {}

  void find_truth() {
    truth_.whole = exact_neighbours(sample_.base_rows());
    truth_.quarter = exact_neighbours(quarter_rows_);
  }

  int64_t quarter_rows() const { return quarter_rows_; }

  /// *found: neighbours found for each query; empty where the code could not be measured.
  AdviceRow measure(const Spec& spec, std::vector<int64_t>* found) {
    AdviceRow row;
    row.spec = print_spec(spec);
    double left = candidate_work();
    try {
      *found = measure_candidate(spec, &left, &row);
    } catch (const Error& error) {
      if (error.code() == StatusCode::cancelled) throw;
      row.problem = error.what();
      progress_.advance(left);
    }
    return row;
  }

 private:
  double truth_work() const {
    return kExactNanoseconds * sample_.dim * static_cast<double>(sample_.nq()) *
           static_cast<double>(sample_.base_rows() + quarter_rows_);
  }
  double train_work() const {
    return kMomentNanoseconds * sample_.dim * sample_.dim *
           static_cast<double>(sample_.train_rows());
  }
  double encode_work(int64_t rows) const {
    return kEncodeNanoseconds * sample_.dim * static_cast<double>(rows);
  }
  double candidate_work() const { return train_work() + encode_work(sample_.base_rows()); }

  std::vector<int64_t> exact_neighbours(int64_t rows) {
    std::vector<int64_t> ids(static_cast<size_t>(sample_.nq() * k_));
    const double work = kExactNanoseconds * sample_.dim * static_cast<double>(rows);
    exact_search(
        {metric_, sample_.dim, rows, sample_.base.data(), sample_.nq(), sample_.queries.data()}, k_,
        options_.threads,
        [&](int64_t queries) { progress_.advance(work * static_cast<double>(queries)); },
        ids.data());
    return ids;
  }

  std::vector<int64_t> measure_candidate(const Spec& spec, double* left, AdviceRow* row) {
    const auto advance = [&](double work) {
      *left -= work;
      progress_.advance(work);
    };
    CodecOptions codec_options;
    codec_options.seed = options_.seed;
    Codec codec(spec, sample_.dim, metric_, codec_options);
    codec.use_kernels(fast_codec_kernels());
    row->needs_training = !codec.is_trained();
    row->bytes = static_cast<double>(codec.layout().group_bytes) / codec.layout().group_rows;
    codec.train(sample_.train_rows(), sample_.train.data(), measure_margins);
    advance(train_work());

    const std::unique_ptr<RowStore> store = RowStore::make(codec);
    for (int64_t first = 0; first < sample_.base_rows(); first += kEncodedRows) {
      const int64_t rows = std::min(kEncodedRows, sample_.base_rows() - first);
      append(codec, sample_.base.data() + first * sample_.dim, rows, store.get());
      advance(encode_work(rows));
    }
    row->codec_bytes = codec.memory_bytes();
    row->error = coding_error(codec, *store);
    std::vector<int64_t> found = search(codec, *store, {}, truth_.whole);
    row->recall = mean_recall(found, k_);
    const RowFilter in_quarter = [this](int64_t id) { return id < quarter_rows_; };
    row->quarter_recall = mean_recall(search(codec, *store, in_quarter, truth_.quarter), k_).mean;
    return found;
  }

  /// Rows are numbered in the order they were drawn in, which tells the caller nothing.
  void append(const Codec& codec, const float* x, int64_t rows, RowStore* store) const {
    try {
      store->append(codec, rows, x, options_.threads);
    } catch (const Error& error) {
      fail(error.code(), "a row that was drawn cannot be coded: {}", error.what());
    }
  }

  /// Neighbours found for each query.
  std::vector<int64_t> search(const Codec& codec, const RowStore& store, const RowFilter& filter,
                              const std::vector<int64_t>& truth) const {
    std::vector<float> scores(truth.size());
    std::vector<int64_t> ids(truth.size());
    store.search(codec,
                 {.nq = sample_.nq(),
                  .queries = sample_.queries.data(),
                  .goal = SearchGoal::best(k_),
                  .filter = filter,
                  .threads = options_.threads},
                 {scores.data(), ids.data()});
    std::vector<int64_t> found;
    const auto k = static_cast<size_t>(k_);
    const float* query = sample_.queries.data();
    for (size_t first = 0; first < ids.size(); first += k, query += sample_.dim) {
      found.push_back(neighbours_found(std::span(ids).subspan(first, k),
                                       std::span(truth).subspan(first, k),
                                       [&](int64_t row) { return cost(query, row); }));
    }
    return found;
  }

  double cost(const float* query, int64_t row) const {
    return exact_cost(metric_, sample_.dim, query, sample_.base.data() + row * sample_.dim);
  }

  double coding_error(const Codec& codec, const RowStore& store) const {
    const int64_t rows = std::min(kErrorRows, sample_.base_rows());
    std::vector<double> errors(static_cast<size_t>(rows));
    parallel_for(rows, thread_count(options_.threads, rows), [&](int64_t row, int) {
      std::vector<float> decoded(static_cast<size_t>(sample_.dim));
      store.decode(codec, row, 1, Reconstruction::unbiased, decoded.data());
      const float* x = sample_.base.data() + row * sample_.dim;
      double error = 0;
      double length = 0;
      for (size_t j = 0; j < decoded.size(); ++j) {
        error += std::pow(double{decoded[j]} - x[j], 2);
        length += std::pow(double{x[j]} - codec.centre()[j], 2);
      }
      errors[static_cast<size_t>(row)] = length > 0 ? error / length : 0;
    });
    double sum = 0;
    for (const double error : errors) sum += error;
    return sum / static_cast<double>(rows);
  }

  Metric metric_;
  const AdviceSample& sample_;
  const AdviceOptions& options_;
  int64_t k_;
  int64_t quarter_rows_;
  SearchProgress progress_;
  Truth truth_;
};

std::vector<std::string> names_of(const AdviceOptions& options) {
  if (!options.specs.empty()) return options.specs;
  const std::span<const char* const> names = advice_candidates();
  return {names.begin(), names.end()};
}

/// Decides for each trained code whether it gains recall that noise does not explain; found[i] is
/// what rows[i] found for each query.
void judge_training(std::span<const Spec> specs, const std::vector<std::vector<int64_t>>& found,
                    int64_t k, std::vector<AdviceRow>* rows) {
  for (size_t i = 0; i < specs.size(); ++i) {
    const Spec untrained = untrained_counterpart(specs[i]);
    if (specs[i] == untrained) continue;
    const auto at =
        static_cast<size_t>(std::find(specs.begin(), specs.end(), untrained) - specs.begin());
    if (found[i].empty() || found[at].empty()) continue;
    AdviceRow& row = (*rows)[i];
    row.gain = mean_gain(found[i], found[at], k);
    row.pays = row.gain->mean > row.gain->margin;
  }
}

}  // namespace

Advice advise(const RowsAndQueries& vectors, const AdviceOptions& options) {
  check_options(options);
  std::vector<Spec> specs = candidate_specs(names_of(options));
  const AdviceSample sample =
      split_sample(vectors, {options.wish.k, options.max_rows, options.max_queries, options.seed});
  if (options.specs.empty()) {
    const std::vector<Spec> few =
        candidate_specs(few_bytes_candidates(vectors.dim, options.wish.bytes, sample.train_rows()));
    specs.insert(specs.begin(), few.begin(), few.end());
  }
  Advisor advisor(vectors.metric, sample, options, specs.size());
  advisor.find_truth();

  Advice advice;
  std::vector<std::vector<int64_t>> found(specs.size());
  for (size_t i = 0; i < specs.size(); ++i)
    advice.rows.push_back(advisor.measure(specs[i], &found[i]));
  judge_training(specs, found, options.wish.k, &advice.rows);
  advice.total_rows = options.total_rows > 0 ? options.total_rows : vectors.n;
  expect_recall(advisor.quarter_rows(), sample.base_rows(), advice.total_rows, &advice.rows);
  advice.choice = choose(vectors.dim, options.wish, advice.rows);
  advice.queries = sample.nq();
  advice.held_out_queries = sample.held_out_queries;
  advice.train_rows = sample.train_rows();
  advice.base_rows = sample.base_rows();
  return advice;
}

}  // namespace polarquant
