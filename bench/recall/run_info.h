// SPDX-License-Identifier: MIT
// What a measurement was made on and by: processor, compiler, commit. Without date, so that equal
// runs give equal files but for the timings.
#pragma once

#include <string>

namespace polarquant::bench {

struct RunInfo {
  std::string cpu_model;    ///< "unknown" where the system does not say
  int cpu_count = 0;        ///< processors this process may use
  std::string governor;     ///< of processor 0
  std::string wait_policy;  ///< OMP_WAIT_POLICY as set; it changes how threads disturb each other
  std::string compiler;
  std::string compiler_flags;
  std::string build_type;
  std::string git_commit;  ///< ends in "-dirty" when files differed from it; "unknown" outside git
  std::string library_version;
  std::string faiss_version;
};

RunInfo collect_run_info();

}  // namespace polarquant::bench
