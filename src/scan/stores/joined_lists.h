// SPDX-License-Identifier: MIT
// The lists of several inverted files, each list's rows one file after the other: searched, and
// written, as those of one. Nothing can be changed, and nothing is copied but ids and, of codes
// that do not lie in blocks, codes: of a list that was asked for.
//
// Threads: as CodeLists; but where copies of the last list alone are kept, sole use.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "src/scan/layout/code_lists.h"

namespace polarquant {

class JoinedLists final : public CodeLists {
 public:
  /// Whether copies of all lists that were asked for are kept, for searches, or of the last one
  /// alone, for writing.
  enum class Copies { all, last };
  JoinedLists(const Codec& codec, int64_t lists, Copies copies);

  /// Rows of the same codec state and centroids, after those held; their ids grow by add_id ≥ 0.
  void join(std::unique_ptr<CodeLists> lists, int64_t add_id);

  int64_t rows(int64_t list) const override;
  size_t memory_bytes() const override;
  bool is_mapped() const override { return true; }
  void verify() const override;
  const int64_t* ids(int64_t list) const override;
  size_t span_count(int64_t list) const override;
  BlockRows span(int64_t list, size_t number) const override;
  void append_spans(int64_t list, std::vector<BlockRows>* spans) const override;
  const uint8_t* row_codes(int64_t list) const override;
  void read_ahead(std::span<const int64_t> lists) const override;
  void get(int64_t list, int64_t row, uint8_t* code) const override;

  void append(int64_t list, int64_t n, const int64_t* ids, const uint8_t* codes) override;
  void overwrite(int64_t list, int64_t row, int64_t id, const uint8_t* code) override;
  void truncate(int64_t list, int64_t rows) override;
  void clear() override;

 private:
  struct Part {
    std::unique_ptr<CodeLists> lists;
    int64_t add_id;
  };
  /// What several parts have of a list, side by side.
  template <typename Item>
  struct Copy {
    std::once_flag once;
    std::vector<Item> items;
  };
  template <typename Item, typename Fill>
  const Item* copy_of(int64_t list, std::vector<Copy<Item>>& copies, const Fill& fill) const;
  void copy_ids(int64_t list, std::vector<int64_t>& ids) const;
  void copy_codes(int64_t list, std::vector<uint8_t>& codes) const;

  Copies kept_;
  std::vector<Part> parts_;
  // Of each list, or one for the last.
  mutable std::vector<Copy<int64_t>> ids_;
  mutable std::vector<Copy<uint8_t>> codes_;
};

}  // namespace polarquant
