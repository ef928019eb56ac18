// SPDX-License-Identifier: MIT
// Writes the records of a graph's nodes (scan/layout/link_record.h): from a node's row and those of
// its neighbours, decoded.
#pragma once

#include <cstdint>
#include <span>

#include "src/scan/layout/link_record.h"
#include "src/scan/model/link_estimate.h"

namespace polarquant {

/// A row, decoded: values in padded order, (padded_dim) on a 64-byte boundary, 0 at positions
/// without a coordinate.
struct LinkedRow {
  const int8_t* values = nullptr;
  ScanTerms terms;
};

/// What makes records of nodes. For one thread.
class LinkRecordWriter {
 public:
  /// All are borrowed; terms: space for as many as layout.links().
  LinkRecordWriter(const ScanCodec& codec, const LinkRecordLayout& layout,
                   std::span<LinkTerms> terms)
      : codec_(codec), layout_(layout), terms_(terms) {}

  /// Fills a record but for its row. links: the neighbours' numbers, up to layout.links(); row(i)
  /// gives the LinkedRow of links[i], which need not outlive the next call.
  template <typename Row>
  void write(const LinkedRow& node, std::span<const int32_t> links, const Row& row,
             uint8_t* record) noexcept {
    clear(record);
    for (size_t i = 0; i < links.size(); ++i)
      terms_[i] = put_signs(node, row(i), static_cast<int>(i), record);
    put_links(links, record);
  }

 private:
  void clear(uint8_t* record) const noexcept;
  LinkTerms put_signs(const LinkedRow& node, const LinkedRow& neighbour, int slot,
                      uint8_t* record) const noexcept;
  void put_links(std::span<const int32_t> links, uint8_t* record) const noexcept;

  const ScanCodec& codec_;
  const LinkRecordLayout& layout_;
  std::span<LinkTerms> terms_;
};

}  // namespace polarquant
