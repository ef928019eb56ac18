// SPDX-License-Identifier: MIT
#include "tests/sqlite/documents.h"

#include "src/core/random.h"

namespace polarquant::test::sqlite {

std::vector<float> document_vector(int64_t number) {
  Random random(static_cast<uint64_t>(number) + 1);
  std::vector<float> vector(kDim);
  for (float& value : vector) value = static_cast<float>(random.normal() + 0.3);
  return vector;
}

void insert_documents(const Connection& db, int64_t first, int64_t count,
                      const std::string& table) {
  const std::string sql =
      "INSERT INTO " + table + "(rowid, embedding, title, year, body) VALUES (?, ?, ?, ?, ?)";
  for (int64_t i = first; i < first + count; ++i) {
    const std::string number = std::to_string(i);
    db.rows(sql, {i, document_vector(i), "title " + number, 2000 + i % 25, "body " + number});
  }
}

std::vector<Neighbor> nearest(const Connection& db, const std::vector<float>& query, int64_t k,
                              const std::string& condition, const std::string& table) {
  std::vector<Neighbor> found;
  const std::string sql = "SELECT rowid, distance FROM " + table +
                          " WHERE embedding MATCH ? AND k = ?" + condition + " ORDER BY distance";
  for (const Row& row : db.rows(sql, {query, k}))
    found.push_back({std::get<int64_t>(row[0]), std::get<double>(row[1])});
  return found;
}

namespace {

void require_ok(polar_status status) {
  if (status == POLAR_OK) return;
  std::string text(polar_last_error(nullptr, 0), '\0');
  polar_last_error(text.data(), text.size() + 1);
  FAIL(text);
}

}  // namespace

DocumentIndex::DocumentIndex(const std::string& code, polar_metric metric)
    : metric_(metric), index_(nullptr, polar_index_destroy) {
  polar_index* made = nullptr;
  require_ok(polar_index_create(code.c_str(), kDim, metric, &made));
  index_.reset(made);
}
void DocumentIndex::add(int64_t first, int64_t count) {
  std::vector<float> x;
  std::vector<int64_t> ids;
  for (int64_t i = first; i < first + count; ++i) {
    const std::vector<float> vector = document_vector(i);
    x.insert(x.end(), vector.begin(), vector.end());
    ids.push_back(i);
  }
  require_ok(polar_index_add_with_ids(index_.get(), count, x.data(), ids.data(), nullptr));
}
void DocumentIndex::remove(const std::vector<int64_t>& ids) {
  for (const int64_t id : ids) require_ok(polar_index_remove(index_.get(), 1, &id, nullptr));
}
void DocumentIndex::update(int64_t id, const std::vector<float>& vector) {
  require_ok(polar_index_update(index_.get(), 1, &id, vector.data(), nullptr));
}
double DocumentIndex::distance(float score) const {
  return metric_ == POLAR_METRIC_COSINE          ? 1 - static_cast<double>(score)
         : metric_ == POLAR_METRIC_INNER_PRODUCT ? -static_cast<double>(score)
                                                 : score;
}
std::vector<Neighbor> DocumentIndex::nearest(const std::vector<float>& query, int64_t k,
                                             const std::vector<int64_t>* allowed) const {
  polar_search_options options;
  polar_search_options_init(&options);
  polar_filter filter;
  polar_filter_init(&filter);
  if (allowed != nullptr) {
    filter.kind = POLAR_FILTER_IDS;
    filter.ids = {allowed->data(), std::ssize(*allowed)};
    options.filter = &filter;
  }
  std::vector<float> scores(static_cast<size_t>(k));
  std::vector<int64_t> ids(static_cast<size_t>(k));
  require_ok(
      polar_index_search(index_.get(), 1, query.data(), k, &options, scores.data(), ids.data()));
  std::vector<Neighbor> found;
  for (size_t i = 0; i < ids.size() && ids[i] >= 0; ++i)
    found.push_back({ids[i], distance(scores[i])});
  return found;
}
std::vector<Neighbor> DocumentIndex::within(const std::vector<float>& query,
                                            double distance) const {
  std::vector<Neighbor> found;
  const int64_t all = polar_index_ntotal(index_.get());
  for (const Neighbor& neighbor : nearest(query, all)) {
    if (neighbor.distance < distance) found.push_back(neighbor);
  }
  return found;
}

}  // namespace polarquant::test::sqlite
