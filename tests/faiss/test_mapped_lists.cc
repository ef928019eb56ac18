// SPDX-License-Identifier: MIT
// Inverted files that stay in a mapped file: all that can be asked of one is answered as in memory,
// nothing changes it, and damage is met where a call touches it, there alone.
#include <faiss/IndexIDMap.h>
#include <faiss/IndexRefine.h>
#include <faiss/impl/AuxIndexStructures.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <thread>

#include "src/faiss/index/index_parts.h"
#include "src/faiss/index/polar_inverted_lists.h"
#include "tests/faiss/copy_ids.h"
#include "tests/faiss/file_surgery.h"
#include "tests/faiss/stored_indexes.h"
#include "tests/support/systems.h"
#include "tests/support/temporary_folder.h"

namespace polarquant::test {
namespace {

constexpr int kDim = 40;
constexpr int64_t kRows = 900;
constexpr int64_t kK = 7;
constexpr ::faiss::MetricType kMetrics[] = {::faiss::METRIC_INNER_PRODUCT, ::faiss::METRIC_L2};
// In blocks of several sizes, one of which has payloads alone, and in the row format.
const char* const kSpecs[] = {"Polar1", "Polar4",     "Polar2+2",
                              "Polar8", "Polar2-pca", "PolarPair4x4"};

std::unique_ptr<::faiss::Index> mapped(const std::string& path) {
  ReadOptions options;
  options.memory_map = true;
  return read_index(path, options);
}

IndexIVFPolar& lists_of(::faiss::Index& index) { return dynamic_cast<IndexIVFPolar&>(index); }

/// An inverted file in memory and the same in a file. List 3 is empty.
struct Pair {
  TemporaryFolder folder;
  std::string path = folder.file("index");
  std::unique_ptr<::faiss::Index> index;
  std::unique_ptr<::faiss::Index> in_file;

  Pair(const std::string& spec, ::faiss::MetricType metric, bool with_ids,
       ::faiss::DirectMap::Type map = ::faiss::DirectMap::NoMap) {
    index = index_factory(kDim, "IVF9," + spec, metric);
    const std::vector<float> x = clustered_rows(kRows, kDim, 7);
    index->train(kRows, x.data());
    std::vector<int64_t> ids(kRows);
    std::iota(ids.begin(), ids.end(), int64_t{0});
    if (with_ids) ids = scattered_ids(kRows);
    std::vector<int64_t> lists(kRows);
    lists_of(*index).quantizer->assign(kRows, x.data(), lists.data());
    std::replace(lists.begin(), lists.end(), int64_t{3}, int64_t{0});
    lists_of(*index).add_core(kRows, x.data(), ids.data(), lists.data());
    lists_of(*index).set_direct_map_type(map);
    lists_of(*index).nprobe = 4;
    write_index(*index, path);
    in_file = mapped(path);
  }
};

struct RangeFound {
  std::vector<size_t> lims;
  std::vector<float> distances;
  std::vector<int64_t> labels;
  bool operator==(const RangeFound&) const = default;
};

RangeFound range_search(const ::faiss::Index& index, const std::vector<float>& queries,
                        float radius) {
  const auto n = static_cast<int64_t>(queries.size()) / kDim;
  ::faiss::RangeSearchResult found(static_cast<size_t>(n));
  index.range_search(n, queries.data(), radius, &found);
  const size_t count = found.lims[static_cast<size_t>(n)];
  return {{found.lims, found.lims + n + 1},
          {found.distances, found.distances + count},
          {found.labels, found.labels + count}};
}

}  // namespace

TEST_CASE("A mapped inverted file answers as one in memory does", "[faiss][io][mapped]") {
  const char* spec = GENERATE(from_range(std::begin(kSpecs), std::end(kSpecs)));
  const ::faiss::MetricType metric = GENERATE(from_range(std::begin(kMetrics), std::end(kMetrics)));
  const bool with_ids = GENERATE(false, true);
  INFO(spec << ", metric " << metric << ", ids " << with_ids);
  Pair pair(spec, metric, with_ids);
  const IndexIVFPolar& index = lists_of(*pair.index);
  const IndexIVFPolar& in_file = lists_of(*pair.in_file);
  const std::vector<float> queries = clustered_rows(6, kDim, 11);
  const auto& lists = dynamic_cast<const PolarInvertedLists&>(*in_file.invlists).lists();
  CHECK(lists.is_mapped());
  CHECK(lists.rows(3) == 0);
  CHECK(lists.memory_bytes() < 1000);

  const Found expected = find(index, queries, kK);
  std::vector<std::thread> threads;
  std::vector<Found> found(3);
  for (Found& one : found) threads.emplace_back([&] { one = find(in_file, queries, kK); });
  for (std::thread& thread : threads) thread.join();
  for (const Found& one : found) CHECK(one == expected);

  ::faiss::IDSelectorRange odd(scattered_ids(kRows)[500], scattered_ids(kRows)[100]);
  SearchParametersIVFPolar params;
  params.nprobe = 9;
  params.max_codes = 300;
  params.sel = with_ids ? &odd : nullptr;
  CHECK(find(in_file, queries, kK, &params) == find(index, queries, kK, &params));
  const float radius = expected.distances[static_cast<size_t>(kK - 1)];
  const RangeFound in_range = range_search(index, queries, radius);
  CHECK(in_range.labels.size() > 3);
  CHECK(range_search(in_file, queries, radius) == in_range);

  const auto floats = static_cast<size_t>(6 * kK * kDim);
  std::vector<float> rows(floats);
  std::vector<float> rows_in_file(floats);
  Found a = expected;
  Found b = expected;
  index.search_and_reconstruct(6, queries.data(), kK, a.distances.data(), a.labels.data(),
                               rows.data());
  in_file.search_and_reconstruct(6, queries.data(), kK, b.distances.data(), b.labels.data(),
                                 rows_in_file.data());
  CHECK(a == b);
  CHECK(std::equal(rows.begin(), rows.end(), rows_in_file.begin()));

  // As FAISS's tools walk and scan lists.
  const std::unique_ptr<::faiss::InvertedListScanner> scanner(in_file.get_InvertedListScanner());
  const std::unique_ptr<::faiss::InvertedListScanner> expected_scanner(
      index.get_InvertedListScanner());
  scanner->set_query(queries.data());
  expected_scanner->set_query(queries.data());
  for (size_t list = 0; list < index.nlist; ++list) {
    const size_t n = index.invlists->list_size(list);
    REQUIRE(in_file.invlists->list_size(list) == n);
    const ::faiss::InvertedLists::ScopedCodes codes(index.invlists, list);
    const ::faiss::InvertedLists::ScopedCodes codes_in_file(in_file.invlists, list);
    REQUIRE(std::equal(codes.codes, codes.codes + n * index.code_size, codes_in_file.codes));
    const ::faiss::InvertedLists::ScopedIds ids(index.invlists, list);
    const ::faiss::InvertedLists::ScopedIds ids_in_file(in_file.invlists, list);
    REQUIRE(std::equal(ids.ids, ids.ids + n, ids_in_file.ids));
    if (n == 0) continue;
    scanner->set_list(static_cast<int64_t>(list), 0);
    expected_scanner->set_list(static_cast<int64_t>(list), 0);
    REQUIRE(scanner->distance_to_code(codes_in_file.codes) ==
            expected_scanner->distance_to_code(codes.codes));
  }
}

TEST_CASE("A mapped inverted file finds rows by id where its file has a map",
          "[faiss][io][mapped]") {
  const auto map =
      GENERATE(::faiss::DirectMap::NoMap, ::faiss::DirectMap::Array, ::faiss::DirectMap::Hashtable);
  INFO("map " << map);
  const bool with_ids = map == ::faiss::DirectMap::Hashtable;
  Pair pair("Polar4", ::faiss::METRIC_L2, with_ids, map);
  std::vector<float> expected(kDim);
  std::vector<float> found(kDim);
  if (map == ::faiss::DirectMap::NoMap) {
    require_faiss_error("direct map", [&] { pair.index->reconstruct(5, expected.data()); });
    require_faiss_error("direct map", [&] { pair.in_file->reconstruct(5, found.data()); });
    // A map can be made, in memory.
    lists_of(*pair.index).make_direct_map(true);
    lists_of(*pair.in_file).make_direct_map(true);
    pair.index->reconstruct(5, expected.data());
    pair.in_file->reconstruct(5, found.data());
    CHECK(found == expected);
    return;
  }
  for (int64_t row = 0; row < kRows; row += 100) {
    const int64_t id = with_ids ? scattered_ids(kRows)[static_cast<size_t>(row)] : row;
    pair.index->reconstruct(id, expected.data());
    pair.in_file->reconstruct(id, found.data());
    CHECK(found == expected);
  }
  require_faiss_error("id -1 is not in the index",
                      [&] { pair.in_file->reconstruct(-1, found.data()); });
  CHECK(lists_of(*pair.in_file).direct_map.no());
  CHECK((written(*pair.in_file) == written(*mapped(pair.path))));
  const auto clone = clone_index(*pair.in_file);
  CHECK(lists_of(*clone).direct_map.type == map);
}

TEST_CASE("A mapped inverted file refuses every change; its clone takes them",
          "[faiss][io][mapped]") {
  Pair pair("Polar4", ::faiss::METRIC_L2, true);
  IndexIVFPolar& in_file = lists_of(*pair.in_file);
  const std::vector<uint8_t> before = written(in_file);
  const std::vector<float> x = clustered_rows(3, kDim, 4);
  const std::vector<int64_t> ids = {1, 2, 3};
  const int64_t stored_id = scattered_ids(kRows)[0];
  const ::faiss::IDSelectorBatch one(1, &stored_id);
  const auto other = clone_index(*pair.index);
  const auto refused = [&](auto&& change) {
    require_faiss_error("memory-mapped", change);
    CHECK(in_file.ntotal == pair.index->ntotal);
  };
  refused([&] { in_file.train(3, x.data()); });
  refused([&] { in_file.add(3, x.data()); });
  refused([&] { in_file.add_with_ids(3, x.data(), ids.data()); });
  refused([&] { in_file.remove_ids(one); });
  refused([&] { in_file.update_vectors(1, &stored_id, x.data()); });
  refused([&] { in_file.merge_from(*other, 0); });
  refused([&] { lists_of(*other).merge_from(in_file, 0); });
  refused([&] { copy_ids(lists_of(*other), &in_file, 0, stored_id); });
  refused([&] { in_file.reset(); });
  refused([&] { in_file.invlists->reset(); });
  refused([&] { in_file.invlists->resize(0, 0); });
  refused([&] { in_file.invlists->resize(0, 5000); });
  CHECK(other->ntotal == pair.index->ntotal);
  CHECK((written(in_file) == before));

  const auto clone = clone_index(in_file);
  if (kMappedFilesMayGo) std::filesystem::remove(pair.path);
  clone->add_with_ids(3, x.data(), ids.data());
  CHECK(clone->ntotal == pair.index->ntotal + 3);
  CHECK(clone->remove_ids(one) == 1);
  CHECK((written(in_file) == before));
  // Subsets are taken from it.
  const auto empty = clone_index(in_file);
  empty->reset();
  copy_ids(in_file, &lists_of(*empty), 0, std::numeric_limits<int64_t>::max());
  CHECK(empty->ntotal == in_file.ntotal);
}

TEST_CASE("Inverted files are mapped inside every container", "[faiss][io][mapped]") {
  const StoredCase stored = GENERATE(StoredCase{"PCA24,IVF4,Polar4", kDim, kRows},
                                     StoredCase{"IVF4,Polar2,RFlat", kDim, kRows},
                                     StoredCase{"IVF4,Polar2,Refine(Polar8)", kDim, kRows},
                                     StoredCase{"IDMap2,IVF4,Polar4", kDim, kRows, true},
                                     StoredCase{"PCA24,IDMap,IVF4,Polar8", kDim, kRows, true},
                                     StoredCase{"IVF4(Polar8),Polar4", kDim, kRows, true},
                                     StoredCase{"IVF4_HNSW8,Polar4", kDim, kRows});
  const ::faiss::MetricType metric = GENERATE(from_range(std::begin(kMetrics), std::end(kMetrics)));
  INFO(stored.description << ", metric " << metric);
  const auto index = make_stored(stored, metric);
  const TemporaryFolder folder;
  write_index(*index, folder.file("index"));
  const auto in_file = mapped(folder.file("index"));
  int mapped_lists = 0;
  for_each_part(*in_file, [&](const ::faiss::Index& part) {
    const auto* ivf = dynamic_cast<const IndexIVFPolar*>(&part);
    if (ivf == nullptr) return;
    mapped_lists += dynamic_cast<const PolarInvertedLists&>(*ivf->invlists).lists().is_mapped();
  });
  CHECK(mapped_lists == 1);
  CHECK(index_memory_bytes(*in_file) < index_memory_bytes(*index));
  const std::vector<float> queries = clustered_rows(6, kDim, 11);
  CHECK(find(*in_file, queries, kK) == find(*index, queries, kK));
  const int64_t id = 5;
  CHECK_THROWS_AS(stored.with_ids ? in_file->add_with_ids(1, queries.data(), &id)
                                  : in_file->add(1, queries.data()),
                  ::faiss::FaissException);
  CHECK(find(*in_file, queries, kK) == find(*index, queries, kK));
  verify_index(*in_file);
}

TEST_CASE("Damage in mapped lists is met by the searches that touch it", "[faiss][io][mapped]") {
  // Lists of more than a chunk of 1 MiB each.
  constexpr int kLargeDim = 256;
  constexpr int64_t kManyRows = 30'000;
  const TemporaryFolder folder;
  const std::string path = folder.file("index");
  const auto index = make_stored({"IVF4,Polar8", kLargeDim, kManyRows}, ::faiss::METRIC_L2);
  lists_of(*index).make_direct_map(true);
  write_index(*index, path);
  std::vector<SectionEntry> table;
  {
    std::ifstream file(path, std::ios::binary);
    const std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
    const auto* data = reinterpret_cast<const uint8_t*>(bytes.data());
    table = parse_table(data, data + kHeaderBytes);
  }
  const auto section = [&](const char(&kind)[5]) {
    return *std::find_if(table.begin(), table.end(), [&](const SectionEntry& entry) {
      return entry.kind == section_kind(kind);
    });
  };
  const auto damage = [&](uint64_t offset) {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekg(static_cast<std::streamoff>(offset));
    const auto byte = static_cast<char>(file.get() ^ 1);
    file.seekp(static_cast<std::streamoff>(offset));
    file.put(byte);
  };
  const std::vector<float> queries = clustered_rows(40, kLargeDim, 11);
  /// Searches for single queries that fail, and those that find what they should.
  const auto count_failures = [&](const ::faiss::Index& in_file, const std::string& text) {
    int failures = 0;
    for (int q = 0; q < 40; ++q) {
      const std::vector<float> query(queries.begin() + q * kLargeDim,
                                     queries.begin() + (q + 1) * kLargeDim);
      try {
        const Found found = find(in_file, query, 3);
        CHECK(found == find(*index, query, 3));
      } catch (const ::faiss::FaissException& error) {
        INFO(error.what());
        CHECK(std::string(error.what()).find(text) != std::string::npos);
        ++failures;
      }
    }
    return failures;
  };
  SECTION("in codes of the last list") {
    const SectionEntry blocks = section("BLKS");
    damage(blocks.offset + blocks.bytes - 200);
    require_faiss_error("BLKS do not match", [&] { read_index(path); });
    const auto in_file = mapped(path);
    const int failures = count_failures(*in_file, "BLKS do not match");
    CHECK(failures > 0);
    CHECK(failures < 40);
    require_faiss_error("BLKS do not match", [&] { verify_index(*in_file); });
    std::vector<float> row(kLargeDim);
    const ::faiss::InvertedLists& lists = *lists_of(*in_file).invlists;
    in_file->reconstruct(lists.get_single_id(3, 0), row.data());  // another chunk
    const auto last = static_cast<int64_t>(lists.list_size(3)) - 1;
    require_faiss_error("BLKS do not match", [&] {
      in_file->reconstruct(lists.get_single_id(3, static_cast<size_t>(last)), row.data());
    });
    require_faiss_error("BLKS do not match", [&] { written(*in_file); });
  }
  SECTION("in ids") {
    damage(section("IDS ").offset + 100);
    require_faiss_error("IDS  do not match", [&] { read_index(path); });
    const auto in_file = mapped(path);
    CHECK(count_failures(*in_file, "IDS  do not match") == 40);  // one chunk has them all
    require_faiss_error("IDS  do not match", [&] { verify_index(*in_file); });
  }
  SECTION("in the sizes of lists, which opening reads") {
    damage(section("LIST").offset + 3);
    require_faiss_error("LIST do not match", [&] { mapped(path); });
  }
  SECTION("made right again, ids must be numbers of rows where the file says so") {
    std::ifstream file(path, std::ios::binary);
    const std::vector<char> chars{std::istreambuf_iterator<char>(file), {}};
    std::vector<FileSection> sections =
        take_apart(std::vector<uint8_t>(chars.begin(), chars.end()));
    const int64_t wrong = kManyRows;
    for (FileSection& one : sections) {
      if (one.kind == section_kind("IDS ")) std::memcpy(one.bytes.data(), &wrong, sizeof wrong);
    }
    const std::vector<uint8_t> bytes = put_together(sections);
    const std::string hostile = folder.write("hostile", std::string(bytes.begin(), bytes.end()));
    require_faiss_error("each once, as its head says", [&] { read_index(hostile); });
    const auto in_file = mapped(hostile);
    const int failures = count_failures(*in_file, "0 to 29999 are allowed");
    CHECK(failures > 0);
    CHECK(failures < 40);
    require_faiss_error("id 30000 of row 0 of list 0", [&] { verify_index(*in_file); });
  }
}

TEST_CASE("Opening a mapped inverted file reads its tables alone", "[faiss][io][mapped]") {
  // What is damaged would be found, were it read.
  const TemporaryFolder folder;
  const auto index = make_stored({"IVF4,Polar4", kDim, kRows}, ::faiss::METRIC_L2);
  std::vector<uint8_t> bytes = written(*index);
  for (const SectionEntry& entry : parse_table(bytes.data(), bytes.data() + kHeaderBytes)) {
    if (entry.kind != section_kind("BLKS") && entry.kind != section_kind("IDS ")) continue;
    bytes[entry.offset + entry.bytes / 2] ^= 1;
  }
  const std::string path = folder.write("index", std::string(bytes.begin(), bytes.end()));
  const auto in_file = mapped(path);
  CHECK(in_file->ntotal == kRows);
  CHECK(lists_of(*in_file).get_list_size(2) == lists_of(*index).get_list_size(2));
  require_faiss_error("do not match", [&] { find(*in_file, clustered_rows(1, kDim, 11), 1); });
}

}  // namespace polarquant::test
