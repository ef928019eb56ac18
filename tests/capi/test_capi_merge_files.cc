// SPDX-License-Identifier: MIT
// Merged files have the bytes of the file of one index that was given all rows; what cannot be
// merged is refused with the file's name, and leaves what is at the new file's place.
#include <algorithm>
#include <string>
#include <vector>

#include "tests/capi/built_files.h"
#include "tests/support/systems.h"

using namespace polarquant::test;

namespace {

const BuiltRows& rows() {
  static const BuiltRows made(1500, 72);
  return made;
}

/// Saves rows first … end−1 of each piece as a file of its own.
std::vector<std::string> save_pieces(const IndexHandle& trained, bool with_ids,
                                     const std::vector<int64_t>& ends,
                                     const TemporaryFolder& folder) {
  std::vector<std::string> paths;
  int64_t first = 0;
  for (const int64_t end : ends) {
    const IndexHandle piece = clone(trained);
    rows().add(piece, with_ids, first, end);
    paths.push_back(folder.file("piece" + std::to_string(paths.size())));
    save(piece, paths.back());
    first = end;
  }
  return paths;
}

void check_equals_one_index(const BuiltKind& kind, polar_metric metric, bool with_ids,
                            const std::vector<int64_t>& ends) {
  INFO(kind.description << ", metric " << metric << ", with ids " << with_ids);
  const TemporaryFolder folder;
  const IndexHandle trained = rows().trained(kind.description, metric);
  const std::vector<std::string> paths = save_pieces(trained, with_ids, ends, folder);
  require_ok(merge(paths, folder.file("merged")));
  const IndexHandle whole = clone(trained);
  rows().add(whole, with_ids, 0, ends.back());
  save(whole, folder.file("whole"));
  CHECK((bytes_of(folder.file("merged")) == bytes_of(folder.file("whole"))));
  for (const int32_t mapped : {0, 1}) {
    const IndexHandle merged = load(folder.file("merged"), mapped);
    CHECK(polar_index_ntotal(merged.get()) == ends.back());
    require_ok(polar_index_verify(merged.get()));
  }
}

TEST_CASE("merged files are the file of all rows", "[capi][merge_files]") {
  for (const BuiltKind& kind : kBuiltKinds) {
    for (const bool with_ids : {false, true}) {
      if (with_ids ? !kind.takes_ids : !kind.takes_none) continue;
      check_equals_one_index(kind, POLAR_METRIC_INNER_PRODUCT, with_ids, {401, 402, 1000, 1101});
    }
  }
}

TEST_CASE("merged files of every metric, aligned pieces, one piece, pieces without rows",
          "[capi][merge_files]") {
  for (const char* description : {"Polar4", "IVF7,Polar2"}) {
    const BuiltKind kind{description};
    for (const polar_metric metric :
         {POLAR_METRIC_INNER_PRODUCT, POLAR_METRIC_L2, POLAR_METRIC_COSINE}) {
      check_equals_one_index(kind, metric, false, {64, 128, 192, 1216});
      check_equals_one_index(kind, metric, true, {500});
      check_equals_one_index(kind, metric, true, {0, 300, 300, 700, 700});
      check_equals_one_index(kind, metric, false, {0, 0, 77, 700});
      check_equals_one_index(kind, metric, false, {0, 0});
    }
  }
}

TEST_CASE("a merge may replace one of its files, or that is refused", "[capi][merge_files]") {
  const TemporaryFolder folder;
  const IndexHandle trained = rows().trained("IVF7,Polar4", POLAR_METRIC_L2);
  const std::vector<std::string> paths = save_pieces(trained, true, {300, 700}, folder);
  require_ok(merge(paths, folder.file("merged")));
  const std::string before = bytes_of(paths[1]);
  if (kMappedFilesMayGo) {
    require_ok(merge(paths, paths[1]));
    CHECK((bytes_of(paths[1]) == bytes_of(folder.file("merged"))));
  } else {
    check_failed(merge(paths, paths[1]), POLAR_ERROR_IO, {paths[1], "cannot replace it"});
    CHECK((bytes_of(paths[1]) == before));
  }
}

TEST_CASE("files that do not merge are refused by name", "[capi][merge_files]") {
  const TemporaryFolder folder;
  const std::string out = folder.file("merged");
  const IndexHandle trained = rows().trained("IVF7,Polar4", POLAR_METRIC_L2);
  const std::vector<std::string> paths = save_pieces(trained, true, {300, 700}, folder);
  require_ok(merge(paths, out));
  const std::string before = bytes_of(out);
  const auto check_refused = [&](const std::vector<std::string>& files, polar_status status,
                                 const std::vector<std::string>& texts) {
    check_failed(merge(files, out), status, texts);
    CHECK((bytes_of(out) == before));
  };

  check_refused({}, POLAR_ERROR_BAD_ARGUMENT, {"n: 0"});
  check_refused({paths[0], folder.file("none")}, POLAR_ERROR_IO, {folder.file("none")});
  check_refused({paths[0], paths[1], paths[0]}, POLAR_ERROR_BAD_ARGUMENT, {"id 5 is there twice"});

  IndexHandle other = make_index("IVF7,Polar4", rows().dim(), POLAR_METRIC_L2);
  require_ok(polar_index_train(other.get(), 900, rows().row(100), nullptr));
  rows().add(other, true, 0, 10);
  const std::string other_path = folder.file("other");
  save(other, other_path);
  check_refused({paths[0], other_path}, POLAR_ERROR_STATE_MISMATCH, {other_path, "does not merge"});

  save(rows().trained("IVF7,Polar4", POLAR_METRIC_COSINE), other_path);
  check_refused({paths[0], other_path}, POLAR_ERROR_STATE_MISMATCH, {other_path, "metric 2"});
  save(rows().trained("IVF7,Polar2", POLAR_METRIC_L2), other_path);
  check_refused({paths[0], other_path}, POLAR_ERROR_STATE_MISMATCH, {other_path, "does not merge"});
  save(rows().trained("Polar4", POLAR_METRIC_L2), other_path);
  check_refused({paths[0], other_path}, POLAR_ERROR_STATE_MISMATCH, {other_path, "merge"});

  const IndexHandle without_ids = clone(trained);
  rows().add(without_ids, false, 0, 10);
  save(without_ids, other_path);
  check_refused({paths[0], other_path}, POLAR_ERROR_BAD_ARGUMENT, {other_path, "ids"});

  std::string damaged = bytes_of(paths[1]);
  damaged[damaged.size() * 2 / 3] ^= 1;
  std::ofstream(other_path, std::ios::binary) << damaged;
  check_refused({paths[0], other_path}, POLAR_ERROR_CORRUPT_DATA, {"checksum"});
}

TEST_CASE("kinds without a merge, and rows kept as floats, are refused", "[capi][merge_files]") {
  const TemporaryFolder folder;
  const std::string path = folder.file("index");
  for (const char* description :
       {"HNSW8,Polar4", "NSG8,Polar4", "Polar2,RFlat", "PolarPair4x4g128"}) {
    INFO(description);
    const IndexHandle index = rows().trained(description, POLAR_METRIC_L2);
    rows().add(index, false, 0, 1200);
    save(index, path);
    const polar_status status = merge({path, path}, folder.file("merged"));
    INFO(last_error());
    CHECK((status == POLAR_ERROR_UNSUPPORTED || status == POLAR_ERROR_STATE_MISMATCH));
  }
  const IndexHandle index = make_index("Polar4", rows().dim(), POLAR_METRIC_L2);
  rows().add(index, false, 0, 10);
  save(index, path);
  check_failed(merge({path, path}, folder.file("merged")), POLAR_ERROR_STATE_MISMATCH,
               {path, "never trained"});
}

TEST_CASE("flat rows that have an id twice are refused", "[capi][merge_files]") {
  const TemporaryFolder folder;
  const IndexHandle trained = rows().trained("Polar4", POLAR_METRIC_L2);
  const std::vector<std::string> paths = save_pieces(trained, true, {300, 700}, folder);
  check_failed(merge({paths[0], paths[1], paths[1]}, folder.file("merged")),
               POLAR_ERROR_BAD_ARGUMENT, {paths[1], "there twice"});
}

TEST_CASE("an index like that of a file makes the same bytes", "[capi][merge_files]") {
  for (const BuiltKind& kind : kBuiltKinds) {
    for (const bool with_ids : {false, true}) {
      if (with_ids ? !kind.takes_ids : !kind.takes_none) continue;
      INFO(kind.description << ", with ids " << with_ids);
      const TemporaryFolder folder;
      const IndexHandle trained = rows().trained(kind.description, POLAR_METRIC_COSINE);
      const IndexHandle first = clone(trained);
      rows().add(first, with_ids, 0, 700);
      save(first, folder.file("first"));
      polar_index* out = nullptr;
      require_ok(polar_index_load_empty(folder.file("first").c_str(), &out));
      const IndexHandle like(out);
      CHECK(polar_index_ntotal(like.get()) == 0);
      CHECK(polar_index_is_trained(like.get()) == 1);
      rows().add(like, with_ids, 600, 1500);
      save(like, folder.file("like"));
      rows().add(trained, with_ids, 600, 1500);
      save(trained, folder.file("trained"));
      CHECK((bytes_of(folder.file("like")) == bytes_of(folder.file("trained"))));
    }
  }
  const TemporaryFolder folder;
  polar_index* out = nullptr;
  check_failed(polar_index_load_empty(folder.file("none").c_str(), &out), POLAR_ERROR_IO,
               {folder.file("none")});
  const IndexHandle graph = rows().trained("HNSW8,Polar4", POLAR_METRIC_L2);
  save(graph, folder.file("graph"));
  check_failed(polar_index_load_empty(folder.file("graph").c_str(), &out), POLAR_ERROR_UNSUPPORTED,
               {folder.file("graph"), "HNSW8,Polar4"});
}

TEST_CASE("a merge tells how far it is, and can be stopped", "[capi][merge_files]") {
  const TemporaryFolder folder;
  const IndexHandle trained = rows().trained("Polar8", POLAR_METRIC_L2);
  const IndexHandle piece = clone(trained);
  for (int i = 0; i < 30; ++i) rows().add(piece, false, 0, 1500);
  save(piece, folder.file("piece"));
  std::vector<double> told;
  polar_work_options options = working_on(1);
  options.progress_user = &told;
  options.progress = [](void* user, double done) -> int32_t {
    static_cast<std::vector<double>*>(user)->push_back(done);
    return 0;
  };
  const std::vector<std::string> paths(20, folder.file("piece"));
  require_ok(merge(paths, folder.file("merged"), &options));
  REQUIRE(!told.empty());
  CHECK(std::is_sorted(told.begin(), told.end()));
  CHECK(told.back() == 1);
  options.progress = [](void*, double) -> int32_t { return 1; };
  check_failed(merge(paths, folder.file("stopped"), &options), POLAR_ERROR_CANCELLED, {"merge"});
  CHECK(!std::filesystem::exists(folder.file("stopped")));
}

}  // namespace
