// SPDX-License-Identifier: MIT
#include "src/faiss/foreign/faiss_bytes.h"

#include <algorithm>
#include <iterator>

#include "src/codec/codec.h"
#include "src/faiss/foreign/faiss_byte_reader.h"
#include "src/faiss/foreign/faiss_transform_bytes.h"
#include "src/faiss/graphs/hnsw_graph.h"

namespace polarquant {
namespace {

constexpr int kMaxDepth = 16;
constexpr int kMaxTransforms = 64;
/// FAISS's own refinements take memory for this many times k results, however few rows there are.
constexpr float kMaxFactor = 1 << 20;

struct Context {
  FaissByteReader& in;
  int depth = 0;
};

void check_index(Context& context);

struct Header {
  int dim = 0;
  int64_t ntotal = 0;
  bool is_trained = false;
};

Header read_header(FaissByteReader& in) {
  Header header;
  header.dim = in.get_between<int32_t>("d", 1, kMaxDim);
  header.ntotal = in.get_between<int64_t>("ntotal", 0, INT64_MAX / kMaxDim / 16);
  in.get<int64_t>();
  in.get<int64_t>();
  header.is_trained = in.get_bool("is_trained");
  in.get_between<int32_t>("metric_type", 0, 1);
  return header;
}

// ---- Codes ----

void check_flat(Context& context) {
  const Header header = read_header(context.in);
  const uint64_t floats = context.in.get_vector<float>().size;
  FaissByteReader::expect(floats == static_cast<uint64_t>(header.ntotal) * header.dim,
                          "codes' size", floats);
}

/// Bytes of a coordinate of the scalar quantizers that are read, and floats of its training.
struct ScalarType {
  int32_t number;  // faiss::ScalarQuantizer::QuantizerType
  uint64_t bytes;
  uint64_t trained_floats;
};
constexpr ScalarType kScalarTypes[] = {
    {0, 1, 2},  // QT_8bit
    {4, 2, 0},  // QT_fp16
};

void check_scalar(Context& context) {
  FaissByteReader& in = context.in;
  const Header header = read_header(in);
  const auto type = in.get<int32_t>();
  const auto* const row =
      std::find_if(std::begin(kScalarTypes), std::end(kScalarTypes),
                   [type](const ScalarType& known) { return known.number == type; });
  require(row != std::end(kScalarTypes), StatusCode::unsupported,
          "index file: FAISS's scalar quantizer of type {} is read with trust_faiss alone; SQ8 and "
          "SQfp16 are read without",
          type);
  in.get_between<int32_t>("rangestat", 0, 3);
  in.get<float>();
  const auto dim = in.get<uint64_t>();
  const auto code_bytes = in.get<uint64_t>();
  const uint64_t trained = in.get_vector<float>().size;
  FaissByteReader::expect(dim == static_cast<uint64_t>(header.dim), "sq.d", dim);
  FaissByteReader::expect(code_bytes == dim * row->bytes, "sq.code_size", code_bytes);
  FaissByteReader::expect(trained == (header.is_trained ? dim * row->trained_floats : 0),
                          "sq.trained's size", trained);
  const uint64_t codes = in.get_vector<uint8_t>().size;
  FaissByteReader::expect(codes == static_cast<uint64_t>(header.ntotal) * code_bytes, "codes' size",
                          codes);
}

// ---- Graphs and containers ----

void check_hnsw(Context& context) {
  FaissByteReader& in = context.in;
  const Header header = read_header(in);
  HnswGraph<FaissArray<int32_t>, FaissArray<uint64_t>> graph;
  graph.assign_probas = in.get_vector<double>().size;
  graph.cum_nneighbor_per_level = in.get_vector<int32_t>();
  graph.levels = in.get_vector<int32_t>();
  graph.offsets = in.get_vector<uint64_t>();
  graph.neighbors = in.get_vector<int32_t>();
  graph.entry_point = in.get<int32_t>();
  graph.max_level = in.get<int32_t>();
  graph.ef_construction = in.get<int32_t>();
  graph.ef_search = in.get<int32_t>();
  graph.upper_beam = in.get<int32_t>();
  const char* flaw = flaw_of(graph, header.ntotal, [](const auto& array) { return array.size; });
  require(flaw == nullptr, StatusCode::corrupt_data,
          "index file: FAISS's graph of {} rows has a wrong {}", header.ntotal,
          flaw == nullptr ? "" : flaw);
  check_index(context);
}

void check_pre_transform(Context& context) {
  read_header(context.in);
  const auto count = context.in.get_between<int32_t>("transforms", 0, kMaxTransforms);
  for (int i = 0; i < count; ++i) check_transform(context.in);
  check_index(context);
}

void check_refine(Context& context) {
  read_header(context.in);
  check_index(context);
  check_index(context);
  const auto k_factor = context.in.get<float>();
  FaissByteReader::expect(k_factor >= 1 && k_factor <= kMaxFactor, "k_factor", k_factor);
}

void check_id_map(Context& context) {
  const Header header = read_header(context.in);
  check_index(context);
  const uint64_t ids = context.in.get_vector<int64_t>().size;
  FaissByteReader::expect(ids == static_cast<uint64_t>(header.ntotal), "id_map's size", ids);
}

struct IndexRow {
  SectionKind name;
  void (*check)(Context& context);
};
constexpr IndexRow kIndexes[] = {
    {faiss_name("IxFI"), check_flat},   {faiss_name("IxF2"), check_flat},
    {faiss_name("IxSQ"), check_scalar}, {faiss_name("IHNf"), check_hnsw},
    {faiss_name("IxRF"), check_refine}, {faiss_name("IxPT"), check_pre_transform},
    {faiss_name("IxMp"), check_id_map}, {faiss_name("IxM2"), check_id_map},
};

/// FAISS's other names in factory strings, where they are more than one index in a thousand.
struct Refused {
  SectionKind name;
  const char* description;
};
constexpr Refused kRefused[] = {
    {faiss_name("IwFl"), " (\"IVF…,Flat\")"}, {faiss_name("IwSq"), " (\"IVF…,SQ…\")"},
    {faiss_name("IwPQ"), " (\"IVF…,PQ…\")"},  {faiss_name("IxPq"), " (\"PQ…\")"},
    {faiss_name("IHNs"), " (\"HNSW…,SQ…\")"}, {faiss_name("IHNp"), " (\"HNSW…,PQ…\")"},
    {faiss_name("INSf"), " (\"NSG…\")"},      {faiss_name("IxHe"), " (\"LSH\")"},
    {faiss_name("Imiq"), " (\"IMI…\")"},
};

void check_index(Context& context) {
  FaissByteReader::expect(context.depth < kMaxDepth, "depth", context.depth);
  const auto name = context.in.get<uint32_t>();
  const auto* const row =
      std::find_if(std::begin(kIndexes), std::end(kIndexes),
                   [name](const IndexRow& known) { return known.name == name; });
  if (row == std::end(kIndexes)) {
    const auto* const known =
        std::find_if(std::begin(kRefused), std::end(kRefused),
                     [name](const Refused& refused) { return refused.name == name; });
    fail(StatusCode::unsupported,
         "index file: FAISS's index {}{} is read with trust_faiss alone, which gives it to FAISS "
         "unchecked",
         print_kind(name), known != std::end(kRefused) ? known->description : "");
  }
  ++context.depth;
  row->check(context);
  --context.depth;
}

}  // namespace

void check_faiss_index(const uint8_t* data, size_t bytes) {
  FaissByteReader in(data, bytes);
  Context context{in};
  check_index(context);
  FaissByteReader::expect(in.left() == 0, "bytes after an index", in.left());
}

}  // namespace polarquant
