// SPDX-License-Identifier: MIT
#include "src/capi/argument_checks.h"
#include "src/capi/options.h"
#include "src/capi/work_call.h"

namespace polarquant::capi {
polar_work_options read_work_options(const polar_work_options* given) {
  const auto options = read_over(sized<polar_work_options>(), "options", given);
  require_threads(options.num_threads);
  return options;
}

std::function<bool(double)> report_to(polar_progress_fn progress, void* user) {
  if (progress == nullptr) return nullptr;
  return [progress, user](double done) { return progress(user, done) == 0; };
}

}  // namespace polarquant::capi

extern "C" void polar_work_options_init_sized(polar_work_options* options, size_t struct_size) {
  polarquant::capi::fill_over(polarquant::capi::sized<polar_work_options>(), options, struct_size);
}
