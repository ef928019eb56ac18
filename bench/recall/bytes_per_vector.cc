// SPDX-License-Identifier: MIT
// One table: {class, why its bytes are what they are, how to count them}. The first row whose class
// fits is used, so derived classes stand above their bases.
#include "bench/recall/bytes_per_vector.h"

#include <faiss/IndexFastScan.h>
#include <faiss/IndexFlatCodes.h>
#include <faiss/IndexHNSW.h>
#include <faiss/IndexIDMap.h>
#include <faiss/IndexIVF.h>
#include <faiss/IndexIVFPQR.h>
#include <faiss/IndexNNDescent.h>
#include <faiss/IndexNSG.h>
#include <faiss/IndexPreTransform.h>
#include <faiss/IndexRefine.h>
#include <faiss/IndexRowwiseMinMax.h>
#include <faiss/impl/io.h>
#include <faiss/index_io.h>
#include <faiss/invlists/BlockInvertedLists.h>

#include <exception>
#include <optional>

#include "include/polarquant/faiss.h"
#include "src/codec/codec.h"
#include "src/scan/stores/row_store.h"

namespace polarquant::bench {
namespace {

constexpr double kIdBytes = sizeof(::faiss::Index::ntotal);

/// One row's rule: nullopt when the index is of another class.
using CountBytes = std::optional<VectorCost> (*)(const ::faiss::Index& index);

struct StorageRule {
  const char* class_name;
  const char* reason;
  CountBytes count;
};

double per_row(double total_bytes, const ::faiss::Index& index) {
  return total_bytes / static_cast<double>(index.ntotal);
}

/// The inner index's cost with `extra` bytes a vector on top, named "Outer(inner)".
VectorCost around(const char* outer, const ::faiss::Index& inner, double extra) {
  const VectorCost cost = bytes_per_vector(inner);
  const std::string rule = std::string(outer) + "(" + cost.rule + ")";
  return cost.bytes < 0 ? VectorCost{-1, rule} : VectorCost{cost.bytes + extra, rule};
}

std::optional<VectorCost> count_polar(const ::faiss::Index& index) {
  const auto* polar = dynamic_cast<const IndexPolar*>(&index);
  if (polar == nullptr) return std::nullopt;
  // In a graph's records links and signs of neighbours lie beside codes.
  const auto bytes = polar->options().record_links > 0
                         ? static_cast<double>(polar->codes().memory_bytes())
                         : static_cast<double>(polar->codec().layout().bytes(index.ntotal));
  return VectorCost{per_row(bytes, index), "IndexPolar"};
}

std::optional<VectorCost> count_refine(const ::faiss::Index& index) {
  const auto* refine = dynamic_cast<const ::faiss::IndexRefine*>(&index);
  if (refine == nullptr) return std::nullopt;
  const VectorCost base = bytes_per_vector(*refine->base_index);
  const VectorCost exact = bytes_per_vector(*refine->refine_index);
  const std::string rule = "IndexRefine(" + base.rule + " + " + exact.rule + ")";
  if (base.bytes < 0 || exact.bytes < 0) return VectorCost{-1, rule};
  return VectorCost{base.bytes + exact.bytes, rule};
}

std::optional<VectorCost> count_transform(const ::faiss::Index& index) {
  const auto* transform = dynamic_cast<const ::faiss::IndexPreTransform*>(&index);
  if (transform == nullptr) return std::nullopt;
  return around("IndexPreTransform", *transform->index, 0);
}

std::optional<VectorCost> count_id_map(const ::faiss::Index& index) {
  const auto* map = dynamic_cast<const ::faiss::IndexIDMap*>(&index);
  if (map == nullptr) return std::nullopt;
  return around("IndexIDMap", *map->index, kIdBytes);
}

std::optional<VectorCost> count_min_max(const ::faiss::Index& index) {
  const auto* outer = dynamic_cast<const ::faiss::IndexRowwiseMinMaxBase*>(&index);
  if (outer == nullptr) return std::nullopt;
  const double extra = static_cast<double>(outer->sa_code_size()) -
                       static_cast<double>(outer->index->sa_code_size());
  return around("IndexRowwiseMinMax", *outer->index, extra);
}

std::optional<VectorCost> count_hnsw(const ::faiss::Index& index) {
  const auto* graph = dynamic_cast<const ::faiss::IndexHNSW*>(&index);
  if (graph == nullptr) return std::nullopt;
  const ::faiss::HNSW& links = graph->hnsw;
  const auto bytes = static_cast<double>(links.neighbors.size() * sizeof(links.neighbors[0]) +
                                         links.offsets.size() * sizeof(links.offsets[0]) +
                                         links.levels.size() * sizeof(links.levels[0]));
  return around("IndexHNSW", *graph->storage, per_row(bytes, index));
}

std::optional<VectorCost> count_nsg(const ::faiss::Index& index) {
  const auto* graph = dynamic_cast<const ::faiss::IndexNSG*>(&index);
  if (graph == nullptr) return std::nullopt;
  const double links = graph->nsg.final_graph ? graph->nsg.final_graph->K : 0;
  return around("IndexNSG", *graph->storage, links * sizeof(int));
}

std::optional<VectorCost> count_nndescent(const ::faiss::Index& index) {
  const auto* graph = dynamic_cast<const ::faiss::IndexNNDescent*>(&index);
  if (graph == nullptr) return std::nullopt;
  const auto bytes = static_cast<double>(graph->nndescent.final_graph.size() * sizeof(int));
  return around("IndexNNDescent", *graph->storage, per_row(bytes, index));
}

std::optional<VectorCost> count_ivfpqr(const ::faiss::Index& index) {
  const auto* ivf = dynamic_cast<const ::faiss::IndexIVFPQR*>(&index);
  if (ivf == nullptr) return std::nullopt;
  const double refine = per_row(static_cast<double>(ivf->refine_codes.size()), index);
  return VectorCost{static_cast<double>(ivf->code_size) + refine + kIdBytes, "IndexIVFPQR"};
}

std::optional<VectorCost> count_ivf(const ::faiss::Index& index) {
  const auto* ivf = dynamic_cast<const ::faiss::IndexIVF*>(&index);
  if (ivf == nullptr) return std::nullopt;
  if (const auto* lists = dynamic_cast<const ::faiss::BlockInvertedLists*>(ivf->invlists)) {
    double bytes = 0;
    for (const auto& codes : lists->codes) bytes += static_cast<double>(codes.size());
    return VectorCost{per_row(bytes, index) + kIdBytes, "IndexIVF, blocks"};
  }
  return VectorCost{static_cast<double>(ivf->code_size) + kIdBytes, "IndexIVF"};
}

std::optional<VectorCost> count_fast_scan(const ::faiss::Index& index) {
  const auto* scan = dynamic_cast<const ::faiss::IndexFastScan*>(&index);
  if (scan == nullptr) return std::nullopt;
  return VectorCost{per_row(static_cast<double>(scan->codes.size()), index), "IndexFastScan"};
}

std::optional<VectorCost> count_flat_codes(const ::faiss::Index& index) {
  const auto* flat = dynamic_cast<const ::faiss::IndexFlatCodes*>(&index);
  if (flat == nullptr) return std::nullopt;
  return VectorCost{static_cast<double>(flat->sa_code_size()), "IndexFlatCodes"};
}

/// Takes what an index would write to a file, and keeps only its length.
struct CountingWriter : ::faiss::IOWriter {
  size_t bytes = 0;
  size_t operator()(const void*, size_t size, size_t items) override {
    bytes += size * items;
    return items;
  }
};

std::optional<VectorCost> count_serialized(const ::faiss::Index& index) {
  try {
    CountingWriter writer;
    ::faiss::write_index(&index, &writer);
    return VectorCost{per_row(static_cast<double>(writer.bytes), index), "serialized"};
  } catch (const std::exception&) {  // a class FAISS's writer does not know
    return std::nullopt;
  }
}

std::optional<VectorCost> count_code_size(const ::faiss::Index& index) {
  try {
    return VectorCost{static_cast<double>(index.sa_code_size()), "sa_code_size"};
  } catch (const std::exception&) {  // a class without a standalone codec
    return std::nullopt;
  }
}

constexpr StorageRule kRules[] = {
    {"IndexPolar", "codes with their factors; the row number is the id", &count_polar},
    {"IndexRefine", "a vector is stored in both indexes", &count_refine},
    {"IndexPreTransform", "the transform is stored once; vectors lie in the inner index",
     &count_transform},
    {"IndexIDMap", "the inner index and an 8-byte id for each vector", &count_id_map},
    {"IndexRowwiseMinMax", "the inner index and each row's own scale and offset", &count_min_max},
    {"IndexHNSW", "the storage, and each node's links, offset and level", &count_hnsw},
    {"IndexNSG", "the storage, and as many 4-byte links as the graph's degree", &count_nsg},
    {"IndexNNDescent", "the storage, and the 4-byte links of the graph", &count_nndescent},
    {"IndexIVFPQR", "code, second code of the residual, and an 8-byte id", &count_ivfpqr},
    {"IndexIVF", "code and an 8-byte id; lists in blocks are counted with their padding",
     &count_ivf},
    {"IndexFastScan", "blocks of 32 codes, the last one padded", &count_fast_scan},
    {"IndexFlatCodes", "one code of sa_code_size() bytes; the row number is the id",
     &count_flat_codes},
    {"other classes", "no rule: the whole serialized index over its rows", &count_serialized},
    {"classes that cannot be written", "no rule and no file: the code size alone",
     &count_code_size},
};

}  // namespace

VectorCost bytes_per_vector(const ::faiss::Index& index) {
  if (index.ntotal > 0) {
    for (const StorageRule& rule : kRules) {
      if (const std::optional<VectorCost> cost = rule.count(index)) return *cost;
    }
  }
  return {-1, "unknown"};
}

std::vector<StorageRuleText> storage_rules() {
  std::vector<StorageRuleText> out;
  for (const StorageRule& rule : kRules) out.push_back({rule.class_name, rule.reason});
  return out;
}

}  // namespace polarquant::bench
