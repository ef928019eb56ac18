// SPDX-License-Identifier: MIT
// reverse_index_factory: tables of what FAISS's factory makes, read from the index to the string.
#include <faiss/IndexFlat.h>
#include <faiss/IndexHNSW.h>
#include <faiss/IndexIDMap.h>
#include <faiss/IndexIVFFlat.h>
#include <faiss/IndexIVFPQ.h>
#include <faiss/IndexIVFPQFastScan.h>
#include <faiss/IndexIVFPQR.h>
#include <faiss/IndexLSH.h>
#include <faiss/IndexNSG.h>
#include <faiss/IndexPQ.h>
#include <faiss/IndexPQFastScan.h>
#include <faiss/IndexPreTransform.h>
#include <faiss/IndexRefine.h>
#include <faiss/IndexScalarQuantizer.h>
#include <faiss/VectorTransform.h>
#include <faiss/impl/FaissException.h>
#include <faiss/index_factory.h>
#if __has_include(<faiss/factory_tools.h>)
#include <faiss/factory_tools.h>
#endif

#include <memory>
#include <optional>
#include <string>
#include <typeinfo>

#include "polarquant/faiss.h"
#include "src/core/format.h"
#include "src/core/status.h"
#include "src/faiss/files/stored_kinds.h"
#include "src/faiss/foreign/faiss_error.h"
#include "src/faiss/graphs/graph_over_polar.h"

namespace polarquant {
namespace {

using Name = std::optional<std::string>;

template <typename Object>
[[noreturn]] void fail_for(const char* what, const Object& object) {
  fail(StatusCode::unsupported, "reverse_index_factory: no factory string makes {} {}", what,
       ::faiss::demangle_cpp_symbol(typeid(object).name()));
}

/// FAISS's name for an index of its own, where this release has one; else nothing.
Name name_by_faiss([[maybe_unused]] const ::faiss::Index& index) {
#if __has_include(<faiss/factory_tools.h>)
  const std::string name = ::faiss::reverse_index_factory(&index);
  if (!name.empty()) return name;
#endif
  return std::nullopt;
}

// ---- Codes ----

Name scalar_name(const ::faiss::ScalarQuantizer& quantizer) {
  using Type = ::faiss::ScalarQuantizer;
  switch (quantizer.qtype) {
    case Type::QT_8bit:
      return "SQ8";
    case Type::QT_6bit:
      return "SQ6";
    case Type::QT_4bit:
      return "SQ4";
    case Type::QT_fp16:
      return "SQfp16";
    default:
      return std::nullopt;
  }
}

std::string product_name(const ::faiss::ProductQuantizer& pq, bool is_polysemous) {
  constexpr size_t kUsualBits = 8;  // the parser takes no other in a graph's storage
  return format_text("PQ{}", pq.M) + (pq.nbits == kUsualBits ? "" : format_text("x{}", pq.nbits)) +
         (is_polysemous ? "" : "np");
}

std::string fast_scan_name(size_t M, bool by_residual, int block) {
  constexpr int kUsualBlock = 32;
  return format_text("PQ{}x4fs{}", M, by_residual ? "r" : "") +
         (block == kUsualBlock ? "" : format_text("_{}", block));
}

/// Names of indexes that are codes and nothing else.
constexpr Name (*kFlatNames[])(const ::faiss::Index&) = {
    [](const ::faiss::Index& index) -> Name {
      const auto* polar = dynamic_cast<const IndexPolar*>(&index);
      return polar != nullptr ? Name(polar->spec()) : std::nullopt;
    },
    [](const ::faiss::Index& index) -> Name {
      return dynamic_cast<const ::faiss::IndexFlat*>(&index) != nullptr ? Name("Flat")
                                                                        : std::nullopt;
    },
    [](const ::faiss::Index& index) -> Name {
      const auto* flat = dynamic_cast<const ::faiss::IndexScalarQuantizer*>(&index);
      return flat != nullptr ? scalar_name(flat->sq) : std::nullopt;
    },
    [](const ::faiss::Index& index) -> Name {
      const auto* flat = dynamic_cast<const ::faiss::IndexPQ*>(&index);
      return flat != nullptr ? Name(product_name(flat->pq, flat->do_polysemous_training))
                             : std::nullopt;
    },
    [](const ::faiss::Index& index) -> Name {
      const auto* flat = dynamic_cast<const ::faiss::IndexPQFastScan*>(&index);
      return flat != nullptr ? Name(fast_scan_name(flat->pq.M, false, flat->bbs)) : std::nullopt;
    },
    [](const ::faiss::Index& index) -> Name {
      const auto* flat = dynamic_cast<const ::faiss::IndexLSH*>(&index);
      if (flat == nullptr || flat->nbits != flat->d) return std::nullopt;
      return format_text("LSH{}{}", flat->rotate_data ? "r" : "",
                         flat->train_thresholds ? "t" : "");
    },
};

/// Names of the codes of inverted files; a class comes before its base.
constexpr Name (*kListNames[])(const ::faiss::IndexIVF&) = {
    [](const ::faiss::IndexIVF& index) -> Name {
      const auto* polar = dynamic_cast<const IndexIVFPolar*>(&index);
      return polar != nullptr ? Name(polar->spec()) : std::nullopt;
    },
    [](const ::faiss::IndexIVF& index) -> Name {
      return dynamic_cast<const ::faiss::IndexIVFFlatDedup*>(&index) != nullptr ? Name("FlatDedup")
                                                                                : std::nullopt;
    },
    [](const ::faiss::IndexIVF& index) -> Name {
      return dynamic_cast<const ::faiss::IndexIVFFlat*>(&index) != nullptr ? Name("Flat")
                                                                           : std::nullopt;
    },
    [](const ::faiss::IndexIVF& index) -> Name {
      const auto* ivf = dynamic_cast<const ::faiss::IndexIVFScalarQuantizer*>(&index);
      return ivf != nullptr ? scalar_name(ivf->sq) : std::nullopt;
    },
    [](const ::faiss::IndexIVF& index) -> Name {
      const auto* ivf = dynamic_cast<const ::faiss::IndexIVFPQR*>(&index);
      return ivf != nullptr ? Name(format_text("PQ{}+{}", ivf->pq.M, ivf->refine_pq.M))
                            : std::nullopt;
    },
    [](const ::faiss::IndexIVF& index) -> Name {
      const auto* ivf = dynamic_cast<const ::faiss::IndexIVFPQ*>(&index);
      return ivf != nullptr ? Name(product_name(ivf->pq, ivf->do_polysemous_training))
                            : std::nullopt;
    },
    [](const ::faiss::IndexIVF& index) -> Name {
      const auto* ivf = dynamic_cast<const ::faiss::IndexIVFPQFastScan*>(&index);
      return ivf != nullptr ? Name(fast_scan_name(ivf->pq.M, ivf->by_residual, ivf->bbs))
                            : std::nullopt;
    },
};

template <typename Index, typename Names>
Name first_name(const Index& index, const Names& names) {
  for (const auto name : names) {
    if (Name found = name(index)) return found;
  }
  return std::nullopt;
}

// ---- Transforms ----

std::string dimensions(const char* name, int dim) { return format_text("{}{}", name, dim); }

Name pad_name(const ::faiss::RemapDimensionsTransform& transform) {
  for (int i = 0; i < transform.d_out; ++i) {
    if (transform.map[static_cast<size_t>(i)] != (i < transform.d_in ? i : -1)) return std::nullopt;
  }
  return dimensions("Pad", transform.d_out);
}

/// A class comes before its base.
constexpr Name (*kTransformNames[])(const ::faiss::VectorTransform&) = {
    [](const ::faiss::VectorTransform& transform) -> Name {
      const auto* pca = dynamic_cast<const ::faiss::PCAMatrix*>(&transform);
      constexpr float kWhitening = -.5F;
      if (pca == nullptr || (pca->eigen_power != 0 && pca->eigen_power != kWhitening))
        return std::nullopt;
      return format_text("PCA{}{}{}", pca->eigen_power == 0 ? "" : "W",
                         pca->random_rotation ? "R" : "", pca->d_out);
    },
    [](const ::faiss::VectorTransform& transform) -> Name {
      const auto* opq = dynamic_cast<const ::faiss::OPQMatrix*>(&transform);
      return opq != nullptr ? Name(format_text("OPQ{}_{}", opq->M, opq->d_out)) : std::nullopt;
    },
    [](const ::faiss::VectorTransform& transform) -> Name {
      const auto* itq = dynamic_cast<const ::faiss::ITQTransform*>(&transform);
      if (itq == nullptr) return std::nullopt;
      return itq->do_pca ? dimensions("ITQ", itq->d_out) : "ITQ";
    },
    [](const ::faiss::VectorTransform& transform) -> Name {
      return dynamic_cast<const ::faiss::RandomRotationMatrix*>(&transform) != nullptr
                 ? Name(dimensions("RR", transform.d_out))
                 : std::nullopt;
    },
    [](const ::faiss::VectorTransform& transform) -> Name {
      const auto* norm = dynamic_cast<const ::faiss::NormalizationTransform*>(&transform);
      return norm != nullptr && norm->norm == 2 ? Name("L2norm") : std::nullopt;
    },
    [](const ::faiss::VectorTransform& transform) -> Name {
      const auto* pad = dynamic_cast<const ::faiss::RemapDimensionsTransform*>(&transform);
      return pad != nullptr ? pad_name(*pad) : std::nullopt;
    },
};

// ---- Containers ----

/// How the FAISS at hand reads a string with a refinement: releases differ.
struct Reading {
  /// An id map at either end is around all else; in older releases a refinement is around all
  /// before it, transforms next, and id maps inside.
  bool id_maps_first;
  /// "RFlat" makes an IndexRefineFlat; in older releases what "Refine(Flat)" makes.
  bool flat_class;
};

const Reading& reading() {
  static const Reading found = [] {
    const std::unique_ptr<::faiss::Index> built(::faiss::index_factory(1, "IDMap,Flat,RFlat"));
    const auto* map = dynamic_cast<const ::faiss::IndexIDMap*>(built.get());
    const ::faiss::Index* refined = map != nullptr ? map->index : built.get();
    return Reading{map != nullptr,
                   dynamic_cast<const ::faiss::IndexRefineFlat*>(refined) != nullptr};
  }();
  return found;
}

/// A string, with what FAISS's parser would make of it inside a longer one.
struct Written {
  explicit Written(const std::string& name, bool is_ours = false)
      : text(name), with_maps_after(name), has_ours(is_ours) {}

  std::string text;
  /// The same with the outermost id maps after what they map.
  std::string with_maps_after;
  bool has_ours;
  /// It ends with a refinement, which the parser takes for one of all before it.
  bool is_refined = false;
  /// It begins with transforms, which the parser takes for those of all after them.
  bool is_transformed = false;
  /// It has an id map that would change places with a refinement of it (index_factory).
  bool is_mapped = false;
};

Written write(const ::faiss::Index& index);

Written write_transforms(const ::faiss::IndexPreTransform& index) {
  Written written = write(*index.index);
  if (written.is_refined) fail_for("transforms in front of a refinement in", index);
  std::string chain;
  for (const ::faiss::VectorTransform* transform : index.chain) {
    const Name name = first_name(*transform, kTransformNames);
    if (!name) fail_for("the transform", *transform);
    chain += *name + ",";
  }
  written.text = written.with_maps_after = chain + written.text;
  written.is_transformed = true;
  return written;
}

Written write_id_map(const char* name, const ::faiss::IndexIDMap& index) {
  Written written = write(*index.index);
  written.is_mapped = true;
  written.with_maps_after += format_text(",{}", name);
  if (!written.is_refined || written.has_ours || reading().id_maps_first) {
    written.text = format_text("{},{}", name, written.text);
    written.is_transformed = false;
    return written;
  }
  // Without an index of ours FAISS's reading holds: at the beginning the map would be inside.
  if (written.is_transformed) fail_for("an id map of a refinement of transforms,", index);
  written.text += format_text(",{}", name);
  written.is_refined = false;
  return written;
}

Written write_refine(const ::faiss::IndexRefine& index) {
  Written base = write(*index.base_index);
  const Written refining = write(*index.refine_index);
  const bool has_ours = base.has_ours || refining.has_ours;
  if (base.is_mapped && has_ours) fail_for("a refinement of an id map,", index);
  if (refining.text.find(",Refine(") != std::string::npos)
    fail_for("a refinement inside another's,", index);
  // At the beginning the map would be around the refinement.
  if (reading().id_maps_first) base.text = base.with_maps_after;
  const bool is_flat =
      refining.text == "Flat" && (has_ours || !reading().flat_class ||
                                  dynamic_cast<const ::faiss::IndexRefineFlat*>(&index) != nullptr);
  base.text += is_flat ? ",RFlat" : format_text(",Refine({})", refining.text);
  base.with_maps_after = base.text;
  base.has_ours = has_ours;
  base.is_refined = true;
  return base;
}

std::string graph_storage(const ::faiss::Index& graph, const ::faiss::Index* storage) {
  const Name name = storage != nullptr ? first_name(*storage, kFlatNames) : std::nullopt;
  if (!name) fail_for("the storage of", graph);
  return *name;
}

int links_of(const ::faiss::IndexHNSW& graph) { return graph.hnsw.nb_neighbors(1); }

/// Writes the lists and how they are found.
std::string write_lists(const ::faiss::IndexIVF& index) {
  const ::faiss::Index& quantizer = *index.quantizer;
  if (const auto* multi = dynamic_cast<const ::faiss::MultiIndexQuantizer*>(&quantizer))
    return format_text("IMI{}x{}", multi->pq.M, multi->pq.nbits);
  std::string lists = format_text("IVF{}", index.nlist);
  if (dynamic_cast<const ::faiss::IndexFlat*>(&quantizer) != nullptr) return lists;
  if (const auto* graph = dynamic_cast<const ::faiss::IndexHNSWFlat*>(&quantizer))
    return lists + format_text("_HNSW{}", links_of(*graph));
  if (const auto* graph = dynamic_cast<const ::faiss::IndexNSGFlat*>(&quantizer))
    return lists + format_text("_NSG{}", graph->nsg.R);
  return lists + format_text("({})", write(quantizer).text);
}

std::string write_inverted_file(const ::faiss::IndexIVF& index) {
  Name codes = first_name(index, kListNames);
  if (!codes) {
    codes = name_by_faiss(index);
    if (!codes) fail_for("the inverted file", index);
    codes->erase(0, codes->rfind(',') + 1);
  }
  return format_text("{},{}", write_lists(index), *codes);
}

/// One row for each container; nothing for other indexes. IndexIDMap2 comes before its base.
constexpr std::optional<Written> (*kContainers[])(const ::faiss::Index&) = {
    [](const ::faiss::Index& index) -> std::optional<Written> {
      const auto* chain = dynamic_cast<const ::faiss::IndexPreTransform*>(&index);
      return chain != nullptr ? std::optional(write_transforms(*chain)) : std::nullopt;
    },
    [](const ::faiss::Index& index) -> std::optional<Written> {
      const auto* map = dynamic_cast<const ::faiss::IndexIDMap2*>(&index);
      return map != nullptr ? std::optional(write_id_map("IDMap2", *map)) : std::nullopt;
    },
    [](const ::faiss::Index& index) -> std::optional<Written> {
      const auto* map = dynamic_cast<const ::faiss::IndexIDMap*>(&index);
      return map != nullptr ? std::optional(write_id_map("IDMap", *map)) : std::nullopt;
    },
    [](const ::faiss::Index& index) -> std::optional<Written> {
      const auto* both = dynamic_cast<const ::faiss::IndexRefine*>(&index);
      return both != nullptr ? std::optional(write_refine(*both)) : std::nullopt;
    },
    [](const ::faiss::Index& index) -> std::optional<Written> {
      const auto* ivf = dynamic_cast<const ::faiss::IndexIVF*>(&index);
      return ivf != nullptr ? std::optional(Written(write_inverted_file(*ivf))) : std::nullopt;
    },
    [](const ::faiss::Index& index) -> std::optional<Written> {
      const auto* graph = dynamic_cast<const ::faiss::IndexHNSW*>(&index);
      if (graph == nullptr) return std::nullopt;
      return Written(format_text("HNSW{}{},{}", links_of(*graph), lies_in_records(index) ? "x" : "",
                                 graph_storage(index, graph->storage)));
    },
    [](const ::faiss::Index& index) -> std::optional<Written> {
      const auto* graph = dynamic_cast<const ::faiss::IndexNSG*>(&index);
      if (graph == nullptr) return std::nullopt;
      return Written(format_text("NSG{},{}", graph->nsg.R, graph_storage(index, graph->storage)));
    },
};

Written write(const ::faiss::Index& index) {
  for (const auto container : kContainers) {
    if (std::optional<Written> written = container(index)) {
      written->has_ours = written->has_ours || needs_our_sections(index);
      return *written;
    }
  }
  Name name = first_name(index, kFlatNames);
  if (!name) name = name_by_faiss(index);
  if (!name) fail_for("an index of class", index);
  return Written(*name, needs_our_sections(index));
}

}  // namespace

std::string reverse_index_factory(const ::faiss::Index& index) {
  return with_faiss_errors([&] { return write(index).text; });
}

}  // namespace polarquant
