// SPDX-License-Identifier: MIT
#include "src/faiss/graphs/nsg_graph.h"

#include <algorithm>
#include <vector>

#include "src/core/status.h"
#include "src/faiss/graphs/hnsw_graph.h"

namespace polarquant {
namespace {

/// FAISS's own defaults are 132 and less.
constexpr int32_t kMost = 1 << 16;

/// NN-descent is for many rows: of 100 FAISS's own divides by 0, and with a few hundred it can be
/// left with fewer neighbours than it then reads. A search of so few rows is also the faster.
constexpr int64_t kFewRows = 10'000;

constexpr NsgField kFields[] = {
    {"nsg.R", &NsgNumbers::R, kLeastNsgLinks, kMost},
    {"nsg.L", &NsgNumbers::L, 1, kMost},
    {"nsg.C", &NsgNumbers::C, 1, kMost},
    {"nsg.search_L", &NsgNumbers::search_L, 1, kMaxEf},
    {"GK", &NsgNumbers::GK, 1, kMost},
    {"build_type", &NsgNumbers::build_type, 0, 1},
    {"nndescent_S", &NsgNumbers::nndescent_S, 2, kMost},
    {"nndescent_R", &NsgNumbers::nndescent_R, 1, kMost},
    {"nndescent_L", &NsgNumbers::nndescent_L, 1, kMost},
    {"nndescent_iter", &NsgNumbers::nndescent_iter, 1, kMost},
};

}  // namespace

std::span<const NsgField> nsg_fields() { return kFields; }

NsgNumbers nsg_numbers(const ::faiss::IndexNSG& index) {
  return {.R = index.nsg.R,
          .L = index.nsg.L,
          .C = index.nsg.C,
          .search_L = index.nsg.search_L,
          .GK = index.GK,
          .build_type = index.build_type,
          .nndescent_S = index.nndescent_S,
          .nndescent_R = index.nndescent_R,
          .nndescent_L = index.nndescent_L,
          .nndescent_iter = index.nndescent_iter};
}

void set_nsg_numbers(const NsgNumbers& numbers, ::faiss::IndexNSG& index) {
  index.nsg.R = numbers.R;
  index.nsg.L = numbers.L;
  index.nsg.C = numbers.C;
  index.nsg.search_L = numbers.search_L;
  index.GK = numbers.GK;
  index.build_type = static_cast<char>(numbers.build_type);
  index.nndescent_S = numbers.nndescent_S;
  index.nndescent_R = numbers.nndescent_R;
  index.nndescent_L = numbers.nndescent_L;
  index.nndescent_iter = numbers.nndescent_iter;
}

const NsgField* nsg_field_out_of_range(const NsgNumbers& numbers) {
  const auto* const found =
      std::find_if(std::begin(kFields), std::end(kFields), [&](const NsgField& field) {
        const int32_t value = numbers.*field.value;
        return value < field.least || value > field.most;
      });
  return found == std::end(kFields) ? nullptr : found;
}

bool compares_all_rows(const ::faiss::IndexNSG& index, int64_t n) {
  return index.build_type == 0 || n <= kFewRows;
}

void require_buildable(const ::faiss::IndexNSG& index, int64_t n) {
  const NsgNumbers numbers = nsg_numbers(index);
  const NsgField* wrong = nsg_field_out_of_range(numbers);
  if (wrong != nullptr) {
    fail(StatusCode::bad_argument, "add: {} is {}; {} to {} are allowed", wrong->name,
         numbers.*wrong->value, wrong->least, wrong->most);
  }
  struct Need {
    const char* reason;
    int64_t rows;
  };
  std::vector<Need> needs = {
      // GK neighbours of each row beside itself.
      {"GK", int64_t{numbers.GK} + 1},
      // FAISS's searches draw rows until they have so many different ones.
      {"nsg.L", numbers.L},
      {"nsg.search_L", numbers.search_L},
  };
  if (!compares_all_rows(index, n)) {
    // FAISS draws this many rows, different by their numbers modulo the number of other rows.
    needs.push_back({"nndescent_S", 2 * int64_t{numbers.nndescent_S} + 1});
  }
  for (const Need& need : needs) {
    require(n >= need.rows, StatusCode::bad_argument,
            "add: {} rows; at least {} are needed, for {}", n, need.rows, need.reason);
  }
  const int64_t degree = std::max<int64_t>(numbers.R, int64_t{numbers.GK} + 1);
  require(n <= kMaxNsgLinks / degree, StatusCode::bad_argument,
          "add: {} rows of {} links; FAISS builds graphs of up to {} links", n, degree,
          kMaxNsgLinks);
}

void prepare_building(::faiss::IndexNSG& index, int64_t n) {
  if (n <= kFewRows) index.build_type = 0;
  require_buildable(index, n);
}

const char* flaw_of(const NsgLinks& graph, int64_t entry_point) {
  if (graph.n == 0) return entry_point == -1 ? nullptr : "entry point";
  if (entry_point < 0 || entry_point >= graph.n) return "entry point";
  for (int64_t row = 0; row < graph.n; ++row) {
    const int32_t* links = graph.links + row * graph.degree;
    const int32_t* const end = links + graph.degree;
    for (; links != end && *links != -1; ++links) {
      if (*links < 0 || *links >= graph.n) return "links";
    }
    if (std::any_of(links, end, [](int32_t link) { return link != -1; })) return "links";
  }
  return nullptr;
}

}  // namespace polarquant
