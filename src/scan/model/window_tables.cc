// SPDX-License-Identifier: MIT
#include "src/scan/model/window_tables.h"

#include <algorithm>

#include "src/codec/trellis.h"

namespace polarquant {
namespace {

/// What the window of a pair of the part may add.
struct Products {
  int32_t all[WindowTables::kEntries];
  int32_t least;
  int32_t most;

  Products(const Int8Part& part, const ScanQuery& query, int pair) {
    const auto [x, y] = query_pair(part, query, pair);
    for (size_t window = 0; window < WindowTables::kEntries; ++window)
      all[window] = x * part.x[window] + y * part.y[window];
    const auto [low, high] = std::minmax_element(std::begin(all), std::end(all));
    least = *low;
    most = *high;
  }
};

}  // namespace

bool has_windows_only(const ScanCodec& codec) {
  const auto& stages = codec.stages();
  return stages.size() == 1 &&
         std::all_of(stages[0].parts.begin(), stages[0].parts.end(), [](const Int8Part& part) {
           return part.kind == Int8Part::Kind::windows && part.signs == Int8Part::Signs::none &&
                  pairs_of(part.dim) * part.step_bits >= 8;
         });
}

int count_windows(const ScanCodec& codec) {
  int count = 0;
  for (const Int8Part& part : codec.stages()[0].parts) count += pairs_of(part.dim);
  return count;
}

QueryPair query_pair(const Int8Part& part, const ScanQuery& query, int pair) {
  constexpr int kPairsPerSegment = kSegmentDims / 2;
  const int position =
      (part.first_segment + pair / kPairsPerSegment) * kSegmentDims + pair % kPairsPerSegment;
  return {query.values[static_cast<size_t>(position)],
          query.values[static_cast<size_t>(position + kPairsPerSegment)]};
}

// From 2 on, so that its reciprocal fits 16 bits.
int32_t window_unit(int32_t most_range) {
  constexpr int32_t kSteps = WindowTables::kMostEntry - 1;
  return std::max(2, (most_range + kSteps - 1) / kSteps);
}

uint32_t window_reciprocal(int32_t unit) { return 65536 / static_cast<uint32_t>(unit) + 1; }

void set_window_tables(const ScanCodec& codec, const ScanQuery& query, WindowTables* tables) {
  const Int8Stage& stage = codec.stages()[0];
  int32_t most_range = 0;
  tables->least = 0;
  for (const Int8Part& part : stage.parts) {
    for (int pair = 0; pair < pairs_of(part.dim); ++pair) {
      const Products products(part, query, pair);
      most_range = std::max(most_range, products.most - products.least);
      tables->least += products.least;
    }
  }
  tables->unit = window_unit(most_range);
  const uint32_t reciprocal = window_reciprocal(tables->unit);
  tables->entries.resize(static_cast<size_t>(count_windows(codec)) * WindowTables::kEntries);
  uint8_t* entry = tables->entries.data();
  for (const Int8Part& part : stage.parts) {
    for (int pair = 0; pair < pairs_of(part.dim); ++pair) {
      const Products products(part, query, pair);
      for (const int32_t product : products.all) {
        const auto above = static_cast<uint32_t>(product - products.least);
        *entry++ = static_cast<uint8_t>((above * reciprocal >> 16) + 1);
      }
    }
  }
}

int32_t most_window_dot(const ScanCodec& codec, const WindowTables& tables,
                        const uint8_t* payload) {
  const uint8_t* entries = tables.entries.data();
  int32_t sum = 0;
  for (const Int8Part& part : codec.stages()[0].parts) {
    const uint8_t* ring = payload + part.codes_offset;
    const int pairs = pairs_of(part.dim);
    for (int pair = 0; pair < pairs; ++pair, entries += WindowTables::kEntries)
      sum += entries[read_window(ring, pairs, part.step_bits, pair)];
  }
  return tables.most_dot(sum);
}

}  // namespace polarquant
