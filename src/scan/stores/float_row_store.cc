// SPDX-License-Identifier: MIT
#include "src/scan/stores/float_row_store.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "src/core/checked_size.h"
#include "src/scan/layout/row_removal.h"
#include "src/scan/search/query_tasks.h"
#include "src/scan/search/search_progress.h"
#include "src/scan/search/search_request.h"
#include "src/scan/search/top_k.h"
#include "src/scan/stores/mapped_row_store.h"
#include "src/simd/simd_codec_kernels.h"

namespace polarquant {
namespace {

constexpr double kMaxQueryNorm = 0x1p63;

void require_vector(const char* name, int64_t row, const float* x, int dim, double most) {
  const double norm = std::sqrt(simd_codec_kernels().dot_exact(x, x, dim));
  // Written so that a NaN is refused too.
  require(norm <= most, StatusCode::bad_argument,
          "{}: row {}: its norm is {:.6g}; 0 to {:.6g} are allowed", name, row, norm, most);
}

/// Scores of pairs of vectors; for one thread.
class PairScores {
 public:
  explicit PairScores(const Codec& codec)
      : l2_(codec.metric() == Metric::l2),
        dim_(codec.dim()),
        kernels_(simd_codec_kernels()),
        difference_(static_cast<size_t>(codec.dim())) {}

  float operator()(const float* a, const float* b) {
    if (!l2_) return kernels_.dot_float(a, b, dim_);
    kernels_.subtract_multiple(a, 1, b, dim_, difference_.data());
    return kernels_.dot_float(difference_.data(), difference_.data(), dim_);
  }

 private:
  bool l2_;
  int dim_;
  CodecKernels kernels_;
  AlignedVector<float> difference_;
};

class FloatRowScorer final : public RowScorer {
 public:
  FloatRowScorer(const Codec& codec, const RowStore& rows)
      : codec_(codec), rows_(rows), scores_(codec) {}

  void set_query(const float* q, float /*exactness*/) override {
    require_vector("query", 0, q, codec_.dim(), kMaxQueryNorm);
    query_.assign(q, q + codec_.dim());
  }
  void score(const int32_t* rows, int count, float* scores) override {
    for (int i = 0; i < count; ++i) scores[i] = exact_score(rows[i]);
  }
  float exact_score(int64_t row) override { return scores_(query_.data(), at(row)); }
  void score_rows(int64_t row, const int32_t* others, int count, float* scores) override {
    for (int i = 0; i < count; ++i) scores[i] = scores_(at(row), at(others[i]));
  }
  void forget_chosen() override { chosen_.clear(); }
  bool is_near_chosen(int32_t row, float key) override {
    asked_ = row;
    return std::any_of(chosen_.begin(), chosen_.end(), [&](int32_t chosen) {
      return key_of_score(scores_(at(row), at(chosen)), codec_.higher_is_nearer()) < key;
    });
  }
  void choose() override { chosen_.push_back(asked_); }

 private:
  const float* at(int64_t row) const { return rows_.floats().data() + row * codec_.dim(); }

  const Codec& codec_;
  const RowStore& rows_;
  PairScores scores_;
  AlignedVector<float> query_;
  std::vector<int32_t> chosen_;
  int32_t asked_ = -1;
};

class FloatRowStore final : public RowStore {
 public:
  FloatRowStore(int dim, std::vector<float> rows, bool read_only)
      : dim_(dim), values_(std::move(rows)), read_only_(read_only) {}

  int64_t rows() const override { return std::ssize(values_) / dim_; }
  size_t memory_bytes() const override { return values_.capacity() * sizeof(float); }
  bool is_mapped() const override { return read_only_; }
  bool holds_floats() const override { return true; }
  std::span<const float> floats() const override { return values_; }

  void append(const Codec& /*codec*/, int64_t n, const float* x, int /*threads*/) override {
    if (read_only_) refuse_change_of_mapped();
    require(n >= 0, StatusCode::bad_argument, "n: {} rows are not allowed; 0 or more", n);
    require_float_rows(dim_, n, x);
    values_.insert(values_.end(), x, x + n * dim_);
  }
  void clear() noexcept override { values_.clear(); }
  void replace(const Codec& /*codec*/, std::span<const int64_t> rows, const float* x,
               int /*threads*/) override {
    if (read_only_) refuse_change_of_mapped();
    require_float_rows(dim_, std::ssize(rows), x);
    for (const int64_t row : rows) {
      std::copy_n(x, dim_, values_.begin() + row * dim_);
      x += dim_;
    }
  }
  void remove(const Codec& /*codec*/, std::span<const uint64_t> removed) override {
    if (read_only_) refuse_change_of_mapped();
    auto kept = values_.begin();
    for (int64_t row = 0; row < rows(); ++row) {
      if (!is_removed(removed, row)) kept = std::copy_n(values_.begin() + row * dim_, dim_, kept);
    }
    values_.erase(kept, values_.end());
  }

  void swap_remove(const Codec& codec, std::span<const int64_t> rows) override {
    for (const int64_t row : rows) remove_row(codec, row, this->rows() - 1);
  }
  void remove_row(const Codec& /*codec*/, int64_t row, int64_t heir) override {
    if (read_only_) refuse_change_of_mapped();
    const auto at = [this](int64_t i) { return values_.begin() + i * dim_; };
    const int64_t last = rows() - 1;
    if (heir != row) std::copy(at(heir), at(heir + 1), at(row));
    if (last != heir) std::copy(at(last), at(last + 1), at(heir));
    values_.erase(at(last), values_.end());
  }

  Mark mark(const Codec& /*codec*/) const override { return {rows(), {}}; }
  void go_back_to(const Codec& /*codec*/, const Mark& mark) noexcept override {
    values_.erase(values_.begin() + mark.rows * dim_, values_.end());
  }

  void search(const Codec& codec, const SearchRequest& request,
              const SearchResult& result) const override {
    ResultWriter results(request, codec.higher_is_nearer(), result);
    SearchProgress progress(request.progress, static_cast<double>(request.nq));
    results.set_kept(results.k());
    results.begin_group(request.nq);
    for_some_queries(request.nq, request.threads, [&](int64_t first, int64_t count, int) {
      progress.advance(static_cast<double>(count));
      PairScores scores(codec);
      for (int64_t q = first; q < first + count; ++q) {
        const float* query = request.queries + q * dim_;
        require_vector("queries", q, query, dim_, kMaxQueryNorm);
        TopK best = results.collector(q, results.k());
        request.filter.for_each(0, rows(), [&](int64_t row) {
          best.push({key_of_score(scores(query, at(row)), codec.higher_is_nearer()), row});
        });
        std::vector<Neighbor> found = best.neighbors();
        results.write(0, q, found);
      }
    });
    results.end_group();
  }
  void decode(const Codec& /*codec*/, int64_t first, int64_t count, Reconstruction /*kind*/,
              float* x) const override {
    std::copy_n(values_.begin() + first * dim_, count * dim_, x);
  }
  std::unique_ptr<RowScorer> make_scorer(const Codec& codec) const override {
    return std::make_unique<FloatRowScorer>(codec, *this);
  }

  void get(const Codec& /*codec*/, int64_t /*row*/, uint8_t* /*code*/) const override {
    fail_uncoded();
  }
  void append_codes(const Codec& /*codec*/, int64_t /*n*/, const uint8_t* /*codes*/) override {
    fail_uncoded();
  }
  RowTerms decode_for_score(const Codec& /*codec*/, int64_t /*row*/, float* /*y*/) const override {
    fail_uncoded();
  }
  // Codes come from get() or an encoder, whose callers ask holds_floats() first.
  void overwrite(const Codec& /*codec*/, int64_t /*row*/,
                 const uint8_t* /*code*/) noexcept override {}

 private:
  const float* at(int64_t row) const { return values_.data() + row * dim_; }

  [[noreturn]] static void fail_uncoded() {
    fail(StatusCode::internal, "index: its rows are not coded yet");
  }

  int dim_;
  std::vector<float> values_;  // (rows, dim)
  bool read_only_;
};

}  // namespace

void require_float_rows(int dim, int64_t n, const float* x) {
  for (int64_t row = 0; row < n; ++row) require_vector("x", row, x + row * dim, dim, kMaxRowNorm);
}

std::unique_ptr<RowStore> make_float_row_store(int dim, std::vector<float> rows, bool read_only) {
  return std::make_unique<FloatRowStore>(dim, std::move(rows), read_only);
}

}  // namespace polarquant
