// SPDX-License-Identifier: MIT
// FAISS's texts without FAISS's source.
#include "src/capi/faiss_text.h"

#include <string>

#include "tests/support/catch.h"

using polarquant::capi::without_faiss_places;

namespace {

TEST_CASE("FAISS's texts say what went wrong, not where", "[capi]") {
  const std::string place =
      "Error in void faiss::Clustering::train_encoded(idx_t, const float*) at "
      "./faiss/Clustering.cpp:277: ";
  CHECK(without_faiss_places(place + "Error: 'nx >= k' failed: Number of training points (1)") ==
        "Number of training points (1)");
  CHECK(without_faiss_places(place + "Error: 'd % M == 0' failed") == "FAISS requires d % M == 0");
  CHECK(without_faiss_places(place + "remove_ids not implemented") == "remove_ids not implemented");
  CHECK(without_faiss_places("index: \"a\" does not filter (" + place +
                             "Error: '!params' failed: not supported at all)") ==
        "index: \"a\" does not filter (not supported at all)");
  CHECK(without_faiss_places("index: \"a\" does not (" + place + "Error: 'x' failed)") ==
        "index: \"a\" does not (FAISS requires x)");
  CHECK(without_faiss_places(place + "one: " + place + "Error: 'a' failed: two") == "one: two");
}

TEST_CASE("other texts are as they were", "[capi]") {
  for (const std::string text :
       {"", "n: 0 is not allowed; 1 or more", "Error in a name at a place", "Error in x at y:z: w",
        "Error in ", "an error at a.cpp:12: w", "Error in f at a.cpp:: w", "Error in f at :1"}) {
    CHECK(without_faiss_places(text) == text);
  }
}

}  // namespace
