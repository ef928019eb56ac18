// SPDX-License-Identifier: MIT
// Files that are built in parts have the bytes of the file of one index, however the rows came and
// wherever the build was interrupted; what is refused changes nothing.
#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/capi/built_files.h"

using namespace polarquant::test;

namespace {

constexpr int64_t kLeastMemory = 1 << 20;

const BuiltRows& rows() {
  static const BuiltRows made(9000, 200);
  return made;
}

polar_builder_options small_parts(int32_t replace = 0) {
  polar_builder_options options;
  polar_builder_options_init(&options);
  CHECK(options.memory_bytes == 1 << 30);
  CHECK(options.replace == 0);
  options.memory_bytes = kLeastMemory;
  options.replace = replace;
  return options;
}

BuilderHandle begin(const IndexHandle& trained, const std::string& path, int32_t replace = 0) {
  const polar_builder_options options = small_parts(replace);
  polar_builder* builder = nullptr;
  require_ok(polar_builder_create(trained.get(), path.c_str(), &options, &builder));
  return BuilderHandle(builder);
}

BuilderHandle resume(const std::string& path) {
  const polar_builder_options options = small_parts();
  polar_builder* builder = nullptr;
  require_ok(polar_builder_resume(path.c_str(), &options, &builder));
  return BuilderHandle(builder);
}

void add(const BuilderHandle& builder, bool with_ids, int64_t first, int64_t end) {
  require_ok(with_ids ? polar_builder_add_with_ids(builder.get(), end - first, rows().row(first),
                                                   BuiltRows::ids(first, end).data(), nullptr)
                      : polar_builder_add(builder.get(), end - first, rows().row(first), nullptr));
}

/// Ends of the calls in which a builder gives its index the rows of calls that end at `ends`.
std::vector<int64_t> ends_of_pieces(const std::vector<int64_t>& ends) {
  const int64_t piece = kLeastMemory / 2 / (rows().dim() * int64_t{sizeof(float)});
  std::vector<int64_t> pieces;
  int64_t first = 0;
  for (const int64_t end : ends) {
    while (first < end) {
      first = std::min(first + piece, end);
      pieces.push_back(first);
    }
  }
  return pieces;
}

/// An index's that got all rows, in calls that end at `ends`.
std::string file_of_one_index(const IndexHandle& trained, bool with_ids,
                              const TemporaryFolder& folder,
                              const std::vector<int64_t>& ends = {rows().count()}) {
  const IndexHandle whole = clone(trained);
  int64_t first = 0;
  for (const int64_t end : ends) {
    rows().add(whole, with_ids, first, end);
    first = end;
  }
  save(whole, folder.file("whole"));
  return bytes_of(folder.file("whole"));
}

int64_t parts_in(const std::string& path) {
  int64_t parts = 0;
  for (const auto& entry : std::filesystem::directory_iterator(path + ".parts"))
    parts += entry.path().filename().string().starts_with("part-") ? 1 : 0;
  return parts;
}

TEST_CASE("a file built in parts is the file of one index", "[capi][builder]") {
  for (const BuiltKind& kind : kBuiltKinds) {
    for (const bool with_ids : {false, true}) {
      if (with_ids ? !kind.takes_ids : !kind.takes_none) continue;
      INFO(kind.description << ", with ids " << with_ids);
      const TemporaryFolder folder;
      const std::string path = folder.file("built");
      const IndexHandle trained = rows().trained(kind.description, POLAR_METRIC_L2);
      const BuilderHandle builder = begin(trained, path);
      const std::vector<int64_t> ends = {1, 1, 3000, 3777, rows().count()};
      int64_t first = 0;
      for (const int64_t end : ends) {
        add(builder, with_ids, first, end);
        CHECK(polar_builder_ntotal(builder.get()) == end);
        if (end == 3000) require_ok(polar_builder_write_part(builder.get()));
        first = end;
      }
      CHECK(parts_in(path) >= 1);
      CHECK(polar_builder_written(builder.get()) >= 3000);
      require_ok(polar_builder_finish(builder.get(), nullptr));
      const std::vector<int64_t> ends_of_whole =
          kind.may_round() ? ends_of_pieces(ends) : std::vector{rows().count()};
      CHECK((bytes_of(path) == file_of_one_index(trained, with_ids, folder, ends_of_whole)));
      CHECK(!std::filesystem::exists(path + ".parts"));
      check_failed(polar_builder_add(builder.get(), 1, rows().row(0), nullptr),
                   POLAR_ERROR_STATE_MISMATCH, {"finished"});
      check_failed(polar_builder_finish(builder.get(), nullptr), POLAR_ERROR_STATE_MISMATCH,
                   {"finished"});
    }
  }
}

TEST_CASE("parts are written as memory fills", "[capi][builder]") {
  const TemporaryFolder folder;
  const std::string path = folder.file("built");
  const BuilderHandle builder = begin(rows().trained("Polar8", POLAR_METRIC_L2), path);
  add(builder, false, 0, rows().count());
  CHECK(parts_in(path) >= 1);
  CHECK(polar_builder_written(builder.get()) < polar_builder_ntotal(builder.get()));
}

TEST_CASE("a build goes on after its last part", "[capi][builder]") {
  for (const bool with_ids : {false, true}) {
    const TemporaryFolder folder;
    const std::string path = folder.file("built");
    const IndexHandle trained = rows().trained("IVF7,Polar4", POLAR_METRIC_INNER_PRODUCT);
    add(begin(trained, path), with_ids, 0, 100);  // lost
    CHECK(polar_builder_ntotal(resume(path).get()) == 0);
    {
      const BuilderHandle builder = resume(path);
      add(builder, with_ids, 0, 5000);
      require_ok(polar_builder_write_part(builder.get()));
      require_ok(polar_builder_write_part(builder.get()));  // nothing to write
      add(builder, with_ids, 5000, 5003);                   // lost
    }
    const BuilderHandle builder = resume(path);
    CHECK(polar_builder_ntotal(builder.get()) == 5000);
    CHECK(polar_builder_written(builder.get()) == 5000);
    if (with_ids) {
      check_failed(polar_builder_add(builder.get(), 1, rows().row(0), nullptr),
                   POLAR_ERROR_BAD_ARGUMENT, {"ids"});
    }
    add(builder, with_ids, 5000, rows().count());
    require_ok(polar_builder_finish(builder.get(), nullptr));
    CHECK((bytes_of(path) == file_of_one_index(trained, with_ids, folder)));
  }
}

TEST_CASE("a build without rows is an index without rows", "[capi][builder]") {
  const TemporaryFolder folder;
  const IndexHandle trained = rows().trained("IVF7,Polar4", POLAR_METRIC_L2);
  const BuilderHandle builder = begin(trained, folder.file("built"));
  require_ok(polar_builder_finish(builder.get(), nullptr));
  CHECK(polar_index_ntotal(load(folder.file("built")).get()) == 0);
}

TEST_CASE("what a builder refuses", "[capi][builder]") {
  const TemporaryFolder folder;
  const std::string path = folder.file("built");
  const IndexHandle trained = rows().trained("Polar4", POLAR_METRIC_L2);
  polar_builder* out = nullptr;
  const auto create = [&](const IndexHandle& index) {
    return polar_builder_create(index.get(), path.c_str(), nullptr, &out);
  };

  check_failed(create(make_index("Polar4", rows().dim(), POLAR_METRIC_L2)), POLAR_ERROR_NOT_TRAINED,
               {"not trained"});
  check_failed(create(make_index("IVF7,Polar4", rows().dim(), POLAR_METRIC_L2)),
               POLAR_ERROR_NOT_TRAINED, {"not trained"});
  for (const char* description : {"HNSW8,Polar4", "Flat", "Polar2,RFlat", "IVF7,SQ8"}) {
    check_failed(create(make_index(description, rows().dim(), POLAR_METRIC_L2)),
                 POLAR_ERROR_UNSUPPORTED, {description, "in parts"});
  }
  const IndexHandle with_rows = clone(trained);
  rows().add(with_rows, false, 0, 5);
  check_failed(create(with_rows), POLAR_ERROR_STATE_MISMATCH, {"holds 5 rows"});
  CHECK(!std::filesystem::exists(path + ".parts"));
  check_failed(polar_builder_resume(path.c_str(), nullptr, &out), POLAR_ERROR_NOT_FOUND,
               {path + ".parts"});
  polar_builder_options little = small_parts();
  little.memory_bytes = kLeastMemory - 1;
  check_failed(polar_builder_create(trained.get(), path.c_str(), &little, &out),
               POLAR_ERROR_BAD_ARGUMENT, {"memory_bytes", "1048575"});

  const BuilderHandle builder = begin(trained, path);
  check_failed(create(trained), POLAR_ERROR_IO, {"in use"});
  check_failed(polar_builder_resume(path.c_str(), nullptr, &out), POLAR_ERROR_IO, {"in use"});
  add(builder, true, 0, 10);
  check_failed(polar_builder_add(builder.get(), 1, rows().row(0), nullptr),
               POLAR_ERROR_BAD_ARGUMENT, {"ids"});
  check_failed(polar_builder_add_with_ids(builder.get(), 1, rows().row(0),
                                          BuiltRows::ids(3, 4).data(), nullptr),
               POLAR_ERROR_BAD_ARGUMENT, {"ids must differ"});
  std::vector<float> bad(rows().row(20), rows().row(22));
  bad.back() = kNan;
  check_failed(polar_builder_add_with_ids(builder.get(), 2, bad.data(),
                                          BuiltRows::ids(20, 22).data(), nullptr),
               POLAR_ERROR_BAD_ARGUMENT, {"row 1", "nan"});
  CHECK(polar_builder_ntotal(builder.get()) == 10);
  CHECK(polar_builder_ntotal(nullptr) == 0);
  CHECK(polar_builder_written(nullptr) == 0);
  polar_builder_destroy(nullptr);
  check_failed(polar_builder_add(nullptr, 0, nullptr, nullptr), POLAR_ERROR_BAD_ARGUMENT,
               {"builder"});
}

TEST_CASE("an id in two parts is found when they are merged, and the parts stay",
          "[capi][builder]") {
  const TemporaryFolder folder;
  const std::string path = folder.file("built");
  const BuilderHandle builder = begin(rows().trained("IVF7,Polar4", POLAR_METRIC_L2), path);
  add(builder, true, 0, 100);
  require_ok(polar_builder_write_part(builder.get()));
  add(builder, true, 99, 200);
  for (int i = 0; i < 2; ++i)
    check_failed(polar_builder_finish(builder.get(), nullptr), POLAR_ERROR_BAD_ARGUMENT,
                 {"id 783986 is there twice"});
  CHECK(parts_in(path) == 2);
  CHECK(!std::filesystem::exists(path));
}

TEST_CASE("an earlier build is replaced when asked, and the file stays until the new one is whole",
          "[capi][builder]") {
  const TemporaryFolder folder;
  const std::string path = folder.file("built");
  const IndexHandle trained = rows().trained("Polar4", POLAR_METRIC_L2);
  {
    const BuilderHandle builder = begin(trained, path);
    add(builder, false, 0, 50);
    require_ok(polar_builder_write_part(builder.get()));
  }
  polar_builder* out = nullptr;
  check_failed(polar_builder_create(trained.get(), path.c_str(), nullptr, &out),
               POLAR_ERROR_BAD_ARGUMENT, {"1 parts", "replace"});
  {
    const BuilderHandle builder = begin(trained, path, 1);
    CHECK(polar_builder_ntotal(builder.get()) == 0);
    add(builder, false, 0, 7);
    require_ok(polar_builder_finish(builder.get(), nullptr));
  }
  CHECK(polar_index_ntotal(load(path).get()) == 7);
  const BuilderHandle builder = begin(trained, path);
  add(builder, false, 0, 8);
  require_ok(polar_builder_write_part(builder.get()));
  CHECK(polar_index_ntotal(load(path).get()) == 7);
}

TEST_CASE("what is left of a build that was being removed is in nobody's way", "[capi][builder]") {
  const TemporaryFolder folder;
  const std::string path = folder.file("built");
  const IndexHandle trained = rows().trained("Polar4", POLAR_METRIC_L2);
  std::filesystem::create_directory(path + ".parts");
  for (const char* part : {"/part-000001.polar", "/part-000003.polar", "/.polar-0123456789abcdef"})
    std::ofstream(path + ".parts" + part) << "something";
  const BuilderHandle builder = begin(trained, path);
  add(builder, false, 0, 7);
  require_ok(polar_builder_finish(builder.get(), nullptr));
  CHECK(polar_index_ntotal(load(path).get()) == 7);
  CHECK(!std::filesystem::exists(path + ".parts"));
}

TEST_CASE("missing, damaged and foreign parts are named", "[capi][builder]") {
  const TemporaryFolder folder;
  const std::string path = folder.file("built");
  const IndexHandle trained = rows().trained("IVF7,Polar4", POLAR_METRIC_L2);
  {
    const BuilderHandle builder = begin(trained, path);
    for (int64_t part = 0; part < 3; ++part) {
      add(builder, false, part * 1000, part * 1000 + 1000);
      require_ok(polar_builder_write_part(builder.get()));
    }
  }
  const std::string second = path + ".parts/part-000002.polar";
  const std::string bytes = bytes_of(second);
  polar_builder* out = nullptr;
  const auto check_corrupt = [&](const std::string& text) {
    check_failed(polar_builder_resume(path.c_str(), nullptr, &out), POLAR_ERROR_CORRUPT_DATA,
                 {text});
  };
  std::filesystem::remove(second);
  check_corrupt("part 2 of 3 is missing");
  std::ofstream(second, std::ios::binary) << bytes.substr(0, bytes.size() / 2);
  check_corrupt(second);
  IndexHandle other = make_index("IVF7,Polar4", rows().dim(), POLAR_METRIC_L2);
  require_ok(polar_index_train(other.get(), 900, rows().row(100), nullptr));
  rows().add(other, false, 0, 10);
  save(other, second);
  check_corrupt("of another build");
  const IndexHandle with_ids = clone(trained);
  rows().add(with_ids, true, 0, 10);
  save(with_ids, second);
  check_corrupt("ids of the caller's");
  // Rows are verified when they are merged.
  std::string damaged = bytes;
  damaged[damaged.size() / 2] ^= 1;
  std::ofstream(second, std::ios::binary) << damaged;
  const BuilderHandle builder = resume(path);
  check_failed(polar_builder_finish(builder.get(), nullptr), POLAR_ERROR_CORRUPT_DATA,
               {"checksum"});
  std::ofstream(second, std::ios::binary) << bytes;
  require_ok(polar_builder_finish(builder.get(), nullptr));
  CHECK(polar_index_ntotal(load(path).get()) == 3000);
}

}  // namespace
