// SPDX-License-Identifier: MIT
// ann-benchmarks' HDF5 files: one file as the whole input, and files that lie about what they hold.
#include <hdf5.h>

#include <fstream>

#include "bench/recall/benchmark_data.h"
#include "bench/recall/hdf5_reader.h"
#include "bench/recall/matrix_reader.h"
#include "tests/support/catch.h"
#include "tests/support/temporary_folder.h"

namespace polarquant::bench {
namespace {

using test::require_error;
using test::TemporaryFolder;

/// Writes data sets and attributes by HDF5's C interface.
class Hdf5Maker {
 public:
  explicit Hdf5Maker(const std::string& path)
      : file_(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT)) {}
  ~Hdf5Maker() { H5Fclose(file_); }
  Hdf5Maker(const Hdf5Maker&) = delete;
  Hdf5Maker& operator=(const Hdf5Maker&) = delete;

  template <typename T>
  void add(const char* name, hid_t type, std::vector<hsize_t> shape, const std::vector<T>& values,
           hid_t stored_type, bool compress = false) {
    const hid_t space = H5Screate_simple(static_cast<int>(shape.size()), shape.data(), nullptr);
    const hid_t plan = H5Pcreate(H5P_DATASET_CREATE);
    if (compress) {
      H5Pset_chunk(plan, static_cast<int>(shape.size()), shape.data());
      H5Pset_deflate(plan, 6);
    }
    const hid_t dataset =
        H5Dcreate2(file_, name, stored_type, space, H5P_DEFAULT, plan, H5P_DEFAULT);
    if (!values.empty()) H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data());
    H5Dclose(dataset);
    H5Pclose(plan);
    H5Sclose(space);
  }
  void add_distance(const std::string& text, bool variable_length) {
    const hid_t type = H5Tcopy(H5T_C_S1);
    H5Tset_size(type, variable_length ? H5T_VARIABLE : text.size());
    const hid_t space = H5Screate(H5S_SCALAR);
    const hid_t attribute = H5Acreate2(file_, "distance", type, space, H5P_DEFAULT, H5P_DEFAULT);
    const char* pointer = text.c_str();
    H5Awrite(
        attribute, type,
        variable_length ? static_cast<const void*>(&pointer) : static_cast<const void*>(pointer));
    H5Aclose(attribute);
    H5Sclose(space);
    H5Tclose(type);
  }

 private:
  hid_t file_;
};

const std::vector<float> kTrain = {1, 0, 0, 1, 3, 4};
const std::vector<float> kTest = {0, 2, 2, 0};
const std::vector<int32_t> kNeighbors = {1, 2, 0, 2};

void make_file(const std::string& path, const std::string& distance, bool variable_length,
               bool compress) {
  Hdf5Maker maker(path);
  maker.add("train", H5T_NATIVE_FLOAT, {3, 2}, kTrain, H5T_IEEE_F32LE, compress);
  // Big-endian on disk: HDF5 converts, so this is no reason to refuse.
  maker.add("test", H5T_NATIVE_FLOAT, {2, 2}, kTest, H5T_IEEE_F64BE, compress);
  maker.add("neighbors", H5T_NATIVE_INT32, {2, 2}, kNeighbors, H5T_STD_I32LE, compress);
  if (!distance.empty()) maker.add_distance(distance, variable_length);
}

OnProgress no_progress(const std::string&) { return {}; }

}  // namespace

TEST_CASE("one HDF5 file supplies base, queries, neighbours and metric", "[unit]") {
  const TemporaryFolder folder;
  const bool compress = GENERATE(false, true);
  const bool variable_length = GENERATE(false, true);
  DataRequest request;
  request.base = folder.file("set.hdf5");
  request.k = 2;
  make_file(request.base, "angular", variable_length, compress);
  const BenchmarkData data = load_benchmark_data(request, no_progress);
  REQUIRE(data.distance == Distance::cosine);
  REQUIRE(data.base.rows == 3);
  REQUIRE(data.query.values == std::vector<float>{0, 1, 1, 0});
  REQUIRE(data.ground_truth.values == std::vector<int64_t>{1, 2, 0, 2});
  REQUIRE(data.ground_truth_file.has_value());
}

TEST_CASE("options override what the HDF5 file says", "[unit]") {
  const TemporaryFolder folder;
  DataRequest request;
  request.base = folder.file("set.hdf5");
  request.k = 1;
  make_file(request.base, "euclidean", false, false);
  SECTION("another metric drops the file's neighbours") {
    request.distance = Distance::inner_product;
    const BenchmarkData data = load_benchmark_data(request, no_progress);
    REQUIRE_FALSE(data.ground_truth_file.has_value());
    REQUIRE(data.ground_truth.values == std::vector<int64_t>{2, 2});
    REQUIRE(data.note.find("'euclidean'") != std::string::npos);
  }
  SECTION("other queries drop them too") {
    request.query = folder.write("query.fbin",
                                 test::bytes_of<uint32_t>({1, 2}) + test::bytes_of<float>({3, 4}));
    const BenchmarkData data = load_benchmark_data(request, no_progress);
    REQUIRE_FALSE(data.ground_truth_file.has_value());
    REQUIRE(data.ground_truth.values == std::vector<int64_t>{2});
  }
  SECTION("fewer rows recompute them") {
    request.max_base = 2;
    request.max_queries = 1;
    const BenchmarkData data = load_benchmark_data(request, no_progress);
    REQUIRE(data.ground_truth.rows == 1);
    REQUIRE(data.ground_truth.values == std::vector<int64_t>{1});
  }
}

TEST_CASE("a metric that is missing or not measured is named", "[unit]") {
  const TemporaryFolder folder;
  DataRequest request;
  request.base = folder.file("set.hdf5");
  make_file(request.base, "hamming", true, false);
  require_error(StatusCode::unsupported, "'hamming'",
                [&] { load_benchmark_data(request, no_progress); });
  make_file(request.base, "", true, false);
  require_error(StatusCode::bad_argument, "--metric is missing",
                [&] { load_benchmark_data(request, no_progress); });
}

TEST_CASE("HDF5 files that are damaged or claim too much are refused", "[unit]") {
  const TemporaryFolder folder;
  const std::string path = folder.file("bad.hdf5");
  const auto read_base = [&] { read_float_matrix(path, MatrixRole::base, kAllRows, nullptr); };

  SECTION("no HDF5 file") {
    folder.write("bad.hdf5", "not this format");
    require_error(StatusCode::corrupt_data, "damaged or no HDF5", read_base);
  }
  SECTION("no file") { require_error(StatusCode::io, "bad.hdf5", read_base); }
  SECTION("truncated at every 256 bytes") {
    make_file(path, "angular", false, false);
    const auto size = std::filesystem::file_size(path);
    for (auto bytes = size - 1; bytes > 256; bytes -= 256) {
      make_file(path, "angular", false, false);
      std::filesystem::resize_file(path, bytes);
      require_error(StatusCode::corrupt_data, "bad.hdf5", read_base);
    }
  }
  SECTION("a shape without stored values") {
    Hdf5Maker(path).add<float>("train", H5T_NATIVE_FLOAT, {hsize_t{1} << 40, 1024}, {},
                               H5T_IEEE_F32LE);
    require_error(StatusCode::corrupt_data, "1099511627776 rows", read_base);
  }
  SECTION("missing data set") {
    Hdf5Maker(path).add("test", H5T_NATIVE_FLOAT, {2, 2}, kTest, H5T_IEEE_F32LE);
    require_error(StatusCode::not_found, "'train'", read_base);
  }
  SECTION("integers as vectors") {
    Hdf5Maker(path).add("train", H5T_NATIVE_INT32, {2, 2}, kNeighbors, H5T_STD_I32LE);
    require_error(StatusCode::unsupported, "no floating-point", read_base);
  }
  SECTION("one dimension, as sparse sets have") {
    Hdf5Maker(path).add("train", H5T_NATIVE_FLOAT, {4}, kTest, H5T_IEEE_F32LE);
    require_error(StatusCode::unsupported, "1 dimensions", read_base);
  }
}

}  // namespace polarquant::bench
