// SPDX-License-Identifier: MIT
// Indexes written and read back: every kind of index, by path, by calls, mapped and cloned.
#include <faiss/IndexIDMap.h>
#include <faiss/IndexIVF.h>
#include <faiss/IndexRefine.h>

#include <filesystem>
#include <fstream>
#include <limits>
#include <thread>

#include "src/codec/codec.h"
#include "src/faiss/foreign/faiss_error.h"
#include "src/scan/stores/row_store.h"
#include "tests/faiss/file_surgery.h"
#include "tests/faiss/stored_indexes.h"
#include "tests/support/systems.h"
#include "tests/support/temporary_folder.h"

namespace polarquant::test {
namespace {

constexpr ::faiss::MetricType kInnerProduct = ::faiss::METRIC_INNER_PRODUCT;
constexpr ::faiss::MetricType kL2 = ::faiss::METRIC_L2;
constexpr int64_t kK = 7;

const StoredCase kCases[] = {
    {"Polar0.5", 100, 70},
    {"Polar2", 64, 200},
    {"Polar2", 64, 64},
    {"Polar4", 300, 130, true},
    {"Polar4", 96, 130, true, true},
    {"Polar2", 32, 950, false, true},
    {"L2norm,PolarScalar4", 40, 60, false, true},
    {"Polar2,RFlat", 64, 200, false, true},
    {"HNSW8,Polar2", 32, 100, false, true},
    {"Polar4-dense", 33, 70},
    {"Polar2-pca", 130, 400},
    {"Polar8", 17, 90, true},
    {"Polar2+2", 96, 150},
    {"PolarTree4.2.2.2", 32, 50},
    {"PolarTree4.2.2.2-online", 32, 200, true},
    {"PolarPair4x4", 32, 90},
    {"PolarPair4x4g128", 32, 300},
    {"PolarScalar4", 40, 60},
    {"L2norm,Polar4", 64, 100},
    {"PCA24,Polar4", 64, 200},
    {"OPQ8_32,Polar2", 64, 300},
    {"RR32,Polar2", 64, 100},
    {"ITQ32,SQ8", 64, 200},
    {"Pad96,Polar2", 64, 100},
    {"PCAR24,L2norm,IDMap2,Polar4", 64, 200, true},
    {"IDMap,Polar4", 64, 100, true},
    {"IDMap2,Polar4", 64, 100, true},
    {"Polar2,RFlat", 64, 200},
    {"Polar2,Refine(SQ8)", 64, 200},
    {"Polar2,Refine(Polar8)", 64, 200},
    {"SQ4,Refine(Polar8)", 64, 200},
    {"PCA24,Polar2,RFlat", 64, 200},
    {"IDMap,Polar2,RFlat", 64, 200, true},
    {"IVF8(Polar8),SQ8", 32, 400},
    {"IVF8(Polar8),Flat", 32, 400, true},
    {"IVF8(Polar8),PQ8x4np", 32, 400},
    {"PCA24,IVF8(Polar8),SQ8", 64, 400},
    {"Flat", 24, 60},
    {"SQ8", 24, 60},
    {"SQ6", 24, 60},
    {"SQfp16", 24, 60},
    {"PQ6x4np", 24, 60},
    {"IDMap2,Flat", 24, 60, true},
    {"IVF4,Flat", 24, 200, true},
    {"IVF4,SQ4", 24, 200},
    {"IVF4,PQ6x4np", 24, 200},
    {"IVF4,Polar4", 24, 400},
    {"IVF4,Polar2", 64, 400, true},
    {"PCA24,IVF4,Polar8", 64, 400},
    {"IVF4(Polar8),PolarScalar4", 128, 400},
    {"IVF4_HNSW4,Polar1-pca", 64, 400},
    {"IVF4,Polar2,RFlat", 24, 400},
    {"HNSW8,Polar4", 24, 200},
    {"HNSW8x,Polar8", 24, 200},
    {"HNSW12x,Polar3", 24, 200, false, true},
    {"IDMap2,HNSW8,Polar2", 64, 200, true},
    {"NSG8,Polar4", 24, 200},
    {"PCA12,NSG8,Polar2,RFlat", 24, 200},
    {"HNSW8,Flat", 24, 200},
    {"HNSW8,SQ8", 24, 200},
    {"PCA12,Flat", 24, 200},
    {"SQ4,RFlat", 24, 200},
};

/// Whether it has parts of FAISS's beside those that stand around our codes.
bool needs_trust(const StoredCase& stored) {
  const std::string description = stored.description;
  const auto has = [&](const char* name) { return description.find(name) != std::string::npos; };
  const bool has_lists_of_ours = has(",Polar") && !has("(Polar8),S");
  return has("ITQ") || has("PQ6") || has("PQ8x") || has("SQ4") || has("SQ6") ||
         ((has("IVF") || has("HNSW")) && !has_lists_of_ours);
}

void require_same(const ::faiss::Index& read, const ::faiss::Index& index, int dim) {
  CHECK(read.d == index.d);
  CHECK(read.ntotal == index.ntotal);
  CHECK(read.is_trained == index.is_trained);
  CHECK(read.metric_type == index.metric_type);
  const std::vector<float> queries = clustered_rows(5, dim, 11);
  REQUIRE((find(read, queries, kK) == find(index, queries, kK)));
}

TEST_CASE("Every kind of index is read as it was written", "[faiss][io]") {
  const StoredCase stored = GENERATE(from_range(std::begin(kCases), std::end(kCases)));
  const ::faiss::MetricType metric = GENERATE(kInnerProduct, kL2);
  INFO(stored.description << ", metric " << metric);
  const auto index = make_stored(stored, metric);
  const std::vector<uint8_t> bytes = written(*index);

  ReadOptions options;
  options.trust_faiss = needs_trust(stored);

  const auto by_calls = read_from(bytes, options, 1000);
  require_same(*by_calls, *index, stored.dim);
  REQUIRE((written(*by_calls) == bytes));

  const TemporaryFolder folder;
  const std::string path = folder.file("index");
  write_index(*index, path);
  CHECK(std::filesystem::file_size(path) == bytes.size());
  for (const bool memory_map : {false, true}) {
    options.memory_map = memory_map;
    const auto by_path = read_index(path, options);
    require_same(*by_path, *index, stored.dim);
    verify_index(*by_path);
    REQUIRE((written(*by_path) == bytes));
  }

  const auto clone = clone_index(*index);
  require_same(*clone, *index, stored.dim);
  REQUIRE((written(*clone) == bytes));
  // It goes its own way, as the index would. FAISS's HNSW draws levels anew, its NSG takes rows
  // once.
  const std::string description = stored.description;
  if (stored.with_ids || description.find("HNSW") != std::string::npos ||
      description.find("NSG") != std::string::npos) {
    return;
  }
  const std::vector<float> more = clustered_rows(100, stored.dim, 12);
  clone->add(100, more.data());
  CHECK(clone->ntotal == index->ntotal + 100);
  REQUIRE((written(*index) == bytes));
  index->add(100, more.data());
  require_same(*clone, *index, stored.dim);
  REQUIRE((written(*clone) == written(*index)));
}

TEST_CASE("What was read goes on as the index would have", "[faiss][io]") {
  const auto index = index_factory(64, "Polar2", kL2);
  SECTION("before the first row") {
    const auto read = read_from(written(*index));
    const std::vector<float> x = clustered_rows(300, 64, 3);
    index->add(300, x.data());
    read->add(300, x.data());
    REQUIRE((written(*read) == written(*index)));
  }
  SECTION("training stays refused once rows are coded") {
    const std::vector<float> x = clustered_rows(1000, 64, 3);
    index->add(1000, x.data());
    const auto read = read_from(written(*index));
    require_faiss_error("encoded rows already", [&] { read->train(1000, x.data()); });
  }
  SECTION("an add that fails is taken back") {
    const auto read = read_from(written(*index));
    std::vector<float> x = clustered_rows(300, 64, 3);
    x[64 * 250] = 1e30F;  // longer than rows may be
    CHECK_THROWS(read->add(300, x.data()));
    REQUIRE((written(*read) == written(*index)));
  }
  SECTION("ids of rows") {
    const StoredCase stored{"Polar4", 40, 100, true};
    const auto made = make_stored(stored, kL2);
    const auto read = read_from(written(*made));
    std::vector<float> a(40);
    std::vector<float> b(40);
    made->reconstruct(scattered_ids(100)[3], a.data());
    read->reconstruct(scattered_ids(100)[3], b.data());
    CHECK(a == b);
    const std::vector<float> x = clustered_rows(1, 40, 5);
    const int64_t taken = scattered_ids(100)[3];
    require_faiss_error("has already", [&] { read->add_with_ids(1, x.data(), &taken); });
  }
  SECTION("options and parameters") {
    IndexPolar::Options options;
    options.seed = 77;
    options.learn_centre = false;
    options.norm_unit = 8;
    IndexPolar made(48, "Polar4", kInnerProduct, options);
    made.exactness = std::numeric_limits<float>::infinity();
    const auto read = read_from(written(made));
    const auto& polar = dynamic_cast<const IndexPolar&>(*read);
    CHECK(polar.exactness == made.exactness);
    CHECK(polar.codec().save_state() == made.codec().save_state());
    CHECK(polar.spec() == "Polar4");
  }
  SECTION("refinements keep their factor") {
    const auto made = make_stored({"Polar2,RFlat", 64, 200}, kL2);
    dynamic_cast<::faiss::IndexRefine&>(*made).k_factor = 3.5F;
    const auto read = read_from(written(*made));
    CHECK(dynamic_cast<const ::faiss::IndexRefine&>(*read).k_factor == 3.5F);
  }
}

TEST_CASE("Graphs over our indexes are read as they were written", "[faiss][io]") {
  const ::faiss::MetricType metric = GENERATE(kInnerProduct, kL2);
  const int64_t rows = GENERATE(0, 1, 300);
  const auto index = make_graph("Polar4", 64, rows, metric);
  const std::vector<uint8_t> bytes = written(*index);
  const TemporaryFolder folder;
  write_index(*index, folder.file("graph"));
  ReadOptions options;
  options.memory_map = GENERATE(false, true);
  const auto read = read_index(folder.file("graph"), options);
  CHECK(read->ntotal == rows);
  CHECK(dynamic_cast<const ::faiss::IndexHNSW&>(*read).hnsw.efSearch == 33);
  if (rows > 0) require_same(*read, *index, 64);
  REQUIRE((written(*read) == bytes));
  if (options.memory_map) return;
  read->add(50, clustered_rows(50, 64, 8).data());
  CHECK(read->ntotal == rows + 50);
  CHECK(find(*read, clustered_rows(50, 64, 8), 1).labels[7] == rows + 7);
}

TEST_CASE("NSG graphs over our indexes are read as they were written", "[faiss][io]") {
  const ::faiss::MetricType metric = GENERATE(kInnerProduct, kL2);
  const int64_t rows = GENERATE(0, 1, 300);
  const auto index = make_nsg("Polar4", 64, rows, metric);
  const std::vector<uint8_t> bytes = written(*index);
  const TemporaryFolder folder;
  write_index(*index, folder.file("graph"));
  ReadOptions options;
  options.memory_map = GENERATE(false, true);
  const auto read = read_index(folder.file("graph"), options);
  verify_index(*read);
  auto& graph = dynamic_cast<::faiss::IndexNSG&>(*read);
  CHECK(graph.ntotal == rows);
  CHECK(graph.is_built == (rows > 0));
  CHECK(graph.nsg.search_L == 33);
  require_same(*read, *index, 64);
  REQUIRE((written(*read) == bytes));
  REQUIRE((written(*clone_index(*read)) == bytes));
  if (options.memory_map) return;
  graph.reset();
  read->add(200, clustered_rows(200, 64, 8).data());
  CHECK(find(*read, clustered_rows(200, 64, 8), 1).labels[7] >= 0);
}

TEST_CASE("A graph that is none is not written", "[faiss][io]") {
  const auto index = make_nsg("Polar4", 64, 40, kL2);
  auto& graph = dynamic_cast<::faiss::IndexNSG&>(*index);
  SECTION("a link to no row") {
    graph.nsg.final_graph->at(7, 0) = 40;
    require_faiss_error("its graph's links", [&] { written(*index); });
  }
  SECTION("a link after the last") {
    graph.nsg.final_graph->at(7, 5) = 3;
    graph.nsg.final_graph->at(7, 4) = -1;
    require_faiss_error("its graph's links", [&] { written(*index); });
  }
  SECTION("an entry that is no row") {
    graph.nsg.enterpoint = 40;
    require_faiss_error("its graph's entry point", [&] { written(*index); });
  }
  SECTION("rows without a graph") {
    graph.nsg.reset();
    require_faiss_error("its graph has 0 rows", [&] { written(*index); });
  }
  SECTION("numbers that FAISS cannot build by") {
    graph.GK = 0;
    require_faiss_error("its GK is 0; 1 to", [&] { written(*index); });
  }
}

TEST_CASE("A mapped index is searched in its file and never changed", "[faiss][io]") {
  const TemporaryFolder folder;
  const std::string path = folder.file("index");
  ReadOptions options;
  options.memory_map = true;
  const StoredCase stored =
      GENERATE(StoredCase{"Polar2", 64, 70'000}, StoredCase{"Polar4", 96, 500, true},
               StoredCase{"PolarPair4x4", 32, 300});
  const auto index = make_stored(stored, kL2);
  write_index(*index, path);
  auto read = read_index(path, options);
  const auto& polar = dynamic_cast<const IndexPolar&>(*read);
  CHECK(polar.codes().is_mapped());
  CHECK(polar.memory_bytes() < polar.codec().memory_bytes() + 70 * 500 + 1);

  SECTION("by searches that run at once, and by single rows") {
    const std::vector<float> queries = clustered_rows(5, stored.dim, 11);
    const Found expected = find(*index, queries, kK);
    std::vector<std::thread> threads;
    std::vector<Found> found(4);
    for (Found& one : found) threads.emplace_back([&] { one = find(*read, queries, kK); });
    for (std::thread& thread : threads) thread.join();
    for (const Found& one : found) CHECK(one == expected);
    std::vector<float> a(static_cast<size_t>(stored.dim));
    std::vector<float> b(a.size());
    const int64_t id = stored.with_ids ? scattered_ids(stored.rows)[17] : stored.rows - 1;
    index->reconstruct(id, a.data());
    read->reconstruct(id, b.data());
    CHECK(a == b);
  }
  SECTION("changes are refused") {
    const std::vector<float> x = clustered_rows(2, stored.dim, 4);
    const int64_t ids[] = {1, 2};
    require_faiss_error("memory-mapped", [&] {
      if (stored.with_ids) {
        read->add_with_ids(2, x.data(), ids);
      } else {
        read->add(2, x.data());
      }
    });
    require_faiss_error("memory-mapped", [&] { read->train(2, x.data()); });
    require_faiss_error("memory-mapped", [&] { read->reset(); });
    CHECK(read->ntotal == stored.rows);
    const auto clone = clone_index(*read);
    clone->reset();
    CHECK(clone->ntotal == 0);
  }
  SECTION("the file may be replaced meanwhile, by the index itself too, or that is refused") {
    if (kMappedFilesMayGo) {
      write_index(*read, path);
      std::filesystem::remove(path);
    } else {
      require_faiss_error("cannot replace it", [&] { write_index(*read, path); });
    }
    require_same(*read, *index, stored.dim);
  }
}

TEST_CASE("Damage in a mapped file is found when it is touched", "[faiss][io]") {
  const TemporaryFolder folder;
  const std::string path = folder.file("index");
  const auto index = make_stored({"Polar8", 64, 40'000}, kL2);  // payloads of 2.4 MiB
  write_index(*index, path);
  {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(std::filesystem::file_size(path)) - 1000);
    file.put('\x55');
  }
  require_faiss_error("REST do not match their checksum", [&] { read_index(path); });
  ReadOptions options;
  options.memory_map = true;
  const auto read = read_index(path, options);
  std::vector<float> x(64);
  read->reconstruct(0, x.data());  // another chunk
  require_faiss_error("REST do not match", [&] { read->reconstruct(39'999, x.data()); });
  require_faiss_error("REST do not match", [&] { verify_index(*read); });
  require_faiss_error("REST do not match", [&] { find(*read, x, 3); });
}

TEST_CASE("A file of rows that another index encoded is read, whatever its flag says",
          "[faiss][io]") {
  const StoredCase stored =
      GENERATE(StoredCase{"Polar4", 64, 50}, StoredCase{"Polar4", 64, 50, true},
               StoredCase{"Polar2-pca", 64, 400});
  const auto index = make_stored(stored, kL2);
  std::vector<FileSection> sections = take_apart(written(*index));
  REQUIRE(sections.front().kind == section_kind("POLR"));
  constexpr size_t kEncoded = 24;  // after the head and the flag of ids
  REQUIRE(sections.front().bytes.at(kEncoded) == 1);
  sections.front().bytes[kEncoded] = 0;
  const TemporaryFolder folder;
  const std::string path = folder.file("index");
  const std::vector<uint8_t> bytes = put_together(sections);
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
  ReadOptions options;
  options.memory_map = GENERATE(false, true);
  const auto read = read_index(path, options);
  require_same(*read, *index, stored.dim);
  const auto clone = clone_index(*read);
  CHECK(written(*clone) == written(*index));
  const std::vector<float> x = clustered_rows(400, 64, 3);
  require_faiss_error("encoded rows already", [&] { clone->train(400, x.data()); });
}

TEST_CASE("What cannot be written or read is said by name", "[faiss][io]") {
  const TemporaryFolder folder;
  const auto index = make_stored({"Polar2", 64, 20}, kL2);
  const std::string nowhere = folder.file("no/such/folder");
  require_faiss_error(text_of_missing(nowhere), [&] { write_index(*index, nowhere); });
  require_faiss_error("not a regular file", [&] { write_index(*index, folder.file("")); });
  const std::string none = folder.file("none");
  require_faiss_error(text_of_missing(none), [&] { read_index(none); });
  require_faiss_error("is not a regular file", [&] { read_index(folder.file("")); });
  const std::string empty = folder.write("empty", "");
  ReadOptions options;
  options.memory_map = GENERATE(false, true);
  require_faiss_error("index file", [&] { read_index(empty, {}); });
  const std::string foreign = folder.write("foreign", std::string(5000, 'x'));
  require_faiss_error("does not begin with PQINDEX", [&] { read_index(foreign, options); });
  const auto lsh = make_stored({"LSH", 24, 60}, kL2);
  write_index(*lsh, folder.file("lsh"));
  require_faiss_error("trust_faiss", [&] { read_index(folder.file("lsh"), options); });
  options.trust_faiss = true;
  require_same(*read_index(folder.file("lsh"), options), *lsh, 24);
}

}  // namespace
}  // namespace polarquant::test
