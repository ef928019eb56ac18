// SPDX-License-Identifier: MIT
// The vectors of this folder by the C ABI: every case of every file.
#include "src/core/aligned_buffer.h"
#include "tests/conformance/vectors.h"

using namespace polarquant::test;

namespace {

bool has_indexes() {
  polar_index* index = nullptr;
  const polar_status status = polar_index_create("Polar2", 8, POLAR_METRIC_L2, &index);
  polar_index_destroy(index);
  return status != POLAR_ERROR_UNSUPPORTED;
}

/// The codes of a case, in blocks.
void check_blocks(const Json& expected, const polar_codec* codec, int64_t n,
                  const std::vector<uint8_t>& codes) {
  size_t bytes = 0;
  const polar_status status = polar_blocks_bytes(codec, n, &bytes);
  if (!expected["has_blocks"].get<bool>()) {
    CHECK(status == POLAR_ERROR_UNSUPPORTED);
    return;
  }
  require_ok(status);
  polarquant::AlignedVector<uint8_t> memory(bytes);
  polar_blocks blocks = {0, memory.data(), bytes};
  require_ok(polar_blocks_append(codec, &blocks, n, codes.data(), codes.size()));
  const int32_t dim = expected["dim"];
  for (const Json& search : expected["searches"]) {
    check_search(search, dim, [&](auto nq, auto q, auto k, auto options, auto scores, auto ids) {
      return polar_blocks_search(codec, &blocks, nq, q, k, options, scores, ids);
    });
  }
  for (const Json& search : expected["range_searches"]) {
    check_range_search(search, dim, [&](auto nq, auto q, auto radius, auto... outputs) {
      return polar_blocks_range_search(codec, &blocks, nq, q, radius, outputs...);
    });
  }
}

/// What stands in indexes.json and files.json alike.
void check_answers(const Json& expected, const polar_index* index) {
  const int32_t dim = expected["dim"];
  CHECK(polar_index_ntotal(index) == expected["ntotal"]);
  for (const Json& search : expected["searches"]) {
    INFO(search["options"].dump());
    check_search(search, dim,
                 [&](auto... arguments) { return polar_index_search(index, arguments...); });
  }
  for (const Json& search : expected["range_searches"]) {
    check_range_search(search, dim, [&](auto... arguments) {
      return polar_index_range_search(index, arguments...);
    });
  }
  if (!expected.contains("reconstruct")) return;
  std::vector<float> x(static_cast<size_t>(dim));
  require_ok(polar_index_reconstruct(index, expected["reconstruct"]["id"], x.data()));
  check_numbers(as_floats(expected["reconstruct"]["x"]), x);
}

/// Encodes rows, and gives their codes on.
polar_status encode_rows(const polar_codec* codec, const Json& made, int32_t dim,
                         std::vector<uint8_t>* codes) {
  const std::vector<float> x = made_rows(made, dim);
  size_t bytes = 0;
  require_ok(polar_codec_encoded_bytes(codec, made["n"], &bytes));
  codes->resize(bytes);
  return polar_codec_encode(codec, made["n"], x.data(), nullptr, codes->data(), bytes);
}

/// The call of a case of errors.json that is made on a codec.
polar_status call_codec(const Json& given, const std::string& call) {
  const Json& codec_given = given["codec"];
  const Json& arguments = given["arguments"];
  const int32_t dim = codec_given["dim"];
  CodecHandle codec;
  require_ok(make_codec(codec_given, &codec));
  std::vector<uint8_t> codes;
  if (codec_given.contains("encode"))
    require_ok(encode_rows(codec.get(), codec_given["encode"], dim, &codes));
  const std::vector<float> x = made_rows(arguments["rows"], dim);
  const int64_t n = arguments["rows"]["n"];
  if (call == "codec_train") return polar_codec_train(codec.get(), n, x.data(), nullptr);
  const polar_status encoded = encode_rows(codec.get(), arguments["rows"], dim, &codes);
  if (call == "codec_encode") return encoded;
  require_ok(encoded);
  if (call == "blocks_append") {
    size_t bytes = 0;
    return polar_blocks_bytes(codec.get(), n, &bytes);
  }
  const ReadOptions options(arguments["options"]);
  float scores[8];
  int64_t ids[8], lims[2];
  if (call == "codec_search")
    return polar_codec_search(codec.get(), 1, x.data(), n, codes.data(), codes.size(),
                              arguments["k"], options.get(), scores, ids);
  REQUIRE(call == "codec_range_search");
  return polar_codec_range_search(codec.get(), 1, x.data(), n, codes.data(), codes.size(),
                                  static_cast<float>(as_number(arguments["radius"])), options.get(),
                                  0, lims, nullptr, nullptr);
}

polar_status call_index(const Json& given, const std::string& call) {
  const Json& arguments = given["arguments"];
  const int32_t dim = given["index"]["dim"];
  IndexHandle index;
  require_ok(make_index(given["index"], &index));
  const std::vector<float> query(static_cast<size_t>(dim));
  std::vector<float> out(static_cast<size_t>(dim));
  int64_t ids[8], lims[2];
  if (call == "index_reconstruct")
    return polar_index_reconstruct(index.get(), arguments["id"], out.data());
  if (call == "index_search")
    return polar_index_search(index.get(), 1, query.data(), arguments["k"],
                              ReadOptions(arguments["options"]).get(), out.data(), ids);
  if (call == "index_range_search")
    return polar_index_range_search(
        index.get(), 1, query.data(), static_cast<float>(as_number(arguments["radius"])),
        ReadOptions(arguments["options"]).get(), 0, lims, nullptr, nullptr);
  Json step = arguments;
  step["call"] = call.substr(std::string("index_").size());
  return do_step(index.get(), dim, step, nullptr);
}

polar_status call_nothing(const Json& arguments, const std::string& call) {
  CodecHandle codec;
  IndexHandle index;
  polar_index* loaded = nullptr;
  if (call == "codec_create" || call == "codec_load_state") return make_codec(arguments, &codec);
  if (call == "index_create") return make_index(arguments, &index);
  REQUIRE(call == "index_load");
  const polar_status status =
      polar_index_load(path_of(arguments["file"]).c_str(), nullptr, &loaded);
  index.reset(loaded);
  return status;
}

}  // namespace

TEST_CASE("conformance: codecs make these codes, and find these rows among them", "[conformance]") {
  for (const Json& expected : read_cases("codecs.json")) {
    INFO(expected["name"].get<std::string>());
    CodecHandle codec;
    require_ok(make_codec(expected, &codec));
    const polar_codec* c = codec.get();
    const int32_t dim = expected["dim"];
    const int64_t n = expected["rows"]["n"];
    std::vector<uint8_t> codes;
    require_ok(encode_rows(c, expected["rows"], dim, &codes));
    const size_t code_bytes = info_of(codec).code_bytes;
    CHECK(code_bytes == expected["code_bytes"]);
    CHECK(fnv1a(codes.data(), codes.size()) == expected["codes_fnv1a"].get<std::string>());
    if (expected.contains("state_fnv1a")) {
      const std::vector<uint8_t> state = state_of(codec);
      CHECK(fnv1a(state.data(), state.size()) == expected["state_fnv1a"].get<std::string>());
    }
    for (const Json& search : expected["searches"]) {
      INFO(search["options"].dump());
      check_search(search, dim, [&](auto nq, auto q, auto k, auto options, auto scores, auto ids) {
        return polar_codec_search(c, nq, q, n, codes.data(), codes.size(), k, options, scores, ids);
      });
    }
    for (const Json& search : expected["range_searches"]) {
      check_range_search(search, dim, [&](auto nq, auto q, auto radius, auto... outputs) {
        return polar_codec_range_search(c, nq, q, n, codes.data(), codes.size(), radius,
                                        outputs...);
      });
    }
    std::vector<float> decoded(static_cast<size_t>(n * dim));
    require_ok(polar_codec_decode(c, n, codes.data(), codes.size(),
                                  POLAR_RECONSTRUCTION_LEAST_ERROR, nullptr, decoded.data()));
    decoded.resize(static_cast<size_t>(dim));
    check_numbers(as_floats(expected["decoded"]), decoded);
    check_blocks(expected, c, n, codes);
  }
}

TEST_CASE("conformance: indexes find these rows", "[conformance]") {
  if (!has_indexes()) return;
  for (const Json& expected : read_cases("indexes.json")) {
    INFO(expected["name"].get<std::string>());
    IndexHandle index;
    require_ok(make_index(expected, &index));
    check_answers(expected, index.get());
  }
}

TEST_CASE("conformance: files have these indexes", "[conformance]") {
  if (!has_indexes()) return;
  for (const Json& expected : read_cases("files.json")) {
    INFO(expected["name"].get<std::string>());
    const std::string path = path_of(expected["file"]);
    const std::vector<uint8_t> bytes = read_bytes(path);
    CHECK(bytes.size() == expected["bytes"]);
    CHECK(fnv1a(bytes.data(), bytes.size()) == expected["fnv1a"].get<std::string>());
    for (const int32_t memory_map : {0, expected["can_map"].get<bool>() ? 1 : 0}) {
      polar_load_options options;
      polar_load_options_init(&options);
      options.memory_map = memory_map;
      polar_index* loaded = nullptr;
      require_ok(polar_index_load(path.c_str(), &options, &loaded));
      const IndexHandle index(loaded);
      std::string description(polar_index_description(loaded, nullptr, 0), '\0');
      polar_index_description(loaded, description.data(), description.size() + 1);
      CHECK(description == expected["description"].get<std::string>());
      polar_index_info info = {};
      info.struct_size = sizeof info;
      require_ok(polar_index_get_info(loaded, &info));
      CHECK((info.dim == expected["dim"] && info.metric == expected["metric"]));
      check_answers(expected, loaded);
    }
  }
}

TEST_CASE("conformance: wrong calls return these statuses", "[conformance]") {
  for (const Json& expected : read_cases("errors.json")) {
    INFO(expected["name"].get<std::string>());
    const std::string call = expected["call"];
    if (call.rfind("index", 0) == 0 && !has_indexes()) continue;
    const polar_status status = expected.contains("codec") ? call_codec(expected, call)
                                : expected.contains("index")
                                    ? call_index(expected, call)
                                    : call_nothing(expected["arguments"], call);
    check_failed(status, expected["status"], {expected["names"]});
  }
}
