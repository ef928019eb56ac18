// SPDX-License-Identifier: MIT
#include "src/scan/stores/joined_rows.h"

#include <algorithm>
#include <utility>

#include "src/core/status.h"

namespace polarquant {
namespace {

/// The last part that begins at `at` or before it.
template <typename Part, typename Place, typename Begin>
const Part& part_of(const std::vector<Part>& parts, Place at, Begin Part::*begin) {
  const auto after = std::upper_bound(
      parts.begin(), parts.end(), at,
      [&](Place place, const Part& part) { return place < static_cast<Place>(part.*begin); });
  return *std::prev(after);
}

}  // namespace

JoinedRows::JoinedRows(const Codec& codec)
    : ReadOnlyRows(0), has_blocks_(BlockLayout::supports(codec)) {
  if (has_blocks_) set_scan_codec(std::make_unique<ScanCodec>(codec));
}

void JoinedRows::join(std::unique_ptr<RowStore> rows) {
  if (rows->rows() == 0) return;
  const size_t spans = span_count();
  const int64_t more = rows->rows();
  parts_.push_back({std::move(rows), rows_, spans});
  rows_ += more;
}

// Verified part by part, each by all threads.
std::vector<BlockRows> JoinedRows::spans() const {
  std::vector<BlockRows> spans;
  spans.reserve(span_count());
  for (const Part& part : parts_) {
    for (BlockRows span : part.rows->spans()) {
      span.first_row += part.first_row;
      spans.push_back(span);
    }
  }
  return spans;
}

size_t JoinedRows::span_count() const {
  return parts_.empty() ? 0 : parts_.back().first_span + parts_.back().rows->span_count();
}

BlockRows JoinedRows::span(size_t number) const {
  const Part& part = part_of(parts_, number, &Part::first_span);
  BlockRows span = part.rows->span(number - part.first_span);
  span.first_row += part.first_row;
  return span;
}

void JoinedRows::get(const Codec& codec, int64_t row, uint8_t* code) const {
  const Part& part = part_of(parts_, row, &Part::first_row);
  part.rows->get(codec, row - part.first_row, code);
}

void JoinedRows::verify() const {
  for (const Part& part : parts_) part.rows->verify();
}

void JoinedRows::search(const Codec& codec, const SearchRequest& request,
                        const SearchResult& result) const {
  require(has_blocks_, StatusCode::unsupported,
          "index: rows of {} in several files are not searched; merge the files",
          print_spec(codec.spec()));
  BlockRowStore::search(codec, request, result);
}

}  // namespace polarquant
