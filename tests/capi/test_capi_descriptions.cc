// SPDX-License-Identifier: MIT
// Factory strings of a grammar: each is refused when it is made, or makes an index that is trained,
// filled, searched, saved and loaded, or says what it cannot do. None crashes or hangs.
#include <cstring>
#include <set>
#include <string>
#include <vector>

#include "tests/capi/capi_support.h"
#include "tests/support/hang_alarm.h"

using namespace polarquant::test;

namespace {

constexpr int32_t kDim = 16;
constexpr int64_t kRows = 300;
/// Far more than any of them takes; then the process ends.
constexpr unsigned kHangSeconds = 120;

using Strings = std::vector<std::string>;

// FAISS's names with few bits, whose training takes no time.
const Strings kCodes = {
    "Flat",
    "SQ8",
    "SQ4",
    "SQfp16",
    "PQ4x4np",
    "PQ4x4fs",
    "PQ2x10np",
    "PQ1x16np",
    "PQ3x4np",
    "PQ1x32",
    "PQ2x40np",
    "LSH",
    "LSHrt",
    "RQ2x4",
    "RQ1x4_2x3",
    "LSQ2x4",
    "PRQ2x2x4",
    "RQ2x4fs",
    "RCQ2x2",
    "FlatDedup",
    "PQ0",
    "SQ2",
    "HNSW8",
    "HNSW1,Flat",
    "HNSW8,SQ8",
    "HNSW8_Polar4",
    "HNSW4_2+PQ2",
    "NSG8",
    "NSG8,SQ8",
    "NSG7",
    "NSG2147483647,Flat",
    "Polar4",
    "Polar2-pca",
    "PolarPair4x4",
    "PolarPair4x4g128",
    "PolarTree4.2.2.2",
    "HNSW8,Polar4",
    "HNSW8x,Polar4",
    "HNSW8x",
    "HNSW8x,Flat",
    "HNSW8x,Polar2-pca",
    "HNSW1,Polar4",
    "HNSW1073741824,Polar4",
    "NSG8,Polar4",
    "HNSW8,PolarPair4x4g128",
    "IDMap",
    "RFlat",
    "Polar",
    "Foo3",
    "",
};
const Strings kLists = {"IVF4",
                        "IVF4_HNSW8",
                        "IVF4_HNSW1",
                        "IVF2_NSG8",
                        "IVF70_NSG8",
                        "IMI2x2",
                        "IVF0",
                        "IVF4(Flat)",
                        "IVF4(Polar8)",
                        "IVF4(SQ8)",
                        "IVF4(IVF2,Flat)",
                        "IVF4(IVF2,Polar4)",
                        "IVF4(HNSW8,Polar4)",
                        "IVF4(NSG8,Flat)",
                        "IVF4(RR16,Polar8)",
                        "IVF4(IDMap,Flat)",
                        "IVF4(PQ4x4np)",
                        "IVF301",
                        "IVF16(RCQ2x2)",
                        "IVF4(",
                        "IVF4)",
                        "IVF4()"};
const Strings kTransforms = {"PCA8", "PCA32", "RR",    "RR32",   "ITQ8",
                             "OPQ4", "OPQ3",  "Pad24", "L2norm", "PCA8,RR8"};
const Strings kFound = {"Flat",      "SQ8",         "PQ4x4np",    "Polar2",
                        "IVF4,Flat", "IVF4,Polar4", "HNSW8,Flat", "HNSW8,Polar4",
                        "NSG8,Flat", "NSG8,Polar4", "PCA8,Polar4"};
const Strings kRefining = {"RFlat",
                           "Refine(Flat)",
                           "Refine(SQ8)",
                           "Refine(Polar8)",
                           "Refine(PQ4x4np)",
                           "Refine(PCA8,Polar8)",
                           "Refine(IVF2,Flat)",
                           "Refine(HNSW8,Flat)",
                           "Refine(HNSW8,Polar4)",
                           "Refine(IDMap2,Flat)",
                           "Refine(LSH)",
                           "Refine(PolarPair4x4g128)",
                           "Refine(Flat,RFlat)"};
const Strings kMaps = {"IDMap", "IDMap2", "IDMap2,IDMap", "IDMap,PCA8,IDMap2"};

void add_products(const Strings& first, const Strings& second, std::set<std::string>& all) {
  for (const std::string& a : first) {
    for (const std::string& b : second) all.insert(std::string(a).append(",").append(b));
  }
}

std::set<std::string> descriptions() {
  std::set<std::string> all(kCodes.begin(), kCodes.end());
  add_products({"IVF4", "IVF4(Polar8)"}, kCodes, all);
  add_products(kLists, {"Flat", "SQ8", "PQ4x4np", "Polar4"}, all);
  add_products(kTransforms, {"Flat", "Polar4", "IVF4,Polar4"}, all);
  add_products(kFound, kRefining, all);
  add_products(kMaps, kFound, all);
  add_products(kFound, kMaps, all);
  return all;
}

/// Whether it is done, or refused with a text; anything else is the library's own fault.
bool done(polar_status status) {
  if (status == POLAR_OK) return true;
  INFO("text: " << last_error());
  CHECK(status != POLAR_ERROR_INTERNAL);
  CHECK(!last_error().empty());
  return false;
}

int32_t append(void* user, const void* data, size_t bytes) {
  static_cast<std::string*>(user)->append(static_cast<const char*>(data), bytes);
  return 0;
}

struct Stream {
  const std::string& bytes;
  size_t position = 0;
};

int64_t take(void* user, void* data, size_t bytes) {
  auto* stream = static_cast<Stream*>(user);
  const size_t count = std::min(bytes, stream->bytes.size() - stream->position);
  std::memcpy(data, stream->bytes.data() + stream->position, count);
  stream->position += count;
  return static_cast<int64_t>(count);
}

/// The ids that a search finds; none where it is refused.
std::vector<int64_t> found_by(const polar_index* index, const std::vector<float>& x, int64_t k) {
  std::vector<float> scores(static_cast<size_t>(3 * k));
  std::vector<int64_t> ids(static_cast<size_t>(3 * k), -1);
  if (!done(polar_index_search(index, 3, x.data(), k, nullptr, scores.data(), ids.data())))
    ids.clear();
  return ids;
}

void use(const polar_index* index, const std::vector<float>& x) {
  found_by(index, x, kRows + 9);
  polar_search_options options;
  polar_search_options_init(&options);
  const polar_filter filter = range_filter(10, 200);
  options.filter = &filter;
  std::vector<float> scores(12);
  std::vector<int64_t> ids(12);
  done(polar_index_search(index, 3, x.data(), 4, &options, scores.data(), ids.data()));
  std::vector<int64_t> lims(4);
  done(polar_index_range_search(index, 3, x.data(), 1, nullptr, 12, lims.data(), scores.data(),
                                ids.data()));
  std::vector<float> row(kDim);
  done(polar_index_reconstruct(index, 7, row.data()));
}

/// What was made is trained, filled and searched, and comes back from a file.
void go_through(polar_index* index) {
  const std::vector<float> x = normal_rows(kRows, kDim, 1);
  const bool is_filled = done(polar_index_train(index, kRows, x.data(), nullptr)) &&
                         done(polar_index_add(index, kRows, x.data(), nullptr));
  const std::vector<int64_t> found = is_filled ? found_by(index, x, 4) : std::vector<int64_t>();
  if (is_filled) use(index, x);
  std::string bytes;
  require_ok(polar_index_save_to(index, append, &bytes, nullptr));
  polar_load_options options;
  polar_load_options_init(&options);
  options.trust_faiss = 1;
  Stream stream{bytes};
  polar_index* loaded = nullptr;
  require_ok(polar_index_load_from(take, &stream, &options, &loaded));
  const IndexHandle owned(loaded);
  if (is_filled) CHECK(found_by(loaded, x, 4) == found);
}

TEST_CASE("Every factory string of a grammar works or is refused", "[capi]") {
  int made = 0;
  for (const std::string& description : descriptions()) {
    for (const polar_metric metric : {POLAR_METRIC_L2, POLAR_METRIC_INNER_PRODUCT}) {
      INFO('"' << description << "\", metric " << metric);
      set_hang_alarm(kHangSeconds);
      polar_index* index = nullptr;
      if (!done(polar_index_create(description.c_str(), kDim, metric, &index))) continue;
      const IndexHandle owned(index);
      ++made;
      go_through(index);
    }
  }
  set_hang_alarm(0);
  CHECK(made > 100);
}

TEST_CASE("FAISS's NSG graphs are built of few rows, or refused", "[capi]") {
  for (const int64_t rows : {1, 30, 60, 64, 65, 66, 100, 101, 200}) {
    for (const char* description : {"NSG8", "NSG8,SQ8", "NSG8,Polar4"}) {
      INFO(description << ", " << rows << " rows");
      set_hang_alarm(kHangSeconds);
      const IndexHandle index = make_index(description, kDim, POLAR_METRIC_L2);
      const std::vector<float> x = normal_rows(rows, kDim, 1);
      require_ok(polar_index_train(index.get(), rows, x.data(), nullptr));
      const polar_status status = polar_index_add(index.get(), rows, x.data(), nullptr);
      if (status != POLAR_OK) {
        CHECK(rows < 65);
        check_failed(status, POLAR_ERROR_BAD_ARGUMENT, {"at least 65 are needed"});
      } else {
        require_ok(status);
        CHECK(found_by(index.get(), normal_rows(3, kDim, 2), rows + 3).size() ==
              static_cast<size_t>(3 * (rows + 3)));
      }
    }
  }
  set_hang_alarm(0);
}

// FAISS would number the centroids of the first anew, by a search that takes a minute.
TEST_CASE("Product quantizers are trained alike with and without np", "[capi]") {
  for (const std::string description : {"PQ2", "IVF2,PQ2", "PQ4x4"}) {
    INFO(description);
    const std::vector<float> x = normal_rows(kRows, kDim, 1);
    set_hang_alarm(kHangSeconds);
    const auto end_of_file = [&](const char* suffix) {
      const IndexHandle index = make_index((description + suffix).c_str(), kDim, POLAR_METRIC_L2);
      require_ok(polar_index_train(index.get(), kRows, x.data(), nullptr));
      require_ok(polar_index_add(index.get(), kRows, x.data(), nullptr));
      std::string bytes;
      require_ok(polar_index_save_to(index.get(), append, &bytes, nullptr));
      return bytes.substr(bytes.size() - kRows);  // codes
    };
    CHECK(end_of_file("") == end_of_file("np"));
  }
  set_hang_alarm(0);
}

}  // namespace
