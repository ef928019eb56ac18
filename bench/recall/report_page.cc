// SPDX-License-Identifier: MIT
#include "bench/recall/report_page.h"

#include <string_view>

#include "bench/recall/report_template.h"

namespace polarquant::bench {
namespace {

constexpr std::string_view kMark = "@RESULTS@";

}  // namespace

std::string report_page(const std::string& json) {
  const std::string_view text = kReportTemplate;
  const size_t mark = text.find(kMark);
  std::string page(text.substr(0, mark));
  // In JSON a "<" stands in strings alone; so nothing ends the script that holds it.
  for (const char c : json) {
    if (c == '<') {
      page += "\\u003c";
    } else {
      page += c;
    }
  }
  page += text.substr(mark + kMark.size());
  return page;
}

}  // namespace polarquant::bench
