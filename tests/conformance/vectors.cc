// SPDX-License-Identifier: MIT
#include "tests/conformance/vectors.h"

#include <cmath>
#include <cstdio>
#include <fstream>
#include <iterator>

namespace polarquant::test {
namespace {

/// How far the last bits of scores may be off, times their size and 1.
constexpr double kBound = 1e-6;

uint64_t next_word(uint64_t* state) {
  *state += 0x9E3779B97F4A7C15;
  uint64_t z = *state;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
  return z ^ (z >> 31);
}

/// Lists of lists, one after the other.
template <typename T, typename Read>
std::vector<T> flat(const Json& values, const Read& read) {
  std::vector<T> out;
  for (const Json& value : values) {
    if (value.is_array()) {
      for (const Json& inner : value) out.push_back(read(inner));
    } else {
      out.push_back(read(value));
    }
  }
  return out;
}

polar_status train(polar_codec* codec, const Json& given, int32_t dim) {
  if (given.is_null()) return POLAR_OK;
  const std::vector<float> x = made_rows(given, dim);
  return polar_codec_train(codec, given["n"], x.data(), nullptr);
}

}  // namespace

std::string path_of(const std::string& name) { return POLARQUANT_VECTORS "/" + name; }

std::vector<uint8_t> read_bytes(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  REQUIRE(file);
  return {std::istreambuf_iterator<char>(file), {}};
}

Json read_cases(const std::string& name) {
  std::ifstream file(path_of(name));
  REQUIRE(file);
  const Json read = Json::parse(file);
  REQUIRE(read["format"] == 1);
  REQUIRE(read["cases"].size() > 3);
  return read["cases"];
}

std::vector<float> made_rows(const Json& made, int32_t dim) {
  std::vector<float> x(made["n"].get<size_t>() * static_cast<size_t>(dim));
  uint64_t state = made["seed"];
  const float shift = made.value("shift", 0.0F);
  for (float& value : x) {
    const uint64_t word = next_word(&state);
    const auto sum = static_cast<int64_t>((word & 0xFFFF) + (word >> 16 & 0xFFFF) +
                                          (word >> 32 & 0xFFFF) + (word >> 48));
    value = static_cast<float>(sum - 2 * 0xFFFF) / 65536.0F + shift;
  }
  if (made.contains("set")) {
    const Json& set = made["set"];
    x[set[0].get<size_t>() * static_cast<size_t>(dim) + set[1].get<size_t>()] =
        static_cast<float>(as_number(set[2]));
  }
  return x;
}

std::string fnv1a(const void* data, size_t bytes) {
  uint64_t value = 0xCBF29CE484222325;
  for (size_t i = 0; i < bytes; ++i) {
    value = (value ^ static_cast<const uint8_t*>(data)[i]) * 0x100000001B3;
  }
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(value));
  return text;
}

std::vector<uint8_t> from_base64(const std::string& text) {
  static const std::string kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::vector<uint8_t> out;
  uint32_t bits = 0;
  int count = 0;
  for (const char c : text) {
    const size_t digit = kDigits.find(c);
    if (digit == std::string::npos) break;  // the padding
    bits = bits << 6 | static_cast<uint32_t>(digit);
    count += 6;
    if (count < 8) continue;
    count -= 8;
    out.push_back(static_cast<uint8_t>(bits >> count));
  }
  return out;
}

double as_number(const Json& value) {
  return value.is_string() ? std::strtod(value.get<std::string>().c_str(), nullptr)
                           : value.get<double>();
}

std::vector<float> as_floats(const Json& values) {
  return flat<float>(values, [](const Json& v) { return static_cast<float>(as_number(v)); });
}

ReadFilter::ReadFilter(const Json& given) {
  polar_filter_init(&filter_);
  const std::string kind = given.is_null() ? "none" : given["kind"].get<std::string>();
  if (kind == "bitset") {
    for (const std::string word : given["words"]) words_.push_back(std::stoull(word, nullptr, 16));
    filter_ = bitset_filter(words_.data(), given["num_bits"]);
  } else if (kind == "ids") {
    ids_ = given["ids"].get<std::vector<int64_t>>();
    filter_ = id_list_filter(ids_.data(), std::ssize(ids_));
  } else if (kind == "range") {
    filter_ = range_filter(given["first"], given["end"]);
  } else if (kind == "callback") {
    divisor_ = given["multiples_of"];
    const polar_keep_fn keep = [](void* user, int64_t id) -> int32_t {
      return id % *static_cast<const int64_t*>(user) == 0 ? 1 : 0;
    };
    filter_ = callback_filter(keep, &divisor_);
  } else {
    REQUIRE(kind == "none");
  }
}

ReadOptions::ReadOptions(const Json& given) : filter_(given.value("filter", Json())) {
  polar_search_options_init(&options_);
  options_.filter = filter_.get();
  if (given.contains("exactness"))
    options_.exactness = static_cast<float>(as_number(given["exactness"]));
  options_.num_threads = given.value("num_threads", 0);
  options_.nprobe = given.value("nprobe", int64_t{0});
}

void check_numbers(const std::vector<float>& expected, const std::vector<float>& found) {
  REQUIRE(found.size() == expected.size());
  for (size_t i = 0; i < found.size(); ++i) {
    INFO("number " << i << ": " << found[i] << ", expected " << expected[i]);
    CHECK((found[i] == expected[i] ||
           std::fabs(found[i] - expected[i]) <= kBound * (1 + std::fabs(expected[i]))));
  }
}

void check_found(const Json& ids, const Json& scores, const std::vector<int64_t>& found_ids,
                 const std::vector<float>& found_scores) {
  CHECK(found_ids == flat<int64_t>(ids, [](const Json& v) { return v.get<int64_t>(); }));
  check_numbers(as_floats(scores), found_scores);
}

polar_status make_codec(const Json& given, CodecHandle* made) {
  polar_codec* codec = nullptr;
  polar_status status = POLAR_OK;
  if (given.contains("state")) {
    const std::vector<uint8_t> state = from_base64(given["state"]);
    status = polar_codec_load_state(state.data(), state.size(), &codec);
    made->reset(codec);
    return status;
  }
  polar_codec_options options;
  polar_codec_options_init(&options);
  const Json changed = given.value("codec_options", Json::object());
  const int32_t dim = given["dim"];
  std::vector<float> centre;
  if (changed.contains("centre")) centre = made_rows(changed["centre"], dim);
  options.centre = centre.empty() ? nullptr : centre.data();
  options.seed = changed.value("seed", options.seed);
  options.norm_unit = changed.value("norm_unit", options.norm_unit);
  options.learn_centre = changed.value("learn_centre", true) ? 1 : 0;
  status = polar_codec_create(given["spec"].get<std::string>().c_str(), dim, given["metric"],
                              &options, &codec);
  made->reset(codec);
  if (status == POLAR_OK) status = train(codec, given.value("train", Json()), dim);
  return status;
}

polar_status do_step(polar_index* index, int32_t dim, const Json& step, int64_t* removed) {
  const std::string call = step["call"];
  const bool has_rows = step.contains("rows");
  const std::vector<float> x = has_rows ? made_rows(step["rows"], dim) : std::vector<float>();
  const int64_t n = has_rows ? step["rows"]["n"].get<int64_t>() : 0;
  const auto ids = step.value("ids", std::vector<int64_t>());
  if (call == "train") return polar_index_train(index, n, x.data(), nullptr);
  if (call == "train_with_centroids") {
    const std::vector<float> centroids = made_rows(step["centroids"], dim);
    return polar_index_train_with_centroids(index, step["centroids"]["n"], centroids.data(), n,
                                            x.data(), nullptr);
  }
  if (call == "add") return polar_index_add(index, n, x.data(), nullptr);
  if (call == "add_with_ids")
    return polar_index_add_with_ids(index, n, x.data(), ids.data(), nullptr);
  if (call == "update")
    return polar_index_update(index, std::ssize(ids), ids.data(), x.data(), nullptr);
  if (call == "remove") return polar_index_remove(index, std::ssize(ids), ids.data(), removed);
  if (call == "remove_filtered")
    return polar_index_remove_filtered(index, ReadFilter(step["filter"]).get(), removed);
  REQUIRE(call == "set_nprobe");
  return polar_index_set_nprobe(index, step["nprobe"]);
}

polar_status make_index(const Json& given, IndexHandle* made) {
  polar_index* index = nullptr;
  const int32_t dim = given["dim"];
  const polar_status status = polar_index_create(given["description"].get<std::string>().c_str(),
                                                 dim, given["metric"], &index);
  made->reset(index);
  if (status != POLAR_OK) return status;
  for (const Json& step : given.value("steps", Json::array())) {
    INFO(step.dump().substr(0, 200));
    int64_t removed = 0;
    require_ok(do_step(index, dim, step, &removed));
    CHECK(removed == step.value("removed", int64_t{0}));
  }
  return POLAR_OK;
}

}  // namespace polarquant::test
