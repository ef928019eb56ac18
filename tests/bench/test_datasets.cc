// SPDX-License-Identifier: MIT
// The readers of .npy, TEXMEX and big-ann files: what they read, and that damaged, hostile and
// unsupported files are refused by name before memory is taken.
#include <cmath>
#include <limits>

#include "bench/recall/benchmark_data.h"
#include "bench/recall/input_file.h"
#include "bench/recall/matrix_reader.h"
#include "src/codec/float16.h"
#include "tests/support/catch.h"
#include "tests/support/temporary_folder.h"

namespace polarquant::bench {
namespace {

using test::bytes_of;
using test::npy_bytes;
using test::npy_dict;
using test::require_error;
using test::TemporaryFolder;

const std::vector<float> kSix = {1, 2, 3, -4, 0.5F, 6};

FloatMatrix floats(const std::string& path, int64_t max_rows = kAllRows) {
  return read_float_matrix(path, MatrixRole::base, max_rows, nullptr);
}
IdMatrix ids(const std::string& path) {
  return read_id_matrix(path, MatrixRole::ground_truth, kAllRows, nullptr);
}

/// Rows of `data`, each after its int32 dimension.
template <typename T>
std::string texmex_bytes(const std::vector<T>& data, int32_t dim) {
  std::string out;
  for (size_t at = 0; at < data.size(); at += static_cast<size_t>(dim)) {
    out += bytes_of<int32_t>({dim});
    out += bytes_of(std::vector<T>(data.begin() + static_cast<ptrdiff_t>(at),
                                   data.begin() + static_cast<ptrdiff_t>(at) + dim));
  }
  return out;
}

void require_six(const FloatMatrix& matrix) {
  REQUIRE(matrix.rows == 2);
  REQUIRE(matrix.rows_in_source == 2);
  REQUIRE(matrix.dim == 3);
  REQUIRE(matrix.values == kSix);
}

std::string six_halves() {
  std::vector<uint16_t> halves;
  for (const float value : kSix) halves.push_back(float_to_half(value));
  return bytes_of(halves);
}

}  // namespace

TEST_CASE("float files of every format give the same matrix", "[unit]") {
  const TemporaryFolder folder;
  for (const int version : {1, 2, 3}) {
    require_six(floats(
        folder.write("a.npy", npy_bytes(npy_dict("<f4", "(2, 3)"), bytes_of(kSix), version))));
  }
  require_six(floats(folder.write("h.npy", npy_bytes(npy_dict("<f2", "(2, 3)"), six_halves()))));
  require_six(floats(folder.write("a.fvecs", texmex_bytes(kSix, 3))));
  require_six(floats(folder.write("a.fbin", bytes_of<uint32_t>({2, 3}) + bytes_of(kSix))));
  require_six(floats(folder.write("a.f16bin", bytes_of<uint32_t>({2, 3}) + six_halves())));
}

TEST_CASE("id files of every format give the same matrix", "[unit]") {
  const TemporaryFolder folder;
  const std::vector<int32_t> narrow = {5, 0, 7, 9};
  const std::vector<int64_t> wide = {5, 0, 7, 9};
  const auto check = [&](const std::string& path) {
    const IdMatrix matrix = ids(path);
    REQUIRE(matrix.rows == 2);
    REQUIRE(matrix.k == 2);
    REQUIRE(matrix.values == wide);
  };
  check(folder.write("i4.npy", npy_bytes(npy_dict("<i4", "(2, 2)"), bytes_of(narrow))));
  check(folder.write("i8.npy", npy_bytes(npy_dict("<i8", "(2, 2)"), bytes_of(wide))));
  check(folder.write("a.ivecs", texmex_bytes(narrow, 2)));
  const std::string ibin = bytes_of<uint32_t>({2, 2}) + bytes_of(narrow);
  check(folder.write("a.ibin", ibin));
  check(folder.write("with_distances.ibin", ibin + bytes_of(std::vector<float>(4, 1.0F))));
}

TEST_CASE("a row limit cuts the reading and keeps the file's count", "[unit]") {
  const TemporaryFolder folder;
  for (const std::string& path :
       {folder.write("a.npy", npy_bytes(npy_dict("<f4", "(2, 3)"), bytes_of(kSix))),
        folder.write("a.fvecs", texmex_bytes(kSix, 3))}) {
    const FloatMatrix matrix = floats(path, 1);
    REQUIRE(matrix.rows == 1);
    REQUIRE(matrix.rows_in_source == 2);
    REQUIRE(matrix.values == std::vector<float>{1, 2, 3});
  }
}

TEST_CASE("float16 is widened exactly, subnormals and extremes too", "[unit]") {
  const TemporaryFolder folder;
  const std::vector<uint16_t> halves = {0x0001, 0x03ff, 0x0400, 0x7bff, 0xfbff, 0x8000};
  const FloatMatrix matrix =
      floats(folder.write("h.npy", npy_bytes(npy_dict("<f2", "(1, 6)"), bytes_of(halves))));
  const std::vector<float> expected = {0x1p-24F, 1023 * 0x1p-24F, 0x1p-14F, 65504, -65504, -0.0F};
  REQUIRE(matrix.values == expected);
  REQUIRE(std::signbit(matrix.values[5]));
}

TEST_CASE("npy headers as other writers space them are read", "[unit]") {
  const TemporaryFolder folder;
  const std::string dict = "{ \"shape\":(2,3,) , \"fortran_order\" : False,\"descr\":\"<f4\"}";
  require_six(floats(folder.write("a.npy", npy_bytes(dict, bytes_of(kSix)))));
}

TEST_CASE("unsupported npy files are refused by field", "[unit]") {
  const TemporaryFolder folder;
  const auto refuse = [&](StatusCode code, const std::string& part, const std::string& bytes) {
    const std::string path = folder.write("bad.npy", bytes);
    require_error(code, part, [&] { floats(path); });
    require_error(code, "bad.npy", [&] { floats(path); });
  };
  const std::string data = bytes_of(kSix);
  refuse(StatusCode::unsupported, "fortran_order is True",
         npy_bytes(npy_dict("<f4", "(2, 3)", "True"), data));
  refuse(StatusCode::unsupported, "descr '>f4': big-endian",
         npy_bytes(npy_dict(">f4", "(2, 3)"), data));
  refuse(StatusCode::unsupported, "descr '<f8'", npy_bytes(npy_dict("<f8", "(2, 3)"), data));
  refuse(StatusCode::unsupported, "int32 values", npy_bytes(npy_dict("<i4", "(2, 3)"), data));
  refuse(StatusCode::unsupported, "shape has 1 dim", npy_bytes(npy_dict("<f4", "(6,)"), data));
  refuse(StatusCode::unsupported, "structured array",
         npy_bytes("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (2, 3), }", data));
  refuse(StatusCode::newer_format, "npy version 4", npy_bytes(npy_dict("<f4", "(2, 3)"), data, 4));
}

TEST_CASE("damaged and hostile npy files are refused before memory is taken", "[unit]") {
  const TemporaryFolder folder;
  const auto refuse = [&](const std::string& part, const std::string& bytes) {
    const std::string path = folder.write("bad.npy", bytes);
    require_error(StatusCode::corrupt_data, part, [&] { floats(path); });
  };
  const std::string data = bytes_of(kSix);
  const std::string good = npy_bytes(npy_dict("<f4", "(2, 3)"), data);
  // Every truncation: in magic, length, header and data.
  for (size_t bytes = 0; bytes < good.size(); ++bytes) refuse("bad.npy", good.substr(0, bytes));
  refuse("28 follow", good + "more");
  refuse("no .npy file", "PK" + good.substr(2));
  refuse("9223372036854775807 rows", npy_bytes(npy_dict("<f4", "(9223372036854775807, 3)"), data));
  refuse("3074457345618258603 rows", npy_bytes(npy_dict("<f4", "(3074457345618258603, 3)"), data));
  refuse("dimension 4611686018427387904",
         npy_bytes(npy_dict("<f4", "(2, 4611686018427387904)"), data));
  refuse("a size from 0", npy_bytes(npy_dict("<f4", "(99999999999999999999, 3)"), data));
  refuse("a size from 0", npy_bytes(npy_dict("<f4", "(-2, 3)"), data));
  refuse("0 rows", npy_bytes(npy_dict("<f4", "(0, 3)"), data));
  refuse("dimension 0", npy_bytes(npy_dict("<f4", "(2, 0)"), data));
  refuse("'{' expected", npy_bytes("import os", data));
  refuse("key 'extra'", npy_bytes("{'extra': 1}", data));
  refuse("lacks", npy_bytes("{'descr': '<f4'}", data));
  refuse("closing quote", npy_bytes("{'descr", data));
  refuse("True or False", npy_bytes(npy_dict("<f4", "(2, 3)", "None"), data));
  std::string long_header = npy_bytes(npy_dict("<f4", "(2, 3)"), data, 2);
  long_header.replace(8, 4, "\xff\xff\xff\xff");
  refuse("header claims 4294967295", long_header);
}

TEST_CASE("damaged and hostile TEXMEX files are refused", "[unit]") {
  const TemporaryFolder folder;
  const auto refuse = [&](const std::string& part, const std::string& bytes) {
    const std::string path = folder.write("bad.fvecs", bytes);
    require_error(StatusCode::corrupt_data, part, [&] { floats(path); });
  };
  const std::string good = texmex_bytes(kSix, 3);
  for (size_t bytes = 0; bytes < good.size(); ++bytes) {
    if (bytes == good.size() / 2) continue;  // exactly one row: a whole file
    refuse("bad.fvecs", good.substr(0, bytes));
  }
  std::string other_dim = good;
  other_dim[16] = 2;
  refuse("row 1 says dimension 2", other_dim);
  std::string big_endian = good;
  big_endian.replace(0, 4, std::string("\0\0\0\3", 4));
  refuse("dimension 50331648", big_endian);
  std::string negative = good;
  negative.replace(0, 4, "\xff\xff\xff\xff");
  refuse("dimension -1", negative);
}

TEST_CASE("damaged and hostile big-ann files are refused", "[unit]") {
  const TemporaryFolder folder;
  const auto refuse = [&](const std::string& part, const std::string& bytes) {
    const std::string path = folder.write("bad.fbin", bytes);
    require_error(StatusCode::corrupt_data, part, [&] { floats(path); });
  };
  const std::string good = bytes_of<uint32_t>({2, 3}) + bytes_of(kSix);
  for (size_t bytes = 0; bytes < good.size(); ++bytes) refuse("bad.fbin", good.substr(0, bytes));
  refuse("but 48 follow", good + bytes_of(kSix));  // distances may follow ids only
  refuse("4294967295 rows", bytes_of<uint32_t>({0xffffffffU, 3}) + bytes_of(kSix));
  refuse("dimension 4294967295", bytes_of<uint32_t>({2, 0xffffffffU}) + bytes_of(kSix));
  refuse("0 rows", bytes_of<uint32_t>({0, 3}));
  refuse("dimension 0", bytes_of<uint32_t>({2, 0}));
}

TEST_CASE("rows with NaN or infinity are refused by number", "[unit]") {
  const TemporaryFolder folder;
  std::vector<float> values = kSix;
  values[4] = std::numeric_limits<float>::quiet_NaN();
  require_error(StatusCode::bad_argument, "row 1 column 1 is nan",
                [&] { floats(folder.write("n.fvecs", texmex_bytes(values, 3))); });
  values = kSix;
  values[2] = -std::numeric_limits<float>::infinity();
  require_error(StatusCode::bad_argument, "row 0 column 2 is -inf",
                [&] { floats(folder.write("n.fvecs", texmex_bytes(values, 3))); });
}

TEST_CASE("missing files, folders and unknown endings are named", "[unit]") {
  const TemporaryFolder folder;
  require_error(StatusCode::io, "none.npy", [&] { floats(folder.file("none.npy")); });
  std::filesystem::create_directory(folder.file("folder.npy"));
  require_error(StatusCode::io, "not a regular file", [&] { floats(folder.file("folder.npy")); });
  require_error(StatusCode::unsupported, ".fvecs", [&] { floats(folder.write("a.csv", "1,2")); });
  require_error(StatusCode::unsupported, ".npy, .fvecs, .fbin, .f16bin",
                [&] { floats(folder.write("a.ivecs", "1,2")); });
}

TEST_CASE("the hash is XXH3 of the whole file", "[unit]") {
  const TemporaryFolder folder;
  REQUIRE(hash_file(InputFile(folder.write("empty", "")), nullptr) == "2d06800538d394c2");
  const InputFile large(folder.write("large", std::string(size_t{5} << 20, 'x')));
  int64_t seen = 0;
  hash_file(large, [&](int64_t done, int64_t) { seen = done; });
  REQUIRE(seen == int64_t{5} << 20);
}

TEST_CASE("base, queries and ground truth must fit together", "[unit]") {
  const TemporaryFolder folder;
  const auto progress = [](const std::string&) { return OnProgress(); };
  const std::string base = folder.write("base.fvecs", texmex_bytes<float>({1, 0, 0, 1, 3, 4}, 2));
  const std::string query = folder.write("query.fvecs", texmex_bytes<float>({0, 2, 2, 0}, 2));
  DataRequest request;
  request.base = base;
  request.query = query;
  request.distance = Distance::cosine;
  request.k = 2;

  SECTION("cosine normalizes both and computes the neighbours") {
    const BenchmarkData data = load_benchmark_data(request, progress);
    REQUIRE(data.base.values[4] == 0.6F);
    REQUIRE(data.query.values == std::vector<float>{0, 1, 1, 0});
    REQUIRE(data.ground_truth.values == std::vector<int64_t>{1, 2, 0, 2});
    REQUIRE_FALSE(data.ground_truth_file.has_value());
    REQUIRE(data.base_file.bytes == 36);
  }
  SECTION("a given ground truth is used, and computed anew when the base is cut") {
    request.ground_truth = folder.write("gt.ivecs", texmex_bytes<int32_t>({2, 1, 2, 0}, 2));
    REQUIRE(load_benchmark_data(request, progress).ground_truth.values ==
            std::vector<int64_t>{2, 1, 2, 0});
    request.max_base = 2;
    const BenchmarkData fewer_rows = load_benchmark_data(request, progress);
    REQUIRE(fewer_rows.ground_truth.values == std::vector<int64_t>{1, 0, 0, 1});
    REQUIRE(fewer_rows.note.find("no longer hold") != std::string::npos);
  }
  SECTION("a ground truth of other shape or ids is refused") {
    request.ground_truth = folder.write("gt.ivecs", texmex_bytes<int32_t>({2, 1}, 2));
    require_error(StatusCode::bad_argument, "1 rows of neighbours (allowed: 2",
                  [&] { load_benchmark_data(request, progress); });
    request.ground_truth = folder.write("gt.ivecs", texmex_bytes<int32_t>({2, 1, 3, 0}, 2));
    require_error(StatusCode::bad_argument, "row 1 column 0 is id 3 (allowed: 0 to 2)",
                  [&] { load_benchmark_data(request, progress); });
    request.ground_truth = folder.write("gt.ivecs", texmex_bytes<int32_t>({2, 1, -1, 0}, 2));
    require_error(StatusCode::bad_argument, "is id -1",
                  [&] { load_benchmark_data(request, progress); });
    request.ground_truth = folder.write("gt.ivecs", texmex_bytes<int32_t>({2, 2, 0, 1}, 2));
    require_error(StatusCode::bad_argument, "row 0 holds id 2 twice",
                  [&] { load_benchmark_data(request, progress); });
    request.ground_truth = folder.write("gt.ivecs", texmex_bytes<int32_t>({2, 1}, 1));
    require_error(StatusCode::bad_argument, "1 neighbours a row, but -k is 2",
                  [&] { load_benchmark_data(request, progress); });
  }
  SECTION("dimensions, k and what is missing are named") {
    request.query = folder.write("wide.fvecs", texmex_bytes<float>({0, 2, 1}, 3));
    require_error(StatusCode::bad_argument, "dimension 3 (allowed: 2",
                  [&] { load_benchmark_data(request, progress); });
    request.query = query;
    request.k = 4;
    require_error(StatusCode::bad_argument, "-k is 4 (allowed: 1 to 3",
                  [&] { load_benchmark_data(request, progress); });
    request.k = 2;
    request.distance.reset();
    require_error(StatusCode::bad_argument, "--metric is missing",
                  [&] { load_benchmark_data(request, progress); });
    request.query.clear();
    require_error(StatusCode::bad_argument, "--query is missing",
                  [&] { load_benchmark_data(request, progress); });
  }
}

}  // namespace polarquant::bench
