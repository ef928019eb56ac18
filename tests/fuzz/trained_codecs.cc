// SPDX-License-Identifier: MIT
#include "tests/fuzz/trained_codecs.h"
#include "tests/support/filters.h"

#include <iterator>
#include <limits>

namespace polarquant::fuzz {
namespace {

constexpr const char* kSpecs[] = {"Polar0.5",     "Polar1",
                                  "Polar1.5",     "Polar2",
                                  "Polar2.5",     "Polar3",
                                  "Polar3.5",     "Polar4",
                                  "Polar4.5",     "Polar5",
                                  "Polar8",       "Polar1+1",
                                  "Polar2+1",     "Polar2+2",
                                  "Polar3+2",     "Polar4+2",
                                  "Polar4+4",     "Polar2-norot",
                                  "Polar3-dense", "Polar0.5-pca",
                                  "Polar1-pca",   "Polar2-pca",
                                  "Polar4-pca",   "Polar5-pca",
                                  "Polar4+2-pca", "PolarTree3.2-online",
                                  "PolarTree8.8", "PolarTree4.2.2.2",
                                  "PolarPair4x4", "PolarPair3x5g128",
                                  "PolarScalar2", "PolarScalar4",
                                  "PolarScalar8", "PolarPair4x4g128"};
constexpr int kDims[] = {1, 2, 3, 7, 16, 20, 63, 64, 65, 70, 100, 127, 128, 130, 192, 200, 257};
constexpr size_t kMetrics = 3;

polar_codec* make(const char* spec, int dim, polar_metric metric) {
  polar_codec* codec = nullptr;
  if (!allow_failure("create", polar_codec_create(spec, dim, metric, nullptr, &codec))) {
    return nullptr;
  }
  // Falling variances, so that plans have several rates.
  const int64_t n = 2 * dim + 60;
  std::vector<float> x = rows_of(n, dim, 3);
  for (size_t i = 0; i < x.size(); ++i) {
    x[i] /= static_cast<float>(1 + i % static_cast<size_t>(dim));
  }
  if (allow_failure("train", polar_codec_train(codec, n, x.data(), nullptr))) return codec;
  polar_codec_destroy(codec);
  return nullptr;
}

int32_t keep_odd(void*, int64_t id) { return static_cast<int32_t>(id & 1); }

}  // namespace

TrainedCodec take_codec(Input& input) {
  static TrainedCodec made[std::size(kSpecs)][std::size(kDims)][kMetrics];
  static bool is_made[std::size(kSpecs)][std::size(kDims)][kMetrics];
  const size_t spec = input.byte() % std::size(kSpecs);
  const size_t dim = input.byte() % std::size(kDims);
  const size_t metric = input.byte() % kMetrics;
  TrainedCodec& wanted = made[spec][dim][metric];
  if (!is_made[spec][dim][metric]) {
    is_made[spec][dim][metric] = true;
    wanted.codec = make(kSpecs[spec], kDims[dim], static_cast<polar_metric>(metric));
    wanted.info.struct_size = sizeof wanted.info;
    if (wanted.codec != nullptr) {
      expect_ok("get_info", polar_codec_get_info(wanted.codec, &wanted.info));
    }
  }
  return wanted;
}

CodeCount count_codes(const TrainedCodec& trained, size_t bytes, int64_t most) {
  CodeCount count{0, 0};
  for (int64_t rows = 1; rows <= most; ++rows) {
    size_t needed = 0;
    expect_ok("encoded_bytes", polar_codec_encoded_bytes(trained.codec, rows, &needed));
    if (needed > bytes) break;
    count = {rows, needed};
  }
  return count;
}

ChosenOptions::ChosenOptions(uint8_t choice, int64_t rows) {
  polar_search_options_init(&options_);
  options_.num_threads = 1;
  polar_filter_init(&filter_);
  options_.filter = &filter_;
  const float exactness[] = {2.25F, 0, std::numeric_limits<float>::infinity(), 1};
  options_.exactness = exactness[choice % 4];
  std::fill(std::begin(bits_), std::end(bits_), 0x5a5a'5a5a'00ff'5a5a);
  switch (choice / 4 % 4) {
    case 1:
      filter_ = polarquant::test::bitset_filter(bits_, 300);
      break;
    case 2:
      filter_ = polarquant::test::range_filter(1, std::max<int64_t>(1, rows - 1));
      break;
    case 3:
      filter_ = polarquant::test::callback_filter(keep_odd);
      break;
    default:
      break;
  }
}

}  // namespace polarquant::fuzz
