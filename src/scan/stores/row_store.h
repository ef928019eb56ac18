// SPDX-License-Identifier: MIT
// The codes of an index: rows of one codec, added at the end and searched. Where they lie follows
// from the codec: in blocks for codes that are searched by int8 values (block_search.h), in the
// row format for the others (exhaustive_search.h), and one by one for graphs (single_row_store.h).
// Rows that wait to be coded are floats (float_row_store.h).
//
// Threads: const member functions may run at the same time; the others need sole use.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "src/codec/code_buffer.h"
#include "src/codec/codec.h"
#include "src/core/aligned_buffer.h"
#include "src/core/rows_state.h"
#include "src/scan/layout/code_blocks.h"
#include "src/scan/model/link_estimate.h"
#include "src/scan/search/search_result.h"
#include "src/scan/stores/row_scorer.h"

namespace polarquant {

/// What one thread needs to write records, so that none of it fails.
struct RecordMemory {
  RecordMemory(int dim, int links);

  AlignedVector<int8_t> node;
  AlignedVector<int8_t> neighbour;
  std::vector<LinkTerms> terms;
};

class RowStore {
 public:
  /// A store for rows of this codec and of its later states (training keeps the place of rows).
  static std::unique_ptr<RowStore> make(const Codec& codec, RowOrder order = RowOrder::blocks);
  /// Stores of rows that were coded by this codec.
  static std::unique_ptr<RowStore> from_blocks(const Codec& codec, CodeBlocks blocks);
  static std::unique_ptr<RowStore> from_row_codes(CodeBuffer codes);
  virtual ~RowStore() = default;

  virtual int64_t rows() const = 0;
  virtual size_t memory_bytes() const = 0;
  /// The same as long as rows only come after those held (core/rows_state.h); kUnknownRows where
  /// nobody counts changes.
  virtual uint64_t held_rows_state() const { return kUnknownRows; }
  /// The rows as they lie in blocks, in order; none where they do not.
  virtual std::vector<BlockRows> spans() const;
  /// One of span_count() of them; of a mapped file, this one alone is verified.
  virtual size_t span_count() const { return 0; }
  virtual BlockRows span(size_t /*number*/) const { return {}; }
  /// The rows as they lie in the row format; none where they do not.
  virtual CodeRows row_codes() const { return {}; }
  /// Whether rows are not coded, but kept as floats: then these, (rows, dim).
  virtual bool holds_floats() const { return false; }
  virtual std::span<const float> floats() const { return {}; }
  /// Throws corrupt_data where rows lie in a file that is not what was written; reads all of it.
  virtual void verify() const {}
  /// Whether rows lie in a mapped file, so that none can be added or taken away.
  virtual bool is_mapped() const { return false; }
  /// Encodes x, (n, dim), after the rows held. Unchanged after an error.
  virtual void append(const Codec& codec, int64_t n, const float* x, int threads) = 0;
  virtual void clear() noexcept = 0;
  /// Replaces these rows, each of which must be here, by x, (rows, dim); the last of equal ones
  /// counts. For codecs whose rows have codes of their own. Unchanged after an error.
  virtual void replace(const Codec& codec, std::span<const int64_t> rows, const float* x,
                       int threads);

  // For codecs whose rows have codes of their own (layout().group_rows is 1).
  /// The row-format code of a row.
  virtual void get(const Codec& codec, int64_t row, uint8_t* code) const = 0;
  /// Puts n row-format codes after the rows held. Unchanged after an error.
  virtual void append_codes(const Codec& codec, int64_t n, const uint8_t* codes) = 0;
  virtual void overwrite(const Codec& codec, int64_t row, const uint8_t* code) noexcept = 0;
  /// Takes out the rows whose bit of `removed` is 1 (bit row%64 of word row/64); the others keep
  /// their order. Of rows in memory nothing fails.
  virtual void remove(const Codec& codec, std::span<const uint64_t> removed) = 0;
  /// Takes out rows, falling, by putting each time the last row in the place of one; costs no more
  /// than these. Unchanged after an error.
  virtual void swap_remove(const Codec& codec, std::span<const int64_t> rows);
  /// Takes out a row, in whose place the row `heir`, no earlier one, comes, and in its place the
  /// last one. Unchanged after an error.
  virtual void remove_row(const Codec& codec, int64_t row, int64_t heir);

  /// The state before an append, for taking it back.
  struct Mark {
    int64_t rows = 0;
    AlignedVector<uint8_t> tail;  // codes that an append may move
  };
  virtual Mark mark(const Codec& codec) const = 0;
  virtual void go_back_to(const Codec& codec, const Mark& mark) noexcept = 0;

  /// As block_search; exactness matters where there are bounds.
  virtual void search(const Codec& codec, const SearchRequest& request,
                      const SearchResult& result) const = 0;

  /// As the codec's functions of these names; by get, unless a store has its rows in the row
  /// format.
  virtual void decode(const Codec& codec, int64_t first, int64_t count, Reconstruction kind,
                      float* x) const;
  virtual RowTerms decode_for_score(const Codec& codec, int64_t row, float* y) const;
  /// For scores of rows in any order; both are borrowed.
  virtual std::unique_ptr<RowScorer> make_scorer(const Codec& codec) const;

  // Rows in the records of a graph (link_record.h), which single rows become by
  // lay_out_records; of other stores it is refused.
  /// links: how many a row may have, 1 or more. Unchanged after an error.
  virtual void lay_out_records(const Codec& codec, int links);
  virtual int record_links() const { return 0; }
  /// Whether each record is that of its row and links: not after any change of rows, until
  /// set_records_written says so.
  virtual bool records_are_written() const { return false; }
  virtual void set_records_written(bool /*written*/) noexcept {}
  /// A row's, as link_record.h has it; for tests.
  virtual std::span<const uint8_t> record(int64_t /*row*/) const { return {}; }
  /// links: rows, as many as record_links() at most. Records of different rows may be written at
  /// the same time, each thread with memory of its own.
  virtual void write_record(int64_t /*row*/, std::span<const int32_t> /*links*/,
                            RecordMemory* /*memory*/) noexcept {}
  /// The same where the rows that a record links to have other numbers alone: `links` are these, in
  /// their order.
  virtual void renumber_links(int64_t /*row*/, std::span<const int32_t> /*links*/) noexcept {}

 private:
  /// Of one row, with space for a code.
  void take_out(const Codec& codec, int64_t row, int64_t heir, uint8_t* code);
};

}  // namespace polarquant
