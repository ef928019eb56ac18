// SPDX-License-Identifier: MIT
// Codes of any bytes. Input: three bytes for the codec, three for what is done, then codes.
//
// They decode, score and combine to whatever numbers; a search finds each row at most once and has
// a number, or an infinity, for its score.
#include <cmath>
#include <set>

#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/trained_codecs.h"

using namespace polarquant::fuzz;

namespace {

constexpr int64_t kMostRows = 150;

void score_all(const TrainedCodec& trained, const std::vector<float>& q, int64_t row,
               const std::vector<uint8_t>& codes, int64_t n) {
  std::vector<float> scores(static_cast<size_t>(n));
  polar_query* query = nullptr;
  expect_ok("prepare", polar_query_prepare(trained.codec, q.data(), &query));
  expect_ok("score", polar_codec_score(trained.codec, query, n, codes.data(), codes.size(), nullptr,
                                       scores.data()));
  polar_query_destroy(query);
  if (n == 0) return;
  if (allow_failure("prepare from a code",
                    polar_query_prepare_from_code(trained.codec, n, codes.data(), codes.size(),
                                                  row % n, &query))) {
    allow_failure("score by a code", polar_codec_score(trained.codec, query, n, codes.data(),
                                                       codes.size(), nullptr, scores.data()));
  }
  polar_query_destroy(query);
}

void search(const TrainedCodec& trained, const std::vector<float>& queries, uint8_t choice,
            const std::vector<uint8_t>& codes, int64_t n) {
  const ChosenOptions options(choice, n);
  const int64_t nq = choice % 2 == 0 ? 1 : 3;
  const int64_t k = 1 + choice % (n + 4);
  std::vector<float> scores(static_cast<size_t>(nq * k));
  std::vector<int64_t> ids(scores.size());
  expect_ok("search",
            polar_codec_search(trained.codec, nq, queries.data(), n, codes.data(), codes.size(), k,
                               options.get(), scores.data(), ids.data()));
  for (int64_t query = 0; query < nq; ++query) {
    std::set<int64_t> seen;
    for (int64_t i = 0; i < k; ++i) {
      const auto at = static_cast<size_t>(query * k + i);
      expect(ids[at] >= -1 && ids[at] < n, "an id that no row has");
      expect(!std::isnan(scores[at]), "a score that is no number");
      expect(ids[at] < 0 || seen.insert(ids[at]).second, "a row that is found twice");
    }
  }
}

void combine(const TrainedCodec& trained, const std::vector<uint8_t>& codes, int64_t n) {
  const std::vector<float> weights(static_cast<size_t>(2 * n) + 1, .5F);
  std::vector<float> sums(static_cast<size_t>(2 * trained.info.dim));
  allow_failure("combine", polar_codec_combine(trained.codec, n, codes.data(), codes.size(), 2,
                                               weights.data(), nullptr, sums.data()));
}

void compare_codes(const TrainedCodec& trained, const std::vector<uint8_t>& codes, int64_t n) {
  const CodeCount few = count_codes(trained, codes.size(), std::min<int64_t>(n, 10));
  std::vector<float> scores(static_cast<size_t>(few.rows * few.rows) + 1);
  allow_failure("score_codes",
                polar_codec_score_codes(trained.codec, few.rows, codes.data(), few.bytes, few.rows,
                                        codes.data(), few.bytes, nullptr, scores.data()));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t bytes) {
  Input input(data, bytes);
  const TrainedCodec trained = take_codec(input);
  if (trained.codec == nullptr) return 0;
  const uint8_t choice = input.byte();
  const uint8_t row = input.byte();
  std::vector<float> queries = rows_of(3, trained.info.dim, row);
  const float scales[] = {1, 1e16F, 1e-20F, 1};
  const float scale = scales[input.byte() % 4];
  for (float& value : queries) value *= scale;
  const CodeCount count = count_codes(trained, input.left(), kMostRows);
  // Copies of their exact size, so that what is read after them is seen.
  const std::vector<uint8_t> codes = input.take(count.bytes);
  std::vector<float> decoded(static_cast<size_t>(count.rows * trained.info.dim) + 1);
  allow_failure("decode", polar_codec_decode(trained.codec, count.rows, codes.data(), codes.size(),
                                             choice % 2, nullptr, decoded.data()));
  score_all(trained, queries, row, codes, count.rows);
  search(trained, queries, choice, codes, count.rows);
  combine(trained, codes, count.rows);
  if (trained.info.group_rows == 1) compare_codes(trained, codes, count.rows);
  return 0;
}
