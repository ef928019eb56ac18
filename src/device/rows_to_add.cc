// SPDX-License-Identifier: MIT
#include "src/device/rows_to_add.h"

#include <algorithm>

#include "src/core/status.h"
#include "src/device/block_copier.h"
#include "src/scan/search/query_tasks.h"

namespace polarquant::device {
namespace {

void require_more_rows(int64_t rows, int64_t before) {
  require(rows >= before, StatusCode::internal, "of {} rows {} are left, though none went", before,
          rows);
}

/// Rows from `first` on, which begins a block, of rows that lie in spans of whole blocks.
template <typename Spans>
void append_rows_from(const BlockLayout& layout, const Spans& spans, int64_t first,
                      std::vector<BlockRows>* rows) {
  int64_t span_first = 0;
  for (const BlockRows& span : spans) {
    const int64_t begin = std::max<int64_t>(first - span_first, 0);
    if (begin < span.rows) rows->push_back(part_of(layout, span, begin, span.rows));
    span_first += span.rows;
  }
}

}  // namespace

RowsToAdd rows_after(const BlockLayout& layout, std::span<const BlockRows> spans, int64_t before) {
  RowsToAdd added;
  for (const BlockRows& span : spans) added.rows += span.rows;
  require_more_rows(added.rows, before);
  added.first_block = before / kBlockRows;
  append_rows_from(layout, spans, added.first_block * kBlockRows, &added.spans);
  return added;
}

RowsToAdd rows_after(const CudaLists& now, const CudaLists& before, const CodeLists& rows) {
  RowsToAdd added;
  added.rows = now.row_numbers();
  added.sources.reserve(static_cast<size_t>(added.rows / kBlockRows));
  std::vector<BlockRows> spans;
  for (int64_t list = 0; list < now.count(); ++list) {
    require_more_rows(now.rows(list), before.rows(list));
    const bool is_same = now.rows(list) == before.rows(list);
    const int64_t blocks = div_up(now.rows(list), kBlockRows);
    const int64_t kept = is_same ? blocks : before.rows(list) / kBlockRows;
    const int64_t first_before = before.first_row(list) / kBlockRows;
    for (int64_t block = 0; block < kept; ++block) added.sources.push_back(first_before + block);
    for (int64_t block = kept; block < blocks; ++block) {
      added.numbers.push_back(static_cast<int64_t>(added.sources.size()));
      added.sources.push_back(-1);
    }
    if (kept == blocks) continue;
    spans.clear();
    rows.append_spans(list, &spans);
    append_rows_from(rows.layout(), spans, kept * kBlockRows, &added.spans);
  }
  return added;
}

}  // namespace polarquant::device
