// SPDX-License-Identifier: MIT
// The rows of several stores, one after the other: searched, and written, as those of one. Nothing
// is copied, and nothing can be changed.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "src/scan/stores/block_row_store.h"
#include "src/scan/stores/read_only_rows.h"

namespace polarquant {

class JoinedRows final : public ReadOnlyRows<BlockRowStore> {
 public:
  /// Of codes whose rows have codes of their own (layout().group_rows is 1).
  explicit JoinedRows(const Codec& codec);

  /// Rows of the same codec state, after those held.
  void join(std::unique_ptr<RowStore> rows);

  std::vector<BlockRows> spans() const override;
  size_t span_count() const override;
  BlockRows span(size_t number) const override;
  void get(const Codec& codec, int64_t row, uint8_t* code) const override;
  void verify() const override;
  /// Throws unsupported where rows do not lie in blocks.
  void search(const Codec& codec, const SearchRequest& request,
              const SearchResult& result) const override;

 private:
  struct Part {
    std::unique_ptr<RowStore> rows;
    int64_t first_row;
    size_t first_span;
  };
  bool has_blocks_;
  std::vector<Part> parts_;
};

}  // namespace polarquant
