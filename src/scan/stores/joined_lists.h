// SPDX-License-Identifier: MIT
// The lists of several inverted files, each list's rows one file after the other, for writing them
// as those of one: nothing is copied but the ids, or row codes, of the list that was asked for
// last.
//
// Threads: sole use, of const functions too.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "src/scan/layout/code_lists.h"

namespace polarquant {

class JoinedLists final : public CodeLists {
 public:
  JoinedLists(const Codec& codec, int64_t lists) : CodeLists(codec, lists) {}

  /// Rows of the same codec state and centroids, after those held; their ids grow by add_id ≥ 0.
  void join(std::unique_ptr<CodeLists> lists, int64_t add_id);

  int64_t rows(int64_t list) const override;
  size_t memory_bytes() const override;
  bool is_mapped() const override { return true; }
  void verify() const override;
  const int64_t* ids(int64_t list) const override;
  size_t span_count(int64_t list) const override;
  BlockRows span(int64_t list, size_t number) const override;
  const uint8_t* row_codes(int64_t list) const override;
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
  std::vector<Part> parts_;
  mutable std::vector<int64_t> ids_;
  mutable std::vector<uint8_t> codes_;
};

}  // namespace polarquant
