// SPDX-License-Identifier: MIT
// Index files in the tests of merging and building in parts.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "tests/capi/capi_support.h"
#include "tests/support/temporary_folder.h"

namespace polarquant::test {

struct DestroyBuilder {
  void operator()(polar_builder* builder) const { polar_builder_destroy(builder); }
};
using BuilderHandle = std::unique_ptr<polar_builder, DestroyBuilder>;

inline std::string bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  REQUIRE(file.good());
  return {std::istreambuf_iterator<char>(file), {}};
}

inline void save(const IndexHandle& index, const std::string& path) {
  require_ok(polar_index_save(index.get(), path.c_str(), nullptr));
}

inline IndexHandle load(const std::string& path, int32_t memory_map = 0) {
  polar_load_options options;
  polar_load_options_init(&options);
  options.memory_map = memory_map;
  polar_index* index = nullptr;
  require_ok(polar_index_load(path.c_str(), &options, &index));
  return IndexHandle(index);
}

inline IndexHandle clone(const IndexHandle& index) {
  polar_index* made = nullptr;
  require_ok(polar_index_clone(index.get(), &made));
  return IndexHandle(made);
}

inline polar_status merge(const std::vector<std::string>& paths, const std::string& out,
                          const polar_work_options* options = nullptr) {
  std::vector<const char*> names;
  for (const std::string& path : paths) names.push_back(path.c_str());
  return polar_merge_files(static_cast<int64_t>(names.size()), names.data(), out.c_str(), options);
}

/// Rows of a few clusters, which all codes and lists can be trained on.
class BuiltRows {
 public:
  BuiltRows(int64_t count, int32_t dim) : dim_(dim), values_(normal_rows(count, dim, 3)) {
    for (int64_t row = 0; row < count; ++row)
      for (int32_t j = 0; j < dim; ++j)
        values_[static_cast<size_t>(row * dim + j)] += static_cast<float>((row * 7 + j) % 5);
  }
  int32_t dim() const { return dim_; }
  int64_t count() const { return static_cast<int64_t>(values_.size()) / dim_; }
  const float* row(int64_t i) const { return values_.data() + i * dim_; }

  /// Ids of callers: in no order, with gaps.
  static std::vector<int64_t> ids(int64_t first, int64_t end) {
    std::vector<int64_t> ids;
    for (int64_t i = first; i < end; ++i) ids.push_back((i * 7919) % 1000003 + 5);
    return ids;
  }

  IndexHandle trained(const std::string& description, polar_metric metric) const {
    IndexHandle index = make_index(description.c_str(), dim_, metric);
    require_ok(polar_index_train(index.get(), count(), row(0), nullptr));
    if (polar_index_nlist(index.get()) > 0) require_ok(polar_index_set_nprobe(index.get(), 3));
    return index;
  }
  void add(const IndexHandle& index, bool with_ids, int64_t first, int64_t end) const {
    require_ok(with_ids ? polar_index_add_with_ids(index.get(), end - first, row(first),
                                                   ids(first, end).data(), nullptr)
                        : polar_index_add(index.get(), end - first, row(first), nullptr));
  }

 private:
  int32_t dim_;
  std::vector<float> values_;
};

/// What can be built in parts, and whether its rows take ids, and go without.
struct BuiltKind {
  const char* description;
  bool takes_ids = true;
  bool takes_none = true;

  /// Whether a product of FAISS's makes its rows, which a BLAS may round otherwise when a call has
  /// another number of rows: OpenBLAS 0.3.21 does so with AVX2 alone.
  bool may_round() const { return std::string_view(description).starts_with("PCA"); }
};
inline constexpr BuiltKind kBuiltKinds[] = {
    {"Polar4"},
    {"Polar1"},
    {"Polar2-pca"},
    {"Polar4+2"},
    {"Polar8"},
    {"PolarB16-km16"},
    {"PolarScalar4"},
    {"PolarTree4.2.2.2"},
    {"PCA40,Polar4"},
    {"IDMap,Polar4", true, false},
    {"IDMap2,Polar2", true, false},
    {"IVF7,Polar4"},
    {"IVF7,Polar8"},
    {"IVF7,Polar2-pca"},
    {"IVF7,PolarScalar4"},
    {"IVF7_HNSW8,Polar2"},
    {"PCA40,IVF7,Polar4"},
    {"IDMap2,IVF7,Polar2", true, false},
    {"Polar2,Refine(Polar8)", false},
    {"PCA40,Polar2,Refine(Polar8)", false},
};

}  // namespace polarquant::test
