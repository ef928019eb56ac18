// SPDX-License-Identifier: MIT
// What can be asked of rows in blocks, whoever owns their memory.
#pragma once

#include <memory>
#include <utility>

#include "src/scan/row_store.h"
#include "src/scan/scan_codec.h"

namespace polarquant {

class BlockRowStore : public RowStore {
 public:
  void search(const Codec& codec, int64_t nq, const float* queries, int64_t k,
              const RowFilter& filter, const SearchOptions& options, float* scores,
              int64_t* ids) const override;
  void range_search(const Codec& codec, int64_t nq, const float* queries, float radius,
                    const RowFilter& filter, const SearchOptions& options,
                    RangeFound* found) const override;
  void get(const Codec& /*codec*/, int64_t row, uint8_t* code) const override {
    get_row(row, code);
  }
  void decode(const Codec& codec, int64_t first, int64_t count, Reconstruction kind,
              float* x) const override;
  RowTerms decode_for_score(const Codec& codec, int64_t row, float* y) const override;
  float score_codes(const Codec& codec, int64_t row_a, int64_t row_b) const override;

 protected:
  /// Of the state that the rows were encoded in; none before the first.
  void set_scan_codec(std::unique_ptr<ScanCodec> codec) { scan_codec_ = std::move(codec); }
  virtual size_t row_format_bytes() const = 0;
  virtual void get_row(int64_t row, uint8_t* code) const = 0;

 private:
  CodeRows row_code(int64_t row) const;

  std::unique_ptr<ScanCodec> scan_codec_;
};

}  // namespace polarquant
