// SPDX-License-Identifier: MIT
#include "src/scan/stores/row_sections.h"

#include <array>
#include <cmath>
#include <cstring>
#include <utility>

#include "src/scan/stores/float_row_store.h"
#include "src/scan/stores/joined_sketches.h"
#include "src/scan/stores/mapped_row_store.h"

namespace polarquant {
namespace {

constexpr SectionKind kSketches = section_kind("FRNT");
constexpr SectionKind kPayloads = section_kind("REST");
constexpr SectionKind kRows = section_kind("ROWS");
constexpr SectionKind kFloats = section_kind("FLTS");

/// More than any number of an unfinished group: a row in units of 2^e (docs/format.md).
constexpr float kLargestTailNumber = 0x1p60F;

void write_padding(ByteSink& sink) {
  constexpr std::array<uint8_t, kReadAhead> kZeros{};
  sink.write(kZeros.data(), kZeros.size());
}

void require_size(SectionKind kind, uint64_t bytes, uint64_t expected, int64_t rows) {
  require(bytes == expected, StatusCode::corrupt_data,
          "index file: section {} has {} bytes; {} rows need {}", print_kind(kind), bytes, rows,
          expected);
}

/// layout.bytes for a number of rows from a file.
template <typename Layout>
size_t checked_bytes(const Layout& layout, int64_t rows) {
  try {
    return layout.bytes(rows);
  } catch (const Error& error) {
    fail(StatusCode::corrupt_data, "index file: {}", error.what());
  }
}

void expect_padding(SectionReader& reader) {
  std::array<uint8_t, kReadAhead> padding{};
  reader.read_data(padding.data(), padding.size());
}

std::unique_ptr<RowStore> read_blocks(SectionReader& reader, const Codec& codec, int64_t rows) {
  const BlockLayout layout(codec);
  const BlockLayout stored(codec, RowOrder::blocks, stored_levels(reader));
  const bool is_current = stored.splits_levels() == layout.splits_levels();
  checked_bytes(stored, rows);
  const uint64_t sketches_bytes = stored.sketches_bytes(rows) + kReadAhead;
  const uint64_t payloads_bytes = stored.payloads_bytes(rows) + 2 * kReadAhead;
  require_size(kSketches, reader.next_bytes(), sketches_bytes, rows);
  if (reader.is_mapped() && is_current) {
    auto sketches = reader.map_data(kSketches);
    require_size(kPayloads, reader.next_bytes(), payloads_bytes, rows);
    return map_blocks(codec, rows, std::move(sketches), reader.map_data(kPayloads));
  }
  reader.begin_data(kSketches);
  CodeBlocks blocks(stored);
  bool reads_payloads = false;
  const auto begin_payloads = [&] {
    if (std::exchange(reads_payloads, true)) return;
    expect_padding(reader);
    require_size(kPayloads, reader.next_bytes(), payloads_bytes, rows);
    reader.begin_data(kPayloads);
    expect_padding(reader);
  };
  blocks.restore(
      rows, [&](AlignedVector<uint8_t>* into, size_t bytes) { reader.append_data(*into, bytes); },
      [&](AlignedVector<uint8_t>* into, size_t bytes) {
        begin_payloads();
        reader.append_data(*into, bytes);
      });
  begin_payloads();  // without rows
  expect_padding(reader);
  if (rows == 0) return RowStore::make(codec);
  return RowStore::from_blocks(codec, is_current ? std::move(blocks) : blocks.repacked_as(layout));
}

/// The numbers of an unfinished group are coded when it is full.
void require_tail(const CodeLayout& layout, int64_t rows, const uint8_t* codes) {
  if (layout.tail_row_bytes == 0) return;
  const size_t begin = layout.bytes(rows / layout.group_rows * layout.group_rows);
  for (size_t at = begin; at < layout.bytes(rows); at += sizeof(float)) {
    float value = 0;
    std::memcpy(&value, codes + at, sizeof value);
    require(std::fabs(value) <= kLargestTailNumber, StatusCode::corrupt_data,
            "index file: a number of the unfinished group is {}; at most {} is allowed", value,
            kLargestTailNumber);
  }
}

std::unique_ptr<RowStore> read_row_codes(SectionReader& reader, const Codec& codec, int64_t rows) {
  const CodeLayout& layout = codec.layout();
  const size_t bytes = checked_bytes(layout, rows);
  require_size(kRows, reader.next_bytes(), bytes, rows);
  if (reader.is_mapped()) return map_row_codes(rows, reader.map_data(kRows));
  reader.begin_data(kRows);
  std::vector<uint8_t> codes;
  reader.append_data(codes, bytes);
  codes.shrink_to_fit();
  require_tail(layout, rows, codes.data());
  CodeBuffer buffer;
  buffer.restore(rows, std::move(codes));
  return RowStore::from_row_codes(std::move(buffer));
}

std::unique_ptr<RowStore> read_single_rows(SectionReader& reader, const Codec& codec,
                                           int64_t rows) {
  const size_t bytes = checked_bytes(codec.layout(), rows);
  require_size(kRows, reader.next_bytes(), bytes, rows);
  reader.begin_data(kRows);
  std::vector<uint8_t> codes;
  reader.append_data(codes, bytes);
  std::unique_ptr<RowStore> store = RowStore::make(codec, RowOrder::single);
  store->append_codes(codec, rows, codes.data());
  return store;
}

std::unique_ptr<RowStore> read_floats(SectionReader& reader, const Codec& codec, RowOrder order,
                                      int64_t rows) {
  const auto dim = static_cast<uint64_t>(codec.dim());
  require(static_cast<uint64_t>(rows) <= UINT64_MAX / dim, StatusCode::corrupt_data,
          "index file: {} rows are too many", rows);
  std::vector<float> values = reader.read_array<float>(kFloats, static_cast<uint64_t>(rows) * dim);
  try {
    require_float_rows(codec.dim(), rows, values.data());
  } catch (const Error& error) {
    fail(StatusCode::corrupt_data, "index file: section {}: {}", print_kind(kFloats), error.what());
  }
  const bool read_only = reader.is_mapped() && order == RowOrder::blocks;
  return make_float_row_store(codec.dim(), std::move(values), read_only);
}

void write_one_by_one(const Codec& codec, const RowStore& codes, ByteSink& sink) {
  std::vector<uint8_t> code(codec.layout().group_bytes);
  for (int64_t row = 0; row < codes.rows(); ++row) {
    codes.get(codec, row, code.data());
    sink.write(code.data(), code.size());
  }
}

}  // namespace

void add_row_sections(SectionWriter& writer, const Codec& codec, RowOrder order,
                      const RowStore& codes) {
  // Without rows nothing would tell it from the others.
  if (codes.holds_floats() && codes.rows() > 0) {
    writer.need_version(kFileVersionOfFloats);
    writer.add_data(kFloats, [&codes](ByteSink& sink) {
      sink.write(codes.floats().data(), codes.floats().size_bytes());
    });
    return;
  }
  if (!BlockLayout::supports(codec)) {
    writer.add_data(
        kRows,
        [&codec, &codes](ByteSink& sink) {
          const CodeRows rows = codes.row_codes();
          if (rows.rows < codes.rows()) return write_one_by_one(codec, codes, sink);
          const size_t bytes = codec.layout().bytes(rows.rows);
          if (bytes > 0) sink.write(rows.data, bytes);
        },
        codec.layout().bytes(codes.rows()));
    return;
  }
  if (order == RowOrder::single) {
    writer.add_data(kRows,
                    [&codec, &codes](ByteSink& sink) { write_one_by_one(codec, codes, sink); });
    return;
  }
  const BlockLayout layout(codec);
  need_version_of(layout, &writer);
  writer.add_data(
      kSketches,
      [layout, &codes](ByteSink& sink) {
        JoinedSketches sketches(sink, layout);
        for (size_t i = 0; i < codes.span_count(); ++i) sketches.add(codes.span(i));
        sketches.finish();
        write_padding(sink);
      },
      layout.sketches_bytes(codes.rows()) + kReadAhead);
  writer.add_data(
      kPayloads,
      [layout, &codes](ByteSink& sink) {
        write_padding(sink);
        for (size_t i = 0; i < codes.span_count(); ++i) {
          const BlockRows span = codes.span(i);
          sink.write(span.payloads, layout.payloads_bytes(span.rows));
        }
        write_padding(sink);
      },
      layout.payloads_bytes(codes.rows()) + 2 * kReadAhead);
}

std::unique_ptr<RowStore> read_row_sections(SectionReader& reader, const Codec& codec,
                                            RowOrder order, int64_t rows) {
  if (reader.next_kind() == kFloats) return read_floats(reader, codec, order, rows);
  if (!BlockLayout::supports(codec)) return read_row_codes(reader, codec, rows);
  return order == RowOrder::single ? read_single_rows(reader, codec, rows)
                                   : read_blocks(reader, codec, rows);
}

}  // namespace polarquant
