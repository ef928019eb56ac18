// SPDX-License-Identifier: MIT
// The requests that rows in blocks answer, whoever owns their memory.
#pragma once

#include <memory>
#include <utility>

#include "src/scan/model/scan_codec.h"
#include "src/scan/stores/row_store.h"

namespace polarquant {

class BlockRowStore : public RowStore {
 public:
  void search(const Codec& codec, const SearchRequest& request,
              const SearchResult& result) const override;

 protected:
  /// For the state that the rows were encoded in; none before the first.
  void set_scan_codec(std::unique_ptr<ScanCodec> codec) { scan_codec_ = std::move(codec); }

 private:
  std::unique_ptr<ScanCodec> scan_codec_;
};

}  // namespace polarquant
