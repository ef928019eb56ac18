// SPDX-License-Identifier: MIT
// The functions of a store that would change its rows, for those whose rows lie in mapped files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "src/scan/stores/mapped_row_store.h"

namespace polarquant {

/// Base: RowStore, or a class of it that answers requests.
template <typename Base>
class ReadOnlyRows : public Base {
 public:
  int64_t rows() const override { return rows_; }
  /// The pages belong to the system, which takes them back when it needs them.
  size_t memory_bytes() const override { return 0; }
  bool is_mapped() const override { return true; }

  void append(const Codec& /*codec*/, int64_t /*n*/, const float* /*x*/, int /*threads*/) override {
    refuse_change_of_mapped();
  }
  void append_codes(const Codec& /*codec*/, int64_t /*n*/, const uint8_t* /*codes*/) override {
    refuse_change_of_mapped();
  }
  void remove(const Codec& /*codec*/, std::span<const uint64_t> /*removed*/) override {
    refuse_change_of_mapped();
  }
  void swap_remove(const Codec& /*codec*/, std::span<const int64_t> /*rows*/) override {
    refuse_change_of_mapped();
  }
  // Never called by those who ask is_mapped() first.
  void overwrite(const Codec& /*codec*/, int64_t /*row*/,
                 const uint8_t* /*code*/) noexcept override {}
  void clear() noexcept override { rows_ = 0; }
  RowStore::Mark mark(const Codec& /*codec*/) const override { return {rows_, {}}; }
  void go_back_to(const Codec& /*codec*/, const RowStore::Mark& mark) noexcept override {
    rows_ = mark.rows;
  }

 protected:
  explicit ReadOnlyRows(int64_t rows) : rows_(rows) {}

  int64_t rows_;
};

}  // namespace polarquant
