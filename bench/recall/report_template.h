// SPDX-License-Identifier: MIT
// The file bench_page.html of the Python package, as CMake puts it into report_template.cc.in.
#pragma once

namespace polarquant::bench {

extern const char* const kReportTemplate;

}  // namespace polarquant::bench
