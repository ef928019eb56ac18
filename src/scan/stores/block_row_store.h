// SPDX-License-Identifier: MIT
// What can be asked of rows in blocks, whoever owns their memory.
#pragma once

#include <memory>
#include <utility>

#include "src/scan/model/scan_codec.h"
#include "src/scan/stores/row_store.h"

namespace polarquant {

class BlockRowStore : public RowStore {
 public:
  void search(const Codec& codec, int64_t nq, const float* queries, int64_t k,
              const RowFilter& filter, const SearchOptions& options, float* scores,
              int64_t* ids) const override;
  void range_search(const Codec& codec, int64_t nq, const float* queries, float radius,
                    const RowFilter& filter, const SearchOptions& options,
                    RangeFound* found) const override;

 protected:
  /// Of the state that the rows were encoded in; none before the first.
  void set_scan_codec(std::unique_ptr<ScanCodec> codec) { scan_codec_ = std::move(codec); }

 private:
  std::unique_ptr<ScanCodec> scan_codec_;
};

}  // namespace polarquant
