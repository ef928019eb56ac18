// SPDX-License-Identifier: MIT
#include "src/faiss/faiss_bytes.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <vector>

#include "src/codec/codec.h"
#include "src/core/checked_size.h"
#include "src/faiss/faiss_byte_reader.h"
#include "src/faiss/faiss_transform_bytes.h"
#include "src/faiss/hnsw_graph.h"

namespace polarquant {
namespace {

constexpr int kMaxDepth = 16;
constexpr int kMaxTransforms = 64;
/// Lists of an inverted file without centroids yet, which costs memory for each.
constexpr uint64_t kMaxEmptyLists = uint64_t{1} << 20;

struct Context {
  FaissByteReader& in;
  bool has_coarse;
  int depth = 0;
};

FaissFacts check_index(Context& context);

FaissFacts read_header(FaissByteReader& in) {
  FaissFacts facts;
  facts.dim = in.get_between<int32_t>("d", 1, kMaxDim);
  facts.ntotal = in.get_between<int64_t>("ntotal", 0, INT64_MAX / kMaxDim / 16);
  in.get<int64_t>();
  in.get<int64_t>();
  facts.is_trained = in.get_bool("is_trained");
  facts.metric = in.get<int32_t>();
  const bool is_known =
      (facts.metric >= 0 && facts.metric <= 4) || (facts.metric >= 20 && facts.metric <= 22);
  FaissByteReader::expect(is_known, "metric_type", facts.metric);
  if (facts.metric > 1) in.get<float>();
  facts.labels_are_rows = true;
  return facts;
}

void expect_codes(FaissByteReader& in, const FaissFacts& facts, uint64_t code_bytes) {
  const uint64_t size = in.get_vector<uint8_t>().size;
  FaissByteReader::expect(size == static_cast<uint64_t>(facts.ntotal) * code_bytes, "codes' size",
                          size);
}

// ---- Codes ----

FaissFacts check_flat(Context& context) {
  const FaissFacts facts = read_header(context.in);
  const uint64_t floats = context.in.get_vector<float>().size;
  FaissByteReader::expect(floats == static_cast<uint64_t>(facts.ntotal) * facts.dim, "codes' size",
                          floats);
  return facts;
}

/// Bytes of a code of each quantizer type, and floats of its training, by dim.
struct ScalarType {
  uint64_t (*code_bytes)(uint64_t dim);
  uint64_t (*trained_floats)(uint64_t dim);
};
constexpr auto kByteCode = [](uint64_t dim) { return dim; };
constexpr auto kNibbleCode = [](uint64_t dim) { return (dim + 1) / 2; };
constexpr auto kPerDim = [](uint64_t dim) { return 2 * dim; };
constexpr auto kUniform = [](uint64_t) { return uint64_t{2}; };
constexpr auto kUntrained = [](uint64_t) { return uint64_t{0}; };
/// In the order of faiss::ScalarQuantizer::QuantizerType.
constexpr std::array<ScalarType, 7> kScalarTypes = {{
    {kByteCode, kPerDim},
    {kNibbleCode, kPerDim},
    {kByteCode, kUniform},
    {kNibbleCode, kUniform},
    {[](uint64_t dim) { return 2 * dim; }, kUntrained},
    {kByteCode, kUntrained},
    {[](uint64_t dim) { return (6 * dim + 7) / 8; }, kPerDim},
}};

/// Returns the bytes of a code.
uint64_t check_scalar_quantizer(FaissByteReader& in, const FaissFacts& facts) {
  const auto type = in.get_between<int32_t>("qtype", 0, kScalarTypes.size() - 1);
  in.get_between<int32_t>("rangestat", 0, 3);
  in.get<float>();
  const auto dim = in.get<uint64_t>();
  const auto code_bytes = in.get<uint64_t>();
  const uint64_t trained = in.get_vector<float>().size;
  const ScalarType& row = kScalarTypes[static_cast<size_t>(type)];
  FaissByteReader::expect(dim == static_cast<uint64_t>(facts.dim), "sq.d", dim);
  FaissByteReader::expect(code_bytes == row.code_bytes(dim), "sq.code_size", code_bytes);
  FaissByteReader::expect(trained == (facts.is_trained ? row.trained_floats(dim) : 0),
                          "sq.trained's size", trained);
  return code_bytes;
}

FaissFacts check_scalar(Context& context) {
  const FaissFacts facts = read_header(context.in);
  const uint64_t code_bytes = check_scalar_quantizer(context.in, facts);
  expect_codes(context.in, facts, code_bytes);
  return facts;
}

uint64_t check_product_quantizer(FaissByteReader& in, const FaissFacts& facts) {
  const auto dim = in.get<uint64_t>();
  FaissByteReader::expect(dim == static_cast<uint64_t>(facts.dim), "pq.d", dim);
  const auto parts = in.get_between<uint64_t>("pq.M", 1, dim);
  FaissByteReader::expect(dim % parts == 0, "pq.M", parts);
  const auto bits = in.get_between<uint64_t>("pq.nbits", 1, 16);
  const uint64_t centroids = in.get_vector<float>().size;
  FaissByteReader::expect(centroids == dim << bits, "pq.centroids' size", centroids);
  return (parts * bits + 7) / 8;
}

FaissFacts check_product(Context& context) {
  const FaissFacts facts = read_header(context.in);
  const uint64_t code_bytes = check_product_quantizer(context.in, facts);
  expect_codes(context.in, facts, code_bytes);
  // 3 is ST_SDC, whose table is not in the file.
  const auto search_type = context.in.get_between<int32_t>("search_type", 0, 5);
  FaissByteReader::expect(search_type != 3, "search_type", search_type);
  context.in.get_bool("encode_signs");
  context.in.get<int32_t>();  // polysemous_ht
  return facts;
}

// ---- Inverted files ----

struct Lists {
  FaissFacts facts;
  uint64_t count = 0;
  int map_type = 0;  // faiss::DirectMap::Type: none, array, hash table
  FaissArray<int64_t> map_array;
  FaissArray<int64_t> map_pairs;
};

Lists read_lists_header(Context& context) {
  FaissByteReader& in = context.in;
  Lists lists;
  lists.facts = read_header(in);
  lists.count = in.get<uint64_t>();
  in.get<uint64_t>();  // nprobe, which a search limits
  const FaissFacts coarse = check_index(context);
  const auto rows = static_cast<uint64_t>(coarse.ntotal);
  FaissByteReader::expect(
      lists.count >= 1 && (lists.count <= kMaxEmptyLists || lists.count <= rows ||
                           lists.count <= in.left() / sizeof(uint64_t)),
      "nlist", lists.count);
  FaissByteReader::expect(coarse.dim == lists.facts.dim && coarse.labels_are_rows, "quantizer's d",
                          coarse.dim);
  const bool rows_fit = !context.has_coarse      ? rows == 0
                        : lists.facts.is_trained ? rows == lists.count && coarse.is_trained
                                                 : rows <= lists.count;
  FaissByteReader::expect(rows_fit, "quantizer's ntotal", rows);
  lists.map_type = in.get_between<int8_t>("direct map", 0, 2);
  lists.map_array = in.get_vector<int64_t>();
  const uint64_t expected = lists.map_type == 1 ? static_cast<uint64_t>(lists.facts.ntotal) : 0;
  FaissByteReader::expect(lists.map_array.size == expected, "direct map's size",
                          lists.map_array.size);
  if (lists.map_type == 2) {
    const auto pairs = in.get<uint64_t>();
    FaissByteReader::expect(pairs <= static_cast<uint64_t>(lists.facts.ntotal), "direct map's size",
                            pairs);
    lists.map_pairs = in.get_items<int64_t>(2 * pairs);
  }
  return lists;
}

std::vector<uint64_t> read_list_sizes(FaissByteReader& in, uint64_t count) {
  std::vector<uint64_t> sizes(static_cast<size_t>(count));
  const auto layout = in.get<uint32_t>();
  const FaissArray<uint64_t> stored = in.get_vector<uint64_t>();
  if (layout == faiss_name("full")) {
    FaissByteReader::expect(stored.size == count, "sizes of lists", stored.size);
    for (uint64_t i = 0; i < count; ++i) sizes[static_cast<size_t>(i)] = stored[i];
    return sizes;
  }
  FaissByteReader::expect(layout == faiss_name("sprs") && stored.size % 2 == 0, "sizes of lists",
                          print_kind(layout));
  for (uint64_t i = 0; i < stored.size; i += 2) {
    FaissByteReader::expect(stored[i] < count, "list", stored[i]);
    sizes[static_cast<size_t>(stored[i])] = stored[i + 1];
  }
  return sizes;
}

void check_map_entry(int64_t entry, const std::vector<uint64_t>& sizes) {
  if (entry == -1) return;
  const auto list = static_cast<uint64_t>(entry) >> 32;
  const auto offset = static_cast<uint64_t>(entry) & 0xffffffff;
  FaissByteReader::expect(list < sizes.size() && offset < sizes[static_cast<size_t>(list)],
                          "direct map", entry);
}

/// The inverted lists that end an index.
FaissFacts check_lists(Context& context, Lists lists, uint64_t code_bytes) {
  FaissByteReader& in = context.in;
  const auto layout = in.get<uint32_t>();
  FaissByteReader::expect(layout == faiss_name("ilar"), "inverted lists", print_kind(layout));
  const auto count = in.get<uint64_t>();
  FaissByteReader::expect(count == lists.count, "nlist", count);
  const auto stored_bytes = in.get<uint64_t>();
  FaissByteReader::expect(stored_bytes == code_bytes, "code_size", stored_bytes);
  const std::vector<uint64_t> sizes = read_list_sizes(in, count);
  const auto ntotal = static_cast<uint64_t>(lists.facts.ntotal);
  // FAISS takes memory for all lists before it reads the first.
  uint64_t rows = 0;
  for (const uint64_t size : sizes) {
    FaissByteReader::expect(size <= ntotal && rows + size <= ntotal, "size of a list", size);
    rows += size;
  }
  FaissByteReader::expect(rows == ntotal, "rows in all lists", rows);
  for (const uint64_t size : sizes) {
    in.get_items<uint8_t>(size * code_bytes);
    const FaissArray<int64_t> ids = in.get_items<int64_t>(size);
    for (uint64_t i = 0; i < size; ++i) {
      if (ids[i] < 0 || ids[i] >= lists.facts.ntotal) lists.facts.labels_are_rows = false;
    }
  }
  for (uint64_t i = 0; i < lists.map_array.size; ++i) check_map_entry(lists.map_array[i], sizes);
  for (uint64_t i = 1; i < lists.map_pairs.size; i += 2) check_map_entry(lists.map_pairs[i], sizes);
  return lists.facts;
}

FaissFacts check_ivf_flat(Context& context) {
  const Lists lists = read_lists_header(context);
  return check_lists(context, lists, static_cast<uint64_t>(lists.facts.dim) * sizeof(float));
}

FaissFacts check_ivf_scalar(Context& context) {
  const Lists lists = read_lists_header(context);
  const uint64_t code_bytes = check_scalar_quantizer(context.in, lists.facts);
  const auto stored_bytes = context.in.get<uint64_t>();
  FaissByteReader::expect(stored_bytes == code_bytes, "code_size", stored_bytes);
  context.in.get_bool("by_residual");
  return check_lists(context, lists, code_bytes);
}

FaissFacts check_ivf_product(Context& context) {
  const Lists lists = read_lists_header(context);
  context.in.get_bool("by_residual");
  const auto stored_bytes = context.in.get<uint64_t>();
  const uint64_t code_bytes = check_product_quantizer(context.in, lists.facts);
  FaissByteReader::expect(stored_bytes == code_bytes, "code_size", stored_bytes);
  return check_lists(context, lists, code_bytes);
}

// ---- Graphs and containers ----

void expect_same(const FaissFacts& outer, const FaissFacts& inner) {
  FaissByteReader::expect(inner.ntotal == outer.ntotal, "ntotal of the index inside", inner.ntotal);
  FaissByteReader::expect(inner.dim == outer.dim, "d of the index inside", inner.dim);
}

FaissFacts check_hnsw(Context& context) {
  FaissByteReader& in = context.in;
  const FaissFacts facts = read_header(in);
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
  const char* flaw = flaw_of(graph, facts.ntotal, [](const auto& array) { return array.size; });
  require(flaw == nullptr, StatusCode::corrupt_data,
          "index file: FAISS's graph of {} rows has a wrong {}", facts.ntotal,
          flaw == nullptr ? "" : flaw);
  const FaissFacts storage = check_index(context);
  expect_same(facts, storage);
  FaissByteReader::expect(storage.labels_are_rows, "storage", "an index with ids");
  return facts;
}

FaissFacts check_pre_transform(Context& context) {
  FaissByteReader& in = context.in;
  FaissFacts facts = read_header(in);
  const auto count = in.get_between<int32_t>("transforms", 0, kMaxTransforms);
  int dim = facts.dim;
  for (int i = 0; i < count; ++i) {
    const TransformFacts transform = check_transform(in);
    FaissByteReader::expect(transform.d_in == dim, "d_in", transform.d_in);
    FaissByteReader::expect(transform.is_trained || !facts.is_trained, "is_trained", false);
    dim = transform.d_out;
  }
  const FaissFacts inner = check_index(context);
  FaissByteReader::expect(inner.dim == dim, "d of the index inside", inner.dim);
  FaissByteReader::expect(inner.ntotal == facts.ntotal, "ntotal of the index inside", inner.ntotal);
  facts.labels_are_rows = inner.labels_are_rows;
  return facts;
}

FaissFacts check_refine(Context& context) {
  const FaissFacts facts = read_header(context.in);
  const FaissFacts base = check_index(context);
  const FaissFacts refine = check_index(context);
  expect_same(facts, base);
  expect_same(facts, refine);
  FaissByteReader::expect(base.labels_are_rows && refine.labels_are_rows, "base index",
                          "an index with ids");
  const auto k_factor = context.in.get<float>();
  FaissByteReader::expect(std::isfinite(k_factor) && k_factor >= 1, "k_factor", k_factor);
  return facts;
}

FaissFacts check_id_map(Context& context) {
  FaissFacts facts = read_header(context.in);
  const FaissFacts inner = check_index(context);
  expect_same(facts, inner);
  FaissByteReader::expect(inner.labels_are_rows, "index inside", "an index with ids");
  const uint64_t ids = context.in.get_vector<int64_t>().size;
  FaissByteReader::expect(ids == static_cast<uint64_t>(facts.ntotal), "id_map's size", ids);
  facts.labels_are_rows = false;
  return facts;
}

struct IndexRow {
  SectionKind name;
  FaissFacts (*check)(Context& context);
};
constexpr IndexRow kIndexes[] = {
    {faiss_name("IxFI"), check_flat},          {faiss_name("IxF2"), check_flat},
    {faiss_name("IxFl"), check_flat},          {faiss_name("IxSQ"), check_scalar},
    {faiss_name("IxPq"), check_product},       {faiss_name("IwFl"), check_ivf_flat},
    {faiss_name("IwSq"), check_ivf_scalar},    {faiss_name("IwPQ"), check_ivf_product},
    {faiss_name("IHNf"), check_hnsw},          {faiss_name("IHNs"), check_hnsw},
    {faiss_name("IxPT"), check_pre_transform}, {faiss_name("IxRF"), check_refine},
    {faiss_name("IxMp"), check_id_map},        {faiss_name("IxM2"), check_id_map},
};

FaissFacts check_index(Context& context) {
  FaissByteReader::expect(context.depth < kMaxDepth, "depth", context.depth);
  const auto name = context.in.get<uint32_t>();
  const auto* const row =
      std::find_if(std::begin(kIndexes), std::end(kIndexes),
                   [name](const IndexRow& known) { return known.name == name; });
  require(row != std::end(kIndexes), StatusCode::unsupported,
          "index file: FAISS's index {} is not one that can be checked; reading with trust_faiss "
          "gives it to FAISS unchecked",
          print_kind(name));
  ++context.depth;
  const FaissFacts facts = row->check(context);
  --context.depth;
  return facts;
}

}  // namespace

FaissFacts check_faiss_index(const uint8_t* data, size_t bytes, bool has_coarse) {
  FaissByteReader in(data, bytes);
  Context context{in, has_coarse};
  const FaissFacts facts = check_index(context);
  FaissByteReader::expect(in.left() == 0, "bytes behind an index", in.left());
  return facts;
}

}  // namespace polarquant
