// SPDX-License-Identifier: MIT
// The model that indexes are compared with: ids and vectors in a list, as any caller would keep
// them.
#pragma once

#include <cstdint>
#include <functional>
#include <unordered_map>
#include <vector>

#include "polarquant/polarquant.h"

namespace polarquant::test {

class PlainRows {
 public:
  enum class Ids { undecided, numbered, callers };
  struct Row {
    int64_t id;
    std::vector<float> x;
  };

  bool empty() const { return rows_.empty(); }
  int64_t size() const { return static_cast<int64_t>(rows_.size()); }
  Ids ids() const { return ids_; }
  const std::vector<Row>& rows() const { return rows_; }
  /// nullptr: no row has this id.
  const Row* find(int64_t id) const;

  /// Rows of dim values each; no ids: they are numbered on.
  void add(int64_t n, int64_t dim, const float* x, const int64_t* ids);
  void update(int64_t id, std::vector<float> x);
  /// Rows that go; numbered ones that stay are numbered anew.
  int64_t remove(const std::function<bool(int64_t)>& goes);
  /// All rows of `other` after these; it is empty afterwards.
  void take_over(PlainRows& other);

 private:
  void append(int64_t id, std::vector<float> x);

  std::vector<Row> rows_;
  std::unordered_map<int64_t, size_t> places_;  // of ids in rows_
  Ids ids_ = Ids::undecided;
};

/// x as an index of this metric keeps it: normalized for cosine.
std::vector<float> kept_form(polar_metric metric, std::vector<float> x);
/// The score of row x for query q, without codes.
double plain_score(polar_metric metric, const std::vector<float>& q, const std::vector<float>& x);
double squared_length(const std::vector<float>& x);

}  // namespace polarquant::test
