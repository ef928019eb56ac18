// SPDX-License-Identifier: MIT
// An index and a copy on devices that follows it by polar_cuda_index_refresh, beside copies made
// anew.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tests/cuda/listed_rows.h"

namespace polarquant::test {

class RefreshedCopy {
 public:
  /// An index without rows, trained on x, (n, dim), where there is any.
  RefreshedCopy(const std::string& description, int dim, polar_metric metric,
                const std::vector<float>& x)
      : dim_(dim) {
    polar_index* index = nullptr;
    require_ok(polar_index_create(description.c_str(), dim, metric, &index));
    index_.reset(index);
    if (!x.empty()) require_ok(polar_index_train(index, count(x), x.data(), nullptr));
  }

  polar_index* index() const { return index_.get(); }
  polar_cuda_index* copy() const { return copy_.get(); }
  int64_t rows() const { return polar_index_ntotal(index_.get()); }
  int64_t count(const std::vector<float>& x) const { return static_cast<int64_t>(x.size()) / dim_; }

  void add(const std::vector<float>& x) const {
    require_ok(polar_index_add(index_.get(), count(x), x.data(), nullptr));
  }
  /// With the ids first, first + step, …
  void add(const std::vector<float>& x, int64_t first, int64_t step) const {
    std::vector<int64_t> ids;
    for (int64_t i = 0; i < count(x); ++i) ids.push_back(first + i * step);
    require_ok(polar_index_add_with_ids(index_.get(), count(x), x.data(), ids.data(), nullptr));
  }

  /// The copy is made, on these devices.
  void make(const std::vector<int32_t>& devices = {0},
            polar_cuda_layout layout = POLAR_CUDA_SHARDED) {
    devices_ = devices;
    layout_ = layout;
    copy_ = fresh();
  }
  polar_status try_refresh() const { return polar_cuda_index_refresh(copy_.get(), index_.get()); }
  void refresh() const { require_ok(try_refresh()); }

  Handle<polar_cuda_index> fresh() const {
    const polar_cuda_options options = places_on(devices_, layout_);
    polar_cuda_index* made = nullptr;
    require_ok(polar_cuda_index_from_index(index_.get(), &options, &made));
    return Handle<polar_cuda_index>(made);
  }
  SearchResult search(const polar_cuda_index* copy, const std::vector<float>& queries, int64_t k,
                      const polar_search_options& options) const {
    const auto results = static_cast<size_t>(count(queries) * k);
    SearchResult found{std::vector<float>(results, 77.0F), std::vector<int64_t>(results, 77)};
    require_ok(polar_cuda_index_search(copy, count(queries), queries.data(), k, &options, nullptr,
                                       found.scores.data(), found.ids.data()));
    return found;
  }
  SearchResult search(const std::vector<float>& queries, int64_t k,
                      const polar_search_options& options) const {
    return search(copy_.get(), queries, k, options);
  }

  /// The copy holds what one that is made anew does: its answers are the same, of few queries and
  /// of many, of some rows and of all, by each of these filters and by none.
  void check(const std::vector<float>& queries, const std::vector<const polar_filter*>& filters,
             int64_t nprobe = 0) const {
    const Handle<polar_cuda_index> anew = fresh();
    CHECK(polar_cuda_index_ntotal(copy()) == rows());
    std::vector<const polar_filter*> all = {nullptr};
    all.insert(all.end(), filters.begin(), filters.end());
    for (const polar_filter* filter : all) {
      for (const float exactness : {2.25F, kEveryRow}) {
        for (const int64_t nq : {int64_t{1}, count(queries)}) {
          for (const int64_t k : {int64_t{10}, rows() + 3}) {
            if (k > 10 && nq > 1) continue;
            CAPTURE(rows(), nq, k, exactness, filter != nullptr);
            polar_search_options options = probing(nprobe, exactness);
            options.filter = filter;
            const std::vector<float> some = first_of(queries, dim_, nq);
            CHECK(search(some, k, options) == search(anew.get(), some, k, options));
          }
        }
      }
    }
  }

 private:
  int dim_;
  std::vector<int32_t> devices_ = {0};
  polar_cuda_layout layout_ = POLAR_CUDA_SHARDED;
  Handle<polar_index> index_;
  Handle<polar_cuda_index> copy_;
};

}  // namespace polarquant::test
