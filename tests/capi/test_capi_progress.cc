// SPDX-License-Identifier: MIT
// Long calls that train, add and encode: they tell their thread's function, and stop.
#include <algorithm>
#include <functional>
#include <string>
#include <thread>
#include <vector>

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

/// Sets the thread's function, and takes it away.
class Listening {
 public:
  explicit Listening(Heard* heard) {
    polar_set_thread_progress(
        [](void* user, double done) {
          auto* to = static_cast<Heard*>(user);
          to->shares.push_back(done);
          return done >= to->stop_at ? 1 : 0;
        },
        heard);
  }
  ~Listening() { polar_set_thread_progress(nullptr, nullptr); }
};

polar_status train(polar_index* index) { return polar_index_train(index, kRows, rows().data()); }

/// Told, then stopped with the index as it was, then done.
void check_call(const IndexHandle& index, const std::function<polar_status()>& call) {
  const int64_t before = polar_index_ntotal(index.get());
  const int32_t was_trained = polar_index_is_trained(index.get());
  Heard heard;
  heard.stop_at = 0;
  {
    const Listening listening(&heard);
    check_failed(call(), POLAR_ERROR_CANCELLED, {"stopped by its progress function"});
  }
  CHECK(heard.shares.size() == 1);
  CHECK(polar_index_ntotal(index.get()) == before);
  CHECK(polar_index_is_trained(index.get()) == was_trained);
  heard = {};
  {
    const Listening listening(&heard);
    require_ok(call());
  }
  CHECK(std::is_sorted(heard.shares.begin(), heard.shares.end()));
  CHECK(heard.shares.size() >= 2);
  CHECK(heard.shares.back() == 1);
}

}  // namespace

TEST_CASE("trainings tell their thread's function and stop", "[capi][progress]") {
  for (const char* description :
       {"Polar2-pca", "IVF8,Polar4", "IVF8,Polar2-pca", "IVF8,Flat", "PQ4x4", "OPQ4,PQ4x4",
        "PCA8,IVF8,Flat", "IVF8_HNSW8,Polar4", "IVF8,PQ4x4,RFlat"}) {
    INFO(description);
    const IndexHandle index = make_index(description, kDim, POLAR_METRIC_L2);
    check_call(index, [&] { return train(index.get()); });
  }
}

TEST_CASE("adds tell their thread's function and stop", "[capi][progress]") {
  for (const char* description :
       {"Polar4", "IVF8,Polar4", "NSG16,Polar4", "HNSW16,Polar4", "HNSW16,Flat", "IVF8,Flat",
        "NSG16,Flat", "PCA8,NSG16,Flat", "IDMap2,NSG16,SQ8", "Polar2,RFlat", "IDMap2,Polar4",
        "PCA8,Polar4", "PolarScalar4"}) {
    INFO(description);
    const IndexHandle index = make_index(description, kDim, POLAR_METRIC_L2);
    require_ok(train(index.get()));
    check_call(index, [&] { return polar_index_add(index.get(), kRows, rows().data()); });
  }
  std::vector<int64_t> ids(kRows);
  for (size_t i = 0; i < ids.size(); ++i) ids[i] = 7 * static_cast<int64_t>(i);
  for (const char* description : {"Polar4", "IVF8,Polar4", "IDMap2,Polar4", "IDMap,Polar2,RFlat"}) {
    INFO(description);
    const IndexHandle index = make_index(description, kDim, POLAR_METRIC_L2);
    require_ok(train(index.get()));
    check_call(index, [&] {
      return polar_index_add_with_ids(index.get(), kRows, rows().data(), ids.data());
    });
    if (description != std::string("Polar4") && description != std::string("IDMap2,Polar4"))
      continue;
    check_call(index,
               [&] { return polar_index_update(index.get(), kRows, ids.data(), rows().data()); });
  }
}

TEST_CASE("codecs are trained and encode with their thread's function", "[capi][progress]") {
  const CodecHandle codec = make_codec("Polar2-pca", kDim, POLAR_METRIC_L2);
  Heard heard;
  heard.stop_at = 0;
  {
    const Listening listening(&heard);
    check_failed(polar_codec_train(codec.get(), kRows, rows().data()), POLAR_ERROR_CANCELLED,
                 {"train: stopped"});
  }
  require_ok(polar_codec_train(codec.get(), kRows, rows().data()));
  std::vector<uint8_t> codes(encode(codec, kRows, rows()));
  {
    const Listening listening(&heard);
    check_failed(polar_codec_encode(codec.get(), kRows, rows().data(), codes.data(), codes.size()),
                 POLAR_ERROR_CANCELLED, {"encode: stopped"});
  }
}

TEST_CASE("a thread's function is its own, and not that of calls inside it", "[capi][progress]") {
  struct Nested {
    IndexHandle other;
    int told = 0;
    polar_status status = POLAR_OK;
  } nested;
  nested.other = make_index("Polar4", kDim, POLAR_METRIC_L2);
  polar_set_thread_progress(
      [](void* user, double) {
        auto* to = static_cast<Nested*>(user);
        ++to->told;
        to->status = polar_index_add(to->other.get(), kRows, rows().data());
        return 0;
      },
      &nested);
  const IndexHandle index = make_index("Polar4", kDim, POLAR_METRIC_L2);
  std::thread([&] { require_ok(polar_index_add(index.get(), kRows, rows().data())); }).join();
  CHECK(nested.told == 0);
  require_ok(polar_index_add(index.get(), kRows, rows().data()));
  polar_set_thread_progress(nullptr, nullptr);
  CHECK(nested.told > 0);
  require_ok(nested.status);
  CHECK(polar_index_ntotal(nested.other.get()) == nested.told * kRows);
}
