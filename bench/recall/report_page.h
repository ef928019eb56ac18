// SPDX-License-Identifier: MIT
// Results as a page for a browser: the one of `polar bench`, whose file is built into the program.
#pragma once

#include <string>

namespace polarquant::bench {

/// One file of HTML that loads nothing, with the text of report_json or advice_json in it.
std::string report_page(const std::string& json);

}  // namespace polarquant::bench
