// SPDX-License-Identifier: MIT
#include "src/capi/partial_bytes.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "src/capi/argument_checks.h"
#include "src/core/byte_stream.h"
#include "src/core/checked_size.h"
#include "src/core/format.h"
#include "src/core/status.h"
#include "src/scan/model/scan_codec.h"

namespace polarquant::capi {
namespace {

constexpr uint32_t kMagic = 0x74726170;  // "part"
constexpr uint32_t kVersion = 1;
constexpr size_t kHeaderBytes = 3 * sizeof(uint32_t) + 3 * sizeof(int64_t);
constexpr size_t kRowBytes = 2 * sizeof(float) + 4 * sizeof(int64_t);

PartialRow read_row(ByteReader* reader, const std::string& name) {
  PartialRow row;
  row.key = reader->get<float>("key");
  row.score = reader->get<float>("score");
  row.list = reader->get<int64_t>("list");
  row.row = reader->get<int64_t>("row");
  row.order = reader->get<int64_t>("order");
  row.id = reader->get<int64_t>("id");
  // Numbers that have no order would be sorted without end.
  require(!std::isnan(row.key) && !std::isnan(row.score), StatusCode::corrupt_data,
          "{}: a row's key or score is no number", name);
  return row;
}

}  // namespace

PartialQuestion read_question(int64_t nq, int64_t k, bool higher_is_nearer) {
  require_count("nq", nq, 0);
  require_count("k", k, 1);
  return {nq, k, higher_is_nearer};
}

size_t most_partial_bytes(const PartialQuestion& question, int64_t ntotal) {
  const int64_t rows = std::min(ScanCodec::rescored_rows(question.k), ntotal);
  const size_t row_bytes = checked_mul(rows, kRowBytes, "k x bytes of a row");
  const size_t query_bytes = checked_add(row_bytes, sizeof(uint32_t), "bytes of a query");
  const size_t all = checked_mul(question.nq, query_bytes, "nq x bytes of a query");
  return checked_add(all, kHeaderBytes, "bytes of a partial result");
}

size_t write_partial(const PartialQuestion& question, const PartialResult& result, size_t capacity,
                     uint8_t* partial) {
  require(partial != nullptr || capacity == 0, StatusCode::bad_argument,
          "partial: NULL is not allowed");
  ByteWriter writer;
  writer.put(kMagic);
  writer.put(kVersion);
  writer.put<uint32_t>(question.higher_is_nearer ? 1 : 0);
  writer.put(question.nq);
  writer.put(question.k);
  writer.put(result.kept);
  for (size_t query = 0; query < static_cast<size_t>(question.nq); ++query) {
    if (query >= result.queries.size()) {  // a part without rows
      writer.put(uint32_t{0});
      continue;
    }
    const std::vector<PartialRow>& rows = result.queries[query];
    writer.put(static_cast<uint32_t>(rows.size()));
    for (const PartialRow& row : rows) {
      writer.put(row.key);
      writer.put(row.score);
      writer.put(row.list);
      writer.put(row.row);
      writer.put(row.order);
      writer.put(row.id);
    }
  }
  const std::vector<uint8_t>& all = writer.bytes();
  require(all.size() <= capacity, StatusCode::bad_argument,
          "capacity: {} bytes; {} are needed, and polar_…_partial_bytes says how many can be",
          capacity, all.size());
  std::copy(all.begin(), all.end(), partial);
  return all.size();
}

PartialResult read_partial(int64_t number, std::span<const uint8_t> bytes,
                           PartialQuestion* question) {
  const std::string name = format_text("partials[{}]", number);
  ByteReader reader(bytes.data(), bytes.size(), name.c_str());
  require(reader.get<uint32_t>("magic") == kMagic, StatusCode::corrupt_data,
          "{}: these bytes are no partial result", name);
  const auto version = reader.get<uint32_t>("version");
  require(version == kVersion, StatusCode::newer_format,
          "{}: of version {}; this library reads version {}", name, version, kVersion);
  question->higher_is_nearer = reader.get<uint32_t>("direction") != 0;
  const auto nq = reader.get<int64_t>("nq");
  const auto k = reader.get<int64_t>("k");
  require(nq == question->nq && k == question->k, StatusCode::bad_argument,
          "{}: for {} queries and {} results; {} and {} are asked for", name, nq, k, question->nq,
          question->k);
  PartialResult result;
  result.kept = reader.get<int64_t>("kept");
  const int64_t most = ScanCodec::rescored_rows(k);
  require(result.kept == 0 || (result.kept >= k && result.kept <= most), StatusCode::corrupt_data,
          "{}: {} rows are kept; {} to {} can be", name, result.kept, k, most);
  for (int64_t query = 0; query < nq; ++query) {
    const auto count = reader.get<uint32_t>("count");
    require(count <= result.kept, StatusCode::corrupt_data,
            "{}: query {} has {} rows; at most {} are kept", name, query, count, result.kept);
    std::vector<PartialRow>& rows = result.queries.emplace_back();
    for (uint32_t i = 0; i < count; ++i) rows.push_back(read_row(&reader, name));
  }
  reader.expect_end();
  return result;
}

}  // namespace polarquant::capi
