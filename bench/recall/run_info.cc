// SPDX-License-Identifier: MIT
#include "bench/recall/run_info.h"

#include <faiss/Index.h>
#include <fmt/format.h>
#include <omp.h>

#include <cstdlib>
#include <fstream>

#include "bench_git_commit.h"  // made at build time, see bench/git_commit.cmake

namespace polarquant::bench {
namespace {

std::string first_line(const char* path) {
  std::ifstream in(path);
  std::string line;
  std::getline(in, line);
  return line.empty() ? "unknown" : line;
}

std::string cpu_model() {
  std::ifstream in("/proc/cpuinfo");
  for (std::string line; std::getline(in, line);) {
    const size_t colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) return line.substr(colon + 2);
  }
  // 64-bit ARM's cpuinfo names no model; the device tree may.
  return first_line("/sys/firmware/devicetree/base/model");
}

}  // namespace

RunInfo collect_run_info() {
  RunInfo info;
  info.cpu_model = cpu_model();
  info.cpu_count = omp_get_num_procs();
  info.governor = first_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
  const char* policy = std::getenv("OMP_WAIT_POLICY");
  info.wait_policy = policy == nullptr ? "not set" : policy;
  info.compiler = POLARQUANT_BENCH_COMPILER;
  info.compiler_flags = POLARQUANT_BENCH_FLAGS;
  info.build_type = POLARQUANT_BENCH_BUILD_TYPE;
  info.git_commit = POLARQUANT_BENCH_GIT_COMMIT;
  info.library_version = POLARQUANT_BENCH_VERSION;
  info.faiss_version =
      fmt::format("{}.{}.{}", FAISS_VERSION_MAJOR, FAISS_VERSION_MINOR, FAISS_VERSION_PATCH);
  return info;
}

}  // namespace polarquant::bench
