// SPDX-License-Identifier: MIT
#include "src/capi/stored_handle.h"

#include <faiss/IndexIDMap.h>

#include <algorithm>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "src/capi/argument_checks.h"
#include "src/capi/faiss_parts.h"
#include "src/capi/held_ids.h"
#include "src/capi/rising_ids.h"
#include "src/core/byte_stream.h"
#include "src/faiss/files/index_files.h"
#include "src/faiss/files/stored_kinds.h"
#include "src/faiss/index/index_parts.h"

namespace polarquant::capi {
namespace {

constexpr const char* kWhat = "index file: section CAPI";

std::unique_ptr<polar_index> read_head(SectionReader& sections) {
  const std::vector<uint8_t> bytes = sections.read_small(kCallerHead);
  ByteReader in(bytes.data(), bytes.size(), kWhat);
  auto index = std::make_unique<polar_index>();
  const auto metric = in.get<int32_t>("metric");
  const auto row_ids = in.get<uint32_t>("row ids");
  index->description = in.get_string("description", kMaxNameBytes);
  in.expect_end();
  require(metric >= POLAR_METRIC_INNER_PRODUCT && metric <= POLAR_METRIC_COSINE,
          StatusCode::corrupt_data, "{}: metric {} is not allowed; 0 to 2", kWhat, metric);
  require(row_ids <= static_cast<uint32_t>(polar_index::IdOrigin::callers),
          StatusCode::corrupt_data, "{}: row ids {} is not allowed; 0 to 2", kWhat, row_ids);
  index->metric = static_cast<Metric>(metric);
  index->row_ids = static_cast<polar_index::IdOrigin>(row_ids);
  return index;
}

/// What a file of polarquant::write_index says of itself.
std::unique_ptr<polar_index> handle_of(const ::faiss::Index& index) {
  const auto* polar = dynamic_cast<const IndexPolar*>(&index);
  require(
      polar != nullptr, StatusCode::unsupported,
      "index file: it was written by the C++ library and is not one of our specs alone, which is "
      "all that polar_index_load takes from there");
  auto handle = std::make_unique<polar_index>();
  handle->description = reverse_index_factory(index);
  handle->metric = polar->codec().metric();
  if (index.ntotal > 0) {
    handle->row_ids =
        polar->ids().empty() ? polar_index::IdOrigin::positions : polar_index::IdOrigin::callers;
  }
  return handle;
}

std::vector<int64_t> read_ids(SectionReader& sections) {
  const uint64_t bytes = sections.begin_data(kCallerIds);
  require(bytes % sizeof(int64_t) == 0, StatusCode::corrupt_data,
          "index file: section KEYS has {} bytes; ids have 8 each", bytes);
  std::vector<int64_t> ids;
  sections.append_data(ids, bytes / sizeof(int64_t));
  require_rising(ids);
  return ids;
}

/// The ids of a file go to the handle, unless the index keeps them: then they must be its rows'.
void take_ids(polar_index& index, const std::vector<int64_t>& ids) {
  const IndexIVFPolar* lists = lists_with_ids(index);
  if (lists == nullptr) {
    index.ids = CallerIds(std::unordered_set<int64_t>(ids.begin(), ids.end()));
    return;
  }
  for (const int64_t id : ids) {
    require(lists->has_id(id), StatusCode::corrupt_data,
            "index file: section KEYS has id {}, which no row has", id);
  }
}

void require_consistent(const polar_index& index, bool has_caller_ids, size_t ids) {
  const ::faiss::Index& faiss = *index.faiss;
  const bool is_inner_product = faiss.metric_type == ::faiss::METRIC_INNER_PRODUCT;
  require(is_inner_product == (index.metric != Metric::l2) &&
              (is_inner_product || faiss.metric_type == ::faiss::METRIC_L2),
          StatusCode::corrupt_data, "{}: metric {}; the index has {}", kWhat,
          static_cast<int>(index.metric), static_cast<int>(faiss.metric_type));
  // Callers cannot give such ids: they would take them for rows that are not there.
  for_each_part(faiss, [](const ::faiss::Index& part) {
    const auto* map = dynamic_cast<const ::faiss::IndexIDMap*>(&part);
    if (map == nullptr) return;
    for (const int64_t id : map->id_map) {
      require(id >= 0, StatusCode::corrupt_data,
              "index file: an id map has id {}; 0 and above are allowed", id);
    }
  });
  const bool takes_ids = id_support(faiss) != IdSupport::none;
  const bool ids_are_callers = index.row_ids == polar_index::IdOrigin::callers;
  require((faiss.ntotal > 0) == (index.row_ids != polar_index::IdOrigin::undecided) &&
              (!ids_are_callers || takes_ids),
          StatusCode::corrupt_data, "{}: row ids {} of {} rows", kWhat,
          static_cast<int>(index.row_ids), faiss.ntotal);
  const auto* polar = dynamic_cast<const IndexPolar*>(&faiss);
  if (polar != nullptr) {
    require(!has_caller_ids && (polar->ids().empty() == !ids_are_callers), StatusCode::corrupt_data,
            "{}: row ids {} are not those of the index", kWhat, static_cast<int>(index.row_ids));
    return;
  }
  require(ids == (ids_are_callers ? static_cast<uint64_t>(faiss.ntotal) : 0),
          StatusCode::corrupt_data, "index file: {} ids of {} rows", ids, faiss.ntotal);
}

}  // namespace

SectionWriter sections_of(const polar_index& index) {
  SectionWriter sections;
  ByteWriter head;
  head.put<int32_t>(static_cast<int32_t>(index.metric));
  head.put<uint32_t>(static_cast<uint32_t>(index.row_ids));
  head.put_string(index.description);
  sections.add_small(kCallerHead, head.bytes());
  if (index.row_ids == polar_index::IdOrigin::callers && !index.is_polar()) {
    sections.add_data(
        kCallerIds,
        [&index](ByteSink& sink) {
          if (lists_with_ids(index) == nullptr) return index.ids.write_rising(sink);
          std::vector<int64_t> ids = held_ids(index);
          std::sort(ids.begin(), ids.end());
          sink.write(ids.data(), ids.size() * sizeof(int64_t));
        },
        static_cast<uint64_t>(index.faiss->ntotal) * sizeof(int64_t));
  }
  add_index_sections(*index.faiss, sections);
  return sections;
}

std::unique_ptr<polar_index> read_handle(SectionReader sections, bool trust_faiss) {
  std::unique_ptr<polar_index> index;
  bool has_caller_ids = false;
  std::vector<int64_t> ids;
  if (sections.next_kind() == kCallerHead) {
    index = read_head(sections);
    has_caller_ids = sections.next_kind() == kCallerIds;
    if (has_caller_ids && sections.is_mapped()) {
      index->ids = CallerIds(sections.map_data(kCallerIds));
    } else if (has_caller_ids) {
      ids = read_ids(sections);
    }
  }
  IndexReading reading(sections, trust_faiss);
  reading.keep_ids();
  std::unique_ptr<::faiss::Index> faiss = reading.read_whole();
  if (index == nullptr) index = handle_of(*faiss);
  index->dim = faiss->d;
  index->faiss = std::move(faiss);
  const size_t count = sections.is_mapped() ? index->ids.size() : ids.size();
  require_consistent(*index, has_caller_ids, count);
  if (!ids.empty()) take_ids(*index, ids);
  return index;
}

}  // namespace polarquant::capi
