// SPDX-License-Identifier: MIT
#include "src/faiss/files/allowed_compositions.h"

#include <faiss/IndexFlat.h>
#include <faiss/IndexHNSW.h>
#include <faiss/IndexIDMap.h>
#include <faiss/IndexIVF.h>
#include <faiss/IndexNSG.h>
#include <faiss/IndexPreTransform.h>
#include <faiss/IndexRefine.h>
#include <faiss/IndexScalarQuantizer.h>
#include <faiss/VectorTransform.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <typeinfo>

#include "polarquant/faiss.h"
#include "src/codec/codec.h"
#include "src/core/row_length.h"
#include "src/core/status.h"
#include "src/faiss/files/stored_kinds.h"
#include "src/faiss/index/index_parts.h"

namespace polarquant {
namespace {

using Kinds = uint32_t;
constexpr Kinds kPolar = 1 << 0;
constexpr Kinds kIvfPolar = 1 << 1;
constexpr Kinds kHnswPolar = 1 << 2;
constexpr Kinds kNsgPolar = 1 << 3;
constexpr Kinds kFlat = 1 << 4;
constexpr Kinds kScalar = 1 << 5;
constexpr Kinds kHnswFlat = 1 << 6;
constexpr Kinds kTransform = 1 << 7;
constexpr Kinds kIdMap = 1 << 8;
constexpr Kinds kRefine = 1 << 9;

/// Rows that can be scored one by one.
constexpr Kinds kCodes = kPolar | kFlat | kScalar;
/// Indexes that find rows and return their numbers.
constexpr Kinds kFinds = kCodes | kIvfPolar | kHnswPolar | kNsgPolar | kTransform | kRefine;
constexpr Kinds kTop = kFinds | kIdMap;
constexpr Kinds kQuantizers = (kFinds & ~kRefine) | kHnswFlat;

template <typename Class>
bool is_a(const ::faiss::Index& index) {
  return dynamic_cast<const Class*>(&index) != nullptr;
}

bool is_hnsw_of_flat(const ::faiss::Index& index) {
  const auto* graph = dynamic_cast<const ::faiss::IndexHNSW*>(&index);
  return graph != nullptr && dynamic_cast<const ::faiss::IndexFlat*>(graph->storage) != nullptr;
}

bool is_flat(const ::faiss::Index& index) {
  return typeid(index) == typeid(::faiss::IndexFlat) ||
         typeid(index) == typeid(::faiss::IndexFlatIP) ||
         typeid(index) == typeid(::faiss::IndexFlatL2);
}

struct Composition {
  Kinds kind;
  bool (*is)(const ::faiss::Index& index);
  const char* name;
  Kinds inside;        // what it may contain
  Kinds refining = 0;  // for a refinement: what may score again
};
/// The first that recognizes an index has it.
constexpr Composition kCompositions[] = {
    {kPolar, is_a<IndexPolar>, "codes of ours", 0},
    {kIvfPolar, is_a<IndexIVFPolar>, "an inverted file of codes of ours", kQuantizers},
    {kHnswFlat, is_hnsw_of_flat, "an HNSW graph over Flat", kFlat},
    {kHnswPolar, is_a<::faiss::IndexHNSW>, "an HNSW graph", kPolar},
    {kNsgPolar, is_a<::faiss::IndexNSG>, "an NSG graph", kPolar},
    {kFlat, is_flat, "Flat", 0},
    {kScalar, is_a<::faiss::IndexScalarQuantizer>, "SQ8 or SQfp16", 0},
    {kTransform, is_a<::faiss::IndexPreTransform>, "vector transforms", kTop & ~kTransform},
    {kIdMap, is_a<::faiss::IndexIDMap>, "an id map", kFinds},
    {kRefine, is_a<::faiss::IndexRefine>, "a refinement", kFinds, kCodes | kTransform},
};

const Composition* composition_of(const ::faiss::Index& index) {
  const auto* const composition =
      std::find_if(std::begin(kCompositions), std::end(kCompositions),
                   [&](const Composition& known) { return known.is(index); });
  return composition == std::end(kCompositions) ? nullptr : composition;
}

const char* name_of(const Composition* composition, const ::faiss::Index& index) {
  return composition != nullptr ? composition->name : typeid(index).name();
}

struct Checks {
  bool trusts_faiss;

  /// `index` must be of the kinds of `allowed`.
  void require_allowed(const ::faiss::Index& index, Kinds allowed, const char* place) const {
    // FAISS may have read, unchecked, an index that only FAISS knows.
    if (trusts_faiss && !needs_our_sections(index)) return;
    const Composition* composition = composition_of(index);
    require(trusts_faiss || (composition != nullptr && (composition->kind & allowed) != 0),
            StatusCode::unsupported, "index file: {} {} is read with trust_faiss alone",
            name_of(composition, index), place);
    if (composition == nullptr) return;
    require_itself(index, *composition);
    for (const auto& part : parts_of(index)) {
      const Composition* inner = composition_of(*part.index);
      const bool refines = part.kind == PartKind::refining;
      require_allowed(*part.index, refines ? composition->refining : composition->inside,
                      refines ? "as what refines" : inside_of(*composition));
      if (inner != nullptr) require_fits(index, *composition, part, inner->name);
    }
  }

  static const char* inside_of(const Composition& composition) {
    switch (composition.kind) {
      case kIvfPolar:
        return "as coarse quantizer";
      case kIdMap:
        return "in an id map";
      case kTransform:
        return "after vector transforms";
      case kRefine:
        return "as what is refined";
      default:
        return "as the rows of a graph";
    }
  }

  static void require_itself(const ::faiss::Index& index, const Composition& composition) {
    require(index.d >= 1 && index.d <= kMaxDim && index.ntotal >= 0 &&
                (index.metric_type == ::faiss::METRIC_INNER_PRODUCT ||
                 index.metric_type == ::faiss::METRIC_L2) &&
                (index.is_trained || index.ntotal == 0),
            StatusCode::corrupt_data, "index file: {} has dim {}, {} rows, metric {}, {}trained",
            composition.name, index.d, index.ntotal, static_cast<int>(index.metric_type),
            index.is_trained ? "" : "not ");
  }

  /// The inner index of a container has its metric, and is trained where the container is. It has
  /// the container's dimensions and rows; after transforms, the dimensions that they make; as
  /// coarse quantizer, one row for each list.
  static void require_fits(const ::faiss::Index& outer, const Composition& composition,
                           const IndexPart<const ::faiss::Index>& part, const char* name) {
    const ::faiss::Index& inner = *part.index;
    int dim = outer.d;
    bool transforms_are_trained = true;
    if (composition.kind == kTransform) {
      for (const auto* transform : dynamic_cast<const ::faiss::IndexPreTransform&>(outer).chain) {
        require(transform->d_in == dim, StatusCode::corrupt_data,
                "index file: a transform takes {} dimensions; {} expected", transform->d_in, dim);
        dim = transform->d_out;
        transforms_are_trained = transforms_are_trained && transform->is_trained;
      }
    }
    const bool is_quantizer = part.kind == PartKind::quantizer;
    const int64_t rows =
        is_quantizer ? static_cast<int64_t>(dynamic_cast<const ::faiss::IndexIVF&>(outer).nlist)
                     : outer.ntotal;
    const bool rows_fit =
        is_quantizer && !outer.is_trained ? inner.ntotal <= rows : inner.ntotal == rows;
    require(inner.d == dim && rows_fit && inner.metric_type == outer.metric_type &&
                (!outer.is_trained || (inner.is_trained && transforms_are_trained)),
            StatusCode::corrupt_data,
            "index file: {} of {} rows, dim {}, metric {}, {}trained, has {} inside, of {} rows, "
            "dim {}, metric {}, {}trained",
            composition.name, rows, dim, static_cast<int>(outer.metric_type),
            outer.is_trained ? "" : "not ", name, inner.ntotal, inner.d,
            static_cast<int>(inner.metric_type), inner.is_trained ? "" : "not ");
    const auto* centroids = dynamic_cast<const ::faiss::IndexFlat*>(&inner);
    if (is_quantizer && centroids != nullptr) require_centroids(*centroids);
  }

  static void require_centroids(const ::faiss::IndexFlat& centroids) {
    try {
      require_row_lengths("centroids", centroids.ntotal, centroids.d, centroids.get_xb());
    } catch (const Error& error) {
      fail(StatusCode::corrupt_data, "index file: {}", error.what());
    }
  }
};

}  // namespace

void require_allowed_composition(const ::faiss::Index& index, bool trusts_faiss) {
  Checks{trusts_faiss}.require_allowed(index, kTop, "alone");
}

void require_allowed_quantizer(const ::faiss::Index& index, bool trusts_faiss) {
  Checks{trusts_faiss}.require_allowed(index, kQuantizers, "as coarse quantizer");
}

}  // namespace polarquant
