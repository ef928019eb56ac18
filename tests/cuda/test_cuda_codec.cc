// SPDX-License-Identifier: MIT
// Scores and weighted sums of codes that callers hold: the CPU's, up to the rounding of floats.
#include <cuda_runtime_api.h>

#include <algorithm>
#include <cmath>
#include <thread>

#include "tests/cuda/cuda_support.h"

namespace polarquant::test {
namespace {

struct CodecDeleter {
  void operator()(polar_cuda_codec* codec) const { polar_cuda_codec_destroy(codec); }
};
using DeviceCodec = std::unique_ptr<polar_cuda_codec, CodecDeleter>;

Handle<polar_codec> make_codec(const std::string& spec, int dim, polar_metric metric) {
  polar_codec* codec = nullptr;
  require_ok(polar_codec_create(spec.c_str(), dim, metric, nullptr, &codec));
  return Handle<polar_codec>(codec);
}
DeviceCodec on_device(const polar_codec* codec) {
  polar_cuda_codec* made = nullptr;
  require_ok(polar_cuda_codec_create(codec, nullptr, &made));
  return DeviceCodec(made);
}
std::vector<float> normal_numbers(int64_t count, uint64_t seed) {
  Random random(seed);
  std::vector<float> numbers(static_cast<size_t>(count));
  for (float& number : numbers) number = static_cast<float>(random.normal());
  return numbers;
}

/// Codes of several heads, whose rows are different.
struct Heads {
  Handle<polar_codec> codec;
  DeviceCodec device;
  int dim;
  int64_t heads;
  int64_t n;
  size_t head_bytes = 0;
  std::vector<float> x;
  std::vector<uint8_t> codes;

  Heads(const std::string& spec, int dimensions, polar_metric metric, int64_t head_count,
        int64_t rows, ShortFloats floats = ShortFloats::wide)
      : codec(make_codec(spec, dimensions, metric)),
        dim(dimensions),
        heads(head_count),
        n(rows),
        x(clustered_rows(std::max<int64_t>(heads * n, 2 * dim + 10), dim, 50)) {
    const int64_t all_rows = static_cast<int64_t>(x.size()) / dim;
    require_ok(polar_codec_train(codec.get(), all_rows, x.data(), nullptr));
    if (floats == ShortFloats::binary16) codec = older_codec(codec.get());
    device = on_device(codec.get());
    require_ok(polar_codec_encoded_bytes(codec.get(), n, &head_bytes));
    codes.resize(static_cast<size_t>(heads) * head_bytes);
    for (int64_t head = 0; head < heads; ++head)
      require_ok(polar_codec_encode(codec.get(), n, x.data() + head * n * dim, nullptr,
                                    codes.data() + static_cast<size_t>(head) * head_bytes,
                                    head_bytes));
  }
  const uint8_t* head_codes(int64_t head) const {
    return codes.data() + static_cast<size_t>(head) * head_bytes;
  }

  std::vector<float> scores_on_cpu(int64_t nq, const std::vector<float>& queries) const {
    std::vector<float> scores(static_cast<size_t>(heads * nq * n));
    for (int64_t q = 0; q < heads * nq; ++q) {
      polar_query* query = nullptr;
      require_ok(polar_query_prepare(codec.get(), queries.data() + q * dim, &query));
      require_ok(polar_codec_score(codec.get(), query, n, head_codes(q / nq), head_bytes, nullptr,
                                   scores.data() + q * n));
      polar_query_destroy(query);
    }
    return scores;
  }
  std::vector<float> sums_on_cpu(int64_t nw, const std::vector<float>& weights) const {
    std::vector<float> sums(static_cast<size_t>(heads * nw * dim));
    for (int64_t head = 0; head < heads; ++head)
      require_ok(polar_codec_combine(codec.get(), n, head_codes(head), head_bytes, nw,
                                     weights.data() + head * nw * n, nullptr,
                                     sums.data() + head * nw * dim));
    return sums;
  }
  std::vector<float> scores_on_device(int64_t nq, const std::vector<float>& queries) const {
    std::vector<float> scores(static_cast<size_t>(heads * nq * n), 77.0F);
    require_ok(polar_cuda_codec_score(device.get(), heads, nq, queries.data(), n, codes.data(),
                                      codes.size(), nullptr, scores.data()));
    return scores;
  }
  std::vector<float> sums_on_device(int64_t nw, const std::vector<float>& weights) const {
    std::vector<float> sums(static_cast<size_t>(heads * nw * dim), 77.0F);
    require_ok(polar_cuda_codec_combine(device.get(), heads, nw, weights.data(), n, codes.data(),
                                        codes.size(), nullptr, sums.data()));
    return sums;
  }
};

/// The largest difference, over the root mean square of what is expected.
double relative_error(const std::vector<float>& found, const std::vector<float>& expected) {
  REQUIRE(found.size() == expected.size());
  double most = 0;
  double sum2 = 0;
  for (size_t i = 0; i < found.size(); ++i) {
    REQUIRE(std::isfinite(found[i]));
    most = std::max(most, std::fabs(static_cast<double>(found[i]) - expected[i]));
    sum2 += static_cast<double>(expected[i]) * expected[i];
  }
  if (found.empty() || sum2 == 0) return most;
  return most / std::sqrt(sum2 / static_cast<double>(found.size()));
}

/// Sums of some hundred floats.
constexpr double kFloatSums = 1e-5;

void compare(const Heads& heads) {
  for (const int64_t count : {1, 5}) {
    CAPTURE(count);
    const std::vector<float> queries = normal_numbers(heads.heads * count * heads.dim, 51);
    CHECK(relative_error(heads.scores_on_device(count, queries),
                         heads.scores_on_cpu(count, queries)) < kFloatSums);
    const std::vector<float> weights = normal_numbers(heads.heads * count * heads.n, 52);
    CHECK(relative_error(heads.sums_on_device(count, weights), heads.sums_on_cpu(count, weights)) <
          kFloatSums);
  }
}

TEST_CASE("scores and sums of every codec on a device", "[cuda]") {
  const std::string spec = GENERATE(
      "Polar0.5", "Polar1", "Polar1.5", "Polar2", "Polar2.5", "Polar3", "Polar3.5", "Polar4",
      "Polar4.5", "Polar5", "Polar8", "Polar1+1", "Polar2+2", "Polar4+4", "Polar2-norot",
      "Polar4-dense", "Polar1-pca", "Polar2-pca", "Polar4-pca", "Polar5-pca", "Polar4+2-pca",
      "PolarTree4.2.2.2", "PolarTree4.2.2.2-online", "PolarTree5", "PolarTree8.8", "PolarTree3.1.2",
      "PolarTree4.3.2.2.1", "PolarTree7.5.3.2.2.1", "PolarPair4x4", "PolarPair4x2", "PolarPair3x2",
      "PolarPair8x8", "PolarPair8x7", "PolarPair7x7", "PolarPair4x4g128", "PolarPair3x5g128",
      "PolarScalar2", "PolarScalar3", "PolarScalar4", "PolarScalar8");
  const int dim = GENERATE(64, 128, 384);
  const polar_metric metric =
      GENERATE(POLAR_METRIC_INNER_PRODUCT, POLAR_METRIC_L2, POLAR_METRIC_COSINE);
  CAPTURE(spec, dim, metric);
  const bool is_scalar = spec.starts_with("PolarScalar");
  if (is_scalar && metric == POLAR_METRIC_L2 && dim % 128 != 0) return;
  compare(Heads(spec, dim, metric, 3, 301));
}

TEST_CASE("scores and sums of codes of before format 4 on a device", "[cuda]") {
  const std::string spec = GENERATE("Polar1", "Polar2", "Polar2+2", "PolarTree4.2.2.2",
                                    "PolarTree5", "PolarPair4x4g128", "PolarScalar4");
  const polar_metric metric = GENERATE(POLAR_METRIC_INNER_PRODUCT, POLAR_METRIC_L2);
  CAPTURE(spec, metric);
  compare(Heads(spec, 128, metric, 3, 301, ShortFloats::binary16));
}

TEST_CASE("odd dimensions, few rows and many", "[cuda]") {
  const std::string spec = GENERATE("Polar1", "Polar3.5", "Polar5", "Polar8", "Polar2+2",
                                    "Polar2-pca", "PolarTree4.2.2.2", "PolarTree5.3",
                                    "PolarPair4x4", "PolarPair5x3g128", "PolarScalar4");
  const int dim = GENERATE(17, 33, 65, 100, 129, 200, 768, 1000, 4100);
  const int64_t n = GENERATE(1, 7, 128, 129, 2000);
  if (dim > 1000 && (n > 200 || spec == "Polar2-pca")) return;
  CAPTURE(spec, dim, n);
  compare(Heads(spec, dim, POLAR_METRIC_INNER_PRODUCT, 2, n));
}

TEST_CASE("a tree of the whole vector", "[cuda]") {
  const int dim = GENERATE(128, 100, 1000);
  const std::string spec = dim == 1000 ? "PolarTree4.2.2.2.2.2.2.2.2.2" : "PolarTree4.2.2.2.2.2.2";
  CAPTURE(spec, dim);
  compare(Heads(spec, dim, POLAR_METRIC_L2, 2, 200));
}

TEST_CASE("many rows are summed as well as few", "[cuda]") {
  const std::string spec = GENERATE("PolarTree4.2.2.2", "Polar4");
  compare(Heads(spec, 128, POLAR_METRIC_INNER_PRODUCT, 1, 100000));
}

TEST_CASE("bytes of no encoder are rows too", "[cuda]") {
  const std::string spec = GENERATE("PolarTree4.2.2.2", "PolarPair4x4", "PolarScalar4");
  Heads heads(spec, 128, POLAR_METRIC_INNER_PRODUCT, 1, 200);
  Random random(60);
  for (uint8_t& byte : heads.codes) byte = static_cast<uint8_t>(random.next());
  compare(heads);
}

TEST_CASE("results do not differ from call to call", "[cuda]") {
  const Heads heads("PolarTree4.2.2.2", 128, POLAR_METRIC_INNER_PRODUCT, 2, 5000);
  const std::vector<float> weights = normal_numbers(2 * 5000, 53);
  const std::vector<float> queries = normal_numbers(2 * 128, 54);
  const std::vector<float> sums = heads.sums_on_device(1, weights);
  const std::vector<float> scores = heads.scores_on_device(1, queries);
  std::vector<int> wrong(4, 0);
  std::vector<std::thread> threads;
  for (size_t t = 0; t < wrong.size(); ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 10; ++i) {
        std::vector<float> again(sums.size());
        std::vector<float> scored(scores.size());
        const polar_status status =
            polar_cuda_codec_combine(heads.device.get(), 2, 1, weights.data(), 5000,
                                     heads.codes.data(), heads.codes.size(), nullptr, again.data());
        const polar_status other =
            polar_cuda_codec_score(heads.device.get(), 2, 1, queries.data(), 5000,
                                   heads.codes.data(), heads.codes.size(), nullptr, scored.data());
        if (status != POLAR_OK || other != POLAR_OK || again != sums || scored != scores)
          ++wrong[t];
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == std::vector<int>(4, 0));
}

/// An array in the device's memory, of exactly its size: reads after it are seen by sanitizers.
template <typename T>
class DeviceArray {
 public:
  explicit DeviceArray(const std::vector<T>& from) : count_(from.size()) {
    REQUIRE(cudaMalloc(&data_, count_ * sizeof(T)) == cudaSuccess);
    REQUIRE(cudaMemcpy(data_, from.data(), count_ * sizeof(T), cudaMemcpyHostToDevice) ==
            cudaSuccess);
  }
  ~DeviceArray() { cudaFree(data_); }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;
  T* data() const { return static_cast<T*>(data_); }
  std::vector<T> read() const {
    std::vector<T> values(count_);
    REQUIRE(cudaMemcpy(values.data(), data_, count_ * sizeof(T), cudaMemcpyDeviceToHost) ==
            cudaSuccess);
    return values;
  }

 private:
  size_t count_;
  void* data_ = nullptr;
};

TEST_CASE("codes, weights and scores in the device's memory", "[cuda]") {
  const std::string spec =
      GENERATE("PolarTree4.2.2.2", "PolarTree5.3", "PolarPair4x4", "PolarPair4x4g128",
               "PolarScalar4", "Polar4", "Polar8", "Polar2+2", "Polar2-pca");
  const int dim = GENERATE(48, 128, 130);
  CAPTURE(spec, dim);
  const int64_t n = 203;
  const Heads heads(spec, dim, POLAR_METRIC_INNER_PRODUCT, 2, n);
  const DeviceArray<uint8_t> codes(heads.codes);
  const std::vector<float> queries = normal_numbers(2 * dim, 55);
  const DeviceArray<float> scores(std::vector<float>(static_cast<size_t>(2 * n), 77.0F));
  require_ok(polar_cuda_codec_score(heads.device.get(), 2, 1, queries.data(), n, codes.data(),
                                    heads.codes.size(), nullptr, scores.data()));
  CHECK(scores.read() == heads.scores_on_device(1, queries));
  const std::vector<float> weights = normal_numbers(2 * n, 56);
  const DeviceArray<float> device_weights(weights);
  std::vector<float> sums(static_cast<size_t>(2 * dim), 77.0F);
  require_ok(polar_cuda_codec_combine(heads.device.get(), 2, 1, device_weights.data(), n,
                                      codes.data(), heads.codes.size(), nullptr, sums.data()));
  CHECK(sums == heads.sums_on_device(1, weights));
}

TEST_CASE("codes may lie anywhere, and rows end where they end", "[cuda]") {
  const std::string spec =
      GENERATE("Polar0.5", "Polar2.5", "Polar4", "Polar4.5", "PolarPair4x4", "PolarTree4.2.2.2");
  // One segment, three, which leave lanes without one, and the most that a warp has lanes for.
  const int dim = GENERATE(64, 192, 2048);
  const size_t shift = GENERATE(size_t{0}, size_t{1}, size_t{4}, size_t{16});
  CAPTURE(spec, dim, shift);
  const int64_t n = 77;
  const Heads heads(spec, dim, POLAR_METRIC_INNER_PRODUCT, 2, n);
  std::vector<uint8_t> shifted(shift, 0xff);
  shifted.insert(shifted.end(), heads.codes.begin(), heads.codes.end());
  const DeviceArray<uint8_t> codes(shifted);
  for (const int64_t count : {1, 2, 3, 6}) {
    CAPTURE(count);
    const std::vector<float> queries = normal_numbers(2 * count * dim, 57);
    std::vector<float> scores(static_cast<size_t>(2 * count * n), 77.0F);
    require_ok(polar_cuda_codec_score(heads.device.get(), 2, count, queries.data(), n,
                                      codes.data() + shift, heads.codes.size(), nullptr,
                                      scores.data()));
    CHECK(relative_error(scores, heads.scores_on_cpu(count, queries)) < kFloatSums);
    const std::vector<float> weights = normal_numbers(2 * count * n, 58);
    std::vector<float> sums(static_cast<size_t>(2 * count * dim), 77.0F);
    require_ok(polar_cuda_codec_combine(heads.device.get(), 2, count, weights.data(), n,
                                        codes.data() + shift, heads.codes.size(), nullptr,
                                        sums.data()));
    CHECK(relative_error(sums, heads.sums_on_cpu(count, weights)) < kFloatSums);
  }
}

TEST_CASE("no rows, no heads, and arguments", "[cuda]") {
  const Heads heads("PolarTree4.2.2.2", 64, POLAR_METRIC_INNER_PRODUCT, 2, 10);
  const std::vector<float> queries(128, 1.0F);
  const std::vector<float> weights(20, 1.0F);
  std::vector<float> out(128, 77.0F);
  const size_t bytes = heads.codes.size();
  const auto score = [&](int64_t count, int64_t nq, int64_t n, size_t codes_bytes) {
    return polar_cuda_codec_score(heads.device.get(), count, nq, queries.data(), n,
                                  heads.codes.data(), codes_bytes, nullptr, out.data());
  };
  const auto combine = [&](int64_t count, int64_t nw, const float* row_weights, int64_t n,
                           size_t codes_bytes) {
    return polar_cuda_codec_combine(heads.device.get(), count, nw, row_weights, n,
                                    heads.codes.data(), codes_bytes, nullptr, out.data());
  };
  const auto require_failure = [&](polar_status status, const std::string& part) {
    CHECK(status == POLAR_ERROR_BAD_ARGUMENT);
    CHECK_THAT(last_error(), Catch::Matchers::ContainsSubstring(part));
  };
  require_ok(score(0, 1, 10, 0));
  require_ok(score(2, 0, 10, bytes));
  require_ok(score(2, 1, 0, 0));
  CHECK(out == std::vector<float>(128, 77.0F));
  require_failure(score(-1, 1, 10, bytes), "heads: -1");
  require_failure(score(65536, 1, 10, bytes), "heads: 65536");
  require_failure(score(2, -1, 10, bytes), "nq: -1");
  require_failure(score(2, 65536, 10, bytes), "nq: 65536");
  require_failure(score(2, 1, -1, bytes), "n: -1");
  require_failure(score(2, 1, 10, bytes - 1), "codes_bytes");
  require_failure(combine(2, -1, weights.data(), 10, bytes), "nw: -1");
  require_failure(combine(2, 1, weights.data(), 10, bytes + 1), "codes_bytes");
  std::vector<float> not_finite = weights;
  not_finite[13] = std::nanf("");
  require_failure(combine(2, 1, not_finite.data(), 10, bytes), "weights: those of head 1");
  CHECK(out == std::vector<float>(128, 77.0F));
  require_ok(combine(2, 1, weights.data(), 0, 0));
  CHECK(out == std::vector<float>(128, 0.0F));
}

TEST_CASE("codecs that are not for a device", "[no-device][cuda]") {
  polar_cuda_codec* codec = nullptr;
  CHECK(polar_cuda_codec_create(nullptr, nullptr, nullptr) == POLAR_ERROR_BAD_ARGUMENT);
  CHECK(polar_cuda_codec_create(nullptr, nullptr, &codec) == POLAR_ERROR_BAD_ARGUMENT);
  const Handle<polar_codec> untrained = make_codec("PolarPair4x4", 64, POLAR_METRIC_L2);
  CHECK(polar_cuda_codec_create(untrained.get(), nullptr, &codec) == POLAR_ERROR_NOT_TRAINED);
  const Handle<polar_codec> scalar = make_codec("PolarScalar4", 100, POLAR_METRIC_L2);
  CHECK(polar_cuda_codec_create(scalar.get(), nullptr, &codec) == POLAR_ERROR_UNSUPPORTED);
  CHECK_THAT(last_error(), Catch::Matchers::ContainsSubstring("multiples of 128"));
  CHECK(codec == nullptr);
  float out = 0;
  CHECK(polar_cuda_codec_score(nullptr, 0, 0, nullptr, 0, nullptr, 0, nullptr, &out) ==
        POLAR_ERROR_BAD_ARGUMENT);
  CHECK(polar_cuda_codec_combine(nullptr, 0, 0, nullptr, 0, nullptr, 0, nullptr, &out) ==
        POLAR_ERROR_BAD_ARGUMENT);
  polar_cuda_codec_destroy(nullptr);
}

}  // namespace
}  // namespace polarquant::test
