// SPDX-License-Identifier: MIT
// What files are read of without trust_faiss, and hostile ones with right checksums: kinds and
// places that the table does not have, parts that do not fit, graphs and ids that lead elsewhere,
// files that ask for much memory. tests/faiss/test_hostile_files.cc has random ones.
#include <faiss/IndexHNSW.h>
#include <faiss/IndexIVF.h>
#include <faiss/impl/FaissException.h>

#include <algorithm>
#include <limits>
#include <string>

#include "src/faiss/foreign/faiss_error.h"
#include "tests/faiss/file_surgery.h"
#include "tests/faiss/stored_indexes.h"

namespace polarquant::test {
namespace {

using Sections = std::vector<FileSection>;
constexpr ::faiss::MetricType kL2 = ::faiss::METRIC_L2;
constexpr int kDim = 16;
constexpr int64_t kRows = 80;

Sections sections_of(const char* description, bool with_ids = false,
                     ::faiss::MetricType metric = kL2, int64_t rows = kRows) {
  return take_apart(written(*make_stored({description, kDim, rows, with_ids}, metric)));
}

FileSection& section_of(Sections& sections, const char (&kind)[5], size_t number = 0) {
  for (FileSection& section : sections) {
    if (section.kind == section_kind(kind) && number-- == 0) return section;
  }
  FAIL("no section " << kind);
  return sections.front();
}

template <typename T>
void put(FileSection& section, size_t at, T value) {
  REQUIRE(at + sizeof value <= section.bytes.size());
  std::memcpy(section.bytes.data() + at, &value, sizeof value);
}

// Where a head section, and FAISS's header after its name, have what all indexes have.
constexpr size_t kHeadMetric = 4;
constexpr size_t kHeadRows = 8;
constexpr size_t kHeadTrained = 16;
constexpr size_t kFaissDim = 4;
constexpr size_t kFaissRows = 8;
constexpr size_t kFaissTrained = 32;
constexpr size_t kFaissMetric = 33;

/// The index that begins with a file's section `number` takes the place of what begins with
/// `place`, to the end of the file.
Sections with_inside(Sections outer, const char (&place)[5], Sections inner) {
  const auto at = std::find_if(outer.begin(), outer.end(), [&](const FileSection& section) {
    return section.kind == section_kind(place);
  });
  REQUIRE(at != outer.end());
  outer.erase(at, outer.end());
  outer.insert(outer.end(), inner.begin(), inner.end());
  return outer;
}

void require_refused(const std::vector<uint8_t>& bytes, StatusCode code, const char* text) {
  try {
    read_from(bytes);
  } catch (const FaissError& error) {
    INFO(error.what());
    CHECK(error.code() == code);
    CHECK(std::string(error.what()).find(text) != std::string::npos);
    return;
  }
  FAIL("it was read");
}

void require_refused(const Sections& sections, StatusCode code, const char* text) {
  require_refused(put_together(sections), code, text);
}

TEST_CASE("Kinds that do not stand around our codes are read with trust alone", "[faiss][io]") {
  const char* description =
      GENERATE("IVF4,Flat", "IVF4,SQ8", "IVF4,PQ4x4np", "IVF4(Polar8),SQ8", "IVF4(Polar8),Flat",
               "HNSW8,Flat", "HNSW8,SQ8", "PQ4x4np", "SQ4", "SQ6", "IDMap2,IVF4,Flat",
               "IDMap2,HNSW8,Flat", "PCA8,PQ4x4np", "ITQ8,Polar4", "SQ4,Refine(Polar8)",
               "Polar2,Refine(SQ6)", "Polar2,Refine(PQ4x8np)");
  INFO(description);
  const bool has_map = std::string(description).find("IDMap") == 0;
  const auto index = make_stored({description, kDim, 300, has_map}, kL2);
  const std::vector<uint8_t> bytes = written(*index);
  require_refused(bytes, StatusCode::unsupported, "with trust_faiss alone");
  ReadOptions options;
  options.trust_faiss = true;
  const std::vector<float> queries = clustered_rows(5, kDim, 11);
  CHECK(find(*read_from(bytes, options), queries, 4) == find(*index, queries, 4));
  CHECK(find(*clone_index(*index), queries, 4) == find(*index, queries, 4));
}

TEST_CASE("What stands around our codes is read without trust", "[faiss][io]") {
  const char* description =
      GENERATE("Flat", "SQ8", "SQfp16", "PCA8,Flat", "IDMap2,SQ8", "Flat,RFlat",
               "SQ8,Refine(SQfp16)", "SQ8,Refine(Polar8)", "Polar2,Refine(PCA8,Polar4)",
               "L2norm,IDMap,Polar4", "OPQ4,Polar4", "Pad24,RR16,Polar4", "IVF4(Polar8),Polar4",
               "IVF4(HNSW8,Polar4),Polar4", "IVF4(RR16,Polar8),Polar4", "IVF4_HNSW8,Polar4",
               "PCA8,IVF4,Polar2,RFlat", "IDMap2,PCA8,HNSW8,Polar2,Refine(SQ8)");
  INFO(description);
  const bool has_map = std::string(description).find("IDMap") != std::string::npos;
  const auto index = make_stored({description, kDim, 300, has_map}, kL2);
  const std::vector<float> queries = clustered_rows(5, kDim, 11);
  CHECK(find(*read_from(written(*index)), queries, 4) == find(*index, queries, 4));
}

TEST_CASE("Indexes in places of others are refused", "[faiss][io]") {
  const Sections flat = sections_of("Flat");
  const Sections polar = sections_of("Polar4");
  const Sections lists = sections_of("IVF4,Polar4");
  const Sections map = sections_of("IDMap2,Polar4", true);
  const Sections graph = sections_of("HNSW8,Polar4");
  const Sections faiss_graph = sections_of("HNSW8,Flat");
  const auto unsupported = StatusCode::unsupported;
  const auto corrupt = StatusCode::corrupt_data;
  SECTION("rows of a graph") {
    require_refused(with_inside(graph, "POLR", lists), unsupported, "as the rows of a graph");
    require_refused(with_inside(graph, "POLR", flat), unsupported, "an HNSW graph over Flat");
    require_refused(with_inside(graph, "POLR", graph), unsupported, "as the rows of a graph");
    require_refused(with_inside(graph, "POLR", map), corrupt, "are not those of the storage");
    require_refused(with_inside(sections_of("NSG8,Polar4"), "POLR", lists), corrupt, "NSG");
  }
  SECTION("rows of a graph in records") {
    const Sections records = sections_of("HNSW8x,Polar4");
    require_refused(with_inside(records, "POLR", sections_of("Polar4")), corrupt, "lie in records");
    require_refused(with_inside(records, "POLR", flat), corrupt, "lie in records");
    Sections others = sections_of("HNSW8,Polar4+2");
    section_of(others, "HNSW").kind = section_kind("HNSR");
    require_refused(others, corrupt, "not supported in the records");
    // Without records the same file is another graph's.
    others = records;
    section_of(others, "HNSR").kind = section_kind("HNSW");
    CHECK(reverse_index_factory(*read_from(put_together(others))) == "HNSW8,Polar4");
  }
  SECTION("what refines") {
    const Sections refined = sections_of("Polar2,Refine(Polar8)");
    for (const Sections& inside : {lists, graph}) {
      Sections sections = refined;
      const auto second = std::find_if(sections.rbegin(), sections.rend(), [](const auto& section) {
        return section.kind == section_kind("POLR");
      });
      sections.erase(second.base() - 1, sections.end());
      sections.insert(sections.end(), inside.begin(), inside.end());
      require_refused(sections, unsupported, "as what refines");
    }
  }
  SECTION("id maps") {
    require_refused(with_inside(map, "POLR", map), corrupt, "ids of its own");
    require_refused(with_inside(sections_of("Polar2,RFlat"), "POLR", map), corrupt, "");
  }
  SECTION("coarse quantizers") {
    const Sections four = sections_of("IDMap2,Polar4", true, kL2, 4);
    Sections inside = sections_of("IVF4(Polar8),Polar4");
    Sections changed(inside.begin(), inside.begin() + 2);
    changed.insert(changed.end(), four.begin(), four.end());
    const auto list_sizes = std::find_if(inside.begin(), inside.end(), [](const auto& section) {
      return section.kind == section_kind("LIST");
    });
    changed.insert(changed.end(), list_sizes, inside.end());
    require_refused(changed, unsupported, "as coarse quantizer");
  }
  SECTION("a graph of FAISS's alone, and in containers") {
    require_refused(faiss_graph, unsupported, "HNSW graph over Flat alone");
    require_refused(with_inside(sections_of("PCA16,Polar4"), "POLR", faiss_graph), unsupported,
                    "HNSW graph over Flat");
  }
  SECTION("other rows, dimensions and metrics") {
    for (const char* container : {"PCA16,Polar4", "IDMap2,Polar4"}) {
      const bool has_map = container[0] == 'I';
      const Sections outer = sections_of(container, has_map);
      require_refused(with_inside(outer, "POLR", sections_of("Polar4", false, kL2, 79)), corrupt,
                      "79 rows");
      require_refused(
          with_inside(outer, "POLR", sections_of("Polar4", false, ::faiss::METRIC_INNER_PRODUCT)),
          corrupt, "metric");
    }
  }
}

TEST_CASE("What is not trained is refused inside what is", "[faiss][io]") {
  const auto corrupt = StatusCode::corrupt_data;
  for (const char* description : {"Flat", "SQ8"}) {
    INFO(description);
    Sections sections = sections_of(description);
    put<uint8_t>(section_of(sections, "FAIS"), kFaissTrained, 0);
    require_refused(sections, corrupt, "");
  }
  Sections refined = sections_of("Polar2,RFlat");
  put<uint8_t>(section_of(refined, "FAIS"), kFaissTrained, 0);
  require_refused(refined, corrupt, "trained");
  Sections mapped =
      sections_of("IDMap2,Flat", true);  // one section: its header, then the map's own
  put<uint8_t>(section_of(mapped, "FAIS"), 37 + kFaissTrained, 0);
  require_refused(mapped, corrupt, "trained");
  Sections graph = sections_of("IVF4_HNSW8,Polar4");
  put<uint8_t>(section_of(graph, "FAIS"), kFaissTrained, 0);
  require_refused(graph, corrupt, "trained");
  Sections transformed = sections_of("PCA16,Polar4");
  section_of(transformed, "VTRN").bytes.back() = 0;
  require_refused(transformed, corrupt, "");
  Sections empty = take_apart(written(*index_factory(kDim, "PCA16,Polar4", kL2)));
  put<uint32_t>(section_of(empty, "PRET"), kHeadTrained, 1);
  require_refused(empty, corrupt, "");
}

TEST_CASE("Metrics that the library has none of are refused", "[faiss][io]") {
  for (const int32_t metric : {2, 3, 4, 20, 22, 23, -1}) {
    for (const char* description : {"Flat", "SQ8", "Polar2,RFlat", "IVF4_HNSW8,Polar4"}) {
      INFO(description << ", metric " << metric);
      Sections sections = sections_of(description);
      put(section_of(sections, "FAIS"), kFaissMetric, metric);
      require_refused(sections, StatusCode::corrupt_data, "metric");
    }
  }
  // One that the library has, and the container has not.
  Sections refined = sections_of("Polar2,RFlat");
  put(section_of(refined, "FAIS"), kFaissMetric, int32_t{0});
  require_refused(refined, StatusCode::corrupt_data, "metric");
}

TEST_CASE("Graphs have room for links on every level", "[faiss][io]") {
  SECTION("ours") {
    Sections sections = sections_of("HNSW8,Polar4");
    FileSection& head = section_of(sections, "HNSW");
    // After the fields of all heads and six of its own: L, L shares, L + 1, then links by level.
    constexpr size_t kShares = 20 + 6 * 4;
    uint64_t levels = 0;
    std::memcpy(&levels, head.bytes.data() + kShares, sizeof levels);
    const size_t first = kShares + 8 + static_cast<size_t>(levels) * 8 + 8;
    for (uint64_t level = 1; level <= levels; ++level)
      put(head, first + static_cast<size_t>(level) * 4, int32_t{0});
    section_of(sections, "LINK").bytes.clear();
    require_refused(sections, StatusCode::corrupt_data, "cum_nneighbor_per_level");
  }
  SECTION("FAISS's") {
    Sections sections = sections_of("IVF4_HNSW8,Polar4");
    FileSection& graph = section_of(sections, "FAIS");
    constexpr size_t kShares = 37;
    uint64_t levels = 0;
    std::memcpy(&levels, graph.bytes.data() + kShares, sizeof levels);
    const size_t first = kShares + 8 + static_cast<size_t>(levels) * 8 + 8;
    put(graph, first + 4, int32_t{0});
    require_refused(sections, StatusCode::corrupt_data, "cum_nneighbor_per_level");
  }
}

TEST_CASE("Rows that links call equal have a first one, and end", "[faiss][io]") {
  constexpr size_t kLinks = 8;  // of a row on each level, and twice as many on the lowest
  Sections sections = sections_of("HNSW8,Polar4");
  const FileSection levels = section_of(sections, "LEVL");
  FileSection& links = section_of(sections, "LINK");
  // A row's first links, and no others there.
  const auto set_links = [&](int32_t row, std::vector<int32_t> own) {
    own.resize(2 * kLinks, -1);
    size_t at = 0;
    for (int32_t before = 0; before < row; ++before) {
      int32_t count = 0;
      std::memcpy(&count, levels.bytes.data() + static_cast<size_t>(before) * 4, sizeof count);
      at += (static_cast<size_t>(count) + 1) * kLinks;
    }
    for (size_t i = 0; i < own.size(); ++i) put(links, (at + i) * 4, own[i]);
  };
  set_links(7, {7, 3, 9});
  set_links(9, {9, 3});
  SECTION("such rows are read") { CHECK(read_from(put_together(sections))->ntotal == kRows); }
  SECTION("others are refused") {
    SECTION("no first one") { set_links(9, {9}); }
    SECTION("a first one that has one") { set_links(3, {3, 5}); }
    SECTION("each the other's first one") { set_links(9, {9, 7}); }
    SECTION("its own first one") { set_links(9, {9, 9}); }
    SECTION("the next of itself") { set_links(9, {9, 3, 9}); }
    SECTION("each the other's next") { set_links(9, {9, 3, 7}); }
    require_refused(sections, StatusCode::corrupt_data, "neighbors");
  }
}

TEST_CASE("Centroids are numbers, and none is too long", "[faiss][io]") {
  for (const float value :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(), 1e19F}) {
    Sections sections = sections_of("IVF4,Polar4");
    FileSection& flat = section_of(sections, "FAIS");
    put(flat, flat.bytes.size() - 8, value);
    require_refused(sections, StatusCode::corrupt_data, "centroids: row 3");
  }
}

TEST_CASE("Rows of FAISS's parts that are no numbers do no harm", "[faiss][io]") {
  for (const float value :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(), 3e38F}) {
    for (const char* description : {"Flat", "Polar2,RFlat", "Flat,RFlat", "PCA16,Flat"}) {
      INFO(description << ", " << value);
      Sections sections = sections_of(description);
      FileSection& flat = section_of(sections, "FAIS");
      for (size_t at = flat.bytes.size() - 400; at + 4 <= flat.bytes.size(); at += 4)
        put(flat, at, value);
      std::unique_ptr<::faiss::Index> index;
      try {
        index = read_from(put_together(sections));
      } catch (const FaissError&) {
        continue;  // the bytes were others than rows
      }
      find(*index, clustered_rows(5, kDim, 11), kRows);
    }
  }
}

TEST_CASE("Many lists need many bytes of a file", "[faiss][io]") {
  Sections sections = take_apart(written(*index_factory(kDim, "IVF4,Polar4", kL2)));
  constexpr uint64_t kLists = uint64_t{1} << 22;
  put(section_of(sections, "IVFP"), 20, kLists);
  section_of(sections, "LIST").bytes.assign(kLists * 8, 0);
  require_refused(sections, StatusCode::corrupt_data, "up to 1048576 are allowed");
}

TEST_CASE("Fields of FAISS's parts that do not fit are refused", "[faiss][io]") {
  const auto corrupt = StatusCode::corrupt_data;
  for (const char* description : {"Flat", "SQ8", "Polar2,RFlat"}) {
    INFO(description);
    Sections sections = sections_of(description);
    put(section_of(sections, "FAIS"), kFaissRows, int64_t{1} << 50);
    require_refused(sections, corrupt, "");
    sections = sections_of(description);
    put(section_of(sections, "FAIS"), kFaissDim, int32_t{65535});
    require_refused(sections, corrupt, "");
  }
  Sections head = sections_of("Polar2,RFlat");
  put(section_of(head, "REFI"), kHeadRows, int64_t{1} << 50);
  require_refused(head, corrupt, "");
  put(section_of(head, "REFI"), kHeadMetric, int32_t{22});
  require_refused(head, corrupt, "metric");
}

TEST_CASE("Ids below 0 work, as FAISS's calls give them", "[faiss][io]") {
  const auto index = index_factory(kDim, "IDMap2,Polar4", kL2);
  std::vector<int64_t> ids(kRows);
  for (int64_t i = 0; i < kRows; ++i) ids[static_cast<size_t>(i)] = INT64_MIN + i;
  const std::vector<float> x = clustered_rows(kRows, kDim, 7);
  index->add_with_ids(kRows, x.data(), ids.data());
  const std::vector<float> queries = clustered_rows(5, kDim, 11);
  CHECK(find(*read_from(written(*index)), queries, 4) == find(*index, queries, 4));
}

}  // namespace
}  // namespace polarquant::test
