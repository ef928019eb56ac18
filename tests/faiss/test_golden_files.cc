// SPDX-License-Identifier: MIT
// Index files that are kept with the project (tests/golden): they are read, and written again byte
// for byte, on every machine.
#include <faiss/IndexIVF.h>

#include <bit>
#include <fstream>
#include <iterator>
#include <map>
#include <string>

#include "src/core/format.h"
#include "tests/faiss/stored_indexes.h"

namespace polarquant::test {
namespace {

struct Golden {
  const char* file;
  StoredCase stored;
  ::faiss::MetricType metric;
  std::unique_ptr<::faiss::Index> (*make)(const StoredCase&, ::faiss::MetricType) = make_stored;
  /// The folder of the newest file, which this version writes.
  const char* newest = "state4";
};

std::unique_ptr<::faiss::Index> make_stored_nsg(const StoredCase& made,
                                                ::faiss::MetricType metric) {
  return make_nsg(made.description, made.dim, made.rows, metric);
}

std::unique_ptr<::faiss::Index> make_stored_hnsw(const StoredCase& made,
                                                 ::faiss::MetricType metric) {
  auto index = index_factory(made.dim, made.description, metric);
  auto& graph = dynamic_cast<::faiss::IndexHNSW&>(*index);
  train_on_rows(*index, made.rows);
  graph.storage->add(made.rows, clustered_rows(made.rows, made.dim, 7).data());
  link_hnsw(graph);
  return index;
}

/// Lists about rows, which k-means did not choose.
std::unique_ptr<::faiss::Index> make_stored_lists(const StoredCase& made,
                                                  ::faiss::MetricType metric) {
  auto index = index_factory(made.dim, made.description, metric);
  auto& ivf = dynamic_cast<::faiss::IndexIVF&>(*index);
  const auto nlist = static_cast<int64_t>(ivf.nlist);
  const std::vector<float> centroids = clustered_rows(nlist, made.dim, 3);
  if (auto* graph = dynamic_cast<::faiss::IndexHNSW*>(ivf.quantizer)) {
    graph->storage->add(nlist, centroids.data());
    link_hnsw(*graph);
  } else {
    ivf.quantizer->add(nlist, centroids.data());
  }
  ivf.nprobe = 3;
  train_and_add(ivf, made);
  return index;
}

// Without what FAISS trains, which other last bits on other machines.
const Golden kGolden[] = {
    {"polar2_ids", {"Polar2", 100, 70, true}, ::faiss::METRIC_L2},
    {"polar4", {"Polar4", 300, 20}, ::faiss::METRIC_INNER_PRODUCT},
    {"polar8", {"Polar8", 17, 20}, ::faiss::METRIC_L2, make_stored, "format3"},
    {"polar8_blocks", {"Polar8", 200, 90}, ::faiss::METRIC_INNER_PRODUCT, make_stored, "format3"},
    {"ivf_polar8", {"IVF5,Polar8", 100, 90}, ::faiss::METRIC_L2, make_stored_lists, "format3"},
    {"hnsw_polar8", {"HNSW8,Polar8", 70, 40}, ::faiss::METRIC_L2, make_stored_hnsw},
    {"polar2+2", {"Polar2+2", 64, 20}, ::faiss::METRIC_L2},
    {"polar_tree", {"PolarTree4.2.2.2", 16, 20}, ::faiss::METRIC_INNER_PRODUCT},
    {"empty", {"Polar3", 24, 0}, ::faiss::METRIC_L2},
    {"id_map", {"L2norm,IDMap2,Polar4", 24, 20, true}, ::faiss::METRIC_INNER_PRODUCT},
    {"refine", {"Polar2,Refine(SQfp16)", 24, 20}, ::faiss::METRIC_L2},
    {"flat", {"Flat", 8, 20}, ::faiss::METRIC_L2},
    {"nsg", {"Polar4", 70, 40}, ::faiss::METRIC_INNER_PRODUCT, make_stored_nsg},
    {"hnsw", {"HNSW8,Polar4", 70, 40}, ::faiss::METRIC_L2, make_stored_hnsw},
    {"ivf", {"IVF5,Polar4", 40, 90}, ::faiss::METRIC_INNER_PRODUCT, make_stored_lists},
    {"ivf_ids", {"IVF5,Polar4", 24, 90, true}, ::faiss::METRIC_L2, make_stored_lists},
    {"ivf_hnsw", {"IVF9_HNSW8,Polar4", 24, 90}, ::faiss::METRIC_L2, make_stored_lists},
};

/// Format 1 has no files of later tests'.
bool is_of_format1(const Golden& golden) {
  for (const std::string later : {"polar8_blocks", "ivf_polar8", "hnsw_polar8"})
    if (golden.file == later) return false;
  return true;
}

std::string path_of(const Golden& golden, const char* format) {
  return std::string("tests/golden/") + format + "/" + golden.file + ".polarquant";
}

std::vector<uint8_t> contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  INFO(path);
  REQUIRE(file.good());
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST_CASE("Golden files of this version are read, and written byte for byte", "[faiss][io]") {
  const Golden golden = GENERATE(from_range(std::begin(kGolden), std::end(kGolden)));
  INFO(golden.file);
  const auto index = golden.make(golden.stored, golden.metric);
  const std::string path = path_of(golden, golden.newest);
  CHECK((written(*index) == contents(path)));
  const std::vector<float> queries = clustered_rows(5, golden.stored.dim, 11);
  CHECK(find(*read_index(path), queries, 4) == find(*index, queries, 4));
}

TEST_CASE("Golden files of every version keep their bytes", "[faiss][io]") {
  for (const std::string format : {"format1", "state4"}) {
    for (const Golden& golden : kGolden) {
      if (format == "format1" && !is_of_format1(golden)) continue;
      const std::string path = path_of(golden, format.c_str());
      INFO(path);
      const auto read = read_index(path);
      CHECK(read->ntotal == golden.stored.rows);
      if (golden.newest != std::string("format3")) CHECK((written(*read) == contents(path)));
    }
  }
}

// Levels lie as bytes in their blocks: they are split when a file is read.
TEST_CASE("Golden files of before format 3 are written as of format 3", "[faiss][io]") {
  for (const Golden& golden : kGolden) {
    if (golden.newest != std::string("format3")) continue;
    INFO(golden.file);
    const auto read = read_index(path_of(golden, "state4"));
    CHECK((written(*read) == contents(path_of(golden, "format3"))));
    ReadOptions options;
    options.memory_map = true;
    const auto mapped = read_index(path_of(golden, "state4"), options);
    CHECK((written(*mapped) == contents(path_of(golden, "format3"))));
    const std::vector<float> queries = clustered_rows(5, golden.stored.dim, 11);
    const auto newest = read_index(path_of(golden, "format3"), options);
    CHECK(find(*mapped, queries, 4) == find(*newest, queries, 4));
    CHECK(find(*read, queries, 4) == find(*newest, queries, 4));
  }
}

/// Row and score of each of five queries' four nearest, as a line of answers.txt has them.
std::string answers(const ::faiss::Index& index, const std::string& name) {
  constexpr int kQueries = 5;
  constexpr int kK = 4;
  std::vector<float> queries;
  for (int i = 0; i < kQueries; ++i)
    for (int j = 0; j < index.d; ++j)
      queries.push_back(static_cast<float>((7 * i + 3 * j + i * j % 5) % 16 - 8) / 4);
  std::vector<float> scores(kQueries * kK);
  std::vector<int64_t> ids(kQueries * kK);
  index.search(kQueries, queries.data(), kK, scores.data(), ids.data());
  std::string lines;
  for (size_t i = 0; i < scores.size(); ++i) {
    if (i % kK == 0) lines += format_text("{} {}", name, i / kK);
    lines += format_text(" {} {:08x}", ids[i], std::bit_cast<uint32_t>(scores[i]));
    if (i % kK == kK - 1) lines += "\n";
  }
  return lines;
}

// The answers are those of the library that wrote the files.
TEST_CASE("Golden files give the answers they gave, to the bit", "[faiss][io]") {
  for (const auto& [format, files] : {std::pair("format1", 11), std::pair("state4", 3)}) {
    const std::string folder = std::string("tests/golden/") + format + "/";
    std::ifstream file(folder + "answers.txt");
    REQUIRE(file.good());
    std::map<std::string, std::string> expected;
    for (std::string line; std::getline(file, line);)
      expected[line.substr(0, line.find(' '))] += line + "\n";
    CHECK(std::ssize(expected) == files);
    for (const auto& [name, lines] : expected) {
      INFO(folder << name);
      CHECK(answers(*read_index(folder + name + ".polarquant"), name) == lines);
    }
  }
}

TEST_CASE("Golden files are made", "[.make-golden]") {
  for (const Golden& golden : kGolden)
    write_index(*golden.make(golden.stored, golden.metric), path_of(golden, golden.newest));
}

}  // namespace
}  // namespace polarquant::test
