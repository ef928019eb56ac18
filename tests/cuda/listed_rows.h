// SPDX-License-Identifier: MIT
// An inverted file by the C ABI alone, searched on the CPU and on devices.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "tests/cuda/cuda_support.h"

namespace polarquant::test {

/// Whether the library has indexes; without FAISS it has none.
inline bool has_indexes() {
  polar_index* index = nullptr;
  const polar_status status = polar_index_create("Polar2", 8, POLAR_METRIC_L2, &index);
  polar_index_destroy(index);
  return status != POLAR_ERROR_UNSUPPORTED;
}

class ListedRows {
 public:
  /// Trained on x, (n, dim), of which the index then holds the rows; `ids`: theirs, or empty.
  ListedRows(const std::string& description, int dim, polar_metric metric,
             const std::vector<float>& x, const std::vector<int64_t>& ids = {})
      : dim_(dim) {
    create(description, metric);
    const auto n = static_cast<int64_t>(x.size()) / dim;
    require_ok(polar_index_train(index_.get(), n, x.data(), nullptr));
    require_ok(ids.empty()
                   ? polar_index_add(index_.get(), n, x.data(), nullptr)
                   : polar_index_add_with_ids(index_.get(), n, x.data(), ids.data(), nullptr));
    device_ = copy(nullptr);
  }
  /// Rows x in lists of the caller's, whose centroids are the first rows of x.
  ListedRows(const std::string& spec, int64_t nlist, int dim, polar_metric metric,
             const std::vector<float>& x, const std::vector<int64_t>& lists)
      : dim_(dim) {
    create("IVF" + std::to_string(nlist) + "," + spec, metric);
    const auto n = static_cast<int64_t>(lists.size());
    const auto trained = std::max<int64_t>(n, 1);
    require_ok(polar_index_train_with_centroids(index_.get(), nlist, x.data(), trained, x.data(),
                                                nullptr));
    std::vector<int64_t> ids(lists.size());
    for (size_t i = 0; i < ids.size(); ++i) ids[i] = static_cast<int64_t>(i);
    require_ok(
        polar_index_add_to_lists(index_.get(), n, x.data(), ids.data(), lists.data(), nullptr));
    device_ = copy(nullptr);
  }

  polar_index* index() const { return index_.get(); }
  const polar_cuda_index* device() const { return device_.get(); }
  int64_t rows() const { return polar_index_ntotal(index_.get()); }

  Handle<polar_cuda_index> on(const std::vector<int32_t>& devices, polar_cuda_layout layout) const {
    const polar_cuda_options options = places_on(devices, layout);
    return copy(&options);
  }

  SearchResult on_cpu(const std::vector<float>& queries, int64_t k,
                      const polar_search_options& options) const {
    SearchResult result = empty_result(queries, k);
    require_ok(polar_index_search(index_.get(), count(queries), queries.data(), k, &options,
                                  result.scores.data(), result.ids.data()));
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
    INFO("nq " << count(queries) << ", k " << k << ", nprobe " << options.nprobe << ", exactness "
               << options.exactness);
    check_same([&] { return on_cpu(queries, k, options); },
               [&] { return on_device(queries, k, options); });
  }

 private:
  void create(const std::string& description, polar_metric metric) {
    polar_index* index = nullptr;
    require_ok(polar_index_create(description.c_str(), dim_, metric, &index));
    index_.reset(index);
  }
  Handle<polar_cuda_index> copy(const polar_cuda_options* options) const {
    polar_cuda_index* made = nullptr;
    require_ok(polar_cuda_index_from_index(index_.get(), options, &made));
    return Handle<polar_cuda_index>(made);
  }
  int64_t count(const std::vector<float>& queries) const {
    return static_cast<int64_t>(queries.size()) / dim_;
  }
  SearchResult empty_result(const std::vector<float>& queries, int64_t k) const {
    const auto results = static_cast<size_t>(count(queries) * k);
    return {std::vector<float>(results, 77.0F), std::vector<int64_t>(results, 77)};
  }

  int dim_;
  Handle<polar_index> index_;
  Handle<polar_cuda_index> device_;
};

/// Rows of x, a little off.
inline std::vector<float> queries_near(const std::vector<float>& x, int dim, int64_t count,
                                       uint64_t seed) {
  Random random(seed);
  std::vector<float> queries;
  const uint64_t rows = x.size() / static_cast<size_t>(dim);
  for (int64_t q = 0; q < count; ++q) {
    const auto row = static_cast<size_t>(random.next() % rows) * static_cast<size_t>(dim);
    for (int j = 0; j < dim; ++j)
      queries.push_back(x[row + static_cast<size_t>(j)] +
                        .3F * static_cast<float>(random.normal()));
  }
  return queries;
}
inline std::vector<float> first_of(const std::vector<float>& queries, int dim, int64_t count) {
  return {queries.begin(), queries.begin() + count * dim};
}

inline polar_search_options probing(int64_t nprobe, float exactness) {
  polar_search_options options = search_options(exactness);
  options.nprobe = nprobe;
  return options;
}

}  // namespace polarquant::test
