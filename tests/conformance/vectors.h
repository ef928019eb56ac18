// SPDX-License-Identifier: MIT
// The vectors of this folder for a program that knows nothing but the C ABI; README.md says what
// each member is.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/capi/capi_support.h"

namespace polarquant::test {

using Json = nlohmann::json;

/// The cases of one of the folder's files.
Json read_cases(const std::string& name);
/// The path of a file of the folder.
std::string path_of(const std::string& name);
std::vector<uint8_t> read_bytes(const std::string& path);

/// (n, dim) rows of {"seed", "n", …}.
std::vector<float> made_rows(const Json& made, int32_t dim);
std::string fnv1a(const void* data, size_t bytes);
std::vector<uint8_t> from_base64(const std::string& text);
/// A number, or a text that has one.
double as_number(const Json& value);
std::vector<float> as_floats(const Json& values);

/// Ids, in one list or one a query, are equal; scores within the bound of README.md.
void check_found(const Json& ids, const Json& scores, const std::vector<int64_t>& found_ids,
                 const std::vector<float>& found_scores);
/// The same bound for any numbers.
void check_numbers(const std::vector<float>& expected, const std::vector<float>& found);

/// A filter; holds what it points to.
class ReadFilter {
 public:
  explicit ReadFilter(const Json& given);
  ReadFilter(const ReadFilter&) = delete;
  ReadFilter& operator=(const ReadFilter&) = delete;
  const polar_filter* get() const { return &filter_; }

 private:
  polar_filter filter_;
  std::vector<uint64_t> words_;
  std::vector<int64_t> ids_;
  int64_t divisor_ = 0;
};

/// Options of a search, with its filter.
class ReadOptions {
 public:
  explicit ReadOptions(const Json& given);
  const polar_search_options* get() const { return &options_; }

 private:
  ReadFilter filter_;
  polar_search_options options_;
};

/// A codec trained as its case says, or of its state; an index after the case's steps. On failure a
/// status, and no handle.
polar_status make_codec(const Json& given, CodecHandle* made);
polar_status make_index(const Json& given, IndexHandle* made);
/// One change of an index; *removed is what a removal counted.
polar_status do_step(polar_index* index, int32_t dim, const Json& step, int64_t* removed);

/// What a search finds for (nq, dim) queries, by a call that takes options, scores and ids; ids are
/// the case's, scores within the bound of README.md.
template <typename Search>
void check_search(const Json& expected, int32_t dim, const Search& search) {
  const std::vector<float> queries = made_rows(expected["queries"], dim);
  const auto nq = expected["queries"]["n"].get<int64_t>();
  const auto k = expected["k"].get<int64_t>();
  const ReadOptions options(expected["options"]);
  std::vector<float> scores(static_cast<size_t>(nq * k));
  std::vector<int64_t> ids(scores.size());
  require_ok(search(nq, queries.data(), k, options.get(), scores.data(), ids.data()));
  check_found(expected["ids"], expected["scores"], ids, scores);
}
template <typename Search>
void check_range_search(const Json& expected, int32_t dim, const Search& search) {
  const std::vector<float> queries = made_rows(expected["queries"], dim);
  const auto nq = expected["queries"]["n"].get<int64_t>();
  const auto radius = static_cast<float>(as_number(expected["radius"]));
  const ReadOptions options(expected["options"]);
  std::vector<int64_t> lims(static_cast<size_t>(nq + 1));
  require_ok(
      search(nq, queries.data(), radius, options.get(), int64_t{0}, lims.data(), nullptr, nullptr));
  CHECK(lims == expected["lims"].get<std::vector<int64_t>>());
  std::vector<float> scores(static_cast<size_t>(lims.back()));
  std::vector<int64_t> ids(scores.size());
  require_ok(search(nq, queries.data(), radius, options.get(), lims.back(), lims.data(),
                    scores.data(), ids.data()));
  check_found(expected["ids"], expected["scores"], ids, scores);
}

}  // namespace polarquant::test
