// SPDX-License-Identifier: MIT
// Codecs, codes and searches by the C ABI alone, on the CPU and on a device.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <limits>
#include <memory>
#include <ostream>
#include <sstream>
#include <string>
#include <vector>

#include "polarquant/polarquant.h"
#include "src/core/checksum.h"
#include "src/core/random.h"
#include "tests/support/catch.h"
#include "tests/support/filters.h"

namespace polarquant::test {

inline constexpr float kEveryRow = std::numeric_limits<float>::infinity();

struct HandleDeleter {
  void operator()(polar_codec* codec) const { polar_codec_destroy(codec); }
  void operator()(polar_index* index) const { polar_index_destroy(index); }
  void operator()(polar_cuda_index* index) const { polar_cuda_index_destroy(index); }
  void operator()(polar_cuda_search* search) const { polar_cuda_search_destroy(search); }
};
template <typename T>
using Handle = std::unique_ptr<T, HandleDeleter>;

inline std::string last_error() {
  std::string text(polar_last_error(nullptr, 0), ' ');
  polar_last_error(text.data(), text.size() + 1);
  return text;
}
inline void require_ok(polar_status status) {
  INFO("status " << status << ": " << last_error());
  REQUIRE(status == POLAR_OK);
}

/// n rows around n/40 centres, so that some rows are near each other as embeddings are.
inline std::vector<float> clustered_rows(int64_t n, int dim, uint64_t seed) {
  Random random(seed);
  const int64_t centres = n / 40 + 1;
  std::vector<float> middle(static_cast<size_t>(centres * dim));
  for (float& value : middle) value = static_cast<float>(random.normal());
  std::vector<float> x(static_cast<size_t>(n * dim));
  for (int64_t row = 0; row < n; ++row) {
    const auto centre = static_cast<int64_t>(random.next() % static_cast<uint64_t>(centres));
    for (int j = 0; j < dim; ++j)
      x[static_cast<size_t>(row * dim + j)] =
          middle[static_cast<size_t>(centre * dim + j)] + .6F * static_cast<float>(random.normal());
  }
  return x;
}

/// Clustered rows whose coordinates fall like (j+1)^−decay, so that segments have many rates.
inline std::vector<float> falling_rows(int64_t n, int dim, double decay, uint64_t seed) {
  std::vector<float> x = clustered_rows(n, dim, seed);
  for (size_t i = 0; i < x.size(); ++i) {
    const auto j = static_cast<double>(i % static_cast<size_t>(dim));
    x[i] *= static_cast<float>(std::pow(j + 1, -decay));
  }
  return x;
}

/// Every eighth row so much longer or shorter.
inline void stretch_rows(int dim, std::vector<float>* x) {
  const double lengths[] = {1e-25, 1e-9, 1e-4, 1e3, 1e7, 1e15};
  for (size_t row = 0; row * static_cast<size_t>(dim) < x->size(); row += 8)
    for (size_t j = 0; j < static_cast<size_t>(dim); ++j) {
      float& value = (*x)[row * static_cast<size_t>(dim) + j];
      value = static_cast<float>(value * lengths[row / 8 % std::size(lengths)]);
    }
}

/// The codec as libraries before format 4 of states made it: its 16-bit floats are binary16.
inline Handle<polar_codec> older_codec(const polar_codec* codec) {
  size_t bytes = 0;
  require_ok(polar_codec_save_state(codec, nullptr, 0, &bytes));
  std::vector<uint8_t> state(bytes);
  require_ok(polar_codec_save_state(codec, state.data(), bytes, &bytes));
  constexpr size_t kVersionAt = 8;
  constexpr size_t kFlagsAt = 16;
  if (state[kVersionAt] == 4) {
    state.erase(state.begin() + kFlagsAt, state.begin() + kFlagsAt + sizeof(uint32_t));
    state[kVersionAt] = 1;
    const uint64_t sum = checksum64(state.data(), state.size() - sizeof(uint64_t));
    std::memcpy(&state[state.size() - sizeof sum], &sum, sizeof sum);
  }
  polar_codec* older = nullptr;
  require_ok(polar_codec_load_state(state.data(), state.size(), &older));
  return Handle<polar_codec>(older);
}

/// Which 16-bit floats a codec's codes have.
enum class ShortFloats { wide, binary16 };

struct SearchResult {
  std::vector<float> scores;
  std::vector<int64_t> ids;

  /// To the bit.
  bool operator==(const SearchResult& other) const {
    return ids == other.ids && scores.size() == other.scores.size() &&
           (scores.empty() ||
            std::memcmp(scores.data(), other.scores.data(), scores.size() * sizeof(float)) == 0);
  }
  friend std::ostream& operator<<(std::ostream& out, const SearchResult& result) {
    for (size_t i = 0; i < result.ids.size() && i < 12; ++i)
      out << ' ' << result.ids[i] << ':' << result.scores[i];
    return out;
  }
};

/// Checks that a device finds what the CPU does. On a failure it tells where they differ first, and
/// which of both finds something else once more.
template <typename SearchCpu, typename SearchDevice>
void check_same(const SearchCpu& search_cpu, const SearchDevice& search_device) {
  const SearchResult device = search_device();
  const SearchResult cpu = search_cpu();
  std::ostringstream difference;
  if (!(device == cpu)) {
    const auto first =
        std::mismatch(device.ids.begin(), device.ids.end(), cpu.ids.begin(), cpu.ids.end()).first;
    const auto end = static_cast<size_t>(device.ids.end() - first);
    for (size_t i = device.ids.size() - end, shown = 0; i < device.ids.size() && shown < 4; ++i) {
      difference << "result " << i << ": " << device.ids[i] << ':' << device.scores[i] << " and "
                 << cpu.ids[i] << ':' << cpu.scores[i] << '\n';
      ++shown;
    }
    difference << "once more: device " << (search_device() == device ? "the same" : "others")
               << ", CPU " << (search_cpu() == cpu ? "the same" : "others");
  }
  INFO(difference.str());
  CHECK(device == cpu);
}

/// A copy on these devices, which must outlive the options.
inline polar_cuda_options places_on(const std::vector<int32_t>& devices, polar_cuda_layout layout) {
  polar_cuda_options options;
  polar_cuda_options_init(&options);
  options.devices = devices.data();
  options.num_devices = static_cast<int32_t>(devices.size());
  options.layout = layout;
  return options;
}

/// Words of a bitset of which about half are set, in no pattern.
inline std::vector<uint64_t> scattered_bits(size_t words) {
  std::vector<uint64_t> bits;
  for (uint64_t i = 0; i < words; ++i) bits.push_back((i + 1) * 0x9e3779b97f4a7c15ULL);
  return bits;
}

/// Rows of one codec, searched on the CPU, on device 0, and on others.
class CodedRows {
 public:
  CodedRows(const std::string& spec, int dim, polar_metric metric, const std::vector<float>& x,
            ShortFloats floats = ShortFloats::wide)
      : dim_(dim), rows_(static_cast<int64_t>(x.size()) / dim) {
    polar_codec* codec = nullptr;
    require_ok(polar_codec_create(spec.c_str(), dim, metric, nullptr, &codec));
    codec_.reset(codec);
    if (rows_ > 0) require_ok(polar_codec_train(codec, rows_, x.data(), nullptr));
    if (floats == ShortFloats::binary16) codec_ = older_codec(codec);
    codec = codec_.get();
    size_t bytes = 0;
    require_ok(polar_codec_encoded_bytes(codec, rows_, &bytes));
    codes_.resize(bytes);
    require_ok(polar_codec_encode(codec, rows_, x.data(), nullptr, codes_.data(), bytes));
    device_ = copy(nullptr);
  }

  /// A copy on these devices.
  Handle<polar_cuda_index> on(const std::vector<int32_t>& devices, polar_cuda_layout layout) const {
    const polar_cuda_options options = places_on(devices, layout);
    return copy(&options);
  }
  polar_status try_copy(const polar_cuda_options* options, polar_cuda_index** index) const {
    return polar_cuda_index_from_codes(codec_.get(), rows_, codes_.data(), codes_.size(), options,
                                       index);
  }

  int64_t rows() const { return rows_; }
  const polar_cuda_index* device() const { return device_.get(); }

  SearchResult on_cpu(const std::vector<float>& queries, int64_t k,
                      const polar_search_options& options) const {
    SearchResult result = empty_result(queries, k);
    require_ok(polar_codec_search(codec_.get(), count(queries), queries.data(), rows_,
                                  codes_.data(), codes_.size(), k, &options, result.scores.data(),
                                  result.ids.data()));
    return result;
  }
  SearchResult on_device(const std::vector<float>& queries, int64_t k,
                         const polar_search_options& options) const {
    return search(device_.get(), queries, k, options);
  }
  /// Searches a copy.
  SearchResult search(const polar_cuda_index* index, const std::vector<float>& queries, int64_t k,
                      const polar_search_options& options) const {
    SearchResult result = empty_result(queries, k);
    require_ok(polar_cuda_index_search(index, count(queries), queries.data(), k, &options, nullptr,
                                       result.scores.data(), result.ids.data()));
    return result;
  }
  void compare(const std::vector<float>& queries, int64_t k,
               const polar_search_options& options) const {
    INFO("nq " << count(queries) << ", k " << k << ", exactness " << options.exactness);
    check_same([&] { return on_cpu(queries, k, options); },
               [&] { return on_device(queries, k, options); });
  }

 private:
  Handle<polar_cuda_index> copy(const polar_cuda_options* options) const {
    polar_cuda_index* index = nullptr;
    require_ok(try_copy(options, &index));
    return Handle<polar_cuda_index>(index);
  }
  int64_t count(const std::vector<float>& queries) const {
    return static_cast<int64_t>(queries.size()) / dim_;
  }
  SearchResult empty_result(const std::vector<float>& queries, int64_t k) const {
    const auto results = static_cast<size_t>(count(queries) * k);
    return {std::vector<float>(results, 77.0F), std::vector<int64_t>(results, 77)};
  }

  int dim_;
  int64_t rows_;
  Handle<polar_codec> codec_;
  std::vector<uint8_t> codes_;
  Handle<polar_cuda_index> device_;
};

/// Rows copied to several devices.
struct PlacedCopy {
  std::vector<int32_t> devices;
  polar_cuda_layout layout;
  Handle<polar_cuda_index> index;
};

/// On all lists of devices, in both layouts.
inline std::vector<PlacedCopy> copies_of(const CodedRows& rows,
                                         const std::vector<std::vector<int32_t>>& lists) {
  std::vector<PlacedCopy> copies;
  for (const std::vector<int32_t>& devices : lists) {
    for (const polar_cuda_layout layout : {POLAR_CUDA_SHARDED, POLAR_CUDA_REPLICATED})
      copies.push_back({devices, layout, rows.on(devices, layout)});
  }
  return copies;
}

/// Each copy holds all rows and finds what is expected.
inline void check_copies(const CodedRows& rows, const std::vector<PlacedCopy>& copies,
                         const std::vector<float>& queries, int64_t k,
                         const polar_search_options& options, const SearchResult& expected) {
  for (const PlacedCopy& copy : copies) {
    CAPTURE(copy.devices, copy.layout, k, queries.size(), options.exactness,
            options.filter != nullptr);
    CHECK(polar_cuda_index_ntotal(copy.index.get()) == rows.rows());
    CHECK(rows.search(copy.index.get(), queries, k, options) == expected);
  }
}

inline size_t memory_bytes(const polar_cuda_index* index) {
  size_t bytes = 0;
  require_ok(polar_cuda_index_memory_bytes(index, &bytes));
  return bytes;
}

/// A filter that is asked once for all searches.
class PreparedFilter {
 public:
  explicit PreparedFilter(const polar_filter& given) {
    require_ok(polar_prepared_filter_create(&given, &prepared_));
    filter_ = filter_of(POLAR_FILTER_PREPARED);
    filter_.prepared = prepared_;
  }
  ~PreparedFilter() { polar_prepared_filter_destroy(prepared_); }
  PreparedFilter(const PreparedFilter&) = delete;
  PreparedFilter& operator=(const PreparedFilter&) = delete;

  const polar_filter* get() const { return &filter_; }

 private:
  polar_prepared_filter* prepared_ = nullptr;
  polar_filter filter_;
};

inline polar_search_options search_options(float exactness) {
  polar_search_options options;
  polar_search_options_init(&options);
  options.exactness = exactness;
  return options;
}

}  // namespace polarquant::test
