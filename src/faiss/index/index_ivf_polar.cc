// SPDX-License-Identifier: MIT
// IndexIVFPolar: training, coding about centroids, and FAISS's functions of an inverted file.
// Searches are in ivf_search.cc, by list_search (src/scan).
#include <faiss/IndexFlat.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <utility>

#include "polarquant/faiss.h"
#include "src/codec/codec.h"
#include "src/codec/dot.h"
#include "src/core/call_threads.h"
#include "src/faiss/foreign/faiss_compat.h"
#include "src/faiss/foreign/faiss_error.h"
#include "src/faiss/foreign/faiss_metric.h"
#include "src/faiss/index/coded_rows.h"
#include "src/faiss/index/ivf_scanner.h"
#include "src/faiss/index/list_places.h"
#include "src/faiss/index/list_rows.h"
#include "src/faiss/index/polar_inverted_lists.h"
#include "src/faiss/index/row_checks.h"
#include "src/scan/model/scan_codec.h"
#include "src/scan/search/centroid_search.h"
#include "src/scan/search/fast_codec_kernels.h"
#include "src/scan/search/measure_margins.h"

namespace polarquant {
namespace {

/// The most rows that the codec is trained on: units need few, principal axes 10 a dimension.
constexpr idx_t kMaxTrainingRows = 65536;
constexpr idx_t kMaxTrainingRowsPerDim = 50;

/// At most `wanted` of n rows, evenly spread.
std::vector<float> spread_rows(idx_t n, const float* x, int d, idx_t wanted) {
  const idx_t count = std::min(n, wanted);
  std::vector<float> rows(static_cast<size_t>(count * d));
  for (idx_t i = 0; i < count; ++i) std::copy_n(x + (i * n / count) * d, d, rows.begin() + i * d);
  return rows;
}

}  // namespace

IndexIVFPolar::IndexIVFPolar(::faiss::Index* coarse, size_t dim, size_t lists,
                             const std::string& spec, ::faiss::MetricType metric)
    : IndexIVFPolar(coarse, dim, lists, spec, metric, Options{}) {}

IndexIVFPolar::IndexIVFPolar(::faiss::Index* coarse, size_t dim, size_t lists,
                             const std::string& spec, ::faiss::MetricType metric,
                             const Options& options)
    : IndexIVFBase(coarse, dim, lists, 0, metric), options_(options) {
  with_faiss_errors([&] {
    const Spec parsed = parse_spec(spec);
    require(parsed.centroids == 0, StatusCode::unsupported,
            "spec: {}: an inverted file's lists are centroids already; take {} in it",
            print_spec(parsed), print_spec(without_centroids(parsed)));
    spec_ = print_spec(parsed);
    codec_ = make_codec();
    code_size = codec_->layout().group_bytes;
    is_trained = false;
    use_lists(CodeLists::make(*codec_, static_cast<int64_t>(nlist)));
  });
}

IndexIVFPolar::~IndexIVFPolar() = default;

std::unique_ptr<Codec> IndexIVFPolar::make_codec() const {
  CodecOptions options;
  options.seed = options_.seed;
  options.learn_centre = !options_.by_residual;
  options.norm_unit = options_.norm_unit;
  auto codec = std::make_unique<Codec>(parse_spec(spec_), d, codec_metric(metric_type), options);
  codec->use_kernels(fast_codec_kernels());
  return codec;
}

std::string IndexIVFPolar::spec() const { return spec_; }

const PolarInvertedLists* IndexIVFPolar::polar_lists() const {
  return dynamic_cast<const PolarInvertedLists*>(invlists);
}

void IndexIVFPolar::use_lists(std::unique_ptr<CodeLists> lists) {
  replace_invlists(new PolarInvertedLists(std::move(lists)), true);
}

void IndexIVFPolar::require_changeable(const char* call) const {
  const PolarInvertedLists* lists = polar_lists();
  if (lists != nullptr) require_writable(call, lists->lists());
}

size_t IndexIVFPolar::memory_bytes() const {
  const PolarInvertedLists* lists = polar_lists();
  return codec_->memory_bytes() + rotated_centroids_.capacity() * sizeof(float) +
         centres_.capacity() * sizeof(ListCentre) +
         (centroid_search_ != nullptr ? centroid_search_->memory_bytes() : 0) +
         (lists != nullptr ? lists->lists().memory_bytes() : 0) +
         (places_ != nullptr ? places_->memory_bytes() : 0);
}

void IndexIVFPolar::require_trained(const char* call) const {
  require(is_trained, StatusCode::not_trained, "{}: the index is not trained; call train first",
          call);
}

void IndexIVFPolar::train(idx_t n, const float* x) {
  with_faiss_errors([&] {
    require_training_rows("train", n, d, x);
    require_changeable("train");
    require(ntotal == 0, StatusCode::state_mismatch,
            "train: the index holds {} rows, coded by what was trained before; reset it first",
            ntotal);
    const CallThreads call_threads(0);
    train_q1(static_cast<size_t>(n), x, verbose, metric_type);

    std::unique_ptr<Codec> codec = make_codec();
    std::vector<float> rows =
        spread_rows(n, x, d, std::max(kMaxTrainingRows, kMaxTrainingRowsPerDim * d));
    const idx_t count = std::ssize(rows) / d;
    const float scale = options_.by_residual ? subtract_centroids(count, rows.data()) : 1;
    codec->train(count, rows.data(), measure_margins);
    adopt(std::move(codec), scale);
  });
}

// The index becomes a trained one without rows. The quantizer is trained.
void IndexIVFPolar::adopt(std::unique_ptr<Codec> codec, float centroid_scale) {
  codec_ = std::move(codec);
  centroid_scale_ = centroid_scale;
  code_size = codec_->layout().group_bytes;
  scan_codec_ = BlockLayout::supports(*codec_) ? std::make_unique<ScanCodec>(*codec_) : nullptr;
  learn_centres();
  learn_centroid_search();
  use_lists(CodeLists::make(*codec_, static_cast<int64_t>(nlist)));
  is_trained = true;
}

// FAISS's centroids for inner product are of length 1, longer than the mean of their rows. Rows are
// coded about the multiple of the centroid that is nearest to them, the same for all lists: .62 of
// it for 117,659 × 384 sentence embeddings in 1,024 lists, which are .78 away from there, and .86
// from the centroids.
float IndexIVFPolar::subtract_centroids(idx_t n, float* x) const {
  std::vector<idx_t> list_nos(static_cast<size_t>(n));
  quantizer->assign(n, x, list_nos.data());
  std::vector<float> centroid(static_cast<size_t>(d));
  const auto for_each_row = [&](const auto& body) {
    for (idx_t i = 0; i < n; ++i) {
      quantizer->reconstruct(list_nos[static_cast<size_t>(i)], centroid.data());
      body(x + i * d);
    }
  };
  float scale = 1;
  if (metric_type == ::faiss::METRIC_INNER_PRODUCT) {
    std::vector<double> norms2;
    for (idx_t i = 0; i < n; ++i) norms2.push_back(dot_exact(x + i * d, x + i * d, d));
    const TypicalRows typical(norms2);
    double along = 0;
    double norm2 = 0;
    for_each_row([&](const float* row) {
      if (!typical.has((row - x) / d)) return;
      along += dot_exact(row, centroid.data(), d);
      norm2 += dot_exact(centroid.data(), centroid.data(), d);
    });
    if (norm2 > 0) scale = static_cast<float>(along / norm2);
  }
  for_each_row([&](float* row) {
    for (int j = 0; j < d; ++j) row[j] -= scale * centroid[static_cast<size_t>(j)];
  });
  return scale;
}

// The centre of a list's codes; valid until the thread's next call with this buffer.
const float* IndexIVFPolar::centre_of(idx_t list, std::vector<float>* buffer) const {
  const auto* flat = dynamic_cast<const ::faiss::IndexFlat*>(quantizer);
  if (flat != nullptr && centroid_scale_ == 1) return flat->get_xb() + list * d;
  buffer->resize(static_cast<size_t>(d));
  quantizer->reconstruct(list, buffer->data());
  for (float& value : *buffer) value *= centroid_scale_;
  return buffer->data();
}

// Anything that derives from a flat index has a search of its own.
void IndexIVFPolar::learn_centroid_search() {
  centroid_search_.reset();
  const bool is_flat =
      quantizer != nullptr && (typeid(*quantizer) == typeid(::faiss::IndexFlat) ||
                               typeid(*quantizer) == typeid(::faiss::IndexFlatIP) ||
                               typeid(*quantizer) == typeid(::faiss::IndexFlatL2));
  if (!is_flat || quantizer->ntotal < 1) return;
  const auto& flat = static_cast<const ::faiss::IndexFlat&>(*quantizer);
  try {
    centroid_search_ = std::make_unique<CentroidSearch>(
        flat.ntotal, d, codec_metric(flat.metric_type), flat.get_xb());
  } catch (const Error&) {
    // Centroids that have no code: FAISS's own search takes them as they are.
  }
}

// The centres in the form that searches need.
void IndexIVFPolar::learn_centres() {
  centres_.clear();
  rotated_centroids_.clear();
  if (!options_.by_residual) return;
  const auto dim = static_cast<size_t>(d);
  rotated_centroids_.resize(nlist * dim);
  centres_.resize(nlist);
  std::vector<float> buffer;
  for (size_t list = 0; list < nlist; ++list) {
    const float* centre = centre_of(static_cast<idx_t>(list), &buffer);
    centres_[list] = codec_->list_centre(centre, &rotated_centroids_[list * dim]);
  }
}

// Rows without a list have codes of zeros.
void IndexIVFPolar::encode_into(idx_t n, const float* x, const idx_t* list_nos,
                                uint8_t* codes) const {
  if (!options_.by_residual) {
    codec_->encode(n, x, codes, 0);
    return;
  }
  const std::vector<float> origin(static_cast<size_t>(d));
  codec_->encode_residuals(
      n, x,
      [&](int64_t row) -> const float* {
        thread_local std::vector<float> buffer;
        return list_nos[row] < 0 ? origin.data() : centre_of(list_nos[row], &buffer);
      },
      codes, 0);
}

void IndexIVFPolar::encode_vectors(idx_t n, const float* x, const idx_t* list_nos, uint8_t* codes,
                                   bool include_listno) const {
  with_faiss_errors([&] {
    require_rows("encode_vectors", n, d, x);
    require_trained("encode_vectors");
    if (!include_listno) {
      encode_into(n, x, list_nos, codes);
      return;
    }
    const size_t prefix = coarse_code_size();
    std::vector<uint8_t> rows(static_cast<size_t>(n) * code_size);
    encode_into(n, x, list_nos, rows.data());
    for (idx_t i = 0; i < n; ++i) {
      uint8_t* code = codes + static_cast<size_t>(i) * (prefix + code_size);
      std::memset(code, 0, prefix + code_size);
      if (list_nos[i] < 0) continue;
      encode_listno(list_nos[i], code);
      std::memcpy(code + prefix, rows.data() + static_cast<size_t>(i) * code_size, code_size);
    }
  });
}

void IndexIVFPolar::sa_decode(idx_t n, const uint8_t* bytes, float* x) const {
  with_faiss_errors([&] {
    require(n >= 0, StatusCode::bad_argument, "sa_decode: n is {}; at least 0 is needed", n);
    require_trained("sa_decode");
    const size_t prefix = coarse_code_size();
    std::vector<float> buffer;
    for (idx_t i = 0; i < n; ++i, bytes += prefix + code_size) {
      float* row = x + i * d;
      codec_->decode({bytes + prefix, 1}, 0, 1, Reconstruction::least_error, row);
      if (!options_.by_residual) continue;
      const idx_t list = decode_listno(bytes);
      require(list >= 0 && list < static_cast<idx_t>(nlist), StatusCode::bad_argument,
              "sa_decode: row {} is of list {}; there are {}", i, list, nlist);
      std::transform(row, row + d, centre_of(list, &buffer), row, std::plus<>());
    }
  });
}

void IndexIVFPolar::add_to_lists(idx_t n, const float* x, const idx_t* xids,
                                 const idx_t* precomputed_idx) {
  with_faiss_errors([&] {
    require_changeable("add");
    settle_map();
    if (n > 0) direct_map.check_can_add(xids);
    add_rows(n, xids, encode_rows(n, x, precomputed_idx));
  });
}

CodedRows IndexIVFPolar::encode_rows(idx_t n, const float* x, const idx_t* lists) const {
  return with_faiss_errors([&] {
    require_rows("add", n, d, x);
    require_trained("add");
    return encode_in_lists(n, x, {lists, lists + n});
  });
}

CodedRows IndexIVFPolar::encode_rows(idx_t n, const float* x) const {
  return with_faiss_errors([&] {
    require_rows("add", n, d, x);
    require_trained("add");
    const CallThreads call_threads(0);
    std::vector<idx_t> lists(static_cast<size_t>(n));
    find_nearest_lists(n, x, lists.data());
    return encode_in_lists(n, x, std::move(lists));
  });
}

// Of rows that were checked.
CodedRows IndexIVFPolar::encode_in_lists(idx_t n, const float* x, std::vector<idx_t> lists) const {
  for (idx_t i = 0; i < n; ++i) {
    const idx_t list = lists[static_cast<size_t>(i)];
    require(list >= -1 && list < static_cast<idx_t>(nlist), StatusCode::bad_argument,
            "add: row {} is for list {}; there are {}", i, list, nlist);
  }
  CodedRows coded = {std::vector<uint8_t>(static_cast<size_t>(n) * code_size), std::move(lists)};
  encode_into(n, x, coded.lists.data(), coded.codes.data());
  return coded;
}

void IndexIVFPolar::add_rows(idx_t n, const idx_t* xids, const CodedRows& coded) {
  with_faiss_errors([&] {
    require_changeable("add");
    if (n == 0) return;
    settle_map();
    direct_map.check_can_add(xids);
    ListGrowth growth(*this);
    growth.extend_map(n);
    growth.append(n, coded.codes.data(), xids, ntotal, coded.lists.data());
    if (places_ != nullptr) growth.require_new_ids("add");
    growth.keep();
    ntotal += n;
  });
}

void IndexIVFPolar::reconstruct_from_offset(int64_t list_no, int64_t offset, float* recons) const {
  with_faiss_errors([&] {
    const auto list = static_cast<size_t>(list_no);
    require(list_no >= 0 && list < nlist, StatusCode::not_found,
            "reconstruct: list {} is not there; there are {}", list_no, nlist);
    require(offset >= 0 && static_cast<size_t>(offset) < invlists->list_size(list),
            StatusCode::not_found, "reconstruct: row {} is not in list {}, which holds {}", offset,
            list_no, invlists->list_size(list));
    const uint8_t* code = invlists->get_single_code(list, static_cast<size_t>(offset));
    codec_->decode({code, 1}, 0, 1, Reconstruction::least_error, recons);
    invlists->release_codes(list, code);
    if (!options_.by_residual) return;
    thread_local std::vector<float> centre;
    const float* c = centre_of(list_no, &centre);
    std::transform(recons, recons + d, c, recons, std::plus<>());
  });
}

::faiss::InvertedListScanner* IndexIVFPolar::make_scanner(bool store_pairs,
                                                          const ::faiss::IDSelector* sel) const {
  return with_faiss_errors([&]() -> ::faiss::InvertedListScanner* {
    require_trained("get_InvertedListScanner");
    return new PolarListScanner(*codec_, centres_, store_pairs, sel);
  });
}

// A mapped index has no map: one would cost as much as the ids and is read as a whole.
void IndexIVFPolar::reconstruct(idx_t key, float* recons) const {
  const ListPlace place = places_ != nullptr ? places_->find(key) : -1;
  if (place >= 0) {
    reconstruct_from_offset(static_cast<int64_t>(::faiss::lo_listno(place)),
                            static_cast<int64_t>(::faiss::lo_offset(place)), recons);
    return;
  }
  if (places_ == nullptr && (map_in_file_ == ::faiss::DirectMap::NoMap || !direct_map.no())) {
    IndexIVF::reconstruct(key, recons);
    return;
  }
  // As in a map that is filled list by list, the last of equal ids counts.
  for (size_t list = places_ != nullptr ? 0 : nlist; list-- > 0;) {
    const idx_t* ids = invlists->get_ids(list);
    for (size_t row = invlists->list_size(list); row-- > 0;) {
      if (ids[row] != key) continue;
      reconstruct_from_offset(static_cast<int64_t>(list), static_cast<int64_t>(row), recons);
      return;
    }
  }
  with_faiss_errors([&] {
    fail(StatusCode::not_found, "reconstruct: id {} is not in the index, which holds {} rows", key,
         ntotal);
  });
}

}  // namespace polarquant
