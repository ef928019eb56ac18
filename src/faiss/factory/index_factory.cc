// SPDX-License-Identifier: MIT
// index_factory: FAISS's factory has no hook for names of others, so each of ours is replaced by a
// stand-in that FAISS knows, FAISS builds the whole, and our indexes take the stand-ins' places.
//
// "Flat" would be the natural stand-in, but FAISS makes IndexFlats of its own (RFlat, the coarse
// quantizer of IVF). A scalar quantizer of a type that the string does not name is unmistakable,
// and FAISS takes it wherever it takes "Flat".
#include <faiss/IndexHNSW.h>
#include <faiss/IndexIVF.h>
#include <faiss/IndexScalarQuantizer.h>
#include <faiss/index_factory.h>

#include <array>
#include <exception>
#include <new>
#include <string_view>

#include "polarquant/faiss.h"
#include "src/codec/spec.h"
#include "src/faiss/factory/description_limits.h"
#include "src/faiss/foreign/faiss_error.h"
#include "src/faiss/foreign/faiss_metric.h"
#include "src/faiss/graphs/graph_over_polar.h"
#include "src/faiss/index/containers.h"
#include "src/faiss/index/index_parts.h"

namespace polarquant {
namespace {

struct StandIn {
  const char* token;
  ::faiss::ScalarQuantizer::QuantizerType type;
};
constexpr std::array<StandIn, 4> kStandIns = {{
    {"SQfp16", ::faiss::ScalarQuantizer::QT_fp16},
    {"SQ8", ::faiss::ScalarQuantizer::QT_8bit},
    {"SQ6", ::faiss::ScalarQuantizer::QT_6bit},
    {"SQ4", ::faiss::ScalarQuantizer::QT_4bit},
}};

constexpr const char* kPlaces =
    "it can stand alone, after vector transforms (\"PCA64,Polar4\"), in an inverted file "
    "(\"IVF1024,Polar4\"), as the rows of a graph (\"HNSW32,Polar4\"), inside IDMap or IDMap2, "
    "before "
    "RFlat or Refine(...), inside Refine(...), and as coarse quantizer (\"IVF1024(Polar8),SQ8\")";

/// One of our names in a description.
struct Name {
  size_t begin;
  size_t size;
  std::string spec;
  const StandIn* stand_in = nullptr;
  bool placed = false;
};

/// Where a name can begin: FAISS separates by commas and parentheses, and HNSW's code also by '_'.
bool begins_token(std::string_view text, size_t position) {
  return position == 0 ||
         std::string_view(",(_").find(text[position - 1]) != std::string_view::npos;
}

/// Takes the "x" out of each "HNSW8x", a graph whose rows lie in records with their links, which
/// FAISS does not know; how many they were.
int take_out_records(std::string& description) {
  constexpr std::string_view kGraph = "HNSW";
  int taken = 0;
  for (size_t at = 0; (at = description.find(kGraph, at)) != std::string::npos;) {
    const bool begins = begins_token(description, at);
    at = description.find_first_not_of("0123456789", at + kGraph.size());
    if (at == std::string::npos) break;
    const bool ends = at + 1 == description.size() ||
                      std::string_view(",_)").find(description[at + 1]) != std::string_view::npos;
    if (!begins || description[at] != 'x' || !ends) continue;
    description.erase(at, 1);
    ++taken;
  }
  return taken;
}

/// For graphs with records. With FAISS's 40 the few links that a node has lead less far: of 117,659
/// rows of 384 dimensions, 16 links each, a search of 80 nodes finds .907 of the ten nearest where
/// one of the same links chosen among 200 finds .943 (docs/dev/tuning.md, "Graphs in records").
constexpr int kEfConstruction = 200;

/// Lays the records of graphs out, of which there must be so many and no others.
void lay_out_records(::faiss::Index& index, int expected, const std::string& description) {
  int graphs = 0;
  int records = 0;
  for_each_part(index, [&](const ::faiss::Index& part) {
    graphs += dynamic_cast<const ::faiss::IndexHNSW*>(&part) != nullptr ? 1 : 0;
    auto* graph = const_cast<HNSWOverPolar*>(dynamic_cast<const HNSWOverPolar*>(&part));
    if (graph == nullptr) return;
    graph->lay_out_records();
    graph->hnsw.efConstruction = kEfConstruction;
    ++records;
  });
  require(
      records == expected && graphs == expected, StatusCode::unsupported,
      "description: \"{}\" has an x after HNSW at a place where it is not supported; all graphs "
      "of a description have it or none, and their rows are codes of ours, as in "
      "\"HNSW8x,Polar8\"",
      description);
}

std::vector<Name> find_names(std::string_view description) {
  std::vector<Name> names;
  for (size_t i = 0; i < description.size(); ++i) {
    if (!begins_token(description, i)) continue;
    const std::string_view remaining = description.substr(i);
    const std::string_view token = remaining.substr(0, remaining.find_first_of(",)"));
    if (!looks_like_spec(token)) continue;
    names.push_back({i, token.size(), print_spec(parse_spec(token))});
  }
  return names;
}

void choose_stand_ins(const std::string& description, std::vector<Name>& names) {
  size_t next = 0;
  for (Name& name : names) {
    while (next < kStandIns.size() &&
           description.find(kStandIns[next].token) != std::string::npos) {
      ++next;
    }
    require(next < kStandIns.size(), StatusCode::unsupported,
            "description: \"{}\" has {} of our names; at most {}, less one for each of SQfp16, "
            "SQ8, SQ6 "
            "and SQ4 in it, are supported",
            description, names.size(), kStandIns.size());
    name.stand_in = &kStandIns[next++];
  }
}

std::string with_stand_ins(std::string text, const std::vector<Name>& names) {
  for (auto name = names.rbegin(); name != names.rend(); ++name) {
    text.replace(name->begin, name->size, name->stand_in->token);
  }
  return text;
}

/// FAISS's factory on the string with stand-ins; what it refuses is told in the caller's words too.
std::unique_ptr<::faiss::Index> build_with_stand_ins(int d, const std::string& description,
                                                     const std::vector<Name>& names,
                                                     ::faiss::MetricType metric) {
  const std::string text = with_stand_ins(description, names);
  try {
    return std::unique_ptr<::faiss::Index>(::faiss::index_factory(d, text.c_str(), metric));
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& error) {  // FaissException, and std::stoi's of its number parsing
    fail(StatusCode::bad_argument,
         "description: \"{}\" is refused by FAISS, which was given \"{}\", scalar quantizers in "
         "place of "
         "our names: {}",
         description, text, error.what());
  }
}

/// FAISS's inverted file around a scalar quantizer becomes one around our codes.
std::unique_ptr<::faiss::Index> inverted_file(::faiss::IndexIVF& built, const std::string& spec) {
  auto ours = std::make_unique<IndexIVFPolar>(built.quantizer, static_cast<size_t>(built.d),
                                              built.nlist, spec, built.metric_type);
  ours->quantizer_trains_alone = built.quantizer_trains_alone;
  ours->cp = built.cp;
  std::swap(ours->own_fields, built.own_fields);
  built.quantizer = nullptr;
  return ours;
}

std::unique_ptr<::faiss::Index> build(int d, const std::string& description,
                                      std::vector<Name>& names, ::faiss::MetricType metric) {
  codec_metric(metric);
  choose_stand_ins(description, names);
  std::unique_ptr<::faiss::Index> index = build_with_stand_ins(d, description, names, metric);
  replace_leaves(index, [&](::faiss::Index& leaf) -> std::unique_ptr<::faiss::Index> {
    const ::faiss::ScalarQuantizer* quantizer = nullptr;
    if (const auto* flat = dynamic_cast<::faiss::IndexScalarQuantizer*>(&leaf))
      quantizer = &flat->sq;
    auto* ivf = dynamic_cast<::faiss::IndexIVFScalarQuantizer*>(&leaf);
    if (ivf != nullptr) quantizer = &ivf->sq;
    if (quantizer == nullptr) return nullptr;
    for (Name& name : names) {
      if (name.stand_in->type != quantizer->qtype) continue;
      name.placed = true;
      if (ivf != nullptr) return inverted_file(*ivf, name.spec);
      return std::make_unique<IndexPolar>(leaf.d, name.spec, metric);
    }
    return nullptr;
  });
  for (const Name& name : names) {
    require(name.placed, StatusCode::unsupported,
            "description: \"{}\" is not supported at its place in \"{}\" yet; {}",
            description.substr(name.begin, name.size), description, kPlaces);
  }
  return index;
}

}  // namespace

std::unique_ptr<::faiss::Index> index_factory(int d, const std::string& description,
                                              ::faiss::MetricType metric) {
  return with_faiss_errors([&] {
    require_description(d, description);
    std::string usual = description;
    const int records = take_out_records(usual);
    std::vector<Name> names = find_names(usual);
    std::unique_ptr<::faiss::Index> index;
    if (!names.empty() || records > 0) {
      index = build(d, usual, names, metric);
      if (records > 0) lay_out_records(*index, records, description);
    } else {
      index.reset(::faiss::index_factory(d, description.c_str(), metric));
    }
    require(index->metric_type == metric, StatusCode::unsupported,
            "description: \"{}\" is made by FAISS for metric {} alone; {} was asked for",
            description, static_cast<int>(index->metric_type), static_cast<int>(metric));
    make_usable(*index, description);
    return index;
  });
}

}  // namespace polarquant
