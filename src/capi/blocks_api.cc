// SPDX-License-Identifier: MIT
// The block calls of the C ABI: codes in blocks, in memory that the caller owns.
#include <algorithm>
#include <cstdint>

#include "polarquant/polarquant.h"
#include "src/capi/argument_checks.h"
#include "src/capi/block_input.h"
#include "src/capi/exception_wall.h"
#include "src/capi/handles.h"
#include "src/capi/range_output.h"
#include "src/capi/search_options.h"
#include "src/core/checked_size.h"
#include "src/scan/layout/block_memory.h"
#include "src/scan/search/block_search.h"

using namespace polarquant;        // NOLINT: this file is the ABI's definitions and nothing else
using namespace polarquant::capi;  // NOLINT

namespace {

void require_row(int64_t row, int64_t rows) {
  require(row >= 0 && row < rows, StatusCode::bad_argument,
          "row: {} is not allowed; 0 or more and below blocks.rows = {}", row, rows);
}

}  // namespace

extern "C" polar_status polar_blocks_bytes(const polar_codec* codec, int64_t n, size_t* bytes) {
  return run_guarded([&] {
    const BlockLayout layout(require_block_codec(codec));
    require_count("n", n, 0);
    require_object("bytes", bytes) = checked_add(layout.bytes(n), kReadAhead, "bytes of blocks");
  });
}

extern "C" polar_status polar_blocks_append(const polar_codec* codec, polar_blocks* blocks,
                                            int64_t n, const uint8_t* codes, size_t codes_bytes) {
  return run_guarded([&] {
    const Codec& checked = require_block_codec(codec);
    const CodeRows given = require_codes(checked, "n", n, "codes", codes, codes_bytes);
    const BlockLayout layout(checked);
    polar_blocks& held = require_blocks(layout, blocks, n);
    BlockMemory(layout, held.data, held.rows).append(n, given.data);
    held.rows += n;
  });
}

extern "C" polar_status polar_blocks_get(const polar_codec* codec, const polar_blocks* blocks,
                                         int64_t first, int64_t count, uint8_t* codes,
                                         size_t codes_bytes) {
  return run_guarded([&] {
    const Codec& checked = require_block_codec(codec);
    const BlockLayout layout(checked);
    const polar_blocks& held = require_blocks(layout, blocks);
    require_count("count", count, 0);
    require(first >= 0 && first <= held.rows && count <= held.rows - first,
            StatusCode::bad_argument, "first: {} with count {} is not allowed; rows of 0 to {}",
            first, count, held.rows);
    require_codes(checked, "count", count, "codes", codes, codes_bytes);
    const BlockMemory memory(layout, held.data, held.rows);
    for (int64_t i = 0; i < count; ++i) {
      memory.get(first + i, codes + static_cast<size_t>(i) * layout.row_format_bytes());
    }
  });
}

extern "C" polar_status polar_blocks_overwrite(const polar_codec* codec, polar_blocks* blocks,
                                               int64_t row, const uint8_t* code,
                                               size_t code_bytes) {
  return run_guarded([&] {
    const Codec& checked = require_block_codec(codec);
    const CodeRows given = require_codes(checked, "one row", 1, "code", code, code_bytes);
    const BlockLayout layout(checked);
    const polar_blocks& held = require_blocks(layout, blocks);
    require_row(row, held.rows);
    BlockMemory(layout, held.data, held.rows).overwrite(row, given.data);
  });
}

extern "C" polar_status polar_blocks_remove(const polar_codec* codec, polar_blocks* blocks,
                                            const uint64_t* removed) {
  return run_guarded([&] {
    const BlockLayout layout(require_block_codec(codec));
    polar_blocks& held = require_blocks(layout, blocks);
    const int64_t words = held.rows / 64 + (held.rows % 64 != 0 ? 1 : 0);
    require_array("removed", removed, words, 1, sizeof(uint64_t));
    BlockMemory memory(layout, held.data, held.rows);
    memory.remove({removed, static_cast<size_t>(words)});
    held.rows = memory.rows();
  });
}

extern "C" polar_status polar_blocks_swap_remove(const polar_codec* codec, polar_blocks* blocks,
                                                 int64_t row) {
  return run_guarded([&] {
    const BlockLayout layout(require_block_codec(codec));
    polar_blocks& held = require_blocks(layout, blocks);
    require_row(row, held.rows);
    BlockMemory(layout, held.data, held.rows).swap_remove(row);
    --held.rows;
  });
}

extern "C" polar_status polar_blocks_search(const polar_codec* codec, const polar_blocks* blocks,
                                            int64_t nq, const float* queries, int64_t k,
                                            const polar_search_options* options, float* scores,
                                            int64_t* ids) {
  return run_guarded([&] {
    const Codec& checked = require_block_codec(codec);
    const ScanCodec scan_codec(checked);
    const polar_blocks& held = require_blocks(scan_codec.layout(), blocks);
    require_count("nq", nq, 0);
    require_count("k", k, 1);
    require_finite("queries", queries, nq, checked.dim());
    const SearchRequest request = read_request(nq, queries, SearchGoal::best(k), options);
    require_array("scores", scores, nq, k, sizeof(float));
    require_array("ids", ids, nq, k, sizeof(int64_t));
    const BlockMemory memory(scan_codec.layout(), held.data, held.rows);
    block_search(checked, scan_codec, memory.spans(), request, {scores, ids});
  });
}

extern "C" polar_status polar_blocks_range_search(const polar_codec* codec,
                                                  const polar_blocks* blocks, int64_t nq,
                                                  const float* queries, float radius,
                                                  const polar_search_options* options,
                                                  int64_t capacity, int64_t* lims, float* scores,
                                                  int64_t* ids) {
  return run_guarded([&] {
    const Codec& checked = require_block_codec(codec);
    const ScanCodec scan_codec(checked);
    const polar_blocks& held = require_blocks(scan_codec.layout(), blocks);
    require_count("nq", nq, 0);
    require_finite("queries", queries, nq, checked.dim());
    const SearchRequest request = read_request(nq, queries, SearchGoal::within(radius), options);
    const RangeOutput output(radius, nq, capacity, lims, scores, ids);
    const BlockMemory memory(scan_codec.layout(), held.data, held.rows);
    RangeFound found;
    block_search(checked, scan_codec, memory.spans(), request, &found);
    output.write(found);
  });
}
