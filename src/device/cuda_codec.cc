// SPDX-License-Identifier: MIT
#include "src/device/cuda_codec.h"

#include <cmath>
#include <vector>

#include "src/core/parallel.h"
#include "src/scan/search/query_tasks.h"
#include "src/scan/stores/codec_copy.h"

namespace polarquant::device {

CudaCodec::CudaCodec(const Codec& codec, int32_t device, int32_t threads)
    : codec_(copy_of(codec)), threads_(threads), rows_(*codec_) {
  require_cuda_device("options.device", device);
  const cuda::RowDescription rows = rows_.view();
  device_codec_.reset(call_cuda(cuda_functions().create_codec, device, &rows));
}

void CudaCodec::score(const HeadRows& rows, int64_t nq, const float* queries, void* stream,
                      float* scores) const {
  const int64_t count = rows.heads * nq;
  std::vector<float> spread(static_cast<size_t>(count) * rows_.width());
  std::vector<cuda::QueryTerms> terms(static_cast<size_t>(count));
  for_each_query(count, thread_count(threads_, count), [&](int64_t q) {
    const PreparedQuery prepared = codec_->prepare_query(queries + q * codec_->dim());
    const auto at = static_cast<size_t>(q);
    rows_.spread(prepared.rotated.data(), spread.data() + at * rows_.width());
    terms[at] = {prepared.offset, prepared.bias_weight};
  });
  cuda::RowScoresRequest request = {};
  request.heads = rows.heads;
  request.nq = nq;
  request.n = rows.n;
  request.codes = rows.codes;
  request.head_bytes = codec_->layout().bytes(rows.n);
  request.queries = spread.data();
  request.terms = terms.data();
  request.stream = stream;
  request.scores = scores;
  call_cuda(cuda_functions().score_rows, device_codec_.get(), &request);
}

void CudaCodec::combine(const HeadRows& rows, int64_t nw, const float* weights, void* stream,
                        float* out) const {
  const auto count = static_cast<size_t>(rows.heads * nw);
  const size_t width = rows_.width() + 1;  // and the sum of weights
  std::vector<double> sums(count * width);
  cuda::RowSumsRequest request = {};
  request.heads = rows.heads;
  request.nw = nw;
  request.n = rows.n;
  request.codes = rows.codes;
  request.head_bytes = codec_->layout().bytes(rows.n);
  request.weights = weights;
  request.stream = stream;
  request.sums = sums.data();
  call_cuda(cuda_functions().sum_rows, device_codec_.get(), &request);
  for (size_t i = 0; i < sums.size(); ++i)
    require(std::isfinite(sums[i]), StatusCode::bad_argument,
            "weights: those of head {}, vector {} are not all finite, or too large for a float's "
            "sums",
            i / width / static_cast<size_t>(nw), i / width % static_cast<size_t>(nw));
  const double gain = codec_->has_factors() ? 1 - codec_->mse() : codec_->norm_unit();
  const auto dim = static_cast<size_t>(codec_->dim());
  std::vector<double> coordinates(dim);
  for (size_t i = 0; i < count; ++i) {
    const double* sum = sums.data() + i * width;
    rows_.gather(sum, coordinates.data());
    for (double& value : coordinates) value *= gain;
    codec_->finish_combine(coordinates.data(), sum[width - 1], out + i * dim);
  }
}

}  // namespace polarquant::device
