// SPDX-License-Identifier: MIT
// Codes made on a device have the CPU's bytes.
#include <cmath>
#include <thread>

#include "tests/cuda/cuda_support.h"

namespace polarquant::test {
namespace {

struct EncoderDeleter {
  void operator()(polar_cuda_encoder* encoder) const { polar_cuda_encoder_destroy(encoder); }
};
using Encoder = std::unique_ptr<polar_cuda_encoder, EncoderDeleter>;

Handle<polar_codec> make_codec(const std::string& spec, int dim, polar_metric metric) {
  polar_codec* codec = nullptr;
  require_ok(polar_codec_create(spec.c_str(), dim, metric, nullptr, &codec));
  return Handle<polar_codec>(codec);
}
Encoder make_encoder(const polar_codec* codec) {
  polar_cuda_encoder* encoder = nullptr;
  require_ok(polar_cuda_encoder_create(codec, nullptr, &encoder));
  return Encoder(encoder);
}

size_t encoded_bytes(const polar_codec* codec, int64_t n) {
  size_t bytes = 0;
  require_ok(polar_codec_encoded_bytes(codec, n, &bytes));
  return bytes;
}

/// How many bytes of all rows differ.
size_t differing_bytes(const polar_codec* codec, const polar_cuda_encoder* encoder, int64_t n,
                       const std::vector<float>& x) {
  const size_t bytes = encoded_bytes(codec, n);
  std::vector<uint8_t> expected(bytes, 1);
  std::vector<uint8_t> found(bytes, 2);
  require_ok(polar_codec_encode(codec, n, x.data(), nullptr, expected.data(), bytes));
  require_ok(polar_cuda_encoder_encode(encoder, n, x.data(), found.data(), bytes, nullptr));
  size_t differ = 0;
  for (size_t i = 0; i < bytes; ++i) differ += expected[i] != found[i] ? 1 : 0;
  return differ;
}

TEST_CASE("a device's codes have the CPU's bytes", "[cuda]") {
  const std::string spec = GENERATE("Polar0.5", "Polar1", "Polar1.5", "Polar2", "Polar2.5",
                                    "Polar3", "Polar3.5", "Polar4", "Polar4.5", "Polar5");
  const int dim = GENERATE(65, 66, 96, 127, 128, 129, 255, 384, 511, 768, 1000, 1536);
  const polar_metric metric =
      GENERATE(POLAR_METRIC_INNER_PRODUCT, POLAR_METRIC_L2, POLAR_METRIC_COSINE);
  CAPTURE(spec, dim, metric);
  const int64_t n = 67;
  const std::vector<float> x = clustered_rows(n, dim, 30);
  const Handle<polar_codec> codec = make_codec(spec, dim, metric);
  require_ok(polar_codec_train(codec.get(), n, x.data(), nullptr));
  const Encoder encoder = make_encoder(codec.get());
  CHECK(differing_bytes(codec.get(), encoder.get(), n, x) == 0);
}

/// Rows whose variance falls with the coordinate, so that a plan has many rates; rotated, they are
/// an embedding's.
std::vector<float> falling_rows(int64_t n, int dim, double decay, uint64_t seed) {
  std::vector<float> x = clustered_rows(n, dim, seed);
  for (size_t i = 0; i < x.size(); ++i)
    x[i] *= static_cast<float>(
        std::pow(static_cast<double>(i % static_cast<size_t>(dim)) + 1, -decay / 2));
  return x;
}

TEST_CASE("a device's trained codes have the CPU's bytes", "[cuda]") {
  const std::string spec =
      GENERATE("Polar0.5-pca", "Polar1-pca", "Polar1.5-pca", "Polar2-pca", "Polar3-pca",
               "Polar4-pca", "Polar5-pca", "Polar2+2-pca", "Polar4+2-pca");
  const int dim = GENERATE(65, 96, 127, 200, 331, 512);
  const double decay = GENERATE(0.0, .8, 2.0, 5.0);
  const polar_metric metric = dim % 2 == 0   ? POLAR_METRIC_INNER_PRODUCT
                              : dim % 3 == 1 ? POLAR_METRIC_L2
                                             : POLAR_METRIC_COSINE;
  CAPTURE(spec, dim, decay, metric);
  const int64_t n = 1100;
  const std::vector<float> x = falling_rows(n, dim, decay, 36);
  const Handle<polar_codec> codec = make_codec(spec, dim, metric);
  require_ok(polar_codec_train(codec.get(), n, x.data(), nullptr));
  const Encoder encoder = make_encoder(codec.get());
  CHECK(differing_bytes(codec.get(), encoder.get(), 131, x) == 0);
}

TEST_CASE("trained codes of long rows are encoded on a device", "[cuda]") {
  const std::string spec = GENERATE("Polar1-pca", "Polar4-pca");
  const int dim = GENERATE(768, 1100, 1536);
  CAPTURE(spec, dim);
  const int64_t n = int64_t{2} * dim + 100;
  const std::vector<float> x = falling_rows(n, dim, 1, 37);
  const Handle<polar_codec> codec = make_codec(spec, dim, POLAR_METRIC_INNER_PRODUCT);
  require_ok(polar_codec_train(codec.get(), n, x.data(), nullptr));
  const Encoder encoder = make_encoder(codec.get());
  CHECK(differing_bytes(codec.get(), encoder.get(), n, x) == 0);
}

TEST_CASE("rows of every kind are encoded on a device", "[cuda]") {
  const std::string spec =
      GENERATE("Polar2", "Polar4-norot", "Polar5", "Polar1", "Polar2-pca", "Polar5-pca");
  const int dim = 200;
  CAPTURE(spec);
  std::vector<float> x = clustered_rows(3000, dim, 31);
  // Zeros, one huge coordinate, equal coordinates, tiny ones, and coordinates that are −0.
  std::fill_n(x.begin(), dim, 0.0F);
  std::fill_n(x.begin() + dim, dim, 0.0F);
  x[dim + 77] = 1000;
  std::fill_n(x.begin() + int64_t{2} * dim, dim, 1.0F);
  for (int j = 0; j < dim; ++j) x[static_cast<size_t>(3 * dim + j)] *= 1e-2F;
  for (int j = 0; j < dim; j += 2) x[static_cast<size_t>(4 * dim + j)] = -0.0F;
  const Handle<polar_codec> codec = make_codec(spec, dim, POLAR_METRIC_L2);
  const bool with_centre = GENERATE(false, true);
  if (spec.ends_with("-pca") && !with_centre) return;
  if (with_centre) require_ok(polar_codec_train(codec.get(), 3000, x.data(), nullptr));
  const Encoder encoder = make_encoder(codec.get());
  for (const int64_t n : {0, 1, 2, 3, 2999}) {
    CAPTURE(n);
    CHECK(differing_bytes(codec.get(), encoder.get(), n, x) == 0);
  }
}

TEST_CASE("rows of lengths far apart are encoded on a device", "[cuda]") {
  const std::string spec = GENERATE("Polar2", "Polar4", "Polar5", "Polar2-pca", "Polar4-pca");
  const polar_metric metric =
      GENERATE(POLAR_METRIC_INNER_PRODUCT, POLAR_METRIC_L2, POLAR_METRIC_COSINE);
  const int dim = 96;
  const int64_t n = 600;
  CAPTURE(spec, metric);
  std::vector<float> x = clustered_rows(n, dim, 34);
  const Handle<polar_codec> codec = make_codec(spec, dim, metric);
  require_ok(polar_codec_train(codec.get(), n, x.data(), nullptr));
  stretch_rows(dim, &x);
  // One is the centre, one nearly.
  std::vector<float> centre(dim);
  require_ok(polar_codec_get_centre(codec.get(), centre.data()));
  std::copy(centre.begin(), centre.end(), x.begin() + int64_t{9} * dim);
  std::copy(centre.begin(), centre.end(), x.begin() + int64_t{10} * dim);
  x[static_cast<size_t>(10 * dim + 3)] += 1e-6F;
  const Encoder encoder = make_encoder(codec.get());
  CHECK(differing_bytes(codec.get(), encoder.get(), n, x) == 0);
}

TEST_CASE("codecs of before format 4 encode to their bytes on a device", "[cuda]") {
  const std::string spec = GENERATE("Polar2", "Polar4");
  const polar_metric metric = GENERATE(POLAR_METRIC_INNER_PRODUCT, POLAR_METRIC_L2);
  const int dim = 96;
  const int64_t n = 600;
  CAPTURE(spec, metric);
  std::vector<float> x = clustered_rows(n, dim, 35);
  const Handle<polar_codec> trained = make_codec(spec, dim, metric);
  require_ok(polar_codec_train(trained.get(), n, x.data(), nullptr));
  const Handle<polar_codec> codec = older_codec(trained.get());
  for (int j = 0; j < dim; ++j) {
    x[static_cast<size_t>(8 * dim + j)] *= 1e3F;
    x[static_cast<size_t>(16 * dim + j)] *= 1e-6F;
  }
  const Encoder encoder = make_encoder(codec.get());
  CHECK(differing_bytes(codec.get(), encoder.get(), n, x) == 0);
}

TEST_CASE("more rows than are encoded at a time, by several threads", "[cuda]") {
  const int dim = 96;
  const int64_t n = 150000;
  const std::vector<float> x = clustered_rows(n, dim, 32);
  const Handle<polar_codec> codec = make_codec("Polar2", dim, POLAR_METRIC_INNER_PRODUCT);
  require_ok(polar_codec_train(codec.get(), 1000, x.data(), nullptr));
  const Encoder encoder = make_encoder(codec.get());
  const size_t bytes = encoded_bytes(codec.get(), n);
  std::vector<uint8_t> expected(bytes);
  require_ok(polar_codec_encode(codec.get(), n, x.data(), nullptr, expected.data(), bytes));
  std::vector<int> wrong(3, 0);
  std::vector<std::thread> threads;
  for (size_t t = 0; t < wrong.size(); ++t) {
    threads.emplace_back([&, t] {
      std::vector<uint8_t> found(bytes);
      const polar_status status =
          polar_cuda_encoder_encode(encoder.get(), n, x.data(), found.data(), bytes, nullptr);
      wrong[t] = status == POLAR_OK && found == expected ? 0 : 1;
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == std::vector<int>(3, 0));
}

TEST_CASE("rows that cannot be coded are refused by number", "[cuda]") {
  const int dim = 96;
  const int64_t n = 300;
  std::vector<float> x = clustered_rows(n, dim, 33);
  const Handle<polar_codec> codec = make_codec("Polar2", dim, POLAR_METRIC_L2);
  require_ok(polar_codec_train(codec.get(), n, x.data(), nullptr));
  const Encoder encoder = make_encoder(codec.get());
  std::vector<uint8_t> codes(encoded_bytes(codec.get(), n));
  const auto encode = [&](int64_t rows, size_t bytes) {
    return polar_cuda_encoder_encode(encoder.get(), rows, x.data(), codes.data(), bytes, nullptr);
  };
  const auto require_failure = [&](polar_status status, const std::string& part) {
    CHECK(status == POLAR_ERROR_BAD_ARGUMENT);
    CHECK_THAT(last_error(), Catch::Matchers::ContainsSubstring(part));
  };
  require_failure(encode(-1, 0), "n: -1");
  require_failure(encode(n, codes.size() - 1), "codes_bytes");
  x[static_cast<size_t>(250 * dim)] = std::nanf("");
  x[static_cast<size_t>(200 * dim + 5)] = INFINITY;
  require_failure(encode(n, codes.size()), "row 200 is not finite");
  for (int j = 0; j < dim; ++j) x[static_cast<size_t>(100 * dim + j)] = 1e30F;
  require_failure(encode(n, codes.size()), "row 100: its distance");
  CHECK(polar_codec_encode(codec.get(), n, x.data(), nullptr, codes.data(), codes.size()) ==
        POLAR_ERROR_BAD_ARGUMENT);
}

TEST_CASE("codecs that are not for a device's encoder", "[no-device][cuda]") {
  const auto require_unsupported = [](const char* spec, int dim, const std::string& part) {
    const Handle<polar_codec> codec = make_codec(spec, dim, POLAR_METRIC_L2);
    const std::vector<float> x = clustered_rows(400, dim, 38);
    require_ok(polar_codec_train(codec.get(), 400, x.data(), nullptr));
    polar_cuda_encoder* encoder = nullptr;
    CHECK(polar_cuda_encoder_create(codec.get(), nullptr, &encoder) == POLAR_ERROR_UNSUPPORTED);
    CHECK(encoder == nullptr);
    CHECK_THAT(last_error(), Catch::Matchers::ContainsSubstring(part));
  };
  require_unsupported("PolarTree4.2.2.2", 128, "PolarTree4.2.2.2");
  require_unsupported("Polar8", 128, "Polar8");
  require_unsupported("Polar2+2", 128, "Polar2+2");
  require_unsupported("Polar2-dense", 128, "Polar2-dense");
  require_unsupported("PolarB16", 128, "PolarB16");
  require_unsupported("Polar2", 64, "64 dimensions");
  const Handle<polar_codec> untrained = make_codec("Polar2-pca", 128, POLAR_METRIC_L2);
  polar_cuda_encoder* encoder = nullptr;
  CHECK(polar_cuda_encoder_create(untrained.get(), nullptr, &encoder) == POLAR_ERROR_NOT_TRAINED);
  CHECK(polar_cuda_encoder_create(nullptr, nullptr, nullptr) == POLAR_ERROR_BAD_ARGUMENT);
  CHECK(polar_cuda_encoder_encode(nullptr, 0, nullptr, nullptr, 0, nullptr) ==
        POLAR_ERROR_BAD_ARGUMENT);
  polar_cuda_encoder_destroy(nullptr);
}

}  // namespace
}  // namespace polarquant::test
