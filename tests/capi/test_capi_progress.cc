// SPDX-License-Identifier: MIT
// Calls that train, add, encode and score: they tell their progress function, and stop.
#include <algorithm>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "src/core/threads.h"
#include "tests/capi/capi_support.h"

using namespace polarquant::test;

namespace {

constexpr int32_t kDim = 32;
constexpr int64_t kRows = 1500;

const std::vector<float>& rows() {
  static const std::vector<float> values = normal_rows(kRows, kDim, 1);
  return values;
}

struct Heard {
  std::vector<double> shares;
  double stop_at = 2;
};

using Options = const polar_work_options*;

polar_work_options telling(Heard* heard) {
  polar_work_options options;
  polar_work_options_init(&options);
  options.progress = [](void* user, double done) -> int32_t {
    auto* to = static_cast<Heard*>(user);
    to->shares.push_back(done);
    return done >= to->stop_at ? 1 : 0;
  };
  options.progress_user = heard;
  return options;
}

polar_status train(polar_index* index, Options options = nullptr) {
  return polar_index_train(index, kRows, rows().data(), options);
}

/// Told, then stopped with the index as it was, then done.
void check_call(const IndexHandle& index, const std::function<polar_status(Options)>& call) {
  const int64_t before = polar_index_ntotal(index.get());
  const int32_t was_trained = polar_index_is_trained(index.get());
  Heard heard;
  heard.stop_at = 0;
  const polar_work_options options = telling(&heard);
  check_failed(call(&options), POLAR_ERROR_CANCELLED, {"stopped by its progress function"});
  CHECK(heard.shares.size() == 1);
  CHECK(polar_index_ntotal(index.get()) == before);
  CHECK(polar_index_is_trained(index.get()) == was_trained);
  heard = {};
  require_ok(call(&options));
  CHECK(std::is_sorted(heard.shares.begin(), heard.shares.end()));
  CHECK(heard.shares.size() >= 2);
  CHECK(heard.shares.back() == 1);
}

}  // namespace

TEST_CASE("trainings tell their progress and stop", "[capi][progress]") {
  for (const char* description :
       {"Polar2-pca", "IVF8,Polar4", "IVF8,Polar2-pca", "IVF8,Flat", "PQ4x4", "OPQ4,PQ4x4",
        "PCA8,IVF8,Flat", "IVF8_HNSW8,Polar4", "IVF8,PQ4x4,RFlat"}) {
    INFO(description);
    const IndexHandle index = make_index(description, kDim, POLAR_METRIC_L2);
    check_call(index, [&](Options options) { return train(index.get(), options); });
  }
}

TEST_CASE("adds tell their progress and stop", "[capi][progress]") {
  for (const char* description :
       {"Polar4", "IVF8,Polar4", "NSG16,Polar4", "HNSW16,Polar4", "HNSW16,Flat", "IVF8,Flat",
        "NSG16,Flat", "PCA8,NSG16,Flat", "IDMap2,NSG16,SQ8", "Polar2,RFlat", "IDMap2,Polar4",
        "PCA8,Polar4", "PolarScalar4"}) {
    INFO(description);
    const IndexHandle index = make_index(description, kDim, POLAR_METRIC_L2);
    require_ok(train(index.get()));
    check_call(index, [&](Options options) {
      return polar_index_add(index.get(), kRows, rows().data(), options);
    });
  }
  std::vector<int64_t> ids(kRows);
  for (size_t i = 0; i < ids.size(); ++i) ids[i] = 7 * static_cast<int64_t>(i);
  for (const char* description : {"Polar4", "IVF8,Polar4", "IDMap2,Polar4", "IDMap,Polar2,RFlat"}) {
    INFO(description);
    const IndexHandle index = make_index(description, kDim, POLAR_METRIC_L2);
    require_ok(train(index.get()));
    check_call(index, [&](Options options) {
      return polar_index_add_with_ids(index.get(), kRows, rows().data(), ids.data(), options);
    });
    if (description != std::string("Polar4") && description != std::string("IDMap2,Polar4"))
      continue;
    check_call(index, [&](Options options) {
      return polar_index_update(index.get(), kRows, ids.data(), rows().data(), options);
    });
  }
}

TEST_CASE("codecs tell their progress and stop", "[capi][progress]") {
  const CodecHandle codec = make_codec("Polar2-pca", kDim, POLAR_METRIC_L2);
  const polar_codec* c = codec.get();
  Heard heard;
  heard.stop_at = 0;
  const polar_work_options options = telling(&heard);
  const float* x = rows().data();
  check_failed(polar_codec_train(codec.get(), kRows, x, &options), POLAR_ERROR_CANCELLED,
               {"train: stopped"});
  require_ok(polar_codec_train(codec.get(), kRows, x, nullptr));
  std::vector<uint8_t> codes(encode(codec, kRows, rows()));
  std::vector<float> out(static_cast<size_t>(kRows * std::max<int64_t>(kDim, 20)));
  polar_query* made = nullptr;
  require_ok(polar_query_prepare(c, x, &made));
  const QueryHandle query(made);
  uint8_t* data = codes.data();
  const size_t bytes = codes.size();
  const std::pair<polar_status, const char*> calls[] = {
      {polar_codec_encode(c, kRows, x, &options, data, bytes), "encode"},
      {polar_codec_decode(c, kRows, data, bytes, 0, &options, out.data()), "decode"},
      {polar_codec_score(c, made, kRows, data, bytes, &options, out.data()), "score"},
      {polar_codec_score_codes(c, 20, data, bytes / kRows * 20, kRows, data, bytes, &options,
                               out.data()),
       "score_codes"},
      {polar_codec_combine(c, kRows, data, bytes, 1, x, &options, out.data()), "combine"}};
  for (const auto& [status, name] : calls) {
    INFO(name);
    CHECK(status == POLAR_ERROR_CANCELLED);
  }
  CHECK(heard.shares.size() == 1 + std::size(calls));
}

TEST_CASE("work is done on as many threads as its options say", "[capi][progress]") {
  const int before = polarquant::default_threads();
  const CodecHandle codec = make_codec("Polar4", kDim, POLAR_METRIC_L2);
  const IndexHandle index = make_index("IVF8,Polar4", kDim, POLAR_METRIC_L2);
  std::vector<uint8_t> codes(encode(codec, kRows, rows()));
  for (const int32_t threads : {1, 3}) {
    polar_work_options options = working_on(threads);
    std::vector<int> heard;
    options.progress_user = &heard;
    options.progress = [](void* user, double) -> int32_t {
      static_cast<std::vector<int>*>(user)->push_back(polarquant::default_threads());
      return 0;
    };
    if (polar_index_ntotal(index.get()) == 0) require_ok(train(index.get(), &options));
    require_ok(polar_index_add(index.get(), kRows, rows().data(), &options));
    require_ok(polar_codec_encode(codec.get(), kRows, rows().data(), &options, codes.data(),
                                  codes.size()));
    CHECK(heard.size() >= 2);
#ifndef POLARQUANT_OWN_THREADS
    // The library's own number of threads is not to be seen from outside, OpenMP's is.
    CHECK(std::count(heard.begin(), heard.end(), threads) == std::ssize(heard));
#endif
    CHECK(polarquant::default_threads() == before);
  }
}

TEST_CASE("a merge that codes rows kept as floats tells its progress and stops",
          "[capi][progress]") {
  const IndexHandle index = make_index("Polar4", kDim, POLAR_METRIC_L2);
  const IndexHandle other = make_index("Polar4", kDim, POLAR_METRIC_L2);
  require_ok(train(index.get()));
  require_ok(polar_index_add(other.get(), 900, rows().data(), nullptr));
  check_call(index,
             [&](Options options) { return polar_index_merge(index.get(), other.get(), options); });
  CHECK(polar_index_ntotal(index.get()) == 900);
  CHECK(polar_index_ntotal(other.get()) == 0);
}

TEST_CASE("a call inside a progress function tells nobody but its own", "[capi][progress]") {
  struct Nested {
    IndexHandle other;
    int told = 0;
    polar_status status = POLAR_OK;
  } nested;
  nested.other = make_index("Polar4", kDim, POLAR_METRIC_L2);
  polar_work_options options;
  polar_work_options_init(&options);
  options.progress_user = &nested;
  options.progress = [](void* user, double) -> int32_t {
    auto* to = static_cast<Nested*>(user);
    ++to->told;
    to->status = polar_index_add(to->other.get(), kRows, rows().data(), nullptr);
    return 0;
  };
  const IndexHandle index = make_index("Polar4", kDim, POLAR_METRIC_L2);
  require_ok(polar_index_add(index.get(), kRows, rows().data(), nullptr));
  CHECK(nested.told == 0);
  require_ok(polar_index_add(index.get(), kRows, rows().data(), &options));
  CHECK(nested.told > 0);
  require_ok(nested.status);
  CHECK(polar_index_ntotal(nested.other.get()) == nested.told * kRows);
}
