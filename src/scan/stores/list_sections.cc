// SPDX-License-Identifier: MIT
#include "src/scan/stores/list_sections.h"

#include <array>
#include <utility>
#include <vector>

#include "src/scan/model/scan_codec.h"
#include "src/scan/stores/joined_sketches.h"
#include "src/scan/stores/mapped_lists.h"
#include "src/scan/stores/row_sections.h"

namespace polarquant {
namespace {

constexpr SectionKind kSizes = section_kind("LIST");
constexpr SectionKind kBlocks = section_kind("BLKS");
constexpr SectionKind kRows = section_kind("ROWS");
constexpr SectionKind kIds = section_kind("IDS ");

void write_zeros(ByteSink& sink, size_t bytes) {
  constexpr std::array<uint8_t, kAlignment> kZeros{};
  static_assert(kReadAhead <= kAlignment);
  if (bytes > 0) sink.write(kZeros.data(), bytes);
}

void write_blocks(ByteSink& sink, const CodeLists& lists) {
  const BlockLayout& layout = lists.layout();
  write_zeros(sink, kReadAhead);
  std::vector<BlockRows> spans;
  for (int64_t list = 0; list < lists.count(); ++list) {
    spans.clear();
    lists.append_spans(list, &spans);
    JoinedSketches sketches(sink, layout);
    for (const BlockRows& span : spans) sketches.add(span);
    sketches.finish();
    for (const BlockRows& span : spans) sink.write(span.payloads, layout.payloads_bytes(span.rows));
    const size_t bytes =
        layout.sketches_bytes(lists.rows(list)) + layout.payloads_bytes(lists.rows(list));
    write_zeros(sink, (kAlignment - bytes % kAlignment) % kAlignment);
  }
  write_zeros(sink, kReadAhead);
}

ListPlaces places_of(const Codec& codec, const std::vector<int64_t>& sizes, LevelForm levels) {
  try {
    return {codec, sizes, levels};
  } catch (const Error& error) {
    fail(StatusCode::corrupt_data, "index file: {}", error.what());
  }
}

void require_next_bytes(const SectionReader& reader, SectionKind kind, uint64_t expected,
                        int64_t rows) {
  require(reader.next_bytes() == expected, StatusCode::corrupt_data,
          "index file: section {} has {} bytes; {} rows in lists need {}", print_kind(kind),
          reader.next_bytes(), rows, expected);
}

std::vector<CodeBlocks> read_blocks(SectionReader& reader, const ListPlaces& places,
                                    const BlockLayout& layout) {
  std::array<uint8_t, kAlignment> padding{};
  reader.begin_data(kBlocks);
  reader.read_data(padding.data(), kReadAhead);
  std::vector<CodeBlocks> lists(static_cast<size_t>(places.count()), CodeBlocks(layout));
  const auto read_part = [&](AlignedVector<uint8_t>* into, size_t bytes) {
    reader.append_data(*into, bytes);
  };
  for (int64_t list = 0; list < places.count(); ++list) {
    const int64_t rows = places.rows(list);
    lists[static_cast<size_t>(list)].restore(rows, read_part, read_part);
    const size_t end =
        places.begin(list) + layout.sketches_bytes(rows) + layout.payloads_bytes(rows);
    reader.read_data(padding.data(), places.begin(list + 1) - end);
  }
  reader.read_data(padding.data(), kReadAhead);
  return lists;
}

/// A data section of `width` items a row, list by list.
template <typename Item>
std::vector<std::vector<Item>> read_items(SectionReader& reader, SectionKind kind,
                                          const ListPlaces& places, size_t width) {
  reader.begin_data(kind);
  std::vector<std::vector<Item>> lists(static_cast<size_t>(places.count()));
  for (int64_t list = 0; list < places.count(); ++list) {
    std::vector<Item>& items = lists[static_cast<size_t>(list)];
    reader.append_data(items, static_cast<uint64_t>(places.rows(list)) * width);
    items.shrink_to_fit();
  }
  return lists;
}

}  // namespace

void add_list_sections(SectionWriter& writer, const Codec& codec, const CodeLists& lists) {
  std::vector<int64_t> sizes;
  for (int64_t list = 0; list < lists.count(); ++list) sizes.push_back(lists.rows(list));
  const ListPlaces places(codec, sizes, LevelForm::split);
  const uint64_t ids_bytes = static_cast<uint64_t>(places.total_rows()) * sizeof(int64_t);
  writer.add_data(
      kSizes,
      [&lists](ByteSink& sink) {
        for (int64_t list = 0; list < lists.count(); ++list) {
          const int64_t rows = lists.rows(list);
          sink.write(&rows, sizeof rows);
        }
      },
      sizes.size() * sizeof(int64_t));
  if (lists.has_blocks()) {
    need_version_of(lists.layout(), &writer);
    writer.add_data(
        kBlocks, [&lists](ByteSink& sink) { write_blocks(sink, lists); }, places.section_bytes());
  } else {
    writer.add_data(
        kRows,
        [&lists](ByteSink& sink) {
          for (int64_t list = 0; list < lists.count(); ++list) {
            const size_t bytes = static_cast<size_t>(lists.rows(list)) * lists.code_bytes();
            if (bytes > 0) sink.write(lists.row_codes(list), bytes);
          }
        },
        places.section_bytes());
  }
  writer.add_data(
      kIds,
      [&lists](ByteSink& sink) {
        for (int64_t list = 0; list < lists.count(); ++list) {
          const size_t bytes = static_cast<size_t>(lists.rows(list)) * sizeof(int64_t);
          if (bytes > 0) sink.write(lists.ids(list), bytes);
        }
      },
      ids_bytes);
}

std::vector<int64_t> read_list_sizes(SectionReader& reader, uint64_t count, int64_t rows) {
  const uint64_t bytes = reader.begin_data(kSizes);
  require(bytes % sizeof(int64_t) == 0 && bytes / sizeof(int64_t) == count,
          StatusCode::corrupt_data,
          "index file: section LIST has {} bytes; the sizes of {} lists need 8 each", bytes, count);
  std::vector<int64_t> sizes;
  reader.append_data(sizes, count);
  int64_t left = rows;
  for (size_t list = 0; list < sizes.size(); ++list) {
    require(sizes[list] >= 0 && sizes[list] <= left, StatusCode::corrupt_data,
            "index file: list {} has {} rows; of {} rows {} are left for it", list, sizes[list],
            rows, left);
    left -= sizes[list];
  }
  require(left == 0, StatusCode::corrupt_data, "index file: {} of {} rows are in no list", left,
          rows);
  return sizes;
}

std::unique_ptr<CodeLists> read_list_sections(SectionReader& reader, const Codec& codec,
                                              const std::vector<int64_t>& sizes,
                                              bool ids_are_rows) {
  const BlockLayout layout(codec);
  const BlockLayout stored(codec, RowOrder::blocks, stored_levels(reader));
  const bool is_current = stored.splits_levels() == layout.splits_levels();
  ListPlaces places = places_of(codec, sizes, stored_levels(reader));
  const int64_t rows = places.total_rows();
  const bool has_blocks = BlockLayout::supports(codec);
  const SectionKind kind = has_blocks ? kBlocks : kRows;
  const uint64_t ids_bytes = static_cast<uint64_t>(rows) * sizeof(int64_t);
  require_next_bytes(reader, kind, places.section_bytes(), rows);
  if (reader.is_mapped() && is_current) {
    auto codes = reader.map_data(kind);
    require_next_bytes(reader, kIds, ids_bytes, rows);
    return map_lists(codec, std::move(places), std::move(codes), reader.map_data(kIds),
                     ids_are_rows);
  }
  const auto read_ids = [&] {
    require_next_bytes(reader, kIds, ids_bytes, rows);
    return read_items<int64_t>(reader, kIds, places, 1);
  };
  std::unique_ptr<CodeLists> lists;
  if (has_blocks) {
    std::vector<CodeBlocks> blocks = read_blocks(reader, places, stored);
    if (!is_current)
      for (CodeBlocks& list : blocks) list = list.repacked_as(layout);
    lists = CodeLists::from_blocks(codec, std::move(blocks), read_ids());
  } else {
    auto codes = read_items<uint8_t>(reader, kRows, places, codec.layout().group_bytes);
    lists = CodeLists::from_row_codes(codec, std::move(codes), read_ids());
  }
  require(ids_are_row_numbers(*lists) == ids_are_rows, StatusCode::corrupt_data,
          "index file: ids of its lists are {}0 to {}, each once, as its head says",
          ids_are_rows ? "not " : "", rows - 1);
  return lists;
}

bool ids_are_row_numbers(const CodeLists& lists) {
  int64_t rows = 0;
  for (int64_t list = 0; list < lists.count(); ++list) rows += lists.rows(list);
  std::vector<bool> is_there(static_cast<size_t>(rows));
  for (int64_t list = 0; list < lists.count(); ++list) {
    const int64_t* ids = lists.ids(list);
    for (int64_t row = 0; row < lists.rows(list); ++row) {
      const int64_t id = ids[row];
      if (id < 0 || id >= rows || is_there[static_cast<size_t>(id)]) return false;
      is_there[static_cast<size_t>(id)] = true;
    }
  }
  return true;
}

}  // namespace polarquant
