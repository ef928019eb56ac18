// SPDX-License-Identifier: MIT
#include "src/scan/search/kept_list_search.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "src/scan/search/list_row_scorer.h"
#include "src/scan/search/plan.h"
#include "src/scan/search/query_groups.h"
#include "src/simd/exact_sums.h"

namespace polarquant {
namespace {

/// Makes of ŷ the vector of a row, in place, and returns its constant.
float make_linear(const Codec& codec, const ListCentre& centre, const RowTerms& terms, float* y) {
  const int dim = codec.dim();
  const float* c = centre.rotated;
  const float across = terms.scale * simd_exact_sums().dot_float(c, y, dim);
  float constant = 0;
  float centre_weight = 1;
  if (codec.metric() == Metric::l2) {
    constant = centre.norm * centre.norm + terms.constant - across;
    centre_weight = -2;
  } else if (codec.has_factors() && centre.norm > 0) {
    centre_weight += terms.constant / centre.norm - across / (centre.norm * centre.norm);
  }
  for (int j = 0; j < dim; ++j) y[j] = centre_weight * c[j] + terms.scale * y[j];
  return constant;
}

/// Scores rows that are kept: all, or those that vectors leave.
class KeptListSearch final : public QueryGroups {
 public:
  KeptListSearch(const InvertedFile& file, const KeptListRows& kept, const KeptVectors* vectors,
                 const SearchRequest& request, const SearchResult& result)
      : QueryGroups(file.codec, request, result, thread_count(request.threads, request.nq),
                    static_cast<double>(request.nq)),
        file_(file),
        vectors_(vectors),
        workers_(static_cast<size_t>(threads_)) {
    if (vectors == nullptr) kept.for_each([this](int64_t row) { all_.push_back(row); });
  }

  void run() { QueryGroups::run(kListGroupQueries); }

 private:
  struct Worker {
    explicit Worker(const InvertedFile& file) : scorer(file) {}

    ListRowScorer scorer;
    KeptVectors::Memory memory;
    std::vector<int64_t> candidates;
  };

  void search_group() override {
    prepare_queries();
    begin_parts(1, k());
    parallel_for(nq_, thread_count(threads_, nq_), [&](int64_t query, int thread) {
      auto& worker = workers_[static_cast<size_t>(thread)];
      if (worker == nullptr) worker = std::make_unique<Worker>(file_);
      const PreparedQuery& prepared = prepared_[static_cast<size_t>(query)];
      if (vectors_ != nullptr)
        vectors_->find_candidates(prepared, k(), &worker->memory, &worker->candidates);
      for (const int64_t row : vectors_ != nullptr ? worker->candidates : all_) {
        const float score = worker->scorer.score(prepared, row);
        best(0)[query].push({key_of_score(score, codec_.higher_is_nearer()), row});
      }
      progress_.advance(1);
    });
  }

  void finish(int64_t /*query*/, int /*thread*/, std::vector<Neighbor>* found) override {
    for (Neighbor& neighbor : *found)
      neighbor.id = file_.lists.ids(list_of_offset(neighbor.id))[row_of_offset(neighbor.id)];
  }

  const InvertedFile& file_;
  const KeptVectors* vectors_;
  std::vector<int64_t> all_;
  std::vector<std::unique_ptr<Worker>> workers_;
};

/// The rows of all lists that a request's filter keeps.
RowFilter ask_all_lists(const InvertedFile& file, const SearchRequest& request) {
  return request.filter.found(request.rows_state, [&] {
    return RowFilter(std::make_shared<KeptListRows>(file.lists, request.filter));
  });
}

}  // namespace

KeptVectors::KeptVectors(const InvertedFile& file, const KeptListRows& kept)
    : is_l2_(file.codec.metric() == Metric::l2),
      has_centres_(!file.centres.empty()),
      bytes_(std::max<int64_t>(kept.count(), 1), file.codec.dim()) {
  ListRowScorer rows(file);
  AlignedVector<float> y(static_cast<size_t>(file.codec.dim()));
  kept.for_each([&](int64_t row) {
    const RowTerms terms = rows.decode(row);
    std::copy_n(rows.decoded(), y.size(), y.data());
    float constant = terms.constant;
    if (has_centres_) {
      const ListCentre& centre = file.centres[static_cast<size_t>(list_of_offset(row))];
      constant = make_linear(file.codec, centre, terms, y.data());
    } else {
      for (float& value : y) value *= terms.scale;
    }
    bytes_.set(std::ssize(list_offsets_), y.data(), constant);
    list_offsets_.push_back(row);
  });
}

void KeptVectors::find_candidates(const PreparedQuery& query, int64_t k, Memory* memory,
                                  std::vector<int64_t>* list_offsets) const {
  list_offsets->clear();
  if (list_offsets_.empty()) return;
  const float sign = is_l2_ ? -1 : 1;
  const float weight = has_centres_ ? 1 : query.bias_weight;
  memory->values.assign(static_cast<size_t>(bytes_.padded_dim()), 0);
  memory->similarity.resize(bytes_.similarities());
  const ByteQuery rounded =
      bytes_.round_query(query.rotated.data(), 0, sign * weight, sign, memory->values.data());
  bytes_.score(rounded, memory->values.data(), 0, bytes_.tiles(), memory->similarity.data());
  bytes_.find_candidates(memory->similarity.data(), bytes_.margin(rounded),
                         std::min(k, bytes_.count()), &memory->numbers);
  for (const int64_t number : memory->numbers)
    list_offsets->push_back(list_offsets_[static_cast<size_t>(number)]);
}

KeptRowsSearch search_kept_rows(const InvertedFile& file, int64_t rows, SearchRequest* request,
                                const SearchResult& result) {
  const auto plan_for = [&, nprobe = request->options.nprobe](int64_t count) {
    return plan_kept_rows({nprobe, file.lists.count(), rows, count});
  };
  const bool calls_back = request->filter.calls_back();
  RowFilter filter;
  KeptRowsPlan plan;
  if (request->filter.is_prepared() || (!calls_back && request->nq > kQueriesBeforeCopy)) {
    filter = ask_all_lists(file, *request);
  } else {
    plan = plan_for(estimate_kept(file.lists, rows, request->filter));
    // For one search, too, that takes less than a search of most lists.
    if (!calls_back && plan.nprobe > file.lists.count() / 2) filter = ask_all_lists(file, *request);
  }
  const auto* kept = static_cast<const KeptListRows*>(filter.rule());
  if (kept != nullptr) plan = plan_for(kept->count());
  const bool may_leave_out = !request->goal.is_range && request->options.exactness < kScoreEveryRow;
  if (kept != nullptr && may_leave_out) {
    std::shared_ptr<const KeptVectors> vectors;
    if (plan.rounded) {
      vectors = kept->vectors().get(request->nq, kQueriesBeforeCopy,
                                    [&] { return std::make_unique<KeptVectors>(file, *kept); });
    }
    if (plan.scored || vectors != nullptr) {
      KeptListSearch(file, *kept, vectors.get(), *request, result).run();
      return {true, 0};
    }
  }
  if (kept != nullptr) request->filter = filter;
  if (!request->goal.is_range) request->options.nprobe = plan.nprobe;
  return {false, plan.wanted};
}

}  // namespace polarquant
