// SPDX-License-Identifier: MIT
#include "src/faiss/factory/description_limits.h"

#include <faiss/IVFlib.h>
#include <faiss/IndexAdditiveQuantizer.h>
#include <faiss/IndexIDMap.h>
#include <faiss/IndexIVF.h>
#include <faiss/IndexNSG.h>
#include <faiss/IndexPreTransform.h>
#include <faiss/IndexRefine.h>
#include <faiss/VectorTransform.h>
#include <faiss/impl/DistanceComputer.h>
#include <faiss/impl/FaissException.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cstdint>
#include <iterator>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "polarquant/faiss.h"
#include "src/codec/codec.h"
#include "src/codec/spec.h"
#include "src/core/status.h"
#include "src/faiss/files/stored_kinds.h"
#include "src/faiss/graphs/hnsw_graph.h"
#include "src/faiss/graphs/nsg_graph.h"
#include "src/faiss/index/index_parts.h"
#include "src/io/section_writer.h"

namespace polarquant {
namespace {

/// FAISS parses by recursive regular expressions, which need stack by the byte.
constexpr size_t kMaxBytes = 1000;
/// Numbers of a table that FAISS makes for a name: matrices, codebooks.
constexpr int64_t kMaxTable = int64_t{1} << 28;
constexpr int64_t kMaxListBits = 20;
static_assert(kMostNewLists == int64_t{1} << kMaxListBits);
constexpr int64_t kMaxParts = kMaxDim;
constexpr int64_t kMaxBits = 16;
constexpr int64_t kMaxOrderedBits = 12;
/// Rows of a block of FAISS's codes for fast scans.
constexpr int64_t kMaxBlock = 160;

struct Bound {
  const char* what = nullptr;
  int64_t least = 0;
  int64_t most = 0;
};
constexpr Bound kDims = {"dimensions", 1, kMaxDim};

/// What grows with a name's numbers.
enum class Table {
  none,
  matrix,     // dimensions in times the name's
  square,     // dimensions in times dimensions out, which stand elsewhere
  codebook,   // dimensions times 2^bits
  codebooks,  // for each part again
  lists,      // 2^(parts times bits)
};

/// A name of FAISS's: letters, then numbers with an x between them ("PQ16x4", "PRQ2x3x8"), then
/// letters that are FAISS's to judge. Letters alone have no bounds.
struct NameRow {
  std::string_view letters;
  std::array<Bound, 3> bounds;
  Table table = Table::none;
};
constexpr Bound kParts = {"parts", 1, kMaxParts};
constexpr Bound kBits = {"bits", 1, kMaxBits};
/// Codes of several stages, which FAISS chooses in each other's company.
constexpr int64_t kMaxCentroids = 4096;
constexpr Bound kStages = {"stages", 1, 64};
constexpr Bound kSearchedStages = {"stages", 1, 8};
constexpr Bound kSearchedBits = {"bits", 1, 8};
constexpr Bound kSplits = {"splits", 1, kMaxParts};
constexpr NameRow kNames[] = {
    {"IVF", {{{"lists", 1, kMostNewLists}}}},
    {"IMI", {{{"parts", 2, 2}, {"bits", 1, 10}}}, Table::lists},
    {"HNSW", {{{"links", kLeastHnswLinks, kMostHnswLinks}}}},
    {"NSG", {{{"links", kLeastNsgLinks, kMostNsgLinks}}}},
    {"PQ", {{kParts, kBits}}, Table::codebook},
    {"RQ", {{kStages, kBits}}, Table::codebooks},
    {"RCQ", {{kStages, kBits}}, Table::lists},
    {"LSQ", {{kSearchedStages, kSearchedBits}}, Table::codebooks},
    {"LSCQ", {{kSearchedStages, kSearchedBits}}, Table::lists},
    {"PRQ", {{kSplits, kStages, kBits}}, Table::codebooks},
    {"PLSQ", {{kSplits, kSearchedStages, kSearchedBits}}, Table::codebooks},
    {"SQ", {{{"bits", 1, kMaxBits}}}},
    {"SQfp", {{{"bits", 16, 16}}}},
    {"SQbf", {{{"bits", 16, 16}}}},
    {"RaBitQ", {{{"bits", 1, kMaxBits}}}},
    {"PCA", {{kDims}}, Table::matrix},
    {"PCAR", {{kDims}}, Table::matrix},
    {"PCAW", {{kDims}}, Table::matrix},
    {"PCAWR", {{kDims}}, Table::matrix},
    {"RR", {{kDims}}, Table::matrix},
    {"ITQ", {{kDims}}, Table::matrix},
    {"OPQ", {{kParts}}, Table::square},
    {"Pad", {{kDims}}},
    {"L", {{{"of L2norm", 2, 2}}}},
    {"IDMap", {{{"of IDMap2", 2, 2}}}},
    // What stands after an underscore: the dimensions of "OPQ8_64", the block of "PQ8x4fs_64",
    // more stages of "RQ2x8_3x4".
    {"", {{{"number after _", 1, kMaxParts}, kBits}}, Table::none},
};

bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

/// A name as far as the table goes.
struct Name {
  std::string_view text;
  std::string_view letters;
  std::vector<int64_t> numbers;
};

int64_t number_of(std::string_view name, std::string_view digits) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  require(error == std::errc() && end == digits.data() + digits.size(), StatusCode::bad_argument,
          "description: \"{}\" has a number that is too large by far", name);
  return value;
}

Name split(std::string_view text) {
  size_t at = 0;
  while (at < text.size() && !is_digit(text[at])) ++at;
  Name name{text, text.substr(0, at), {}};
  while (at < text.size() && is_digit(text[at])) {
    size_t end = at;
    while (end < text.size() && is_digit(text[end])) ++end;
    name.numbers.push_back(number_of(text, text.substr(at, end - at)));
    const bool goes_on = end + 1 < text.size() && text[end] == 'x' && is_digit(text[end + 1]);
    at = goes_on ? end + 1 : text.size();
  }
  return name;
}

/// The names that the string's commas, brackets, underscores and + part, and that have numbers.
/// Ours are judged by a table of their own (spec.h).
std::vector<Name> numbered_names(std::string_view description, int d) {
  std::vector<Name> names;
  while (!description.empty()) {
    const bool is_ours = looks_like_spec(description);
    const size_t end =
        std::min(description.find_first_of(is_ours ? ",)" : ",()_+"), description.size());
    Name name = split(description.substr(0, end));
    // The rotation of as many dimensions as there are.
    if (name.text == "RR" || name.text == "ITQ") name.numbers.push_back(d);
    if (!is_ours && !name.numbers.empty()) names.push_back(std::move(name));
    description.remove_prefix(std::min(end + 1, description.size()));
  }
  return names;
}

const NameRow& row_of(const Name& name, const std::string& description) {
  const auto* const row =
      std::find_if(std::begin(kNames), std::end(kNames),
                   [&](const NameRow& known) { return known.letters == name.letters; });
  require(row != std::end(kNames), StatusCode::bad_argument,
          "description: \"{}\" in \"{}\" is not a name with numbers that is known", name.text,
          description);
  return *row;
}

void require_table(const NameRow& row, const Name& name, int64_t widest) {
  const int64_t last = name.numbers.back();
  // "PQ8" has 8 bits.
  const bool has_bits = name.numbers.size() > 1;
  double numbers = 0;
  switch (row.table) {
    case Table::none:
      return;
    case Table::matrix:
      // "RR" alone keeps the dimensions.
      numbers = static_cast<double>(widest) *
                static_cast<double>(name.text == name.letters ? widest : last);
      break;
    case Table::square:
      numbers = static_cast<double>(widest) * static_cast<double>(widest);
      break;
    case Table::codebook:
      numbers = static_cast<double>(widest << (has_bits ? last : 8));
      break;
    case Table::codebooks: {
      require(has_bits, StatusCode::bad_argument,
              "description: \"{}\" names no bits; \"{}x4\" has 4 in each stage", name.text,
              name.text);
      const int64_t centroids = name.numbers[name.numbers.size() - 2] << last;
      require(centroids <= kMaxCentroids, StatusCode::bad_argument,
              "description: \"{}\" has {} centroids in all stages; up to {} are allowed", name.text,
              centroids, kMaxCentroids);
      numbers = static_cast<double>(widest * centroids);
      break;
    }
    case Table::lists:
      require(name.numbers[0] * last <= kMaxListBits, StatusCode::bad_argument,
              "description: \"{}\" has {} times {} bits; up to {} (2^{} lists) are allowed",
              name.text, name.numbers[0], last, kMaxListBits, kMaxListBits);
      numbers = static_cast<double>(widest * name.numbers[0] << last);
      break;
  }
  require(numbers <= static_cast<double>(kMaxTable), StatusCode::bad_argument,
          "description: \"{}\" needs tables of more than 2^28 numbers for {} dimensions", name.text,
          widest);
}

}  // namespace

void require_description(int d, const std::string& description) {
  require(description.size() <= kMaxBytes, StatusCode::bad_argument,
          "description: {} bytes long; at most {} are allowed", description.size(), kMaxBytes);
  // "HNSW32_16+PQ8" and "Residual16,PQ8" are codes for others to build on, and no indexes.
  require(description.find("+PQ") == std::string::npos &&
              description.find("Residual") == std::string::npos &&
              description.find("ZnLattice") == std::string::npos,
          StatusCode::unsupported,
          "description: \"{}\": codes of two levels and lattices are not supported", description);
  const std::vector<Name> names = numbered_names(description, d);
  int64_t widest = d;
  std::string_view last_name;
  for (const Name& name : names) {
    const NameRow& row = row_of(name, description);
    for (size_t i = 0; i < name.numbers.size(); ++i) {
      const Bound none;
      const Bound& bound = i < row.bounds.size() ? row.bounds[i] : none;
      require(bound.what != nullptr, StatusCode::bad_argument,
              "description: \"{}\" has more numbers than its name takes", name.text);
      require(name.numbers[i] >= bound.least && name.numbers[i] <= bound.most,
              StatusCode::bad_argument, "description: \"{}\" has {} {}; {} to {} are allowed",
              name.text, name.numbers[i], bound.what, bound.least, bound.most);
    }
    // More are not compiled into FAISS's searches.
    require(!(row.letters.empty() && last_name.find("fs") != std::string_view::npos) ||
                name.numbers[0] <= kMaxBlock,
            StatusCode::bad_argument,
            "description: \"{}\" has blocks of {} rows; up to {} are allowed", description,
            name.numbers[0], kMaxBlock);
    last_name = name.text;
    if (row.table == Table::matrix || row.letters == "Pad" || row.letters.empty())
      widest = std::max(widest, name.numbers[0]);
    // FAISS orders the centroids of such codes by a table of all pairs of them.
    const bool is_ordered = row.letters == "PQ" && !name.text.ends_with("np");
    require(!is_ordered || name.numbers.size() < 2 || name.numbers[1] <= kMaxOrderedBits,
            StatusCode::bad_argument,
            "description: \"{}\" has {} bits; more than {} are allowed with np after them",
            name.text, name.numbers.back(), kMaxOrderedBits);
  }
  for (const Name& name : names) require_table(row_of(name, description), name, widest);
}

// ---- What was built -----------------------------------------------------------------------------

namespace {

bool has_id_map(const ::faiss::Index& index) {
  if (dynamic_cast<const ::faiss::IndexIDMap*>(&index) != nullptr) return true;
  for (const auto& part : parts_of(index)) {
    if (part.kind != PartKind::quantizer && has_id_map(*part.index)) return true;
  }
  return false;
}

void require_row_numbers(const ::faiss::Index& inside, const char* container,
                         const std::string& description) {
  require(!has_id_map(inside), StatusCode::unsupported,
          "description: \"{}\" has an id map inside {}; one id map, around all else, is supported",
          description, container);
}

/// Refinements score the rows that were found one by one.
void require_scores_rows(const ::faiss::Index& index, const std::string& description) {
  if (const auto* chain = dynamic_cast<const ::faiss::IndexPreTransform*>(&index))
    return require_scores_rows(*chain->index, description);
  bool scores = dynamic_cast<const IndexPolar*>(&index) != nullptr;  // once it is trained
  // For L2 FAISS scores what it rebuilds, and inverted files rebuild nothing without a map.
  const bool rebuilds = dynamic_cast<const ::faiss::IndexIVF*>(&index) == nullptr;
  try {
    scores = scores || (rebuilds &&
                        std::unique_ptr<::faiss::DistanceComputer>(index.get_distance_computer()));
  } catch (const ::faiss::FaissException&) {
  }
  require(scores, StatusCode::unsupported,
          "description: \"{}\" refines by an index that does not score rows one by one; Flat, "
          "SQ8, SQfp16 and our names do",
          description);
}

void require_graph_of_lists(::faiss::IndexNSG& graph, size_t nlist,
                            const std::string& description) {
  try {
    prepare_building(graph, static_cast<int64_t>(nlist));
  } catch (const Error& error) {
    fail(StatusCode::unsupported, "description: \"{}\" has a graph of {} centroids: {}",
         description, nlist, error.what());
  }
}

void require_transforms(const ::faiss::IndexPreTransform& index, const std::string& description) {
  for (const ::faiss::VectorTransform* transform : index.chain) {
    const bool narrows = dynamic_cast<const ::faiss::PCAMatrix*>(transform) != nullptr ||
                         dynamic_cast<const ::faiss::ITQTransform*>(transform) != nullptr;
    require(!narrows || transform->d_out <= transform->d_in, StatusCode::bad_argument,
            "description: \"{}\" has principal axes of {} dimensions; 1 to {} are allowed",
            description, transform->d_out, transform->d_in);
  }
}

class Nowhere final : public ByteSink {
 public:
  void write(const void* /*data*/, size_t /*bytes*/) override {}
};

void make_parts_usable(::faiss::Index& index, const std::string& description) {
  if (const auto* map = dynamic_cast<const ::faiss::IndexIDMap*>(&index)) {
    require_row_numbers(*map->index, "another", description);
  } else if (const auto* both = dynamic_cast<const ::faiss::IndexRefine*>(&index)) {
    require_row_numbers(*both->base_index, "a refinement", description);
    require_row_numbers(*both->refine_index, "a refinement", description);
    require_scores_rows(*both->refine_index, description);
  } else if (const auto* chain = dynamic_cast<const ::faiss::IndexPreTransform*>(&index)) {
    require_transforms(*chain, description);
  } else if (const auto* ivf = dynamic_cast<const ::faiss::IndexIVF*>(&index)) {
    // Rows are coded about centroids, which an inverted file rebuilds by a map alone.
    ::faiss::IndexIVF* lists = ::faiss::ivflib::try_extract_index_ivf(ivf->quantizer);
    if (lists != nullptr) lists->set_direct_map_type(::faiss::DirectMap::Array);
    auto* graph = dynamic_cast<::faiss::IndexNSG*>(ivf->quantizer);
    if (graph != nullptr) require_graph_of_lists(*graph, ivf->nlist, description);
    require_row_numbers(*ivf->quantizer, "a coarse quantizer", description);
  }
  for (const auto& part : parts_of(index)) make_parts_usable(*part.index, description);
}

}  // namespace

void make_usable(::faiss::Index& index, const std::string& description) {
  require(dynamic_cast<const ::faiss::AdditiveCoarseQuantizer*>(&finding_index(index)) == nullptr,
          StatusCode::unsupported,
          "description: \"{}\" holds no rows; such names find lists, as in \"IVF16(RCQ2x2),Flat\"",
          description);
  make_parts_usable(index, description);
  // What cannot be written is refused here.
  SectionWriter sections;
  add_index_sections(index, sections);
  Nowhere nowhere;
  sections.write(nowhere);
}

}  // namespace polarquant
