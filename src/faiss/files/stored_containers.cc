// SPDX-License-Identifier: MIT
#include "src/faiss/files/stored_containers.h"

#include <cmath>
#include <utility>
#include <vector>

#include "src/faiss/files/stored_polar.h"
#include "src/faiss/foreign/stored_faiss.h"
#include "src/faiss/index/containers.h"
#include "src/faiss/index/row_normalization.h"

namespace polarquant {
namespace {

constexpr SectionKind kPreTransform = section_kind("PRET");
constexpr SectionKind kIDMap = section_kind("IDMP");
constexpr SectionKind kIDMap2 = section_kind("IDM2");
constexpr SectionKind kRefine = section_kind("REFI");
/// FAISS's factory strings have a few.
constexpr uint32_t kMaxTransforms = 64;

/// A head section's bytes after the fields of all heads: these.
struct HeadReader {
  HeadReader(SectionReader& sections, SectionKind kind)
      : bytes(sections.read_small(kind)),
        in(bytes.data(), bytes.size(), "index file: head of a container"),
        head(get_head(in)) {}

  std::vector<uint8_t> bytes;
  ByteReader in;
  StoredHead head;
};

/// The index inside a container that holds as many rows, in as many dimensions.
StoredIndex read_inner(IndexReading& reading, const StoredHead& head, int dim) {
  StoredIndex inner = reading.read_index();
  require(inner.index->d == dim && inner.index->metric_type == head.metric &&
              inner.index->ntotal == head.ntotal,
          StatusCode::corrupt_data,
          "index file: a container of {} rows, dim {}, metric {} has an index of {} rows, dim {}, "
          "metric {} inside",
          head.ntotal, dim, static_cast<int>(head.metric), inner.index->ntotal, inner.index->d,
          static_cast<int>(inner.index->metric_type));
  return inner;
}

void require_row_labels(const StoredIndex& inner, const char* container) {
  require(inner.labels_are_rows, StatusCode::corrupt_data,
          "index file: the index inside {} has ids of its own; numbers of rows are allowed",
          container);
}

// ---- Transforms ----

void add_pre_transform(const ::faiss::Index& written, SectionWriter& sections) {
  const auto& index = dynamic_cast<const ::faiss::IndexPreTransform&>(written);
  ByteWriter head;
  put_head(index, head);
  head.put<uint32_t>(static_cast<uint32_t>(index.chain.size()));
  sections.add_small(kPreTransform, head.bytes());
  for (const ::faiss::VectorTransform* transform : index.chain) {
    add_transform_section(*transform, sections);
  }
  add_index_sections(*index.index, sections);
}

StoredIndex read_pre_transform(IndexReading& reading) {
  HeadReader stored(reading.sections(), kPreTransform);
  const auto count = stored.in.get<uint32_t>("transforms");
  stored.in.expect_end();
  require(count <= kMaxTransforms, StatusCode::corrupt_data,
          "index file: {} transforms; at most {} are allowed", count, kMaxTransforms);
  std::vector<std::unique_ptr<::faiss::VectorTransform>> chain;
  int dim = stored.head.dim;
  bool is_trained = true;
  for (uint32_t i = 0; i < count; ++i) {
    chain.push_back(with_own_normalization(read_transform_section(reading)));
    require(chain.back()->d_in == dim, StatusCode::corrupt_data,
            "index file: transform {} takes {} dimensions; {} expected", i, chain.back()->d_in,
            dim);
    dim = chain.back()->d_out;
    is_trained = is_trained && chain.back()->is_trained;
  }
  StoredIndex inner = read_inner(reading, stored.head, dim);
  is_trained = is_trained && inner.index->is_trained;
  require(stored.head.is_trained == is_trained, StatusCode::corrupt_data,
          "index file: a chain of transforms is {}trained, its parts are {}",
          stored.head.is_trained ? "" : "not ", is_trained ? "" : "not");
  auto index = std::make_unique<PreTransformOverPolar>(inner.index.get());
  index->own_fields = true;
  static_cast<void>(inner.index.release());
  for (auto transform = chain.rbegin(); transform != chain.rend(); ++transform) {
    index->prepend_transform(transform->get());
    static_cast<void>(transform->release());
  }
  index->is_trained = is_trained;
  return {std::move(index), inner.labels_are_rows};
}

void join_pre_transform(::faiss::Index& joined, ::faiss::Index& from, const Joining& joining) {
  auto& index = dynamic_cast<::faiss::IndexPreTransform&>(joined);
  auto& other = dynamic_cast<::faiss::IndexPreTransform&>(from);
  join_rows(*index.index, *other.index, joining);
  index.ntotal = index.index->ntotal;
  other.ntotal = 0;
}

// ---- Id maps ----

template <typename Map>
void add_id_map(SectionKind tag, const ::faiss::Index& written, SectionWriter& sections) {
  const auto& index = dynamic_cast<const Map&>(written);
  ByteWriter head;
  put_head(index, head);
  sections.add_small(tag, head.bytes());
  add_ids_section(index.id_map, sections);
  add_index_sections(*index.index, sections);
}

template <typename MapOverPolar>
StoredIndex read_id_map(SectionKind tag, IndexReading& reading) {
  HeadReader stored(reading.sections(), tag);
  stored.in.expect_end();
  std::vector<int64_t> ids = read_ids_section(reading.sections(), stored.head.ntotal);
  StoredIndex inner = read_inner(reading, stored.head, stored.head.dim);
  require_row_labels(inner, "an id map");
  // FAISS's constructor needs an empty index.
  inner.index->ntotal = 0;
  auto index = std::make_unique<MapOverPolar>(inner.index.get());
  index->own_fields = true;
  inner.index.release()->ntotal = stored.head.ntotal;
  index->ntotal = stored.head.ntotal;
  index->id_map = std::move(ids);
  if constexpr (std::is_base_of_v<::faiss::IndexIDMap2, MapOverPolar>) index->construct_rev_map();
  return {std::move(index), false};
}

/// Ids inside are numbers of rows, which go on from those held.
void join_id_map(::faiss::Index& joined, ::faiss::Index& from, const Joining& joining) {
  auto& index = dynamic_cast<::faiss::IndexIDMap&>(joined);
  auto& other = dynamic_cast<::faiss::IndexIDMap&>(from);
  require(joining.add_id == 0, StatusCode::unsupported, "merge: ids of an id map stay as they are");
  join_rows(*index.index, *other.index, {joining.copies, index.ntotal});
  index.id_map.insert(index.id_map.end(), other.id_map.begin(), other.id_map.end());
  index.ntotal = index.index->ntotal;
  other.id_map.clear();
  if (auto* both_ways = dynamic_cast<::faiss::IndexIDMap2*>(&other)) both_ways->rev_map.clear();
  other.ntotal = 0;
}

// ---- Refinement ----

void add_refine(const ::faiss::Index& written, SectionWriter& sections) {
  const auto& index = dynamic_cast<const ::faiss::IndexRefine&>(written);
  ByteWriter head;
  put_head(index, head);
  head.put<float>(index.k_factor);
  sections.add_small(kRefine, head.bytes());
  add_index_sections(*index.base_index, sections);
  add_index_sections(*index.refine_index, sections);
}

StoredIndex read_refine(IndexReading& reading) {
  HeadReader stored(reading.sections(), kRefine);
  const auto k_factor = stored.in.get<float>("k_factor");
  stored.in.expect_end();
  require(std::isfinite(k_factor) && k_factor >= 1, StatusCode::corrupt_data,
          "index file: k_factor {} is not allowed; 1 or more", k_factor);
  StoredIndex base = read_inner(reading, stored.head, stored.head.dim);
  require_row_labels(base, "a refinement");
  StoredIndex refine = read_inner(reading, stored.head, stored.head.dim);
  auto index = std::make_unique<RefineOverPolar>(base.index.get(), refine.index.get());
  index->own_fields = index->own_refine_index = true;
  static_cast<void>(base.index.release());
  static_cast<void>(refine.index.release());
  index->k_factor = k_factor;
  require(index->is_trained == stored.head.is_trained, StatusCode::corrupt_data,
          "index file: a refinement is {}trained, its parts are {}",
          stored.head.is_trained ? "" : "not ", index->is_trained ? "" : "not");
  return {std::move(index), true};
}

void join_refine(::faiss::Index& joined, ::faiss::Index& from, const Joining& joining) {
  auto& index = dynamic_cast<::faiss::IndexRefine&>(joined);
  auto& other = dynamic_cast<::faiss::IndexRefine&>(from);
  require(joining.add_id == 0, StatusCode::unsupported, "merge: rows of a refinement have no ids");
  const Joining numbered = {joining.copies, index.ntotal};
  join_rows(*index.base_index, *other.base_index, numbered);
  join_rows(*index.refine_index, *other.refine_index, numbered);
  index.ntotal = index.base_index->ntotal;
  other.ntotal = 0;
}

}  // namespace

constinit const StoredKind kStoredPreTransform = {
    kPreTransform,
    [](const ::faiss::Index& index) {
      const auto* chain = dynamic_cast<const ::faiss::IndexPreTransform*>(&index);
      return chain != nullptr && needs_our_sections(*chain->index);
    },
    add_pre_transform, read_pre_transform, join_pre_transform};

constinit const StoredKind kStoredIDMap2 = {
    kIDMap2,
    [](const ::faiss::Index& index) {
      const auto* map = dynamic_cast<const ::faiss::IndexIDMap2*>(&index);
      return map != nullptr && needs_our_sections(*map->index);
    },
    [](const ::faiss::Index& index, SectionWriter& sections) {
      add_id_map<::faiss::IndexIDMap2>(kIDMap2, index, sections);
    },
    [](IndexReading& reading) { return read_id_map<IDMap2OverPolar>(kIDMap2, reading); },
    join_id_map};

constinit const StoredKind kStoredIDMap = {
    kIDMap,
    [](const ::faiss::Index& index) {
      const auto* map = dynamic_cast<const ::faiss::IndexIDMap*>(&index);
      return map != nullptr && needs_our_sections(*map->index);
    },
    [](const ::faiss::Index& index, SectionWriter& sections) {
      add_id_map<::faiss::IndexIDMap>(kIDMap, index, sections);
    },
    [](IndexReading& reading) { return read_id_map<IDMapOverPolar>(kIDMap, reading); },
    join_id_map};

constinit const StoredKind kStoredRefine = {
    kRefine,
    [](const ::faiss::Index& index) {
      const auto* both = dynamic_cast<const ::faiss::IndexRefine*>(&index);
      return both != nullptr &&
             (needs_our_sections(*both->base_index) || needs_our_sections(*both->refine_index));
    },
    add_refine, read_refine, join_refine};

}  // namespace polarquant
