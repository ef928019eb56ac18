// SPDX-License-Identifier: MIT
// The page for a browser: what it has of the JSON. tests/pages/test_report.py tests how it looks.
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>

#include "bench/recall/report_page.h"
#include "tests/support/catch.h"

namespace polarquant::bench {
namespace {

constexpr char kFile[] = "bindings/python/src/polarquant/command/bench_page.html";
constexpr char kMark[] = "@RESULTS@";

std::string file_text() {
  std::ifstream file(kFile, std::ios::binary);
  REQUIRE(file);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

TEST_CASE("the page is the file's, with the results at its mark", "[unit]") {
  std::string expected = file_text();
  const size_t mark = expected.find(kMark);
  REQUIRE(mark != std::string::npos);
  REQUIRE(expected.find(kMark, mark + 1) == std::string::npos);
  expected.replace(mark, std::string(kMark).size(), R"({"rows": []})");
  REQUIRE(report_page(R"({"rows": []})") == expected);
}

TEST_CASE("no name in the results ends the page's script", "[unit]") {
  const nlohmann::json json = {{"index", "</script><script>alert(1)</script>"},
                               {"file", "\"<!--<script> & '@RESULTS@\\"}};
  const std::string page = report_page(json.dump());
  const std::string text = file_text();
  const size_t begin = text.find(kMark);
  const std::string after = text.substr(begin + std::string(kMark).size());
  const std::string written = page.substr(begin, page.size() - begin - after.size());
  REQUIRE(written.find('<') == std::string::npos);
  REQUIRE(nlohmann::json::parse(written) == json);
}

}  // namespace polarquant::bench
