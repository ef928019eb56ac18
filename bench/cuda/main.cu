// SPDX-License-Identifier: MIT
// polar-cuda-bench: searches on a device beside its copy bandwidth, its matrix products, and cuBLAS
// float16 brute force with selection; inverted files beside copies without lists and the CPU;
// several devices beside one; queries and results in the device's memory beside those in the
// host's; copies that follow their index beside new ones; encoding there beside the CPU's; and
// scores and sums of the heads of attention beside cuBLAS on decoded float16. Every number is the
// median of 15 runs or more, of copies of 5, of searches as calls from host memory to host memory;
// ours and the rival's are timed in turns.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "bench/bench_check.h"
#include "bench/cuda/attention.h"
#include "bench/cuda/cublas_search.h"
#include "bench/cuda/device_timer.h"
#include "bench/cuda/encoding.h"
#include "bench/cuda/found_rows.h"
#include "bench/cuda/inverted_files.h"
#include "bench/cuda/refreshes.h"
#include "bench/cuda/resident.h"
#include "bench/cuda/roofs.h"
#include "bench/cuda/several_devices.h"
#include "bench/synthetic_rows.h"
#include "polarquant/polarquant.h"

namespace polarquant::bench {
namespace {

constexpr int64_t kResults = 10;
constexpr int64_t kRowsAtOnce = 1 << 17;
constexpr int64_t kEncodedRows = 1 << 20;
constexpr int64_t kLeastQueries = 64;
constexpr int kCalls = 15;

struct Arguments {
  int64_t rows = 10000000;
  int dim = 768;
  std::vector<std::string> specs = {"Polar2", "Polar4", "Polar4-pca"};
  std::vector<int64_t> batches = {1, 4, 16, 128, 1024, 4096};
  bool gaussian = false;
  bool without_rival = false;
  bool roofs_only = false;
  bool encode_only = false;
  int64_t heads = 0;
  int64_t lists = 0;
  int64_t keep_every = 1;
  std::string refine;
  int32_t devices = 0;
  bool resident = false;
  std::vector<int64_t> refresh;
  std::vector<int64_t> nprobes = {32, 64};
};

struct Coded {
  std::unique_ptr<polar_codec, Deleter> codec;
  std::vector<uint8_t> codes;
  size_t row_bytes = 0;
  std::unique_ptr<polar_cuda_index, Deleter> index;
};

Coded encode(const std::string& spec, const Arguments& arguments, const SyntheticRows& synthetic) {
  Coded coded;
  polar_codec* codec = nullptr;
  check(
      polar_codec_create(spec.c_str(), arguments.dim, POLAR_METRIC_INNER_PRODUCT, nullptr, &codec));
  coded.codec.reset(codec);
  std::vector<float> x(static_cast<size_t>(kRowsAtOnce) * static_cast<size_t>(arguments.dim));
  const int64_t sample = std::min(arguments.rows, kRowsAtOnce);
  synthetic.fill(0, sample, x.data());
  check(polar_codec_train(codec, sample, x.data(), nullptr));
  check(polar_codec_encoded_bytes(codec, 1, &coded.row_bytes));
  coded.codes.resize(static_cast<size_t>(arguments.rows) * coded.row_bytes);
  for (int64_t first = 0; first < arguments.rows; first += kRowsAtOnce) {
    const int64_t count = std::min(kRowsAtOnce, arguments.rows - first);
    synthetic.fill(first, count, x.data());
    check(polar_codec_encode(codec, count, x.data(), nullptr,
                             coded.codes.data() + static_cast<size_t>(first) * coded.row_bytes,
                             static_cast<size_t>(count) * coded.row_bytes));
  }
  polar_cuda_index* index = nullptr;
  check(polar_cuda_index_from_codes(codec, arguments.rows, coded.codes.data(), coded.codes.size(),
                                    nullptr, &index));
  coded.index.reset(index);
  return coded;
}

void print_roofs() {
  std::printf("copy, read + written        %8.0f GB/s\n", copy_bandwidth());
  std::printf("bf16 product, 8192³, cuBLAS %8.0f TFLOP/s\n", bf16_peak());
  std::printf("int8 product, 8192³, cuBLAS %8.0f TOP/s\n", int8_peak());
  for (const int queries : {1, 2, 4})
    std::printf("sketches of 40 million rows, %d quer%s %8.0f GB/s\n", queries,
                queries == 1 ? "y  " : "ies", sketch_scan_bandwidth(40000000, queries));
  std::fflush(stdout);
}

void print_size(const std::string& spec, const Arguments& arguments, const Coded& coded) {
  std::printf("\n%s, %lld rows of %d, %zu bytes a row; k = %lld\n", spec.c_str(),
              static_cast<long long>(arguments.rows), arguments.dim, coded.row_bytes,
              static_cast<long long>(kResults));
}

/// Other queries for every call: how long a search of few takes depends on which they are.
class QueryTurns {
 public:
  QueryTurns(const std::vector<float>& queries, int dim, int64_t nq)
      : queries_(queries),
        dim_(dim),
        nq_(nq),
        places_(static_cast<int64_t>(queries.size()) / dim - nq + 1) {}
  const float* next() {
    const float* found = queries_.data() + at_ * dim_;
    at_ = (at_ + nq_) % places_;
    return found;
  }

 private:
  const std::vector<float>& queries_;
  int64_t dim_;
  int64_t nq_;
  int64_t places_;
  int64_t at_ = 0;
};

void compare(const Arguments& arguments, const std::string& spec, const Coded& coded,
             const std::vector<float>& queries, CublasSearch* rival) {
  print_size(spec, arguments, coded);
  std::printf("%6s %9s %10s %10s %8s %10s %9s %8s\n", "nq", "exactness", "ours ms", "cuBLAS ms",
              "ratio", "codes GB/s", "TOP/s", "recall");
  for (const int64_t nq : arguments.batches) {
    for (const float exactness : {2.25F, std::numeric_limits<float>::infinity()}) {
      polar_search_options options;
      polar_search_options_init(&options);
      options.exactness = exactness;
      FoundRows ours(nq, kResults);
      FoundRows exact(nq, kResults);
      const auto search = [&](const float* batch) {
        check(polar_cuda_index_search(coded.index.get(), nq, batch, kResults, &options, nullptr,
                                      ours.scores.data(), ours.ids.data()));
      };
      const auto search_rival = [&](const float* batch) {
        rival->search(nq, batch, kResults, exact.ids.data());
      };
      QueryTurns own(queries, arguments.dim, nq);
      QueryTurns rivals(queries, arguments.dim, nq);
      std::vector<double> times[2];
      for (int turn = 0; turn < 3; ++turn) {
        times[0].push_back(time_call([&] { search(own.next()); }, kCalls));
        if (rival != nullptr)
          times[1].push_back(time_call([&] { search_rival(rivals.next()); }, kCalls));
      }
      search(queries.data());
      if (rival != nullptr) search_rival(queries.data());
      const double ms = median(times[0]);
      const double rival_ms = rival != nullptr ? median(times[1]) : 0;
      const auto n = static_cast<double>(arguments.rows);
      std::printf("%6lld %9.3g %10.3f %10.3f %8.2f %10.0f %9.1f %8.3f%s\n",
                  static_cast<long long>(nq), static_cast<double>(exactness), ms, rival_ms,
                  rival_ms / ms, n * static_cast<double>(coded.row_bytes) / ms / 1e6,
                  2 * n * arguments.dim * static_cast<double>(nq) / ms / 1e9,
                  rival != nullptr ? share_found(exact, ours, kResults) : 0.0,
                  rival != nullptr && rival->overflows() > 0 ? "  (rival's lists too short)" : "");
      std::fflush(stdout);
    }
  }
  // The CPU's answer to some queries.
  const int64_t nq = 8;
  for (const float exactness : {2.25F, std::numeric_limits<float>::infinity()}) {
    polar_search_options options;
    polar_search_options_init(&options);
    options.exactness = exactness;
    FoundRows device(nq, kResults);
    FoundRows cpu(nq, kResults);
    check(polar_cuda_index_search(coded.index.get(), nq, queries.data(), kResults, &options,
                                  nullptr, device.scores.data(), device.ids.data()));
    check(polar_codec_search(coded.codec.get(), nq, queries.data(), arguments.rows,
                             coded.codes.data(), coded.codes.size(), kResults, &options,
                             cpu.scores.data(), cpu.ids.data()));
    std::printf("exactness %g: device and CPU give %s\n", static_cast<double>(exactness),
                device == cpu ? "the same to the bit" : "DIFFERENT results");
  }
}

int run(int argc, char** argv) {
  Arguments arguments;
  CLI::App app("Searches on a CUDA device beside what the device can do, and beside cuBLAS.");
  app.add_option("--rows", arguments.rows, "rows, a multiple of 64")->capture_default_str();
  app.add_option("--dim", arguments.dim, "dimensions")->capture_default_str();
  app.add_option("--spec", arguments.specs, "codecs")->delimiter(',')->capture_default_str();
  app.add_option("--batch", arguments.batches, "numbers of queries")
      ->delimiter(',')
      ->capture_default_str();
  app.add_flag("--gaussian", arguments.gaussian, "rows and queries without any structure");
  app.add_flag("--without-rival", arguments.without_rival, "leave cuBLAS out");
  app.add_flag("--roofs-only", arguments.roofs_only, "measure no searches");
  app.add_flag("--encode-only", arguments.encode_only, "measure encoding instead of searches");
  app.add_option(
      "--heads", arguments.heads,
      "measure scores and sums of so many heads of attention, a multiple of 4, of --rows "
      "rows each, instead of searches");
  app.add_option("--lists", arguments.lists,
                 "measure searches of an inverted file of so many lists instead");
  app.add_option("--keep-every", arguments.keep_every,
                 "with a filter that keeps one of so many rows");
  app.add_option("--refine", arguments.refine,
                 "with what is found refined so: \"RFlat\", \"Refine(Polar8)\"");
  app.add_option("--devices", arguments.devices,
                 "measure searches on the first so many devices beside those on one instead")
      ->check(CLI::Range(1, 64));
  app.add_flag(
      "--resident", arguments.resident,
      "measure searches with queries and results in the device's memory, and CUDA graphs of "
      "these, beside those with both in the host's instead");
  app.add_option(
         "--refresh", arguments.refresh,
         "measure how long a copy takes to follow so many rows that are added to its index, "
         "beside a new copy, instead; with --lists an inverted file's")
      ->delimiter(',');
  app.add_option("--nprobe", arguments.nprobes, "lists that such a search looks through")
      ->delimiter(',')
      ->capture_default_str();
  app.footer("example: polar-cuda-bench --rows 1000000 --dim 384 --spec Polar2 --batch 1,128");
  CLI11_PARSE(app, argc, argv);

  polar_cuda_device_info info;
  info.struct_size = sizeof info;
  check(polar_cuda_get_device_info(0, &info));
  std::printf("%s, compute capability %d.%d\n", info.name, info.compute_major, info.compute_minor);
  if (!arguments.encode_only && arguments.heads == 0 && arguments.lists == 0 &&
      arguments.devices == 0 && !arguments.resident && arguments.refresh.empty())
    print_roofs();
  if (arguments.roofs_only) return 0;

  const SyntheticRows synthetic(
      arguments.gaussian ? SyntheticKind::gaussian : SyntheticKind::clustered, arguments.rows,
      arguments.dim, 1);
  if (arguments.encode_only) {
    const int64_t rows = std::min(arguments.rows, kEncodedRows);
    std::printf("\n%lld rows of %d encoded: millions a second\n%-12s %8s %8s %8s\n",
                static_cast<long long>(rows), arguments.dim, "", "device", "by host", "CPU");
    for (const std::string& spec : arguments.specs)
      print_encoding(spec, rows, arguments.dim, synthetic);
    return 0;
  }
  if (arguments.heads > 0) {
    std::printf("\n%lld heads of %lld rows of %d, one query and one vector of weights each\n",
                static_cast<long long>(arguments.heads), static_cast<long long>(arguments.rows),
                arguments.dim);
    for (const std::string& spec : arguments.specs)
      print_attention(spec, arguments.heads, arguments.rows, arguments.dim, synthetic);
    return 0;
  }
  if (!arguments.refresh.empty()) {
    for (const std::string& spec : arguments.specs)
      print_refreshes(
          {spec, arguments.lists, arguments.rows, arguments.dim, arguments.refresh, kResults},
          synthetic);
    return 0;
  }
  if (arguments.lists > 0) {
    for (const std::string& spec : arguments.specs)
      print_inverted_file({spec, arguments.lists, arguments.rows, arguments.dim, arguments.nprobes,
                           arguments.batches, kResults, std::max<int64_t>(arguments.keep_every, 1),
                           arguments.refine},
                          synthetic);
    return 0;
  }
  const int64_t most = *std::max_element(arguments.batches.begin(), arguments.batches.end());
  std::vector<float> queries(static_cast<size_t>(std::max(most, kLeastQueries)) *
                             static_cast<size_t>(arguments.dim));
  synthetic.fill(arguments.rows, std::max(most, kLeastQueries), queries.data());
  if (arguments.devices > 0 || arguments.resident) {
    for (const std::string& spec : arguments.specs) {
      const Coded coded = encode(spec, arguments, synthetic);
      print_size(spec, arguments, coded);
      if (arguments.resident) {
        print_resident({coded.index.get(), arguments.dim, &queries, arguments.batches, kResults});
        continue;
      }
      print_several_devices({coded.codec.get(), &coded.codes, arguments.rows, coded.index.get(),
                             arguments.devices, &queries, arguments.batches, kResults});
    }
    return 0;
  }
  std::unique_ptr<CublasSearch> rival;
  if (!arguments.without_rival) {
    rival = std::make_unique<CublasSearch>(arguments.rows, arguments.dim);
    std::vector<float> x(static_cast<size_t>(kRowsAtOnce) * static_cast<size_t>(arguments.dim));
    for (int64_t first = 0; first < arguments.rows; first += kRowsAtOnce) {
      const int64_t count = std::min(kRowsAtOnce, arguments.rows - first);
      synthetic.fill(first, count, x.data());
      rival->set_rows(first, count, x.data());
    }
  }
  for (const std::string& spec : arguments.specs)
    compare(arguments, spec, encode(spec, arguments, synthetic), queries, rival.get());
  return 0;
}

}  // namespace
}  // namespace polarquant::bench

int main(int argc, char** argv) {
  try {
    return polarquant::bench::run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "polar-cuda-bench: %s\n", error.what());
    return 1;
  }
}
