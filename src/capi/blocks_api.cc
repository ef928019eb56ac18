// SPDX-License-Identifier: MIT
// The block calls of the C ABI: codes in blocks, in memory that the caller owns.
#include <algorithm>
#include <cstdint>

#include "polarquant/polarquant.h"
#include "src/capi/argument_checks.h"
#include "src/capi/exception_wall.h"
#include "src/capi/handles.h"
#include "src/capi/search_options.h"
#include "src/core/checked_size.h"
#include "src/scan/layout/block_memory.h"
#include "src/scan/search/block_search.h"

using namespace polarquant;        // NOLINT: this file is the ABI's definitions and nothing else
using namespace polarquant::capi;  // NOLINT

namespace {

const Codec& require_block_codec(const polar_codec* codec) {
  const Codec& checked = *require_object("codec", codec).codec;
  require(BlockLayout::supports(checked), StatusCode::unsupported,
          "codec: {} has no blocks; Polar0.5 to Polar8 and residual codes have",
          print_spec(checked.spec()));
  return checked;
}

/// The caller's blocks, with room for `rows_after` rows.
void require_blocks(const BlockLayout& layout, int64_t rows, int64_t rows_after,
                    const uint8_t* blocks, size_t blocks_bytes) {
  require_count("rows", rows, 0);
  const size_t needed =
      checked_add(layout.bytes(std::max(rows, rows_after)), kReadAhead, "bytes of blocks");
  require(blocks != nullptr, StatusCode::bad_argument, "blocks: NULL is not allowed");
  require(reinterpret_cast<uintptr_t>(blocks) % 64 == 0, StatusCode::bad_argument,
          "blocks: {} is not on a 64-byte boundary", static_cast<const void*>(blocks));
  require(blocks_bytes >= needed, StatusCode::bad_argument,
          "blocks_bytes: {} is not allowed; at least {} for {} rows", blocks_bytes, needed,
          std::max(rows, rows_after));
}

void require_row(int64_t row, int64_t rows) {
  require(row >= 0 && row < rows, StatusCode::bad_argument,
          "row: {} is not allowed; 0 or more and below rows = {}", row, rows);
}

}  // namespace

extern "C" polar_status polar_blocks_bytes(const polar_codec* codec, int64_t n, size_t* bytes) {
  return run_guarded([&] {
    const BlockLayout layout(require_block_codec(codec));
    require_count("n", n, 0);
    require_object("bytes", bytes) = checked_add(layout.bytes(n), kReadAhead, "bytes of blocks");
  });
}

extern "C" polar_status polar_blocks_append(const polar_codec* codec, int64_t n,
                                            const uint8_t* codes, size_t codes_bytes, int64_t rows,
                                            uint8_t* blocks, size_t blocks_bytes) {
  return run_guarded([&] {
    const Codec& checked = require_block_codec(codec);
    const CodeRows given = require_codes(checked, "n", n, "codes", codes, codes_bytes);
    const BlockLayout layout(checked);
    require_count("rows", rows, 0);
    require_blocks(layout, rows, static_cast<int64_t>(checked_add(rows, n, "rows")), blocks,
                   blocks_bytes);
    BlockMemory(layout, blocks, rows).append(n, given.data);
  });
}

extern "C" polar_status polar_blocks_get(const polar_codec* codec, int64_t rows,
                                         const uint8_t* blocks, size_t blocks_bytes, int64_t first,
                                         int64_t count, uint8_t* codes, size_t codes_bytes) {
  return run_guarded([&] {
    const Codec& checked = require_block_codec(codec);
    const BlockLayout layout(checked);
    require_blocks(layout, rows, rows, blocks, blocks_bytes);
    require_count("count", count, 0);
    require(first >= 0 && first <= rows && count <= rows - first, StatusCode::bad_argument,
            "first: {} with count {} is not allowed; rows of 0 to {}", first, count, rows);
    require_codes(checked, "count", count, "codes", codes, codes_bytes);
    // Only read: get() changes nothing.
    const BlockMemory memory(layout, const_cast<uint8_t*>(blocks), rows);
    for (int64_t i = 0; i < count; ++i) {
      memory.get(first + i, codes + static_cast<size_t>(i) * layout.row_format_bytes());
    }
  });
}

extern "C" polar_status polar_blocks_overwrite(const polar_codec* codec, const uint8_t* code,
                                               size_t code_bytes, int64_t rows, uint8_t* blocks,
                                               size_t blocks_bytes, int64_t row) {
  return run_guarded([&] {
    const Codec& checked = require_block_codec(codec);
    const CodeRows given = require_codes(checked, "one row", 1, "code", code, code_bytes);
    const BlockLayout layout(checked);
    require_blocks(layout, rows, rows, blocks, blocks_bytes);
    require_row(row, rows);
    BlockMemory(layout, blocks, rows).overwrite(row, given.data);
  });
}

extern "C" polar_status polar_blocks_remove(const polar_codec* codec, const uint64_t* removed,
                                            int64_t rows, uint8_t* blocks, size_t blocks_bytes,
                                            int64_t* left) {
  return run_guarded([&] {
    const BlockLayout layout(require_block_codec(codec));
    require_blocks(layout, rows, rows, blocks, blocks_bytes);
    const int64_t words = rows / 64 + (rows % 64 != 0 ? 1 : 0);
    require_array("removed", removed, words, 1, sizeof(uint64_t));
    require_object("left", left);
    BlockMemory memory(layout, blocks, rows);
    memory.remove({removed, static_cast<size_t>(words)});
    *left = memory.rows();
  });
}

extern "C" polar_status polar_blocks_swap_remove(const polar_codec* codec, int64_t row,
                                                 int64_t rows, uint8_t* blocks,
                                                 size_t blocks_bytes) {
  return run_guarded([&] {
    const BlockLayout layout(require_block_codec(codec));
    require_blocks(layout, rows, rows, blocks, blocks_bytes);
    require_row(row, rows);
    BlockMemory(layout, blocks, rows).swap_remove(row);
  });
}

extern "C" polar_status polar_blocks_search(const polar_codec* codec, int64_t nq,
                                            const float* queries, int64_t rows,
                                            const uint8_t* blocks, size_t blocks_bytes, int64_t k,
                                            const polar_search_options* options, float* scores,
                                            int64_t* ids) {
  return run_guarded([&] {
    const Codec& checked = require_block_codec(codec);
    const ScanCodec scan_codec(checked);
    require_count("nq", nq, 0);
    require_blocks(scan_codec.layout(), rows, rows, blocks, blocks_bytes);
    require_count("k", k, 1);
    require_finite("queries", queries, nq, checked.dim());
    const polar_search_options read = read_search_options(options);
    require_array("scores", scores, nq, k, sizeof(float));
    require_array("ids", ids, nq, k, sizeof(int64_t));
    const BlockRows span = {blocks, rows, 0};
    block_search(checked, scan_codec, std::span<const BlockRows>(&span, 1),
                 make_request(nq, queries, SearchGoal::best(k), read, codec->num_threads),
                 {scores, ids});
  });
}
