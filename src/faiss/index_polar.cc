// SPDX-License-Identifier: MIT
// IndexPolar: checks FAISS callers' arguments and keeps rows, ids and codec in step. The codes are
// the RowStore's, with their search, the maths the Codec's.
#include <algorithm>
#include <cmath>
#include <limits>

#include "polarquant/faiss.h"
#include "src/codec/codec.h"
#include "src/core/checked_size.h"
#include "src/core/parallel.h"
#include "src/faiss/faiss_compat.h"
#include "src/faiss/faiss_error.h"
#include "src/faiss/faiss_metric.h"
#include "src/faiss/index_polar_mark.h"
#include "src/scan/row_store.h"
#include "src/scan/simd_codec_kernels.h"

namespace polarquant {
namespace {

/// Rows decoded by one task of reconstruct_n and sa_decode.
constexpr int64_t kDecodeChunk = 256;

/// n rows of d floats, each finite; the text names the first row that is not.
void require_rows(const char* call, int64_t n, int d, const float* x) {
  require(n >= 0, StatusCode::bad_argument, "{}: n is {}; at least 0 rows are needed", call, n);
  const size_t count = checked_mul(n, d, "n x d floats");
  checked_mul(count, sizeof(float), "bytes of n x d floats");
  require(n == 0 || x != nullptr, StatusCode::bad_argument, "{}: x is null; {} rows are needed",
          call, n);
  for (size_t i = 0; i < count; ++i) {
    if (std::isfinite(x[i])) continue;
    fail(StatusCode::bad_argument,
         "{}: row {} of x has {} at coordinate {}; finite numbers are needed", call,
         i / static_cast<size_t>(d), x[i], i % static_cast<size_t>(d));
  }
}

/// decode(first, count, x) for all of `count` rows, in parallel.
template <typename Decode>
void decode_rows(int64_t count, const Decode& decode) {
  const int64_t chunks = (count + kDecodeChunk - 1) / kDecodeChunk;
  parallel_for(chunks, thread_count(0, chunks), [&](int64_t chunk, int) {
    const int64_t begin = chunk * kDecodeChunk;
    decode(begin, std::min(kDecodeChunk, count - begin));
  });
}

/// A row has no code of its own where rows are coded in groups.
void require_row_codes(const char* call, const Codec& codec) {
  require(codec.layout().group_rows == 1, StatusCode::unsupported,
          "{}: {} codes {} rows together, so that a row has no code of its own; add, search and "
          "reconstruct work",
          call, print_spec(codec.spec()), codec.layout().group_rows);
}

void require_trained(const char* call, const Codec& codec) {
  require(codec.is_trained(), StatusCode::not_trained, "{}: {} is not trained; call train first",
          call, print_spec(codec.spec()));
}

void require_writable(const char* call, const RowStore& codes) {
  require(!codes.is_mapped(), StatusCode::unsupported,
          "{}: the index is memory-mapped and cannot be changed; read it without memory_map, or "
          "clone it",
          call);
}

class PolarDistanceComputer final : public ::faiss::DistanceComputer {
 public:
  PolarDistanceComputer(const Codec& codec, const RowStore& codes)
      : codec_(codec), codes_(codes), row_(static_cast<size_t>(codec.dim())) {}

  void set_query(const float* x) override {
    with_faiss_errors([&] { query_ = codec_.prepare_query(x); });
  }
  float operator()(idx_t i) override {
    const RowTerms terms = codes_.decode_for_score(codec_, i, row_.data());
    return codec_.score_decoded(query_, terms, row_.data());
  }
  float symmetric_dis(idx_t i, idx_t j) override { return codes_.score_codes(codec_, i, j); }

 private:
  const Codec& codec_;
  const RowStore& codes_;
  PreparedQuery query_;
  AlignedVector<float> row_;
};

}  // namespace

IndexPolar::IndexPolar(int dim, const std::string& spec, ::faiss::MetricType metric)
    : IndexPolar(dim, spec, metric, Options{}) {}

IndexPolar::IndexPolar(int dim, const std::string& spec, ::faiss::MetricType metric,
                       const Options& options)
    : Index(dim, metric), options_(options) {
  with_faiss_errors([&] {
    spec_ = print_spec(parse_spec(spec));
    codec_ = make_codec();
    codes_ = RowStore::make(*codec_);
    is_trained = codec_->is_trained();
  });
}

IndexPolar::IndexPolar(int dim, ::faiss::MetricType metric) : Index(dim, metric) {}

IndexPolar::~IndexPolar() = default;

std::unique_ptr<Codec> IndexPolar::make_codec() const {
  CodecOptions options;
  options.seed = options_.seed;
  options.centre = options_.centre;
  options.learn_centre = options_.learn_centre;
  options.norm_unit = options_.norm_unit;
  auto codec = std::make_unique<Codec>(parse_spec(spec_), d, codec_metric(metric_type), options);
  codec->use_kernels(simd_codec_kernels());
  return codec;
}

std::string IndexPolar::spec() const { return spec_; }

size_t IndexPolar::memory_bytes() const {
  // A node of the map: its link, key and value, and the allocator's own word.
  constexpr size_t kNodeBytes = 2 * sizeof(void*) + 2 * sizeof(idx_t);
  return codec_->memory_bytes() + codes_->memory_bytes() + ids_.capacity() * sizeof(idx_t) +
         row_of_id_.bucket_count() * sizeof(void*) + row_of_id_.size() * kNodeBytes;
}

void IndexPolar::train(idx_t n, const float* x) {
  with_faiss_errors([&] {
    require_writable("train", *codes_);
    require_rows("train", n, d, x);
    codec_->train(n, x);
    // A trained plan says where signs are.
    codes_ = RowStore::make(*codec_);
    is_trained = codec_->is_trained();
  });
}

void IndexPolar::append(const char* call, idx_t n, const float* x) {
  require_writable(call, *codes_);
  require_rows(call, n, d, x);
  require_trained(call, *codec_);
  const Mark before = mark();
  try {
    if (ntotal == 0) codec_->adopt_first_rows(n, x);
    codes_->append(*codec_, n, x, 0);
  } catch (...) {
    go_back_to(before);
    throw;
  }
  ntotal = codes_->rows();
}

IndexPolar::Mark IndexPolar::mark() const {
  return {codec_->origin() == StateOrigin::initial, codes_->mark(*codec_)};
}

void IndexPolar::go_back_to(const Mark& before) {
  codes_->go_back_to(*codec_, before.codes);
  ntotal = codes_->rows();
  if (ids_.size() > static_cast<size_t>(ntotal)) {
    for (size_t i = static_cast<size_t>(ntotal); i < ids_.size(); ++i) row_of_id_.erase(ids_[i]);
    ids_.resize(static_cast<size_t>(ntotal));
  }
  // The codec adopted the rows that are gone: nothing else was ever coded, so that a new one is
  // what was here before.
  if (before.initial_codec && codec_->origin() != StateOrigin::initial) codec_ = make_codec();
}

void IndexPolar::add(idx_t n, const float* x) {
  with_faiss_errors([&] {
    if (n == 0) return;
    require(ids_.empty(), StatusCode::bad_argument,
            "add: the index holds rows with ids of their own; only add_with_ids can follow");
    append("add", n, x);
  });
}

void IndexPolar::add_with_ids(idx_t n, const float* x, const idx_t* xids) {
  with_faiss_errors([&] {
    if (n == 0) return;
    require(ntotal == 0 || !ids_.empty(), StatusCode::bad_argument,
            "add_with_ids: the index holds rows without ids of their own; only add can follow");
    require(n > 0 && xids != nullptr, StatusCode::bad_argument,
            "add_with_ids: n is {}, xids is {}; n ids are needed, n at least 0", n,
            xids == nullptr ? "null" : "given");
    const size_t needed = checked_add(ids_.size(), n, "ids");
    idx_t known = 0;
    try {
      // By an eighth, like the codes: doubling would cost up to 8 bytes a row.
      if (needed > ids_.capacity()) {
        ids_.reserve(std::max(needed, ids_.capacity() + ids_.capacity() / 8));
      }
      for (; known < n; ++known) {
        require(xids[known] >= 0, StatusCode::bad_argument,
                "add_with_ids: xids[{}] is {}; ids of 0 and above are allowed", known, xids[known]);
        require(
            row_of_id_.try_emplace(xids[known], ntotal + known).second, StatusCode::bad_argument,
            "add_with_ids: xids[{}] is {}, which the index or xids has already; ids must differ",
            known, xids[known]);
      }
      append("add_with_ids", n, x);
    } catch (...) {
      for (idx_t i = 0; i < known; ++i) row_of_id_.erase(xids[i]);
      throw;
    }
    ids_.insert(ids_.end(), xids, xids + n);
  });
}

void IndexPolar::search(idx_t n, const float* x, idx_t k, float* distances, idx_t* labels,
                        const ::faiss::SearchParameters* params) const {
  with_faiss_errors([&] {
    require(k >= 1, StatusCode::bad_argument, "search: k is {}; at least 1 is needed", k);
    require_rows("search", n, d, x);
    require_trained("search", *codec_);
    RowFilter filter;
    if (params != nullptr && params->sel != nullptr) {
      filter = [this, sel = params->sel](int64_t row) {
        return sel->is_member(ids_.empty() ? row : ids_[static_cast<size_t>(row)]);
      };
    }
    SearchOptions options;
    options.exactness = exactness;
    if (const auto* polar = dynamic_cast<const SearchParametersPolar*>(params)) {
      options.exactness = polar->exactness;
      options.progress = polar->progress;
    }
    codes_->search(*codec_, n, x, k, filter, options, distances, labels);
    if (ids_.empty()) return;
    for (idx_t i = 0; i < n * k; ++i) {
      if (labels[i] >= 0) labels[i] = ids_[static_cast<size_t>(labels[i])];
    }
  });
}

idx_t IndexPolar::row_of(idx_t key) const {
  if (ids_.empty()) {
    require(key >= 0 && key < ntotal, StatusCode::not_found,
            "reconstruct: id {} is not in the index, which holds {} rows, ids from 0 on", key,
            ntotal);
    return key;
  }
  idx_t row = -1;
  if (codes_->is_mapped()) {
    // A way back would cost several times what the ids do, and the index is there at once.
    const auto found = std::find(ids_.begin(), ids_.end(), key);
    if (found != ids_.end()) row = found - ids_.begin();
  } else {
    const auto found = row_of_id_.find(key);
    if (found != row_of_id_.end()) row = found->second;
  }
  require(row >= 0, StatusCode::not_found,
          "reconstruct: id {} is not in the index, which holds {} rows", key, ntotal);
  return row;
}

void IndexPolar::reconstruct(idx_t key, float* recons) const {
  with_faiss_errors(
      [&] { codes_->decode(*codec_, row_of(key), 1, Reconstruction::least_error, recons); });
}

void IndexPolar::reconstruct_n(idx_t i0, idx_t ni, float* recons) const {
  with_faiss_errors([&] {
    require(ni >= 0, StatusCode::bad_argument, "reconstruct_n: ni is {}; at least 0 is needed", ni);
    if (ni == 0) return;
    require(i0 >= 0 && ni - 1 <= std::numeric_limits<idx_t>::max() - i0, StatusCode::bad_argument,
            "reconstruct_n: i0 is {}, ni is {}; ids of 0 to 2^63-1 are allowed", i0, ni);
    if (ids_.empty()) {
      row_of(i0 + (ni - 1));
      decode_rows(ni, [&](int64_t first, int64_t count) {
        codes_->decode(*codec_, i0 + first, count, Reconstruction::least_error, recons + first * d);
      });
      return;
    }
    std::vector<idx_t> rows;
    for (idx_t i = 0; i < ni; ++i) rows.push_back(row_of(i0 + i));
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
    ids_.clear();
    row_of_id_.clear();
    ntotal = 0;
  });
}

::faiss::DistanceComputer* IndexPolar::get_distance_computer() const {
  return with_faiss_errors([&]() -> ::faiss::DistanceComputer* {
    require_trained("get_distance_computer", *codec_);
    return new PolarDistanceComputer(*codec_, *codes_);
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
