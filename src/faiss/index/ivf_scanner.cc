// SPDX-License-Identifier: MIT
#include "src/faiss/index/ivf_scanner.h"

#include <faiss/impl/AuxIndexStructures.h>
#include <faiss/utils/Heap.h>

#include "src/faiss/foreign/faiss_error.h"

namespace polarquant {

PolarListScanner::PolarListScanner(const Codec& codec, const std::vector<ListCentre>& centres,
                                   bool pairs, const ::faiss::IDSelector* selector)
    : SelectingScanner(pairs, selector), codec_(codec), centres_(centres) {
  keep_max = codec.higher_is_nearer();
  code_size = codec.layout().group_bytes;
}

void PolarListScanner::set_query(const float* query_vector) {
  with_faiss_errors([&] { query_ = codec_.prepare_query(query_vector); });
}

void PolarListScanner::set_list(idx_t list, float /*coarse_dis*/) {
  list_no = list;
  if (centres_.empty()) {
    residual_ = query_;
  } else {
    codec_.residual_query(query_, centres_[static_cast<size_t>(list)], &residual_);
  }
}

float PolarListScanner::distance_to_code(const uint8_t* code) const {
  // FAISS may ask one scanner from many threads.
  thread_local AlignedVector<float> decoded;
  decoded.resize(static_cast<size_t>(codec_.dim()));
  const RowTerms terms = codec_.decode_for_score({code, 1}, 0, decoded.data());
  return codec_.score_decoded(residual_, terms, decoded.data());
}

idx_t SelectingScanner::label(const idx_t* ids, size_t offset) const {
  return store_pairs ? static_cast<idx_t>(::faiss::lo_build(static_cast<uint64_t>(list_no), offset))
                     : ids[offset];
}

bool SelectingScanner::takes_part(const idx_t* ids, size_t offset) const {
  return sel == nullptr || sel->is_member(ids[offset]);
}

size_t SelectingScanner::scan_codes(size_t n, const uint8_t* codes, const idx_t* ids,
                                    float* distances, idx_t* labels, size_t k) const {
  size_t updates = 0;
  for (size_t i = 0; i < n; ++i) {
    if (!takes_part(ids, i)) continue;
    const float distance = distance_to_code(codes + i * code_size);
    if (keep_max ? !(distance > distances[0]) : !(distance < distances[0])) continue;
    if (keep_max) {
      ::faiss::minheap_replace_top(k, distances, labels, distance, label(ids, i));
    } else {
      ::faiss::maxheap_replace_top(k, distances, labels, distance, label(ids, i));
    }
    ++updates;
  }
  return updates;
}

void SelectingScanner::scan_codes_range(size_t n, const uint8_t* codes, const idx_t* ids,
                                        float radius, ::faiss::RangeQueryResult& result) const {
  for (size_t i = 0; i < n; ++i) {
    if (!takes_part(ids, i)) continue;
    const float distance = distance_to_code(codes + i * code_size);
    if (keep_max ? distance > radius : distance < radius) result.add(distance, label(ids, i));
  }
}

}  // namespace polarquant
