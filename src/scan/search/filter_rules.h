// SPDX-License-Identifier: MIT
// The kinds of filters that are asked without a call for each row. What they are made from is
// borrowed, unless it is moved in.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "src/scan/layout/code_blocks.h"
#include "src/scan/model/scan_codec.h"
#include "src/scan/search/made_later.h"
#include "src/scan/search/row_filter.h"
#include "src/scan/search/search_request.h"

namespace polarquant {

/// Bit id % 8 of byte id / 8 keeps an id; ids of num_bits and above are not kept.
RowFilter keep_bits(const uint8_t* bits, int64_t num_bits);
/// Ascending, each once.
RowFilter keep_ids(std::span<const int64_t> ids);
/// In any order.
RowFilter keep_ids(std::vector<int64_t> ids);
/// Ids first … end−1; kNoEnd keeps the last id there can be, too.
inline constexpr int64_t kNoEnd = std::numeric_limits<int64_t>::max();
RowFilter keep_range(int64_t first, int64_t end);

/// Keeps number n where `filter` keeps first + n.
RowFilter shifted(RowFilter filter, int64_t first);

/// Masks of 64 that are made from those of other filters. first(mask of a, mask of b), of which `b`
/// may be a filter that keeps all.
using JoinMasks = uint64_t (*)(uint64_t a, uint64_t b);
RowFilter join(RowFilter a, RowFilter b, JoinMasks masks);

/// Copies of the rows that a filter keeps.
struct RowCopies {
  explicit RowCopies(const Codec& codec) : scan(codec), blocks(scan.layout()) {}

  ScanCodec scan;
  CodeBlocks blocks;
  std::vector<int64_t> rows;  // whose copies these are, rising
};

/// The same where a device has the rows.
struct RowCopiesElsewhere {
  virtual ~RowCopiesElsewhere() = default;
};

/// Rows by a bit each, row % 64 of word row / 64: (⌈rows / 64⌉), 0 from `rows` on. Counted.
class KeptRows final : public FilterRule {
 public:
  KeptRows(std::vector<uint64_t> words, int64_t rows);

  const std::vector<uint64_t>& words() const { return words_; }
  int64_t count() const { return count_; }
  /// Of the rows in the state that they were asked for, for searches that read nothing else.
  const MadeLater<RowCopies>& copies() const { return copies_; }
  const MadeLater<RowCopiesElsewhere>& copies_elsewhere() const { return copies_elsewhere_; }

  void masks(int64_t first, int64_t count, uint64_t* masks) const override;
  uint64_t members(const int64_t* rows, int count) const override;
  std::optional<int64_t> counted() const override { return count_; }

 private:
  const uint8_t* bytes() const { return reinterpret_cast<const uint8_t*>(words_.data()); }

  std::vector<uint64_t> words_;
  int64_t rows_;
  int64_t count_ = 0;
  MadeLater<RowCopies> copies_;
  MadeLater<RowCopiesElsewhere> copies_elsewhere_;
};

/// Whether a search asks its filter for all rows at once, since that serves many queries: then
/// these are counted, and few are copied.
bool asks_for_all_rows(const SearchRequest& request);
/// What a filter keeps of rows 0 … rows−1, asked now: KeptRows.
RowFilter kept_rows(const RowFilter& filter, int64_t rows);

/// A filter over the ids of rows, (rows), as one over the rows.
RowFilter rows_of_ids(RowFilter filter, std::span<const int64_t> ids);
/// The row of an id, −1 for none.
using RowOfId = std::function<int64_t(int64_t id)>;
/// The same, of `rows` rows, by looking the ids up, where the filter lists so few that this takes
/// less than asking for the rows' ids; nothing for others. `row_of` may be empty.
std::optional<RowFilter> looked_up_rows(const RowFilter& filter, int64_t rows,
                                        const RowOfId& row_of);
/// The same, asked now and for all rows, for searches that read them all.
RowFilter all_rows_of_ids(const RowFilter& filter, std::span<const int64_t> ids,
                          const RowOfId& row_of);

}  // namespace polarquant
