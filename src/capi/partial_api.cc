// SPDX-License-Identifier: MIT
// The calls of the C ABI that search blocks which are a part of more rows, and make one answer of
// what parts found, of blocks and of indexes.
#include <algorithm>
#include <utility>
#include <vector>

#include "polarquant/polarquant.h"
#include "src/capi/argument_checks.h"
#include "src/capi/block_input.h"
#include "src/capi/exception_wall.h"
#include "src/capi/partial_bytes.h"
#include "src/capi/search_options.h"
#include "src/scan/search/block_search.h"
#include "src/scan/search/filter_rules.h"

namespace polarquant::capi {
namespace {

/// Positions of the part become those in all rows.
void place(int64_t first_row, PartialResult* found) {
  for (std::vector<PartialRow>& rows : found->queries) {
    for (PartialRow& row : rows) {
      row.row += first_row;
      row.order += first_row;
      row.id += first_row;
    }
  }
}

}  // namespace
}  // namespace polarquant::capi

using namespace polarquant;        // NOLINT: this file is the ABI's definitions and nothing else
using namespace polarquant::capi;  // NOLINT

extern "C" polar_status polar_blocks_partial_bytes(const polar_codec* codec,
                                                   const polar_blocks* blocks, int64_t nq,
                                                   int64_t k, size_t* bytes) {
  return run_guarded([&] {
    const Codec& checked = require_block_codec(codec);
    const polar_blocks& held = require_blocks(BlockLayout(checked), blocks);
    const PartialQuestion question = read_question(nq, k, checked.higher_is_nearer());
    require_object("bytes", bytes) = most_partial_bytes(question, held.rows);
  });
}

extern "C" polar_status polar_blocks_search_partial(const polar_codec* codec,
                                                    const polar_blocks* blocks, int64_t first_row,
                                                    int64_t nq, const float* queries, int64_t k,
                                                    const polar_search_options* options,
                                                    size_t capacity, uint8_t* partial,
                                                    size_t* bytes) {
  return run_guarded([&] {
    const Codec& checked = require_block_codec(codec);
    const ScanCodec scan_codec(checked);
    const polar_blocks& held = require_blocks(scan_codec.layout(), blocks);
    require_count("first_row", first_row, 0);
    const PartialQuestion question = read_question(nq, k, checked.higher_is_nearer());
    require_finite("queries", queries, nq, checked.dim());
    SearchRequest request = read_request(nq, queries, SearchGoal::best(k), options);
    request.filter = shifted(std::move(request.filter), first_row);
    size_t& written = require_object("bytes", bytes);
    PartialResult found;
    if (nq > 0 && held.rows > 0) {
      const BlockMemory memory(scan_codec.layout(), held.data, held.rows);
      block_search(checked, scan_codec, memory.spans(), request, &found);
      place(first_row, &found);
    }
    written = write_partial(question, found, capacity, partial);
  });
}

extern "C" polar_status polar_merge_partials(int64_t n, const uint8_t* const* partials,
                                             const size_t* bytes, int64_t nq, int64_t k,
                                             float* scores, int64_t* ids) {
  return run_guarded([&] {
    require_count("n", n, 1);
    PartialQuestion question = read_question(nq, k);
    require_array("partials", partials, n, 1, sizeof(uint8_t*));
    require_array("bytes", bytes, n, 1, sizeof(size_t));
    require_array("scores", scores, nq, k, sizeof(float));
    require_array("ids", ids, nq, k, sizeof(int64_t));
    std::vector<PartialResult> parts;
    int64_t kept = 0;
    for (int64_t i = 0; i < n; ++i) {
      require(partials[i] != nullptr, StatusCode::bad_argument, "partials[{}]: NULL is not allowed",
              i);
      PartialQuestion own = {nq, k};
      const PartialResult& part =
          parts.emplace_back(read_partial(i, {partials[i], bytes[i]}, &own));
      require(i == 0 || own.higher_is_nearer == question.higher_is_nearer,
              StatusCode::state_mismatch, "partials[{}]: of another metric than partials[0]", i);
      question = own;
      require(kept == 0 || part.kept == 0 || part.kept == kept, StatusCode::state_mismatch,
              "partials[{}]: {} rows were kept for {} results, and {} by others; parts are of one "
              "kind of index",
              i, part.kept, k, kept);
      kept = std::max(kept, part.kept);
    }
    std::vector<std::vector<PartialRow>> rows(parts.size());
    for (int64_t query = 0; query < nq; ++query) {
      for (size_t part = 0; part < parts.size(); ++part)
        rows[part] = std::move(parts[part].queries[static_cast<size_t>(query)]);
      merge_partial_rows(rows, kept, k, question.higher_is_nearer, scores + query * k,
                         ids + query * k);
    }
  });
}
