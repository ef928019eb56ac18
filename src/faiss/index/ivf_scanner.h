// SPDX-License-Identifier: MIT
// FAISS's way to scan a list that the caller holds, as codes in the row format.
#pragma once

#include <faiss/IndexIVF.h>

#include <vector>

#include "src/codec/codec.h"
#include "src/core/aligned_buffer.h"
#include "src/faiss/foreign/faiss_compat.h"

namespace polarquant {

/// FAISS 1.7.3's own loops over a list's codes do not ask the selector, those of newer releases do.
/// In the newest these are no virtual functions, so that none here can be said to override one.
class SelectingScanner : public ::faiss::InvertedListScanner {
 public:
  using idx_t = int64_t;
  using ::faiss::InvertedListScanner::InvertedListScanner;
  using ::faiss::InvertedListScanner::scan_codes;
  using ::faiss::InvertedListScanner::scan_codes_range;

  // NOLINTBEGIN(modernize-use-override)
  size_t scan_codes(size_t n, const uint8_t* codes, const idx_t* ids, float* distances,
                    idx_t* labels, size_t k) const;
  void scan_codes_range(size_t n, const uint8_t* codes, const idx_t* ids, float radius,
                        ::faiss::RangeQueryResult& result) const;
  // NOLINTEND(modernize-use-override)

 private:
  idx_t label(const idx_t* ids, size_t offset) const;
  bool takes_part(const idx_t* ids, size_t offset) const;
};

class PolarListScanner final : public SelectingScanner {
 public:
  /// centres: of each list, or none. Everything is borrowed.
  PolarListScanner(const Codec& codec, const std::vector<ListCentre>& centres, bool store_pairs,
                   const ::faiss::IDSelector* sel);

  void set_query(const float* query_vector) override;
  void set_list(idx_t list_no, float coarse_dis) override;
  float distance_to_code(const uint8_t* code) const override;

 private:
  const Codec& codec_;
  const std::vector<ListCentre>& centres_;
  PreparedQuery query_;  // without a centre
  PreparedQuery residual_;
};

}  // namespace polarquant
