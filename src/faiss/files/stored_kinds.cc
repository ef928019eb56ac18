// SPDX-License-Identifier: MIT
#include "src/faiss/files/stored_kinds.h"

#include <algorithm>
#include <iterator>

#include "polarquant/faiss.h"
#include "src/codec/codec.h"
#include "src/faiss/files/allowed_compositions.h"
#include "src/faiss/files/stored_containers.h"
#include "src/faiss/files/stored_hnsw.h"
#include "src/faiss/files/stored_ivf.h"
#include "src/faiss/files/stored_ivf_polar.h"
#include "src/faiss/files/stored_nsg.h"
#include "src/faiss/files/stored_polar.h"
#include "src/faiss/foreign/stored_faiss.h"
#include "src/faiss/index/index_parts.h"

namespace polarquant {
namespace {

/// Indexes inside indexes; FAISS's factory makes four at most.
constexpr int kMaxDepth = 16;

/// The first row that recognizes an index has it; the last one is of all others.
constexpr const StoredKind* kKinds[] = {
    &kStoredPolar,  &kStoredPreTransform, &kStoredIDMap2,       &kStoredIDMap,
    &kStoredRefine, &kStoredIVFPolar,     &kStoredIVFOverPolar, &kStoredHnswRecords,
    &kStoredHnsw,   &kStoredNsg,          &kStoredFaiss,
};

const StoredKind& kind_of(const ::faiss::Index& index) {
  const auto* known = std::find_if(std::begin(kKinds), std::end(kKinds) - 1,
                                   [&](const StoredKind* kind) { return kind->recognizes(index); });
  return **known;
}

}  // namespace

void add_index_sections(const ::faiss::Index& index, SectionWriter& sections) {
  kind_of(index).add_sections(index, sections);
}

bool can_join_rows(const ::faiss::Index& index) {
  if (kind_of(index).join == nullptr) return false;
  if (const auto* polar = dynamic_cast<const IndexPolar*>(&index))
    return polar->codec().layout().group_rows == 1;
  const auto parts = parts_of(index);
  return std::all_of(parts.begin(), parts.end(), [](const auto& part) {
    return part.kind == PartKind::quantizer || can_join_rows(*part.index);
  });
}

void join_rows(::faiss::Index& index, ::faiss::Index& other, const Joining& joining) {
  const StoredKind& kind = kind_of(index);
  require(kind.join != nullptr, StatusCode::unsupported,
          "merge: rows of section {} cannot be joined in files; those of our codes, flat, in "
          "inverted files, id maps and refinements, can",
          print_kind(kind.tag));
  kind.join(index, other, joining);
}

bool needs_our_sections(const ::faiss::Index& index) {
  return kind_of(index).tag != kStoredFaiss.tag;
}

StoredIndex IndexReading::read_index() {
  const SectionKind tag = sections_.next_kind();
  const auto* const kind = std::find_if(std::begin(kKinds), std::end(kKinds),
                                        [tag](const StoredKind* row) { return row->tag == tag; });
  require(kind != std::end(kKinds), StatusCode::corrupt_data,
          "index file: section {} begins no index that this library knows", print_kind(tag));
  require(depth_ < kMaxDepth, StatusCode::corrupt_data,
          "index file: it has indexes inside indexes, more than {} deep", kMaxDepth);
  ++depth_;
  StoredIndex read = (*kind)->read(*this);
  --depth_;
  return read;
}

std::unique_ptr<::faiss::Index> IndexReading::read_whole() {
  std::unique_ptr<::faiss::Index> index = read_index().index;
  sections_.expect_end();
  require_allowed_composition(*index, trusts_faiss_);
  return index;
}

void put_head(const ::faiss::Index& index, ByteWriter& out) {
  out.put<int32_t>(index.d);
  out.put<int32_t>(static_cast<int32_t>(index.metric_type));
  out.put<int64_t>(index.ntotal);
  out.put<uint32_t>(index.is_trained ? 1 : 0);
}

StoredHead get_head(ByteReader& in) {
  StoredHead head;
  head.dim = in.get<int32_t>("dim");
  const auto metric = in.get<int32_t>("metric");
  head.ntotal = in.get<int64_t>("ntotal");
  const auto is_trained = in.get<uint32_t>("is_trained");
  require(head.dim >= 1 && head.dim <= kMaxDim, StatusCode::corrupt_data,
          "index file: dim {} is not allowed; 1 to {}", head.dim, kMaxDim);
  require(metric == ::faiss::METRIC_INNER_PRODUCT || metric == ::faiss::METRIC_L2,
          StatusCode::corrupt_data, "index file: metric {} is not allowed; 0 or 1", metric);
  require(head.ntotal >= 0, StatusCode::corrupt_data,
          "index file: ntotal {} is not allowed; 0 or more", head.ntotal);
  require(is_trained <= 1, StatusCode::corrupt_data,
          "index file: is_trained {} is not allowed; 0 or 1", is_trained);
  head.metric = static_cast<::faiss::MetricType>(metric);
  head.is_trained = is_trained == 1;
  return head;
}

}  // namespace polarquant
