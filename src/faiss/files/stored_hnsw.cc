// SPDX-License-Identifier: MIT
#include "src/faiss/files/stored_hnsw.h"

#include <faiss/IndexHNSW.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "polarquant/faiss.h"
#include "src/faiss/graphs/graph_over_polar.h"
#include "src/faiss/graphs/hnsw_graph.h"

namespace polarquant {
namespace {

constexpr SectionKind kHead = section_kind("HNSW");
/// The same of a graph whose rows lie in records with their links, which follow from both.
constexpr SectionKind kRecordsHead = section_kind("HNSR");
constexpr SectionKind kLevels = section_kind("LEVL");
constexpr SectionKind kLinks = section_kind("LINK");
constexpr const char* kWhat = "index file: section HNSW";

constexpr auto kCount = [](const auto& array) { return static_cast<uint64_t>(array.size()); };

/// Some releases lack it. Templates, so that members that do not exist need not compile.
template <typename Hnsw>
int32_t upper_beam_of(const Hnsw& hnsw) {
  if constexpr (requires { hnsw.upper_beam; }) return hnsw.upper_beam;
  return 1;
}
template <typename Hnsw>
void set_upper_beam(Hnsw& hnsw, int32_t upper_beam) {
  if constexpr (requires { hnsw.upper_beam; }) hnsw.upper_beam = upper_beam;
}

/// The graph's fields, read where they are.
template <typename Array>
struct View {
  const Array* array = nullptr;
  auto operator[](uint64_t i) const { return (*array)[static_cast<size_t>(i)]; }
  size_t size() const { return array->size(); }
};

/// Null when the graph is sound.
const char* flaw_of_graph(const ::faiss::HNSW& hnsw, int64_t ntotal) {
  // Releases keep links in vectors of their own kind.
  struct Ints {
    const int* data = nullptr;
    size_t count = 0;
    int operator[](uint64_t i) const { return data[i]; }
    size_t size() const { return count; }
  };
  HnswGraph<Ints, View<std::vector<size_t>>> graph;
  graph.assign_probas = hnsw.assign_probas.size();
  graph.cum_nneighbor_per_level = {hnsw.cum_nneighbor_per_level.data(),
                                   hnsw.cum_nneighbor_per_level.size()};
  graph.levels = {hnsw.levels.data(), hnsw.levels.size()};
  graph.offsets = {&hnsw.offsets};
  graph.neighbors = {hnsw.neighbors.data(), hnsw.neighbors.size()};
  graph.entry_point = hnsw.entry_point;
  graph.max_level = hnsw.max_level;
  graph.ef_construction = hnsw.efConstruction;
  graph.ef_search = hnsw.efSearch;
  graph.upper_beam = upper_beam_of(hnsw);
  return flaw_of(graph, ntotal, kCount);
}

void add_sections(const ::faiss::Index& written, SectionWriter& sections) {
  const auto& index = dynamic_cast<const ::faiss::IndexHNSW&>(written);
  const ::faiss::HNSW& hnsw = index.hnsw;
  const char* flaw = flaw_of_graph(hnsw, index.ntotal);
  require(flaw == nullptr, StatusCode::unsupported,
          "index: its graph's {} is not that of a graph of {} rows", flaw == nullptr ? "" : flaw,
          index.ntotal);
  ByteWriter head;
  put_head(index, head);
  head.put<int32_t>(hnsw.entry_point);
  head.put<int32_t>(hnsw.max_level);
  head.put<int32_t>(hnsw.efConstruction);
  head.put<int32_t>(hnsw.efSearch);
  head.put<int32_t>(upper_beam_of(hnsw));
  head.put<uint32_t>(hnsw.check_relative_distance ? 1 : 0);
  head.put_array(hnsw.assign_probas);
  head.put_array(hnsw.cum_nneighbor_per_level);
  sections.add_small(lies_in_records(index) ? kRecordsHead : kHead, head.bytes());
  sections.add_data(kLevels, [&hnsw](ByteSink& sink) {
    if (!hnsw.levels.empty()) sink.write(hnsw.levels.data(), hnsw.levels.size() * sizeof(int));
  });
  sections.add_data(kLinks, [&hnsw](ByteSink& sink) {
    if (hnsw.neighbors.size() > 0)  // NOLINT: some releases' vector cannot tell whether it is empty
      sink.write(hnsw.neighbors.data(), hnsw.neighbors.size() * sizeof(int));
  });
  add_index_sections(*index.storage, sections);
}

/// Where each row's links begin, and where the last one's end.
std::vector<size_t> offsets_of(const std::vector<int32_t>& levels,
                               const std::vector<int32_t>& cumulated) {
  std::vector<size_t> offsets(levels.size() + 1);
  for (size_t row = 0; row < levels.size(); ++row) {
    require(levels[row] >= 1 && static_cast<size_t>(levels[row]) < cumulated.size(),
            StatusCode::corrupt_data, "index file: row {} has {} levels; 1 to {} are allowed", row,
            levels[row], cumulated.size() - 1);
    const int32_t links = cumulated[static_cast<size_t>(levels[row])];
    require(links >= 0 && links <= kMaxEf, StatusCode::corrupt_data,
            "index file: row {} has room for {} links; 0 to {} are allowed", row, links, kMaxEf);
    offsets[row + 1] = offsets[row] + static_cast<size_t>(links);
  }
  return offsets;
}

/// A graph without links yet, which owns the storage.
std::unique_ptr<::faiss::IndexHNSW> graph_over(std::unique_ptr<::faiss::Index> storage) {
  constexpr int kAnyLinks = 16;
  // Rows that are kept one by one belong to graphs of our factory.
  auto* polar = dynamic_cast<IndexPolar*>(storage.get());
  if (polar != nullptr && polar->options().single_rows) {
    static_cast<void>(storage.release());
    return std::make_unique<HNSWOverPolar>(std::unique_ptr<IndexPolar>(polar), kAnyLinks);
  }
  // FAISS scores rows in loops that no exception may leave: mapped ones are verified before.
  verify_index(*storage);
  auto index = std::make_unique<::faiss::IndexHNSW>(storage.get());
  index->own_fields = true;
  static_cast<void>(storage.release());
  return index;
}

void lay_out_records(::faiss::IndexHNSW& index) {
  auto* ours = dynamic_cast<HNSWOverPolar*>(&index);
  require(ours != nullptr, StatusCode::corrupt_data,
          "{}: its rows are to lie in records, but are not codes of ours that lie one by one",
          kWhat);
  try {
    ours->lay_out_records();
  } catch (const ::faiss::FaissException& error) {
    fail(StatusCode::corrupt_data, "{}: {}", kWhat, error.what());
  }
}

/// Moves a file's graph into that of its index. Other fields of releases follow from the index,
/// such as whether the largest score is the nearest.
void put_graph(::faiss::HNSW&& read, ::faiss::HNSW& hnsw) {
  hnsw.entry_point = read.entry_point;
  hnsw.max_level = read.max_level;
  hnsw.efConstruction = read.efConstruction;
  hnsw.efSearch = read.efSearch;
  set_upper_beam(hnsw, upper_beam_of(read));
  hnsw.check_relative_distance = read.check_relative_distance;
  hnsw.assign_probas = std::move(read.assign_probas);
  hnsw.cum_nneighbor_per_level = std::move(read.cum_nneighbor_per_level);
  hnsw.levels = std::move(read.levels);
  hnsw.offsets = std::move(read.offsets);
  hnsw.neighbors = std::move(read.neighbors);
}

StoredIndex read_graph(IndexReading& reading, SectionKind kind) {
  SectionReader& sections = reading.sections();
  const std::vector<uint8_t> bytes = sections.read_small(kind);
  ByteReader in(bytes.data(), bytes.size(), kWhat);
  const StoredHead head = get_head(in);
  ::faiss::HNSW hnsw;
  hnsw.entry_point = in.get<int32_t>("entry_point");
  hnsw.max_level = in.get<int32_t>("max_level");
  hnsw.efConstruction = in.get<int32_t>("efConstruction");
  hnsw.efSearch = in.get<int32_t>("efSearch");
  set_upper_beam(hnsw, in.get<int32_t>("upper_beam"));
  const auto check_relative_distance = in.get<uint32_t>("check_relative_distance");
  require(check_relative_distance <= 1, StatusCode::corrupt_data,
          "{}: check_relative_distance {} is not allowed; 0 or 1", kWhat, check_relative_distance);
  hnsw.check_relative_distance = check_relative_distance == 1;
  hnsw.assign_probas = in.get_array<double>("assign_probas", kMaxHnswLevels);
  hnsw.cum_nneighbor_per_level = in.get_array<int32_t>("cum_nneighbor", kMaxHnswLevels + 1);
  in.expect_end();
  require(!hnsw.cum_nneighbor_per_level.empty(), StatusCode::corrupt_data,
          "{}: cum_nneighbor is empty", kWhat);

  hnsw.levels = sections.read_array<int32_t>(kLevels, static_cast<uint64_t>(head.ntotal));
  hnsw.offsets = offsets_of(hnsw.levels, hnsw.cum_nneighbor_per_level);
  const std::vector<int32_t> links = sections.read_array<int32_t>(kLinks, hnsw.offsets.back());
  hnsw.neighbors.resize(links.size());
  std::copy(links.begin(), links.end(), hnsw.neighbors.data());
  const char* flaw = flaw_of_graph(hnsw, head.ntotal);
  require(flaw == nullptr, StatusCode::corrupt_data, "{}: its {} is not that of a graph of {} rows",
          kWhat, flaw == nullptr ? "" : flaw, head.ntotal);

  StoredIndex storage = reading.read_index();
  require(storage.labels_are_rows && storage.index->d == head.dim &&
              storage.index->metric_type == head.metric && storage.index->ntotal == head.ntotal &&
              storage.index->is_trained == head.is_trained,
          StatusCode::corrupt_data,
          "{}: its {} rows, dim {}, are not those of the storage, {} rows, dim {}", kWhat,
          head.ntotal, head.dim, storage.index->ntotal, storage.index->d);
  std::unique_ptr<::faiss::IndexHNSW> index = graph_over(std::move(storage.index));
  put_graph(std::move(hnsw), index->hnsw);
  index->ntotal = head.ntotal;
  index->is_trained = head.is_trained;
  if (kind == kRecordsHead) lay_out_records(*index);
  return {std::move(index), true};
}

}  // namespace

constinit const StoredKind kStoredHnsw = {
    kHead,
    [](const ::faiss::Index& index) {
      const auto* graph = dynamic_cast<const ::faiss::IndexHNSW*>(&index);
      return graph != nullptr && needs_our_sections(*graph->storage);
    },
    add_sections, [](IndexReading& reading) { return read_graph(reading, kHead); }};
constinit const StoredKind kStoredHnswRecords = {
    kRecordsHead, lies_in_records, add_sections,
    [](IndexReading& reading) { return read_graph(reading, kRecordsHead); }};

}  // namespace polarquant
