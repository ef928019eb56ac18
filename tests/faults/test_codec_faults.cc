// SPDX-License-Identifier: MIT
// Every request for memory of every codec call fails once, and from there on: the call says so, and
// the codec is what it was.
#include <cstdint>
#include <string>
#include <vector>

#include "tests/capi/capi_support.h"
#include "tests/faults/failing_memory.h"

namespace polarquant::test {
namespace {

constexpr int64_t kRows = 130;
constexpr int64_t kTrainingRows = 260;
constexpr int64_t kQueries = 3;
constexpr int64_t kK = 4;

/// A codec, and what calls write to.
struct CodecPlace {
  CodecHandle codec;
  int32_t dim = 0;
  std::vector<float> x;
  std::vector<uint8_t> codes;
  std::vector<uint8_t> written;
  std::vector<float> numbers;
  std::vector<int64_t> ids;
};

struct CodecCall {
  const char* name;
  polar_status (*make)(CodecPlace& at);
};

const CodecCall kCalls[] = {
    {"encode",
     [](CodecPlace& at) {
       return polar_codec_encode(at.codec.get(), kRows, at.x.data(), nullptr, at.written.data(),
                                 at.written.size());
     }},
    {"decode",
     [](CodecPlace& at) {
       return polar_codec_decode(at.codec.get(), kRows, at.codes.data(), at.codes.size(),
                                 POLAR_RECONSTRUCTION_UNBIASED, nullptr, at.numbers.data());
     }},
    {"search",
     [](CodecPlace& at) {
       return polar_codec_search(at.codec.get(), kQueries, at.x.data(), kRows, at.codes.data(),
                                 at.codes.size(), kK, nullptr, at.numbers.data(), at.ids.data());
     }},
    {"score",
     [](CodecPlace& at) {
       polar_query* query = nullptr;
       polar_status status = polar_query_prepare(at.codec.get(), at.x.data(), &query);
       const QueryHandle handle(query);
       if (status == POLAR_OK) {
         status = polar_codec_score(at.codec.get(), query, kRows, at.codes.data(), at.codes.size(),
                                    nullptr, at.numbers.data());
       }
       return status;
     }},
    {"combine",
     [](CodecPlace& at) {
       return polar_codec_combine(at.codec.get(), kRows, at.codes.data(), at.codes.size(), 1,
                                  at.x.data(), nullptr, at.numbers.data());
     }},
    {"save and load the state",
     [](CodecPlace& at) {
       static uint8_t state[1 << 20];
       size_t bytes = 0;
       polar_status status = polar_codec_save_state(at.codec.get(), state, sizeof state, &bytes);
       polar_codec* made = nullptr;
       if (status == POLAR_OK) status = polar_codec_load_state(state, bytes, &made);
       const CodecHandle handle(made);
       if ((made == nullptr) == (status == POLAR_OK)) return POLAR_ERROR_INTERNAL;
       return status;
     }},
    {"search blocks",
     [](CodecPlace& at) {
       size_t bytes = 0;
       polar_status status = polar_blocks_bytes(at.codec.get(), kRows, &bytes);
       if (status != POLAR_OK) return status;
       alignas(64) static uint8_t memory[1 << 16];
       polar_blocks blocks = {0, memory, bytes};
       status =
           polar_blocks_append(at.codec.get(), &blocks, kRows, at.codes.data(), at.codes.size());
       if (status != POLAR_OK) return status;
       return polar_blocks_search(at.codec.get(), &blocks, kQueries, at.x.data(), kK, nullptr,
                                  at.numbers.data(), at.ids.data());
     }},
};

CodecHandle untrained(const char* spec, int32_t dim) {
  return make_codec(spec, dim, POLAR_METRIC_COSINE);
}

void check_create(const char* spec, int32_t dim, Failing failing) {
  for (int64_t request = 0;; ++request) {
    CAPTURE(spec, request);
    polar_codec* made = nullptr;
    FailingMemory memory(request, failing);
    const polar_status status = polar_codec_create(spec, dim, POLAR_METRIC_L2, nullptr, &made);
    memory.stop();
    const CodecHandle handle(made);
    REQUIRE((made != nullptr) == (status == POLAR_OK));
    if (!memory.has_failed()) return;
    if (status != POLAR_OK) REQUIRE(status == POLAR_ERROR_OUT_OF_MEMORY);
  }
}

void check_train(const char* spec, int32_t dim, Failing failing) {
  const std::vector<float> x = normal_rows(kTrainingRows, dim, 3, .5);
  const CodecHandle trained = untrained(spec, dim);
  require_ok(polar_codec_train(trained.get(), kTrainingRows, x.data(), nullptr));
  const std::vector<uint8_t> wanted = state_of(trained);
  for (int64_t request = 0;; ++request) {
    CAPTURE(spec, request);
    const CodecHandle codec = untrained(spec, dim);
    const std::vector<uint8_t> before = state_of(codec);
    const uint64_t id_before = info_of(codec).state_id;
    FailingMemory memory(request, failing);
    const polar_status status = polar_codec_train(codec.get(), kTrainingRows, x.data(), nullptr);
    memory.stop();
    if (status != POLAR_OK) {
      REQUIRE(status == POLAR_ERROR_OUT_OF_MEMORY);
      REQUIRE((state_of(codec) == before));
      REQUIRE(info_of(codec).state_id == id_before);
      require_ok(polar_codec_train(codec.get(), kTrainingRows, x.data(), nullptr));
    }
    REQUIRE((state_of(codec) == wanted));
    if (!memory.has_failed()) return;
  }
}

CodecPlace place_of(const char* spec, int32_t dim) {
  CodecPlace place;
  place.dim = dim;
  place.codec = untrained(spec, dim);
  const std::vector<float> training = normal_rows(kTrainingRows, dim, 3, .5);
  require_ok(polar_codec_train(place.codec.get(), kTrainingRows, training.data(), nullptr));
  place.x = normal_rows(kRows, dim, 4, .5);
  place.codes = encode(place.codec, kRows, place.x);
  place.written.resize(place.codes.size());
  place.numbers.resize(static_cast<size_t>(kRows * dim));
  place.ids.resize(static_cast<size_t>(kQueries * kK));
  return place;
}

void check_calls(const char* spec, int32_t dim, Failing failing) {
  CodecPlace place = place_of(spec, dim);
  const std::vector<uint8_t> state = state_of(place.codec);
  for (const CodecCall& call : kCalls) {
    if (call.make(place) != POLAR_OK) continue;  // not of this codec
    const CodecPlace wanted = {nullptr, dim, {}, {}, place.written, place.numbers, place.ids};
    for (int64_t request = 0;; ++request) {
      CAPTURE(spec, call.name, request);
      FailingMemory memory(request, failing);
      const polar_status status = call.make(place);
      memory.stop();
      REQUIRE((state_of(place.codec) == state));
      if (status != POLAR_OK) {
        REQUIRE(status == POLAR_ERROR_OUT_OF_MEMORY);
        require_ok(call.make(place));
      }
      REQUIRE((place.written == wanted.written && place.numbers == wanted.numbers &&
               place.ids == wanted.ids));
      if (!memory.has_failed()) break;
    }
  }
}

struct CodecKind {
  const char* spec;
  int32_t dim;
};
const CodecKind kFew[] = {{"Polar4", 20}, {"PolarTree4.2.2.2-online", 16}};
const CodecKind kAll[] = {
    {"Polar0.5", 20},     {"Polar2", 70},           {"Polar4", 20},
    {"Polar4-dense", 20}, {"Polar8", 20},           {"Polar2+2", 70},
    {"Polar2-pca", 70},   {"PolarTree4.2.2.2", 16}, {"PolarTree4.2.2.2-online", 16},
    {"PolarPair4x4", 20}, {"PolarPair4x4g128", 20}, {"PolarScalar4", 20}};

void check(const CodecKind& kind, Failing failing) {
  check_create(kind.spec, kind.dim, failing);
  check_train(kind.spec, kind.dim, failing);
  check_calls(kind.spec, kind.dim, failing);
}

TEST_CASE("Codecs that run out of memory are what they were", "[faults]") {
  for (const CodecKind& kind : kFew) check(kind, Failing::once);
}

TEST_CASE("Codecs of every kind that run out of memory are what they were", "[faults][slow]") {
  for (const CodecKind& kind : kAll) {
    for (const Failing failing : {Failing::once, Failing::onward}) check(kind, failing);
  }
}

}  // namespace
}  // namespace polarquant::test
