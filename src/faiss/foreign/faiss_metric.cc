// SPDX-License-Identifier: MIT
#include "src/faiss/foreign/faiss_metric.h"

#include <string>

#include "src/core/status.h"

namespace polarquant {
namespace {

struct MetricName {
  ::faiss::MetricType metric;
  const char* name;
};
/// Those every FAISS release has; newer ones are told by their number.
constexpr MetricName kOtherMetrics[] = {
    {::faiss::METRIC_L1, "METRIC_L1"},
    {::faiss::METRIC_Linf, "METRIC_Linf"},
    {::faiss::METRIC_Lp, "METRIC_Lp"},
    {::faiss::METRIC_Canberra, "METRIC_Canberra"},
    {::faiss::METRIC_BrayCurtis, "METRIC_BrayCurtis"},
    {::faiss::METRIC_JensenShannon, "METRIC_JensenShannon"},
};

}  // namespace

Metric codec_metric(::faiss::MetricType metric) {
  if (metric == ::faiss::METRIC_INNER_PRODUCT) return Metric::inner_product;
  if (metric == ::faiss::METRIC_L2) return Metric::l2;
  std::string name = std::to_string(static_cast<int>(metric));
  for (const MetricName& row : kOtherMetrics) {
    if (row.metric == metric) name = row.name;
  }
  fail(
      StatusCode::bad_argument,
      "metric: {}; METRIC_INNER_PRODUCT and METRIC_L2 are supported (for cosine put \"L2norm,\" in "
      "front of the string and use METRIC_INNER_PRODUCT)",
      name);
}

}  // namespace polarquant
