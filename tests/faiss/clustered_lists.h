// SPDX-License-Identifier: MIT
// Inverted files of clustered rows, whose lists were trained once.
#pragma once
#include <faiss/IndexIVF.h>

#include <memory>
#include <string>
#include <vector>

#include "polarquant/faiss.h"
#include "src/faiss/foreign/faiss_compat.h"
#include "tests/faiss/clustered_rows.h"

namespace polarquant::test::clustered_lists {

inline constexpr int kDim = 64;
inline constexpr int64_t kRows = 3000;
inline constexpr int64_t kK = 10;
inline constexpr size_t kLists = 24;
inline constexpr ::faiss::MetricType kInnerProduct = ::faiss::METRIC_INNER_PRODUCT;
inline constexpr ::faiss::MetricType kL2 = ::faiss::METRIC_L2;

inline const std::vector<float>& rows() {
  static const std::vector<float> values = clustered_rows(kRows, kDim, 1);
  return values;
}
inline const std::vector<float>& queries() {
  static const std::vector<float> values = clustered_rows(40, kDim, 2);
  return values;
}
inline const float* row(int64_t i) { return rows().data() + i * kDim; }

/// A trained coarse quantizer, made once for each metric.
inline const ::faiss::Index& coarse_quantizer(::faiss::MetricType metric) {
  static std::unique_ptr<::faiss::Index> quantizers[2];
  auto& made = quantizers[metric == kL2 ? 1 : 0];
  if (made == nullptr) {
    auto ivf = polarquant::index_factory(kDim, "IVF24,Flat", metric);
    ivf->train(kRows, rows().data());
    auto& trained = dynamic_cast<::faiss::IndexIVF&>(*ivf);
    made.reset(trained.quantizer);
    trained.own_fields = false;
  }
  return *made;
}

using Options = IndexIVFPolar::Options;

/// The index's rows in other lists, which it owns.
template <typename Lists>
Lists& take_lists(IndexIVFPolar& index) {
  auto lists = std::make_unique<Lists>(kLists, index.code_size);
  for (size_t list = 0; list < kLists; ++list) {
    lists->add_entries(list, index.invlists->list_size(list),
                       ::faiss::InvertedLists::ScopedIds(index.invlists, list).get(),
                       ::faiss::InvertedLists::ScopedCodes(index.invlists, list).get());
  }
  Lists& taken = *lists;
  index.replace_invlists(lists.release(), true);
  return taken;
}

inline std::unique_ptr<IndexIVFPolar> make_index(const std::string& spec,
                                                 ::faiss::MetricType metric,
                                                 const Options& options = {}) {
  // FAISS does not change a trained quantizer.
  auto* quantizer = const_cast<::faiss::Index*>(&coarse_quantizer(metric));
  auto index = std::make_unique<IndexIVFPolar>(quantizer, kDim, kLists, spec, metric, options);
  index->train(kRows, rows().data());
  index->nprobe = 6;
  return index;
}
inline std::unique_ptr<IndexIVFPolar> filled_index(const std::string& spec,
                                                   ::faiss::MetricType metric,
                                                   const Options& options = {}) {
  auto index = make_index(spec, metric, options);
  index->add(kRows, rows().data());
  return index;
}

}  // namespace polarquant::test::clustered_lists
