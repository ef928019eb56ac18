// SPDX-License-Identifier: MIT
// Random calls on every kind of index, compared with a plain model after each: whatever calls can
// make, is what the model says, and saving, loading and cloning give it back.
//
// A failure names the shortest sequence found that fails, which is played again by
//   POLARQUANT_CALLS='Polar4|1|trained add:17 merge:4' build/bin/tests/test_model "a sequence*"
#include <cstdlib>
#include <sstream>
#include <string>
#include <vector>

#include "tests/model/call_player.h"
#include "tests/model/call_sequence.h"
#include "tests/support/catch.h"
#include "tests/support/temporary_folder.h"

namespace polarquant::test {
namespace {

constexpr size_t kCallsOfASequence = 40;
constexpr polar_metric kMetrics[] = {POLAR_METRIC_INNER_PRODUCT, POLAR_METRIC_L2,
                                     POLAR_METRIC_COSINE};

/// "" where the sequence holds.
std::string failure_of(const IndexKind& kind, polar_metric metric, const std::string& folder,
                       const CallSequence& sequence) {
  try {
    CallPlayer(kind, metric, folder).play(sequence);
  } catch (const ModelFailure& failure) {
    return failure.what();
  }
  return "";
}

/// Whether the sequence holds; tells the shortest part of it that does not.
bool play(const IndexKind& kind, polar_metric metric, const std::string& folder,
          const CallSequence& sequence) {
  // Seen when the program crashes.
  INFO(kind.description << '|' << metric << '|' << print_sequence(sequence));
  if (failure_of(kind, metric, folder, sequence).empty()) return true;
  const CallSequence shortest = shrink(sequence, [&](const CallSequence& shorter) {
    return !failure_of(kind, metric, folder, shorter).empty();
  });
  FAIL_CHECK(kind.description << " of " << kind.dim
                              << " dimensions: " << failure_of(kind, metric, folder, shortest)
                              << "\nPOLARQUANT_CALLS='" << kind.description << '|' << metric << '|'
                              << print_sequence(shortest) << '\'');
  return false;
}

/// Sequences of every kind by turns until this many calls are made; a kind that failed is left out.
/// Returns how many did not.
size_t play_many(size_t calls, uint64_t seed) {
  const TemporaryFolder folder;
  Random seeds(seed);
  std::vector<IndexKind> kinds(index_kinds().begin(), index_kinds().end());
  for (size_t made = 0; made < calls && !kinds.empty();) {
    std::erase_if(kinds, [&](const IndexKind& kind) {
      if (made >= calls) return false;
      made += kCallsOfASequence;
      const polar_metric metric = kMetrics[seeds.below(3)];
      return !play(kind, metric, folder.file(""), random_sequence(seeds.next(), kCallsOfASequence));
    });
  }
  return kinds.size();
}

TEST_CASE("indexes are what their model says after any calls", "[model]") {
  CHECK(play_many(4'000, 1) == index_kinds().size());
}

TEST_CASE("indexes are what their model says after a million calls", "[model][slow]") {
  CHECK(play_many(1'000'000, 2) == index_kinds().size());
}

TEST_CASE("sequences print and parse, and shrink to what fails", "[model]") {
  const CallSequence made = random_sequence(5, 60);
  CHECK(print_sequence(parse_sequence(print_sequence(made))) == print_sequence(made));
  CHECK_THROWS(parse_sequence("trained none:1"));
  CHECK_THROWS(parse_sequence("add:1"));
  const auto has_both = [](const CallSequence& sequence) {
    const std::string text = print_sequence(sequence);
    return text.find("remove:") != std::string::npos && text.find("update:") != std::string::npos;
  };
  REQUIRE(has_both(made));
  CHECK(shrink(made, has_both).calls.size() == 2);
}

TEST_CASE("a sequence named by the environment is played", "[model]") {
  const char* named = std::getenv("POLARQUANT_CALLS");
  if (named == nullptr) return;
  std::istringstream parts(named);
  std::string description;
  std::string metric;
  std::string calls;
  std::getline(parts, description, '|');
  std::getline(parts, metric, '|');
  std::getline(parts, calls);
  const TemporaryFolder folder;
  for (const IndexKind& kind : index_kinds()) {
    if (description != kind.description) continue;
    INFO(kind.dim << " dimensions");
    CHECK(failure_of(kind, std::stoi(metric), folder.file(""), parse_sequence(calls)).empty());
  }
}

}  // namespace
}  // namespace polarquant::test
