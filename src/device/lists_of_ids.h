// SPDX-License-Identifier: MIT
// Lists of an inverted file whose codes are on devices. The host has their ids, and codes of the
// few rows that a filter keeps.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "src/codec/codec.h"
#include "src/device/cuda_lists.h"
#include "src/scan/layout/code_lists.h"
#include "src/scan/search/kept_list_rows.h"

namespace polarquant::device {

class ListsOfIds : public CodeLists {
 public:
  /// `lists` is borrowed.
  ListsOfIds(const Codec& codec, const CudaLists& lists)
      : CodeLists(codec, lists.count()), lists_(lists) {}

  int64_t rows(int64_t list) const override { return lists_.rows(list); }
  size_t memory_bytes() const override { return 0; }
  const int64_t* ids(int64_t list) const override { return lists_.ids(list); }
  size_t span_count(int64_t list) const override { return lists_.spans(list); }
  /// What follows is not asked of these.
  BlockRows span(int64_t list, size_t number) const override;
  const uint8_t* row_codes(int64_t list) const override;
  void get(int64_t list, int64_t row, uint8_t* code) const override;
  void append(int64_t list, int64_t n, const int64_t* ids, const uint8_t* codes) override;
  void overwrite(int64_t list, int64_t row, int64_t id, const uint8_t* code) override;
  void truncate(int64_t list, int64_t rows) override;
  void clear() override;

 protected:
  int64_t row_number(int64_t list, int64_t row) const { return lists_.first_row(list) + row; }

 private:
  const CudaLists& lists_;
};

/// Reads codes of rows, rising, in the row format.
using ReadRowCodes = std::function<void(std::span<const int64_t> rows, uint8_t* codes)>;

/// With codes of the rows that a filter keeps.
class ListsOfKeptRows final : public ListsOfIds {
 public:
  ListsOfKeptRows(const Codec& codec, const CudaLists& lists, const KeptListRows& kept,
                  const ReadRowCodes& read);

  size_t memory_bytes() const override { return codes_.size(); }
  void get(int64_t list, int64_t row, uint8_t* code) const override;

 private:
  std::vector<uint64_t> words_;  // as KeptListRows has them
  std::vector<int64_t> before_;  // rows that are kept before each word
  std::vector<uint8_t> codes_;   // (rows that are kept, code_bytes())
};

}  // namespace polarquant::device
