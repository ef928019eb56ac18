// SPDX-License-Identifier: MIT
// Codec calls with arguments that are not allowed: the status, a text that names the argument, its
// value and what is allowed, and nothing changed. Index calls: test_capi_index_errors.cc.
#include <cstring>
#include <string>
#include <vector>

#include "tests/capi/capi_support.h"

using namespace polarquant::test;

namespace {

constexpr int32_t kDim = 24;
constexpr int64_t kRows = 6;
constexpr size_t kNoSize = static_cast<size_t>(-1);

void check_create_fails(const char* spec, int32_t dim, polar_metric metric,
                        const polar_codec_options* options, const std::vector<std::string>& parts) {
  auto* codec = reinterpret_cast<polar_codec*>(8);  // must become NULL
  check_failed(polar_codec_create(spec, dim, metric, options, &codec), POLAR_ERROR_BAD_ARGUMENT,
               parts);
  CHECK(codec == nullptr);
}

polar_codec_options default_options() {
  polar_codec_options options;
  polar_codec_options_init(&options);
  return options;
}

/// A codec with coded rows and a query, and what a call must leave unchanged.
struct Fixture {
  explicit Fixture(const char* spec = "Polar2")
      : codec(make_codec(spec, kDim, POLAR_METRIC_INNER_PRODUCT)),
        x(normal_rows(kRows, kDim, 1)),
        codes(encode(codec, kRows, x)),
        state_id(info_of(codec).state_id) {
    polar_query* made = nullptr;
    require_ok(polar_query_prepare(codec.get(), x.data(), &made));
    query.reset(made);
  }
  ~Fixture() { CHECK(info_of(codec).state_id == state_id); }

  CodecHandle codec;
  std::vector<float> x;
  std::vector<uint8_t> codes;
  QueryHandle query;
  uint64_t state_id;
  std::vector<float> out = std::vector<float>(kRows * kDim);
  std::vector<int64_t> ids = std::vector<int64_t>(kRows * kDim);
};

}  // namespace

TEST_CASE("create refuses a wrong spec", "[capi]") {
  check_create_fails(nullptr, kDim, 0, nullptr, {"spec: NULL is not allowed"});
  check_create_fails("", kDim, 0, nullptr, {"spec: \"\""});
  check_create_fails("PQ8", kDim, 0, nullptr, {"spec: \"PQ8\"", "Polar"});
  check_create_fails("Polar7", kDim, 0, nullptr, {"spec: \"Polar7\"", "\"7\"", "0.5"});
  check_create_fails("Polar2-fast", kDim, 0, nullptr, {"\"fast\"", "-dense"});
  check_create_fails("PolarPair4", kDim, 0, nullptr, {"spec: \"PolarPair4\"", "4x4"});
  check_create_fails("Polar2 ", kDim, 0, nullptr, {"spec: \"Polar2 \""});
  check_create_fails("Polar\xFF", kDim, 0, nullptr, {"spec: \"Polar?\""});
  check_create_fails(std::string(100000, 'P').c_str(), kDim, 0, nullptr,
                     {"spec: 100000 bytes", "at most 1000"});
}

TEST_CASE("create refuses a wrong dim or metric", "[capi]") {
  check_create_fails("Polar2", 0, 0, nullptr, {"dim: 0 is not allowed; 1 to 65535"});
  check_create_fails("Polar2", -1, 0, nullptr, {"dim: -1 is not allowed; 1 to 65535"});
  check_create_fails("Polar2", 65536, 0, nullptr, {"dim: 65536 is not allowed; 1 to 65535"});
  check_create_fails("Polar2", kDim, -1, nullptr,
                     {"metric: -1 is not allowed", "0 (inner product)"});
  check_create_fails("Polar2", kDim, 3, nullptr, {"metric: 3 is not allowed", "2 (cosine)"});
  check_failed(polar_codec_create("Polar2", kDim, 0, nullptr, nullptr), POLAR_ERROR_BAD_ARGUMENT,
               {"out: NULL is not allowed"});
}

TEST_CASE("create refuses wrong options", "[capi]") {
  polar_codec_options options = default_options();
  const auto refused = [&](const std::vector<std::string>& parts) {
    check_create_fails("Polar2", kDim, 0, &options, parts);
    options = default_options();
  };
  for (const uint32_t size : {0u, 1u, 31u, 4097u, 0xFFFFFFFFu}) {
    options.struct_size = size;
    refused({"options.struct_size: " + std::to_string(size) + " is not allowed", "to 4096"});
  }
  for (const double unit :
       {-1.0, 1e-19, 1e19, static_cast<double>(kNan), static_cast<double>(kInfinity), -0x1p-60}) {
    options.norm_unit = unit;
    refused({"options.norm_unit: ", "2^-40 to 2^40"});
  }
  options.learn_centre = 2;
  refused({"options.learn_centre: 2 is not allowed; 0 or 1"});
  for (const float bad : {kNan, kInfinity, -kInfinity}) {
    std::vector<float> centre(kDim, 1.0f);
    centre[5] = bad;
    options.centre = centre.data();
    refused({"options.centre: row 0 column 5 is ", "finite numbers are allowed"});
  }
}

TEST_CASE("create reads options of a newer caller when the rest is 0", "[capi]") {
  struct {
    polar_codec_options known;
    uint64_t unknown;
  } newer = {default_options(), 0};
  newer.known.struct_size = sizeof newer;
  newer.known.seed = 77;
  CHECK(info_of(make_codec("Polar2", kDim, 0, &newer.known)).seed == 77);
  newer.unknown = 3;
  check_create_fails("Polar2", kDim, 0, &newer.known,
                     {"options: byte 32 is 3; 0 is allowed beyond the 32 bytes"});
}

TEST_CASE("calls refuse a NULL codec", "[capi]") {
  Fixture f;
  polar_query* query = nullptr;
  size_t size = 0;
  polar_codec_info info = {};
  info.struct_size = sizeof info;
  const size_t bytes = f.codes.size();
  const std::vector<polar_status> statuses = {
      polar_codec_get_info(nullptr, &info),
      polar_codec_get_centre(nullptr, f.out.data()),
      polar_codec_train(nullptr, kRows, f.x.data(), nullptr),
      polar_codec_encoded_bytes(nullptr, 1, &size),
      polar_codec_encode(nullptr, kRows, f.x.data(), nullptr, f.codes.data(), bytes),
      polar_codec_decode(nullptr, kRows, f.codes.data(), bytes, 0, nullptr, f.out.data()),
      polar_query_prepare(nullptr, f.x.data(), &query),
      polar_query_prepare_from_code(nullptr, kRows, f.codes.data(), bytes, 0, &query),
      polar_codec_score(nullptr, f.query.get(), kRows, f.codes.data(), bytes, nullptr,
                        f.out.data()),
      polar_codec_search(nullptr, 1, f.x.data(), kRows, f.codes.data(), bytes, 1, nullptr,
                         f.out.data(), f.ids.data()),
      polar_codec_score_codes(nullptr, kRows, f.codes.data(), bytes, kRows, f.codes.data(), bytes,
                              nullptr, f.out.data()),
      polar_codec_combine(nullptr, kRows, f.codes.data(), bytes, 1, f.x.data(), nullptr,
                          f.out.data()),
      polar_codec_save_state(nullptr, nullptr, 0, &size),
  };
  for (const polar_status status : statuses) {
    check_failed(status, POLAR_ERROR_BAD_ARGUMENT, {"NULL is not allowed"});
  }
  check_failed(polar_codec_check_same_state(f.codec.get(), nullptr), POLAR_ERROR_BAD_ARGUMENT,
               {"b: NULL is not allowed"});
  check_failed(polar_codec_check_same_state(nullptr, f.codec.get()), POLAR_ERROR_BAD_ARGUMENT,
               {"a: NULL is not allowed"});
  char buf[4] = "abc";
  CHECK(polar_codec_spec(nullptr, buf, sizeof buf) == 0);
  CHECK(std::string(buf).empty());
}

TEST_CASE("calls refuse NULL buffers and outputs", "[capi]") {
  Fixture f;
  polar_codec* c = f.codec.get();
  const uint8_t* codes = f.codes.data();
  const size_t bytes = f.codes.size();
  const auto refused = [](polar_status status, const std::string& part) {
    check_failed(status, POLAR_ERROR_BAD_ARGUMENT, {part + ": NULL is not allowed"});
  };
  refused(polar_codec_get_info(c, nullptr), "info");
  refused(polar_codec_get_centre(c, nullptr), "centre");
  refused(polar_codec_train(c, kRows, nullptr, nullptr), "x");
  refused(polar_codec_encoded_bytes(c, 1, nullptr), "bytes");
  refused(polar_codec_encode(c, kRows, nullptr, nullptr, f.codes.data(), bytes), "x");
  refused(polar_codec_encode(c, kRows, f.x.data(), nullptr, nullptr, bytes), "codes");
  refused(polar_codec_decode(c, kRows, nullptr, bytes, 0, nullptr, f.out.data()), "codes");
  refused(polar_codec_decode(c, kRows, codes, bytes, 0, nullptr, nullptr), "x");
  polar_query* query = nullptr;
  refused(polar_query_prepare(c, nullptr, &query), "q");
  refused(polar_query_prepare(c, f.x.data(), nullptr), "out");
  refused(polar_query_prepare_from_code(c, kRows, nullptr, bytes, 0, &query), "codes");
  refused(polar_query_prepare_from_code(c, kRows, codes, bytes, 0, nullptr), "out");
  refused(polar_codec_score(c, nullptr, kRows, codes, bytes, nullptr, f.out.data()), "query");
  refused(polar_codec_score(c, f.query.get(), kRows, nullptr, bytes, nullptr, f.out.data()),
          "codes");
  refused(polar_codec_score(c, f.query.get(), kRows, codes, bytes, nullptr, nullptr), "scores");
  float* out = f.out.data();
  int64_t* ids = f.ids.data();
  refused(polar_codec_search(c, 1, nullptr, kRows, codes, bytes, 1, nullptr, out, ids), "queries");
  refused(polar_codec_search(c, 1, f.x.data(), kRows, nullptr, bytes, 1, nullptr, out, ids),
          "codes");
  refused(polar_codec_search(c, 1, f.x.data(), kRows, codes, bytes, 1, nullptr, nullptr, ids),
          "scores");
  refused(polar_codec_search(c, 1, f.x.data(), kRows, codes, bytes, 1, nullptr, out, nullptr),
          "ids");
  refused(polar_codec_score_codes(c, kRows, nullptr, bytes, kRows, codes, bytes, nullptr, out),
          "codes_a");
  refused(polar_codec_score_codes(c, kRows, codes, bytes, kRows, nullptr, bytes, nullptr, out),
          "codes_b");
  refused(polar_codec_score_codes(c, kRows, codes, bytes, kRows, codes, bytes, nullptr, nullptr),
          "scores");
  refused(polar_codec_combine(c, kRows, nullptr, bytes, 1, f.x.data(), nullptr, out), "codes");
  refused(polar_codec_combine(c, kRows, codes, bytes, 1, nullptr, nullptr, out), "weights");
  refused(polar_codec_combine(c, kRows, codes, bytes, 1, f.x.data(), nullptr, nullptr), "out");
  refused(polar_codec_save_state(c, f.codes.data(), bytes, nullptr), "needed");
  polar_codec* loaded = nullptr;
  refused(polar_codec_load_state(nullptr, 10, &loaded), "data");
  refused(polar_codec_load_state(codes, bytes, nullptr), "out");
}

TEST_CASE("calls refuse wrong counts", "[capi]") {
  Fixture f;
  polar_codec* c = f.codec.get();
  uint8_t* codes = f.codes.data();
  const size_t bytes = f.codes.size();
  size_t size = kNoSize;
  const auto refused = [](polar_status status, const std::string& part) {
    check_failed(status, POLAR_ERROR_BAD_ARGUMENT, {part});
  };
  refused(polar_codec_train(c, 0, f.x.data(), nullptr), "n: 0 is not allowed; 1 or more");
  refused(polar_codec_train(c, -3, f.x.data(), nullptr), "n: -3 is not allowed; 1 or more");
  refused(polar_codec_encoded_bytes(c, -1, &size), "n: -1 is not allowed; 0 or more");
  refused(polar_codec_encoded_bytes(c, INT64_MAX, &size), "does not fit");
  CHECK(size == kNoSize);
  refused(polar_codec_encode(c, -1, f.x.data(), nullptr, codes, bytes),
          "n: -1 is not allowed; 0 or more");
  refused(polar_codec_encode(c, INT64_MAX, f.x.data(), nullptr, codes, bytes), "does not fit");
  refused(polar_codec_decode(c, -1, codes, bytes, 0, nullptr, f.out.data()), "n: -1");
  refused(polar_codec_score(c, f.query.get(), -1, codes, bytes, nullptr, f.out.data()), "n: -1");
  float* out = f.out.data();
  int64_t* ids = f.ids.data();
  for (const int64_t k : {int64_t{0}, int64_t{-1}, INT64_MIN}) {
    refused(polar_codec_search(c, 1, f.x.data(), kRows, codes, bytes, k, nullptr, out, ids),
            "k: " + std::to_string(k) + " is not allowed; 1 or more");
  }
  refused(polar_codec_search(c, 1, f.x.data(), kRows, codes, bytes, INT64_MAX, nullptr, out, ids),
          "does not fit");
  refused(polar_codec_search(c, -1, f.x.data(), kRows, codes, bytes, 1, nullptr, out, ids),
          "nq: -1 is not allowed; 0 or more");
  refused(polar_codec_search(c, INT64_MAX, f.x.data(), kRows, codes, bytes, 1, nullptr, out, ids),
          "does not fit");
  refused(polar_codec_score_codes(c, -1, codes, bytes, kRows, codes, bytes, nullptr, out),
          "na: -1");
  refused(polar_codec_score_codes(c, kRows, codes, bytes, -1, codes, bytes, nullptr, out),
          "nb: -1");
  refused(polar_codec_combine(c, -1, codes, bytes, 1, f.x.data(), nullptr, out), "n: -1");
  refused(polar_codec_combine(c, kRows, codes, bytes, -1, f.x.data(), nullptr, out), "nw: -1");
  refused(polar_codec_decode(c, kRows, codes, bytes, 2, nullptr, out), "kind: 2 is not allowed; 0");
  refused(polar_codec_decode(c, kRows, codes, bytes, -1, nullptr, out), "kind: -1 is not allowed");
  polar_query* query = nullptr;
  for (const int64_t row : {int64_t{-1}, kRows, INT64_MAX}) {
    refused(polar_query_prepare_from_code(c, kRows, codes, bytes, row, &query),
            "row: " + std::to_string(row) + " is not allowed; 0 or more and below n = 6");
    CHECK(query == nullptr);
  }
}

TEST_CASE("calls refuse a codes_bytes that is not that of the rows", "[capi]") {
  Fixture f;
  polar_codec* c = f.codec.get();
  uint8_t* codes = f.codes.data();
  const size_t bytes = f.codes.size();
  polar_query* query = nullptr;
  float* out = f.out.data();
  for (const size_t wrong : {bytes - 1, bytes + 1, size_t{0}}) {
    const std::string text = "codes_bytes: " + std::to_string(wrong) + " given; " +
                             std::to_string(bytes) + " needed for 6 rows";
    const std::vector<polar_status> statuses = {
        polar_codec_encode(c, kRows, f.x.data(), nullptr, codes, wrong),
        polar_codec_decode(c, kRows, codes, wrong, 0, nullptr, out),
        polar_query_prepare_from_code(c, kRows, codes, wrong, 0, &query),
        polar_codec_score(c, f.query.get(), kRows, codes, wrong, nullptr, out),
        polar_codec_search(c, 1, f.x.data(), kRows, codes, wrong, 1, nullptr, out, f.ids.data()),
        polar_codec_combine(c, kRows, codes, wrong, 1, f.x.data(), nullptr, out)};
    for (const polar_status status : statuses)
      check_failed(status, POLAR_ERROR_BAD_ARGUMENT, {text});
  }
  check_failed(
      polar_codec_score_codes(c, kRows, codes, bytes - 1, 1, codes, bytes / 6, nullptr, out),
      POLAR_ERROR_BAD_ARGUMENT, {"codes_a_bytes: "});
  check_failed(
      polar_codec_score_codes(c, 1, codes, bytes / 6, kRows, codes, bytes - 1, nullptr, out),
      POLAR_ERROR_BAD_ARGUMENT, {"codes_b_bytes: "});
}

TEST_CASE("calls refuse numbers that are not finite, by row", "[capi]") {
  Fixture f;
  polar_codec* c = f.codec.get();
  const size_t bytes = f.codes.size();
  float* out = f.out.data();
  for (const float bad : {kNan, kInfinity, -kInfinity}) {
    std::vector<float> x = f.x;
    x[2 * kDim + 7] = bad;
    const std::vector<std::string> in_row_2 = {": row 2 column 7 is ", "finite"};
    CodecHandle fresh = make_codec("Polar2", kDim, POLAR_METRIC_L2);
    const uint64_t before = info_of(fresh).state_id;
    check_failed(polar_codec_train(fresh.get(), kRows, x.data(), nullptr), POLAR_ERROR_BAD_ARGUMENT,
                 in_row_2);
    CHECK(info_of(fresh).state_id == before);
    std::vector<uint8_t> codes(bytes);
    check_failed(polar_codec_encode(c, kRows, x.data(), nullptr, codes.data(), bytes),
                 POLAR_ERROR_BAD_ARGUMENT, in_row_2);
    check_failed(polar_codec_search(c, 3, x.data(), kRows, f.codes.data(), bytes, 1, nullptr, out,
                                    f.ids.data()),
                 POLAR_ERROR_BAD_ARGUMENT, in_row_2);
    check_failed(polar_codec_combine(c, kRows, f.codes.data(), bytes, 13, x.data(), nullptr, out),
                 POLAR_ERROR_BAD_ARGUMENT,
                 {"weights: row 9 column 1 is ", "finite"});  // item 55 of (13, 6)
    polar_query* query = nullptr;
    check_failed(polar_query_prepare(c, x.data() + 2 * kDim, &query), POLAR_ERROR_BAD_ARGUMENT,
                 {"q: row 0 column 7 is ", "finite"});
    CHECK(query == nullptr);
  }
}

TEST_CASE("encode refuses lengths that scores cannot hold, by row, and no others", "[capi]") {
  polar_codec_options options = default_options();
  options.norm_unit = 1;
  for (const polar_metric metric : {POLAR_METRIC_INNER_PRODUCT, POLAR_METRIC_L2}) {
    const CodecHandle codec = make_codec("Polar2", kDim, metric, &options);
    for (const float length : {1e-30f, 1e-7f, 1e7f, 1e17f, 1e18f, 1e30f}) {
      std::vector<float> x = normal_rows(kRows, kDim, 3);
      for (int32_t i = 0; i < kDim; ++i) x[4 * kDim + static_cast<size_t>(i)] *= length;
      std::vector<uint8_t> codes(static_cast<size_t>(kRows) * info_of(codec).code_bytes);
      const polar_status status =
          polar_codec_encode(codec.get(), kRows, x.data(), nullptr, codes.data(), codes.size());
      if (length < 1e18f) {
        require_ok(status);
        continue;
      }
      check_failed(status, POLAR_ERROR_BAD_ARGUMENT,
                   {"row 4: its distance to the centre is", "up to 2.31e+18 is allowed"});
    }
  }
}

TEST_CASE("calls that need training say so", "[capi]") {
  for (const char* spec : {"PolarPair4x4", "PolarTree4.2-online"}) {
    const CodecHandle codec = make_codec(spec, kDim, POLAR_METRIC_L2);
    CHECK(info_of(codec).is_trained == 0);
    const std::vector<float> x = normal_rows(kRows, kDim, 3);
    std::vector<uint8_t> codes(static_cast<size_t>(kRows) * info_of(codec).code_bytes);
    std::vector<float> out(kRows * kDim);
    std::vector<int64_t> ids(kRows);
    polar_query* query = nullptr;
    polar_codec* c = codec.get();
    const std::vector<polar_status> statuses = {
        polar_codec_encode(c, kRows, x.data(), nullptr, codes.data(), codes.size()),
        polar_codec_decode(c, kRows, codes.data(), codes.size(), 0, nullptr, out.data()),
        polar_query_prepare(c, x.data(), &query),
        polar_query_prepare_from_code(c, kRows, codes.data(), codes.size(), 0, &query),
        polar_codec_search(c, 1, x.data(), kRows, codes.data(), codes.size(), 1, nullptr,
                           out.data(), ids.data()),
        polar_codec_score_codes(c, kRows, codes.data(), codes.size(), 1, codes.data(),
                                codes.size() / kRows, nullptr, out.data()),
        polar_codec_combine(c, kRows, codes.data(), codes.size(), 1, x.data(), nullptr,
                            out.data())};
    for (const polar_status status : statuses) {
      check_failed(status, POLAR_ERROR_NOT_TRAINED, {spec, "not trained", "polar_codec_train"});
    }
    CHECK(query == nullptr);
  }
}

TEST_CASE("train is refused once the codec has encoded", "[capi]") {
  Fixture f;
  check_failed(polar_codec_train(f.codec.get(), kRows, f.x.data(), nullptr),
               POLAR_ERROR_STATE_MISMATCH, {"encode"});
}

TEST_CASE("a query of another codec state is refused", "[capi]") {
  Fixture f;
  polar_codec_options options = default_options();
  options.seed = 2;
  const std::vector<std::pair<const char*, int32_t>> others = {
      {"Polar2", kDim}, {"Polar2", kDim + 1}, {"Polar4", kDim}};
  for (const auto& [spec, dim] : others) {
    const CodecHandle other = make_codec(spec, dim, POLAR_METRIC_INNER_PRODUCT, &options);
    const std::vector<float> q = normal_rows(1, dim, 4);
    polar_query* made = nullptr;
    require_ok(polar_query_prepare(other.get(), q.data(), &made));
    const QueryHandle query(made);
    check_failed(polar_codec_score(f.codec.get(), query.get(), kRows, f.codes.data(),
                                   f.codes.size(), nullptr, f.out.data()),
                 POLAR_ERROR_STATE_MISMATCH, {"query"});
  }
}

TEST_CASE("codecs of different states are told apart by what differs", "[capi]") {
  const CodecHandle codec = make_codec("Polar2", kDim, POLAR_METRIC_L2);
  polar_codec_options options = default_options();
  options.seed = 9;
  const auto differs = [&](const CodecHandle& other, const std::string& what) {
    check_failed(polar_codec_check_same_state(codec.get(), other.get()), POLAR_ERROR_STATE_MISMATCH,
                 {"a, b: ", what});
    CHECK(info_of(codec).state_id != info_of(other).state_id);
  };
  differs(make_codec("Polar2", kDim, POLAR_METRIC_L2, &options), "seed");
  differs(make_codec("Polar2", kDim + 1, POLAR_METRIC_L2), "dim");
  differs(make_codec("Polar3", kDim, POLAR_METRIC_L2), "spec");
  differs(make_codec("Polar2", kDim, POLAR_METRIC_COSINE), "metric");
  options = default_options();
  options.norm_unit = 64;
  differs(make_codec("Polar2", kDim, POLAR_METRIC_L2, &options), "unit");
  const std::vector<float> centre(kDim, 0.5f);
  options = default_options();
  options.centre = centre.data();
  differs(make_codec("Polar2", kDim, POLAR_METRIC_L2, &options), "centre");
  require_ok(
      polar_codec_check_same_state(codec.get(), make_codec("Polar2", kDim, POLAR_METRIC_L2).get()));
}

TEST_CASE("info refuses a struct_size that no version had", "[capi]") {
  Fixture f;
  for (const uint32_t size : {0u, 8u, 95u, 4097u}) {
    polar_codec_info info = {};
    info.struct_size = size;
    check_failed(polar_codec_get_info(f.codec.get(), &info), POLAR_ERROR_BAD_ARGUMENT,
                 {"info.struct_size: " + std::to_string(size) + " is not allowed", "96 to 4096"});
    CHECK(info.dim == 0);
  }
}
