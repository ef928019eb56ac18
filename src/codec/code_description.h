// SPDX-License-Identifier: MIT
// What those who read codes by integers, or on a device, need to know of a quantizer: where which
// numbers of a vector lie. Everything points into the quantizer.
#pragma once

#include <cstddef>
#include <variant>
#include <vector>

namespace polarquant {

class LevelTable;
class MagnitudePlanes;
class PairGroupQuantizer;
class PairQuantizer;
class ScalarQuantizer;
class TreeQuantizer;
class TrellisPlanes;

/// Coordinates first … first+dim−1, and where a code has them.
struct CodePart {
  /// Cells of pairs; magnitudes; or levels, a byte each.
  using Numbers = std::variant<const TrellisPlanes*, const MagnitudePlanes*, const LevelTable*>;
  Numbers numbers;
  int first;
  int dim;
  size_t codes_offset;
  size_t signs_offset = 0;  // of their plane of signs, where the numbers have none
};

/// Parts in order. The vector decoded is the sum of the stages, each divided by its gain.
struct CodeStage {
  std::vector<CodePart> parts;
  float gain = 1;
};

struct CodeDescription {
  /// The stages of our own codec; none for the codecs of papers, which have forms of their own.
  std::vector<CodeStage> stages = {};
  std::variant<std::monostate, const ScalarQuantizer*, const TreeQuantizer*, const PairQuantizer*,
               const PairGroupQuantizer*>
      published = {};
  /// Bytes at the front of a code that hold the signs of the coded vector: bit j is 1 when
  /// coordinate j is negative. 0 where a code has no such plane.
  size_t sign_plane_bytes = 0;

  /// The planes of codes that are those of one trellis and nothing else, else null.
  const TrellisPlanes* lone_trellis() const {
    if (stages.size() != 1 || stages[0].parts.size() != 1) return nullptr;
    const auto* planes = std::get_if<const TrellisPlanes*>(&stages[0].parts[0].numbers);
    return planes != nullptr ? *planes : nullptr;
  }
  /// The levels of codes that are a byte a coordinate and nothing else, else null.
  const LevelTable* lone_levels() const {
    if (stages.size() != 1 || stages[0].parts.size() != 1) return nullptr;
    const auto* levels = std::get_if<const LevelTable*>(&stages[0].parts[0].numbers);
    return levels != nullptr ? *levels : nullptr;
  }
};

}  // namespace polarquant
