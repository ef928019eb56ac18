// SPDX-License-Identifier: MIT
// A table of documents, and an index that holds the same rows.
#pragma once

#include <polarquant/polarquant.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tests/sqlite/connection.h"

namespace polarquant::test::sqlite {

inline constexpr int kDim = 64;

/// Vector number `number`: the same on each call.
std::vector<float> document_vector(int64_t number);

inline std::string create_sql(const std::string& code = "Polar4",
                              const std::string& metric = "cosine",
                              const std::string& table = "docs") {
  return "CREATE VIRTUAL TABLE " + table + " USING polar(embedding float[64], code=" + code +
         ", metric=" + metric + ", title TEXT, year INTEGER, +body TEXT)";
}

/// Inserts documents first … first + count − 1; document i has the rowid i, the title "title <i>",
/// the year 2000 + i % 25 and the body "body <i>".
void insert_documents(const Connection& db, int64_t first, int64_t count,
                      const std::string& table = "docs");

struct Neighbor {
  int64_t id;
  double distance;
  bool operator==(const Neighbor&) const = default;
};

/// The k nearest by a table; condition: "" or " AND …".
std::vector<Neighbor> nearest(const Connection& db, const std::vector<float>& query, int64_t k,
                              const std::string& condition = "", const std::string& table = "docs");

/// What an index of the C library finds, by distances as a table has them.
class DocumentIndex {
 public:
  DocumentIndex(const std::string& code, polar_metric metric);

  void add(int64_t first, int64_t count);
  void remove(const std::vector<int64_t>& ids);
  void update(int64_t id, const std::vector<float>& vector);
  /// Among all, or among `allowed`.
  std::vector<Neighbor> nearest(const std::vector<float>& query, int64_t k,
                                const std::vector<int64_t>* allowed = nullptr) const;
  std::vector<Neighbor> within(const std::vector<float>& query, double distance) const;
  polar_index* get() const { return index_.get(); }

 private:
  double distance(float score) const;

  polar_metric metric_;
  std::unique_ptr<polar_index, void (*)(polar_index*)> index_;
};

}  // namespace polarquant::test::sqlite
