// SPDX-License-Identifier: MIT
// Scores of rows in any order, as graph searches ask for them: a query, or a row, against rows here
// and there.
//
// Scores are estimates in the codec's metric: inner product, or squared distance. For codes with
// int8 values in single rows (single_row_store.h) they are scores by values, the same on every
// machine and within make_score_error_bound() of Codec::score; for others Codec::score itself.
//
// A graph search asks which neighbours of a node are better than the worst that it keeps: six of
// seven are not, and for most of these a row's signs tell it (docs/dev/bounds.md).
#pragma once

#include <cstdint>
#include <memory>

#include "src/codec/codec.h"

namespace polarquant {

class RowStore;

/// For one thread.
class RowScorer {
 public:
  virtual ~RowScorer() = default;

  /// q: (dim), finite. `exactness` is that of SearchOptions, for keep_reaching.
  virtual void set_query(const float* q, float exactness) = 0;
  /// scores[i] of the query and rows[i].
  virtual void score(const int32_t* rows, int count, float* scores) = 0;
  /// Leaves out rows that bounds put below `worst_key` (key_of_score), and returns how many stay,
  /// in order: what score() reads of them is then being fetched.
  virtual int keep_reaching(int32_t* /*rows*/, int count, float /*worst_key*/) const {
    return count;
  }
  /// Codec::score of the query and the row.
  virtual float exact_score(int64_t row) = 0;
  /// scores[i] between a row and others[i]; symmetric. One row is best compared with many.
  virtual void score_rows(int64_t row, const int32_t* others, int count, float* scores) = 0;

  // Rows that a graph's links are chosen from: is one near to those that were chosen before it?

  virtual void forget_chosen() = 0;
  /// Whether a chosen row's key (key_of_score) with this one is less than `key`.
  virtual bool is_near_chosen(int32_t row, float key) = 0;
  /// Chooses the row that is_near_chosen was last asked for.
  virtual void choose() = 0;

  /// Begins to fetch what keep_reaching reads of rows.
  virtual void fetch(const int32_t* /*rows*/, int /*count*/) const {}

  // For rows in records (RowStore::records_are_written). Similarities are higher where rows are
  // nearer: scores, or minus squared distances.
  struct LinkScores {
    float similarity;           // of the row, by its code
    const int32_t* links;       // up to the first that is negative
    const float* similarities;  // of these rows, estimated by signs
    int slots;                  // places for links
  };
  /// After set_query, before score_links. Returns the standard deviation of similarities of rows
  /// whose directions have nothing to do with the query's.
  virtual float begin_links() { return 0; }
  /// Valid until the next call.
  virtual LinkScores score_links(int32_t /*row*/) { return {}; }
  /// Begins to fetch what score_links reads, of a row that it is about to be called for.
  virtual void fetch_record(int32_t /*row*/) const {}
  /// The same of the row that is likely to be the next: all of it, or so much as is worth fetching
  /// where another row may well come before.
  virtual void fetch_next_record(int32_t /*row*/, bool /*whole*/) const {}
};

/// By decoding rows to floats: for any store. Both are borrowed.
std::unique_ptr<RowScorer> make_float_scorer(const Codec& codec, const RowStore& rows);

}  // namespace polarquant
