// SPDX-License-Identifier: MIT
// The result that block_search must find: all rows sorted by plain code's keys of their values, the
// best of them with the codec's own scores.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <ostream>
#include <span>
#include <vector>

#include "src/scan/search/block_search.h"
#include "src/scan/search/centroid_bases.h"
#include "tests/scan/scan_rows.h"

namespace polarquant::test {

struct Found {
  std::vector<float> scores;
  std::vector<int64_t> ids;

  SearchResult result() { return {scores.data(), ids.data()}; }
  /// NaN-free, so that == is equality of numbers; 0 and −0 are told apart.
  bool operator==(const Found& other) const {
    return ids == other.ids && scores.size() == other.scores.size() &&
           std::equal(scores.begin(), scores.end(), other.scores.begin(),
                      [](float a, float b) { return same_bits(a, b); });
  }
  friend std::ostream& operator<<(std::ostream& out, const Found& found) {
    for (size_t i = 0; i < std::min<size_t>(found.ids.size(), 12); ++i) {
      out << ' ' << found.ids[i] << ':' << found.scores[i];
    }
    return out;
  }
  /// The results of nq queries: these, again and again.
  Found repeated(int64_t nq, int64_t k) const {
    Found first;
    for (size_t i = 0; i < static_cast<size_t>(nq * k); ++i) {
      first.scores.push_back(scores[i % scores.size()]);
      first.ids.push_back(ids[i % ids.size()]);
    }
    return first;
  }
};

/// A request but for its queries and goal.
inline SearchRequest search_with(float exactness, int threads) {
  return {.options = {.exactness = exactness}, .threads = threads};
}
/// The request with these queries, (nq, dim), and this goal.
inline SearchRequest with_queries(SearchRequest request, const std::vector<float>& queries, int dim,
                                  const SearchGoal& goal, const RowFilter& filter) {
  request.nq = std::ssize(queries) / dim;
  request.queries = queries.data();
  request.goal = goal;
  request.filter = filter;
  return request;
}
/// Where the k best of nq queries go.
inline Found empty_results(int64_t nq, int64_t k) {
  return {std::vector<float>(static_cast<size_t>(nq * k), 77.0F),
          std::vector<int64_t>(static_cast<size_t>(nq * k), 77)};
}

inline Found search_blocks(const Codec& codec, const ScanCodec& scan,
                           std::span<const BlockRows> spans, const std::vector<float>& queries,
                           int64_t k, const RowFilter& filter, const SearchRequest& how) {
  const SearchRequest request =
      with_queries(how, queries, codec.dim(), SearchGoal::best(k), filter);
  Found found = empty_results(request.nq, k);
  block_search(codec, scan, spans, request, found.result());
  return found;
}
inline Found search_blocks(const ScanRows& rows, const std::vector<float>& queries, int64_t k,
                           const SearchRequest& how, const RowFilter& filter = {}) {
  const std::vector<BlockRows> spans = rows.blocks.spans();
  return search_blocks(*rows.codec, rows.scan, spans, queries, k, filter, how);
}

/// So many queries share rows' decoding, where a machine has kernels for it.
constexpr int64_t kManyQueries = 200;
/// nq queries: these, again and again.
inline std::vector<float> first_queries(const std::vector<float>& queries, int64_t nq, int dim) {
  std::vector<float> first;
  for (size_t i = 0; i < static_cast<size_t>(nq * dim); ++i)
    first.push_back(queries[i % queries.size()]);
  return first;
}

/// Every row's key and score by plain code, for searches of any k.
class PlainScores {
 public:
  PlainScores(const Codec& codec, const ScanCodec& scan, std::span<const BlockRows> spans,
              const std::vector<float>& queries, float exactness)
      : scan_(scan), higher_(codec.higher_is_nearer()) {
    std::vector<uint8_t> codes;
    std::vector<uint8_t> code(scan.layout().row_format_bytes());
    const bool by_signs =
        scan.has_signs() && codec.dim() >= 64 && scan.factor_format().form != FactorForm::float8;
    const bool bounded = (by_signs || scan.has_centroids()) && exactness < kScoreEveryRow;
    for (size_t q = 0; q < queries.size(); q += static_cast<size_t>(codec.dim())) {
      const PreparedQuery prepared = codec.prepare_query(&queries[q]);
      ScanQuery query = make_scan_query(scan, prepared, bounded ? exactness : 0);
      set_centroid_bases(codec, scan, 1, &queries[q], &prepared, &query);
      std::vector<Row>& rows = queries_.emplace_back();
      for (const BlockRows& span : spans) {
        for (int64_t row = 0; row < span.rows; ++row) {
          const RowPlace at = span.place(scan.layout(), row);
          rows.push_back({score_row(scan, query, bounded, at).key, 0, span.first_row + row});
          if (q > 0) continue;
          scan.layout().get_row(at, code.data());
          codes.insert(codes.end(), code.begin(), code.end());
        }
      }
      std::vector<float> scores(rows.size());
      const auto count = static_cast<int64_t>(rows.size());
      codec.score(codec.prepare_query(&queries[q]), {codes.data(), count}, 0, count, scores.data());
      for (size_t i = 0; i < rows.size(); ++i) rows[i].score = higher_ ? scores[i] : -scores[i];
      std::sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) {
        return a.key > b.key || (a.key == b.key && a.id < b.id);
      });
    }
  }
  PlainScores(const ScanRows& rows, const std::vector<float>& queries, float exactness)
      : PlainScores(*rows.codec, rows.scan, rows.blocks.spans(), queries, exactness) {}

  template <typename Keep>
  Found best(int64_t k, const Keep& keep) const {
    Found found;
    for (const std::vector<Row>& rows : queries_) {
      std::vector<Row> top;
      for (const Row& row : rows) {
        if (std::ssize(top) < scan_.rescored_rows(k) && keep(row.id)) top.push_back(row);
      }
      std::sort(top.begin(), top.end(), [](const Row& a, const Row& b) {
        return a.score > b.score || (a.score == b.score && a.id < b.id);
      });
      top.resize(static_cast<size_t>(k), {0, -std::numeric_limits<float>::infinity(), -1});
      for (const Row& row : top) {
        found.scores.push_back(higher_ ? row.score : -row.score);
        found.ids.push_back(row.id);
      }
    }
    return found;
  }
  Found best(int64_t k) const {
    return best(k, [](int64_t) { return true; });
  }

 private:
  struct Row {
    float key;    // by values
    float score;  // the codec's, higher is nearer
    int64_t id;
  };

  const ScanCodec& scan_;
  bool higher_;
  std::vector<std::vector<Row>> queries_;  // each sorted by (key, id)
};

}  // namespace polarquant::test
