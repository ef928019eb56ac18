// SPDX-License-Identifier: MIT
#include "tests/model/plain_rows.h"

#include <cmath>
#include <utility>

namespace polarquant::test {

const PlainRows::Row* PlainRows::find(int64_t id) const {
  const auto found = places_.find(id);
  return found == places_.end() ? nullptr : &rows_[found->second];
}

void PlainRows::append(int64_t id, std::vector<float> x) {
  places_.emplace(id, rows_.size());
  rows_.push_back({id, std::move(x)});
}

void PlainRows::add(int64_t n, int64_t dim, const float* x, const int64_t* ids) {
  if (n == 0) return;
  for (int64_t i = 0; i < n; ++i) {
    append(ids != nullptr ? ids[i] : size(), {x + i * dim, x + (i + 1) * dim});
  }
  ids_ = ids != nullptr ? Ids::callers : Ids::numbered;
}

void PlainRows::update(int64_t id, std::vector<float> x) { rows_[places_.at(id)].x = std::move(x); }

int64_t PlainRows::remove(const std::function<bool(int64_t)>& goes) {
  const int64_t before = size();
  std::vector<Row> all = std::move(rows_);
  rows_.clear();
  places_.clear();
  for (Row& row : all) {
    if (goes(row.id)) continue;
    append(ids_ == Ids::numbered ? size() : row.id, std::move(row.x));
  }
  if (rows_.empty()) ids_ = Ids::undecided;
  return before - size();
}

void PlainRows::take_over(PlainRows& other) {
  if (other.empty()) return;
  for (Row& row : other.rows_) {
    append(other.ids_ == Ids::numbered ? size() : row.id, std::move(row.x));
  }
  ids_ = other.ids_;
  other = {};
}

double squared_length(const std::vector<float>& x) {
  double sum = 0;
  for (const float value : x) sum += static_cast<double>(value) * value;
  return sum;
}

std::vector<float> kept_form(polar_metric metric, std::vector<float> x) {
  const double length = std::sqrt(squared_length(x));
  if (metric != POLAR_METRIC_COSINE || length == 0) return x;
  for (float& value : x) value = static_cast<float>(value / length);
  return x;
}

double plain_score(polar_metric metric, const std::vector<float>& q, const std::vector<float>& x) {
  double sum = 0;
  for (size_t i = 0; i < q.size(); ++i) {
    const double difference = static_cast<double>(q[i]) - x[i];
    sum += metric == POLAR_METRIC_L2 ? difference * difference : static_cast<double>(q[i]) * x[i];
  }
  return sum;
}

}  // namespace polarquant::test
