// SPDX-License-Identifier: MIT
// How a node of a graph lies in memory when all that its expansion reads is to be in one place: a
// record of whole cache lines, on a line's boundary, with
//   1. the signs of its neighbours' residuals, byte by byte: byte t of 16 neighbours side by side,
//      then byte t+1 of these, so that one register has the same coordinates of 16 neighbours; then
//      those of the next 16;
//   2. the neighbours' numbers, int32, −1 after the last one;
//   3. three bytes for each neighbour, those of one kind side by side, their three units, and the
//      row's squared length, each of these four the upper half of a float's bits: what turns a sum
//      over signs into a score (link_estimate.h);
//   4. the row's code, as a single row has it (block_layout.h).
// A residual is the neighbour's decoded vector less the node's. SymphonyQG (Gou, Gao, Xu and Long,
// arXiv 2411.12229) has the same parts, with floats for codes; NGT-QG and SVS have other sketches.
// Records are in memory alone: they follow from codes and links.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "src/codec/segment_plan.h"

namespace polarquant {

/// Neighbours whose signs lie side by side.
inline constexpr int kLinkGroup = 16;
/// The most coordinates whose signs a record has of a neighbour, in padded order: of vectors of
/// more, the first ones, which a rotation makes as good as any others.
inline constexpr int kMostLinkSigns = 1024;
/// What the signs of a neighbour are padded to, in bytes: four groups of 16 are the widest
/// register.
inline constexpr int kLinkSignBytes = 4;

class LinkRecordLayout {
 public:
  static constexpr size_t kUnits = 4;

  /// links: how many a node may have, 1 or more.
  LinkRecordLayout(int dim, int links, size_t row_bytes)
      : links_(links),
        slots_((links + kLinkGroup - 1) / kLinkGroup * kLinkGroup),
        signs_(std::min(segments_of(dim) * kSegmentDims, kMostLinkSigns)),
        row_bytes_(row_bytes) {}

  int links() const { return links_; }
  /// Places for neighbours: a multiple of kLinkGroup.
  int slots() const { return slots_; }
  /// Coordinates, in padded order, whose signs there are: a multiple of 8·kLinkSignBytes.
  int signs() const { return signs_; }
  size_t sign_bytes() const { return static_cast<size_t>(signs_) / 8; }  // of a neighbour
  /// Bytes of a group's signs.
  size_t group_bytes() const { return kLinkGroup * sign_bytes(); }

  size_t links_offset() const { return static_cast<size_t>(slots_) * sign_bytes(); }
  size_t slopes_offset() const { return links_offset() + static_cast<size_t>(slots_) * 4; }
  size_t constants_offset() const { return slopes_offset() + static_cast<size_t>(slots_); }
  size_t biases_offset() const { return constants_offset() + static_cast<size_t>(slots_); }
  size_t units_offset() const { return biases_offset() + static_cast<size_t>(slots_); }
  size_t row_offset() const { return units_offset() + kUnits * sizeof(uint16_t); }
  /// From a record to the next one.
  size_t bytes() const {
    constexpr size_t kLine = 64;
    return (row_offset() + row_bytes_ + kLine - 1) / kLine * kLine;
  }

 private:
  int links_;
  int slots_;
  int signs_;
  size_t row_bytes_;
};

}  // namespace polarquant
