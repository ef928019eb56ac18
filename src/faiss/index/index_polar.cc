// SPDX-License-Identifier: MIT
// IndexPolar: checks FAISS callers' arguments and keeps rows, ids and codec in step. The RowStore
// has the codes and their search, the Codec the maths.
#include <faiss/impl/AuxIndexStructures.h>  // RangeSearchResult

#include <algorithm>
#include <functional>
#include <limits>

#include "polarquant/faiss.h"
#include "src/codec/codec.h"
#include "src/core/parallel.h"
#include "src/faiss/foreign/faiss_compat.h"
#include "src/faiss/foreign/faiss_error.h"
#include "src/faiss/foreign/faiss_metric.h"
#include "src/faiss/index/coded_rows.h"
#include "src/faiss/index/index_options.h"
#include "src/faiss/index/range_result.h"
#include "src/faiss/index/row_checks.h"
#include "src/faiss/index/row_ids.h"
#include "src/faiss/index/search_parameters.h"
#include "src/scan/search/fast_codec_kernels.h"
#include "src/scan/search/filter_rules.h"
#include "src/scan/search/plan.h"
#include "src/scan/stores/row_store.h"

namespace polarquant {
namespace {

/// Rows decoded by one task of reconstruct_n and sa_decode.
constexpr int64_t kDecodeChunk = 256;

/// decode(first, count, x) for all of `count` rows, in parallel.
template <typename Decode>
void decode_rows(int64_t count, const Decode& decode) {
  const int64_t chunks = (count + kDecodeChunk - 1) / kDecodeChunk;
  parallel_for(chunks, thread_count(0, chunks), [&](int64_t chunk, int) {
    const int64_t begin = chunk * kDecodeChunk;
    decode(begin, std::min(kDecodeChunk, count - begin));
  });
}

class PolarDistanceComputer : public ::faiss::DistanceComputer {
 public:
  explicit PolarDistanceComputer(std::unique_ptr<RowScorer> scorer) : scorer_(std::move(scorer)) {}

  void set_query(const float* x) override {
    with_faiss_errors([&] { scorer_->set_query(x, kScoreEveryRow); });
  }
  float operator()(idx_t i) override {
    const auto row = static_cast<int32_t>(i);
    float score = 0;
    scorer_->score(&row, 1, &score);
    return score;
  }
  float symmetric_dis(idx_t i, idx_t j) override {
    // Callers compare one row with many, and that one is the first or the second.
    if (i != compared_ && j != compared_) compared_ = i == last_first_ ? i : j;
    last_first_ = i;
    const auto other = static_cast<int32_t>(i == compared_ ? j : i);
    float score = 0;
    scorer_->score_rows(compared_, &other, 1, &score);
    return score;
  }
  // An override where FAISS has it, from 1.8 on.
  virtual void distances_batch_4(const idx_t i0, const idx_t i1, const idx_t i2, const idx_t i3,
                                 float& s0, float& s1, float& s2, float& s3) {
    const int32_t rows[] = {static_cast<int32_t>(i0), static_cast<int32_t>(i1),
                            static_cast<int32_t>(i2), static_cast<int32_t>(i3)};
    float scores[4];
    scorer_->score(rows, 4, scores);
    s0 = scores[0], s1 = scores[1], s2 = scores[2], s3 = scores[3];
  }

 protected:
  std::unique_ptr<RowScorer> scorer_;

 private:
  idx_t compared_ = -1;
  idx_t last_first_ = -1;
};

/// For an index whose rows are floats, and may become codes meanwhile.
class HeldRowsDistanceComputer final : public PolarDistanceComputer {
 public:
  explicit HeldRowsDistanceComputer(const IndexPolar& index)
      : PolarDistanceComputer(index.codes().make_scorer(index.codec())), index_(index) {}

  void set_query(const float* x) override {
    query_.assign(x, x + index_.d);
    follow();
    PolarDistanceComputer::set_query(x);
  }
  float operator()(idx_t i) override {
    follow();
    return PolarDistanceComputer::operator()(i);
  }
  float symmetric_dis(idx_t i, idx_t j) override {
    follow();
    return PolarDistanceComputer::symmetric_dis(i, j);
  }
  void distances_batch_4(const idx_t i0, const idx_t i1, const idx_t i2, const idx_t i3, float& s0,
                         float& s1, float& s2, float& s3) override {
    follow();
    PolarDistanceComputer::distances_batch_4(i0, i1, i2, i3, s0, s1, s2, s3);
  }

 private:
  void follow() {
    if (!has_floats_ || index_.codes().holds_floats()) return;
    scorer_ = index_.codes().make_scorer(index_.codec());
    has_floats_ = false;
    if (!query_.empty()) PolarDistanceComputer::set_query(query_.data());
  }

  const IndexPolar& index_;
  std::vector<float> query_;
  bool has_floats_ = true;
};

}  // namespace

IndexPolar::IndexPolar(int dim, const std::string& spec, ::faiss::MetricType metric)
    : IndexPolar(dim, spec, metric, Options{}) {}

IndexPolar::IndexPolar(int dim, const std::string& spec, ::faiss::MetricType metric,
                       const Options& options)
    : Index(dim, metric), options_(options), ids_(std::make_unique<RowIds>()) {
  with_faiss_errors([&] {
    spec_ = print_spec(parse_spec(spec));
    codec_ = std::make_unique<Codec>(parse_spec(spec_), d, codec_metric(metric_type),
                                     codec_options(options_));
    codec_->use_kernels(fast_codec_kernels());
    codes_ = make_store();
    if (options_.record_links != 0) lay_out_records(options_.record_links);
    is_trained = codec_->is_trained();
  });
}

IndexPolar::IndexPolar(int dim, ::faiss::MetricType metric)
    : Index(dim, metric), ids_(std::make_unique<RowIds>()) {}

IndexPolar::~IndexPolar() = default;

std::string IndexPolar::spec() const { return spec_; }

size_t IndexPolar::memory_bytes() const {
  return codec_->memory_bytes() + codes_->memory_bytes() + ids_->memory_bytes();
}

const std::vector<idx_t>& IndexPolar::ids() const { return ids_->all(); }

bool IndexPolar::has_id(idx_t id) const {
  return ids_->empty() ? id >= 0 && id < ntotal : ids_->row_of(id) >= 0;
}

CodedRows IndexPolar::encode_rows(idx_t n, const float* x) const {
  CodedRows coded;
  with_faiss_errors([&] {
    if (codes_->holds_floats() || codec_->layout().group_rows != 1 || codes_->is_mapped()) return;
    require_rows("add", n, d, x);
    require_trained("add", *codec_);
    coded.codes.resize(codec_->layout().bytes(n));
    codec_->encode(n, x, coded.codes.data(), 0);
  });
  return coded;
}

void IndexPolar::append(const char* call, idx_t n, const float* x, const CodedRows& coded) {
  require_writable(call, *codes_);
  if (coded.empty()) require_rows(call, n, d, x);
  require_trained(call, *codec_);
  append_rows(n, x, coded);
}

void IndexPolar::add(idx_t n, const float* x) { add_rows(n, x, nullptr, {}); }

void IndexPolar::add_with_ids(idx_t n, const float* x, const idx_t* xids) {
  with_faiss_errors([&] {
    require(n == 0 || (n > 0 && xids != nullptr), StatusCode::bad_argument,
            "add_with_ids: n is {}, xids is {}; n ids are needed, n at least 0", n,
            xids == nullptr ? "null" : "given");
  });
  add_rows(n, x, xids, {});
}

void IndexPolar::add_rows(idx_t n, const float* x, const idx_t* xids, const CodedRows& coded) {
  with_faiss_errors([&] {
    if (n == 0) return;
    if (xids == nullptr) {
      require(ids_->empty(), StatusCode::bad_argument,
              "add: the index holds rows with ids of their own; only add_with_ids can follow");
      append("add", n, x, coded);
      return;
    }
    require(ntotal == 0 || !ids_->empty(), StatusCode::bad_argument,
            "add_with_ids: the index holds rows without ids of their own; only add can follow");
    require_writable("add_with_ids", *codes_);  // whose ids have no table
    const auto before = static_cast<size_t>(ntotal);
    checked_add(before, n, "ids");
    try {
      ids_->reserve(static_cast<size_t>(n));
      for (idx_t i = 0; i < n; ++i) {
        require(xids[i] >= 0, StatusCode::bad_argument,
                "add_with_ids: xids[{}] is {}; ids of 0 and above are allowed", i, xids[i]);
        require(
            ids_->append(xids[i]), StatusCode::bad_argument,
            "add_with_ids: xids[{}] is {}, which the index or xids has already; ids must differ", i,
            xids[i]);
      }
      append("add_with_ids", n, x, coded);
    } catch (...) {
      ids_->truncate(before);
      throw;
    }
  });
}

void IndexPolar::search_rows(const SearchRequest& request, const SearchResult& result) const {
  const char* call = request.goal.is_range ? "range_search" : "search";
  require_rows(call, request.nq, d, request.queries);
  require_trained(call, *codec_);
  const RowFilter& filter = request.filter;
  const bool has_ids = !ids_->empty();
  if (!has_ids && !asks_for_all_rows(request)) {
    codes_->search(*codec_, request, result);
    return;
  }
  SearchRequest row_request = request;
  if (!has_ids) {
    row_request.filter =
        filter.found(request.rows_state, [&] { return kept_rows(filter, ntotal); });
    codes_->search(*codec_, row_request, result);
    return;
  }
  RowOfId row_of;
  if (ids_->looks_up()) row_of = [this](int64_t id) { return ids_->row_of(id); };
  row_request.filter =
      filter.found(request.rows_state, [&] { return all_rows_of_ids(filter, ids(), row_of); });
  codes_->search(*codec_, row_request, result);
  replace_ids(request, result, [this](int64_t row) { return (*ids_)[row]; });
}

void IndexPolar::search(idx_t n, const float* x, idx_t k, float* distances, idx_t* labels,
                        const ::faiss::SearchParameters* params) const {
  with_faiss_errors([&] {
    require(k >= 1, StatusCode::bad_argument, "search: k is {}; at least 1 is needed", k);
    search_rows(make_request(n, x, SearchGoal::best(k), params, exactness), {distances, labels});
  });
}

void IndexPolar::range_search(idx_t n, const float* x, float radius,
                              ::faiss::RangeSearchResult* result,
                              const ::faiss::SearchParameters* params) const {
  with_faiss_errors([&] {
    require_range_result(n, result);
    RangeFound found;
    search_rows(make_request(n, x, SearchGoal::within(radius), params, exactness), &found);
    write_range_result(found, result);
  });
}

idx_t IndexPolar::row_of(const char* call, idx_t key) const {
  if (ids_->empty()) {
    require(key >= 0 && key < ntotal, StatusCode::not_found,
            "{}: id {} is not in the index, which holds {} rows, ids from 0 on", call, key, ntotal);
    return key;
  }
  const idx_t row = ids_->row_of(key);
  require(row >= 0, StatusCode::not_found, "{}: id {} is not in the index, which holds {} rows",
          call, key, ntotal);
  return row;
}

void IndexPolar::reconstruct(idx_t key, float* recons) const {
  with_faiss_errors([&] {
    codes_->decode(*codec_, row_of("reconstruct", key), 1, Reconstruction::least_error, recons);
  });
}

void IndexPolar::reconstruct_n(idx_t i0, idx_t ni, float* recons) const {
  with_faiss_errors([&] {
    require(ni >= 0, StatusCode::bad_argument, "reconstruct_n: ni is {}; at least 0 is needed", ni);
    if (ni == 0) return;
    require(i0 >= 0 && ni - 1 <= std::numeric_limits<idx_t>::max() - i0, StatusCode::bad_argument,
            "reconstruct_n: i0 is {}, ni is {}; ids of 0 to 2^63-1 are allowed", i0, ni);
    if (ids_->empty()) {
      row_of("reconstruct", i0 + (ni - 1));
      decode_rows(ni, [&](int64_t first, int64_t count) {
        codes_->decode(*codec_, i0 + first, count, Reconstruction::least_error, recons + first * d);
      });
      return;
    }
    std::vector<idx_t> rows;
    for (idx_t i = 0; i < ni; ++i) rows.push_back(row_of("reconstruct", i0 + i));
    parallel_for(ni, thread_count(0, ni), [&](int64_t i, int) {
      codes_->decode(*codec_, rows[static_cast<size_t>(i)], 1, Reconstruction::least_error,
                     recons + i * d);
    });
  });
}

void IndexPolar::reset() {
  with_faiss_errors([&] {
    require_writable("reset", *codes_);
    codes_->clear();
    ids_->clear();
    ntotal = 0;
  });
}

::faiss::DistanceComputer* IndexPolar::get_distance_computer() const {
  return with_faiss_errors([&]() -> ::faiss::DistanceComputer* {
    require_trained("get_distance_computer", *codec_);
    if (codes_->holds_floats()) return new HeldRowsDistanceComputer(*this);
    return new PolarDistanceComputer(codes_->make_scorer(*codec_));
  });
}

size_t IndexPolar::sa_code_size() const {
  return with_faiss_errors([&] {
    require_row_codes("sa_code_size", *codec_);
    return codec_->layout().group_bytes;
  });
}

void IndexPolar::sa_encode(idx_t n, const float* x, uint8_t* bytes) const {
  with_faiss_errors([&] {
    require_row_codes("sa_encode", *codec_);
    require_rows("sa_encode", n, d, x);
    require_trained("sa_encode", *codec_);
    codec_->encode(n, x, bytes, 0);
  });
}

void IndexPolar::sa_decode(idx_t n, const uint8_t* bytes, float* x) const {
  with_faiss_errors([&] {
    require_row_codes("sa_decode", *codec_);
    require_trained("sa_decode", *codec_);
    require(n >= 0, StatusCode::bad_argument, "sa_decode: n is {}; at least 0 is needed", n);
    decode_rows(n, [&](int64_t first, int64_t count) {
      codec_->decode(CodeRows{bytes, n}, first, count, Reconstruction::least_error, x + first * d);
    });
  });
}

}  // namespace polarquant
