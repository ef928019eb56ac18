// SPDX-License-Identifier: MIT
#include "bench/cuda/attention.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>
#include <vector>

#include "bench/bench_check.h"
#include "bench/cuda/cublas_halves.cuh"
#include "bench/cuda/device_timer.h"
#include "cuda/device_buffer.h"

namespace polarquant::bench {
namespace {

constexpr int kThreads = 256;
constexpr int kTurns = 5;
/// Heads that have rows of their own; the others have the same again elsewhere.
constexpr int64_t kOwnHeads = 4;

cuda::DeviceBuffer halves_of(const std::vector<float>& values, int64_t times) {
  cuda::DeviceBuffer floats;
  cuda::DeviceBuffer halves;
  floats.need(values.size() * sizeof(float));
  halves.need(values.size() * static_cast<size_t>(times) * sizeof(__half));
  POLAR_CUDA_CHECK(cudaMemcpy(floats.as<void>(), values.data(), values.size() * sizeof(float),
                              cudaMemcpyHostToDevice));
  const auto count = static_cast<int64_t>(values.size());
  for (int64_t i = 0; i < times; ++i)
    to_half<<<static_cast<unsigned>((count + kThreads - 1) / kThreads), kThreads>>>(
        floats.as<float>(), halves.as<__half>() + i * count, count);
  POLAR_CUDA_CHECK_LAUNCH(to_half);
  POLAR_CUDA_CHECK(cudaDeviceSynchronize());
  return halves;
}

/// A matrix (rows, dim) of float16 a head, times a vector a head, on either side.
class Rival {
 public:
  Rival(int64_t heads, int64_t rows, int dim, const std::vector<float>& decoded)
      : heads_(static_cast<int>(heads)),
        rows_(rows),
        dim_(dim),
        matrices_(halves_of(decoded, heads / kOwnHeads)) {
    check(cublasCreate(&handle_));
  }
  ~Rival() { cublasDestroy(handle_); }
  Rival(const Rival&) = delete;
  Rival& operator=(const Rival&) = delete;

  /// y = matrix·x or its transpose's product; by cuBLAS's product of matrices or of vectors.
  void multiply(bool scores, bool by_vectors, const __half* x, float* y) {
    const float one = 1;
    const float zero = 0;
    // Column-major: the matrix is (dim, rows).
    const auto operation = scores ? CUBLAS_OP_T : CUBLAS_OP_N;
    const int64_t x_stride = scores ? dim_ : rows_;
    const int64_t y_stride = scores ? rows_ : dim_;
    const int64_t matrix_size = rows_ * dim_;
    if (by_vectors) {
      check(cublasHSSgemvStridedBatched(handle_, operation, dim_, static_cast<int>(rows_), &one,
                                        matrices_.as<__half>(), dim_, matrix_size, x, 1, x_stride,
                                        &zero, y, 1, y_stride, heads_));
      return;
    }
    check(cublasGemmStridedBatchedEx(
        handle_, operation, CUBLAS_OP_N, static_cast<int>(y_stride), 1, static_cast<int>(x_stride),
        &one, matrices_.as<__half>(), CUDA_R_16F, dim_, matrix_size, x, CUDA_R_16F,
        static_cast<int>(x_stride), x_stride, &zero, y, CUDA_R_32F, static_cast<int>(y_stride),
        y_stride, heads_, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT));
  }

 private:
  int heads_;
  int64_t rows_;
  int dim_;
  cuda::DeviceBuffer matrices_;
  cublasHandle_t handle_ = nullptr;
};

double relative_error(const std::vector<float>& found, const std::vector<float>& expected) {
  double error2 = 0;
  double sum2 = 0;
  for (size_t i = 0; i < found.size(); ++i) {
    error2 += std::pow(static_cast<double>(found[i]) - static_cast<double>(expected[i]), 2);
    sum2 += std::pow(static_cast<double>(expected[i]), 2);
  }
  return std::sqrt(error2 / sum2);
}

struct CodecDeleter {
  void operator()(polar_cuda_codec* codec) const { polar_cuda_codec_destroy(codec); }
};

}  // namespace

void print_attention(const std::string& spec, int64_t heads, int64_t rows, int dim,
                     const SyntheticRows& synthetic) {
  const int64_t own_rows = kOwnHeads * rows;
  const auto values = static_cast<size_t>(own_rows) * static_cast<size_t>(dim);
  std::vector<float> x(values);
  synthetic.fill(0, own_rows, x.data());
  polar_codec* made = nullptr;
  check(polar_codec_create(spec.c_str(), dim, POLAR_METRIC_INNER_PRODUCT, nullptr, &made));
  const std::unique_ptr<polar_codec, Deleter> codec(made);
  check(polar_codec_train(made, rows, x.data(), nullptr));
  polar_cuda_codec* made_device = nullptr;
  check(polar_cuda_codec_create(made, nullptr, &made_device));
  const std::unique_ptr<polar_cuda_codec, CodecDeleter> device(made_device);
  size_t head_bytes = 0;
  check(polar_codec_encoded_bytes(made, rows, &head_bytes));
  std::vector<uint8_t> codes(head_bytes * kOwnHeads);
  std::vector<float> decoded(values);
  for (size_t head = 0; head < kOwnHeads; ++head) {
    const size_t first = head * static_cast<size_t>(rows) * static_cast<size_t>(dim);
    check(polar_codec_encode(made, rows, x.data() + first, nullptr,
                             codes.data() + head * head_bytes, head_bytes));
    check(polar_codec_decode(made, rows, codes.data() + head * head_bytes, head_bytes,
                             POLAR_RECONSTRUCTION_LEAST_ERROR, nullptr, decoded.data() + first));
  }
  const auto all_heads = static_cast<size_t>(heads);
  const auto n = static_cast<size_t>(rows);
  const auto d = static_cast<size_t>(dim);
  cuda::DeviceBuffer device_codes;
  device_codes.need(head_bytes * all_heads);
  for (size_t head = 0; head < all_heads; ++head)
    POLAR_CUDA_CHECK(cudaMemcpy(device_codes.as<uint8_t>() + head * head_bytes,
                                codes.data() + head % kOwnHeads * head_bytes, head_bytes,
                                cudaMemcpyHostToDevice));
  std::vector<float> queries(all_heads * d);
  synthetic.fill(own_rows, heads, queries.data());
  std::vector<float> weights(all_heads * n);
  for (size_t i = 0; i < weights.size(); ++i)
    weights[i] =
        static_cast<float>((i * 2654435761U >> 8) % 65536) / 65536 / static_cast<float>(rows);
  cuda::DeviceBuffer device_weights;
  device_weights.need(weights.size() * sizeof(float));
  POLAR_CUDA_CHECK(cudaMemcpy(device_weights.as<void>(), weights.data(),
                              weights.size() * sizeof(float), cudaMemcpyHostToDevice));
  cuda::DeviceBuffer device_scores;
  device_scores.need(all_heads * n * sizeof(float));
  std::vector<float> sums(all_heads * d);
  Rival rival(heads, rows, dim, decoded);
  const cuda::DeviceBuffer half_queries = halves_of(queries, 1);
  const cuda::DeviceBuffer half_weights = halves_of(weights, 1);
  cuda::DeviceBuffer rival_out;
  rival_out.need(all_heads * n * sizeof(float));

  std::printf("%-18s %4zu bytes a row", spec.c_str(), head_bytes / n);
  for (const bool scores : {true, false}) {
    const auto ours = [&] {
      if (scores) {
        check(polar_cuda_codec_score(device.get(), heads, 1, queries.data(), rows,
                                     device_codes.as<uint8_t>(), head_bytes * all_heads, nullptr,
                                     device_scores.as<float>()));
      } else {
        check(polar_cuda_codec_combine(device.get(), heads, 1, device_weights.as<float>(), rows,
                                       device_codes.as<uint8_t>(), head_bytes * all_heads, nullptr,
                                       sums.data()));
      }
    };
    std::vector<double> times[3];
    for (int turn = 0; turn < kTurns; ++turn) {
      times[0].push_back(time_call(ours, 5));
      for (const bool by_vectors : {false, true})
        times[by_vectors ? 2 : 1].push_back(time_call(
            [&] {
              rival.multiply(scores, by_vectors,
                             (scores ? half_queries : half_weights).as<__half>(),
                             rival_out.as<float>());
              POLAR_CUDA_CHECK(cudaDeviceSynchronize());
            },
            5));
    }
    const double ms = median(times[0]);
    const double rival_ms = std::min(median(times[1]), median(times[2]));
    std::vector<float> expected(scores ? n : d);
    std::vector<float> found(expected.size());
    if (scores) {
      polar_query* query = nullptr;
      check(polar_query_prepare(made, queries.data(), &query));
      check(
          polar_codec_score(made, query, rows, codes.data(), head_bytes, nullptr, expected.data()));
      polar_query_destroy(query);
      POLAR_CUDA_CHECK(cudaMemcpy(found.data(), device_scores.as<void>(), n * sizeof(float),
                                  cudaMemcpyDeviceToHost));
    } else {
      check(polar_codec_combine(made, rows, codes.data(), head_bytes, 1, weights.data(), nullptr,
                                expected.data()));
      std::copy_n(sums.begin(), d, found.begin());
    }
    std::printf("  %s %.3f ms (%.0f GB/s), cuBLAS %.3f, %.2f times, error %.1e",
                scores ? "scores" : "sums", ms,
                static_cast<double>(head_bytes * all_heads) / ms / 1e6, rival_ms, rival_ms / ms,
                relative_error(found, expected));
  }
  std::printf("\n");
  std::fflush(stdout);
}

}  // namespace polarquant::bench
