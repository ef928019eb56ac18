// SPDX-License-Identifier: MIT
#include "src/scan/model/window_tables.h"

#include <algorithm>

#include "src/codec/trellis.h"

namespace polarquant {
namespace {

/// What the window of a pair of the part may add.
struct Products {
  int32_t all[WindowTables::kWindows];
  int32_t least;
  int32_t most;

  Products(const Int8Part& part, const ScanQuery& query, int pair) {
    const auto [x, y] = query_pair(part, query, pair);
    for (size_t window = 0; window < WindowTables::kWindows; ++window)
      all[window] = x * part.x[window] + y * part.y[window];
    const auto [low, high] = std::minmax_element(std::begin(all), std::end(all));
    least = *low;
    most = *high;
  }
};

/// Calls use(products of its windows) for each of a part's tables.
template <class Use>
void for_each_table(const WindowTables& tables, const Int8Part& part, const ScanQuery& query,
                    const Use& use) {
  const int pairs = pairs_of(part.dim);
  const int windows = tables.windows_of_table(part.step_bits);
  std::vector<Products> products;
  for (int pair = 0; pair < pairs; pair += windows) {
    products.clear();
    for (int i = pair; i < std::min(pair + windows, pairs); ++i)
      products.emplace_back(part, query, i);
    use(products);
  }
}

}  // namespace

bool has_windows_only(const ScanCodec& codec) {
  const auto& stages = codec.stages();
  return stages.size() == 1 &&
         std::all_of(stages[0].parts.begin(), stages[0].parts.end(), [](const Int8Part& part) {
           return part.kind == Int8Part::Kind::windows && part.signs == Int8Part::Signs::none &&
                  pairs_of(part.dim) * part.step_bits >= 8;
         });
}

int count_tables(const WindowTables& tables, const Int8Part& part) {
  const int windows = tables.windows_of_table(part.step_bits);
  return (pairs_of(part.dim) + windows - 1) / windows;
}

size_t count_entries(const WindowTables& tables, const ScanCodec& codec) {
  size_t count = 0;
  for (const Int8Part& part : codec.stages()[0].parts)
    count += static_cast<size_t>(count_tables(tables, part)) * tables.table_size(part.step_bits);
  return count;
}

QueryPair query_pair(const Int8Part& part, const ScanQuery& query, int pair) {
  constexpr int kPairsPerSegment = kSegmentDims / 2;
  const int position =
      (part.first_segment + pair / kPairsPerSegment) * kSegmentDims + pair % kPairsPerSegment;
  return {query.values[static_cast<size_t>(position)],
          query.values[static_cast<size_t>(position + kPairsPerSegment)]};
}

// Entries are 254 units at the most, or 126, and what roundings add: 6 of 256 steps and less than
// a unit. From 257 on the reciprocal fits 16 bits.
WindowUnit WindowUnit::for_range(int32_t most_range, int most_entry) {
  const int32_t most_units = most_entry - 1;
  const int32_t unit = std::max(257, (most_range + most_units - 1) / most_units);
  return {unit, static_cast<uint16_t>((1 << 24) / unit + 1)};
}

void set_window_tables(const ScanCodec& codec, const ScanQuery& query, WindowTables* tables) {
  const std::vector<Int8Part>& parts = codec.stages()[0].parts;
  int32_t most_range = 0;
  tables->least = 0;
  for (const Int8Part& part : parts) {
    for_each_table(*tables, part, query, [&](const std::vector<Products>& windows) {
      int32_t range = 0;
      for (const Products& products : windows) {
        range += products.most - products.least;
        tables->least += products.least;
      }
      most_range = std::max(most_range, range);
    });
  }
  const WindowUnit unit = WindowUnit::for_range(most_range, tables->most_entry());
  tables->unit = unit.unit;
  tables->entries.clear();
  for (const Int8Part& part : parts) {
    for_each_table(*tables, part, query, [&](const std::vector<Products>& windows) {
      for (size_t bits = 0; bits < tables->table_size(part.step_bits); ++bits) {
        uint32_t steps = 0;
        size_t later = bits;
        for (const Products& products : windows) {
          steps += unit.steps(static_cast<uint32_t>(products.all[later % 256] - products.least));
          later >>= part.step_bits;
        }
        tables->entries.push_back(WindowUnit::entry(steps));
      }
    });
  }
}

int32_t most_window_dot(const ScanCodec& codec, const WindowTables& tables,
                        const uint8_t* payload) {
  const uint8_t* table = tables.entries.data();
  int32_t sum = 0;
  for (const Int8Part& part : codec.stages()[0].parts) {
    const uint8_t* ring = payload + part.codes_offset;
    const int pairs = pairs_of(part.dim);
    const int windows = tables.windows_of_table(part.step_bits);
    for (int pair = 0; pair < pairs; pair += windows, table += tables.table_size(part.step_bits)) {
      int bits = 0;
      for (int i = 0; i < windows && pair + i < pairs; ++i)
        bits |= read_window(ring, pairs, part.step_bits, pair + i) << (i * part.step_bits);
      sum += table[bits];
    }
  }
  return tables.most_dot(sum);
}

}  // namespace polarquant
