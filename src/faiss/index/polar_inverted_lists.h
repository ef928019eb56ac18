// SPDX-License-Identifier: MIT
// CodeLists in the form of FAISS's inverted lists: blocks are unpacked to the row format as FAISS's
// tools ask for them. Errors leave as FAISS's: damage in a mapped file, and changes of one.
#pragma once

#include <faiss/invlists/InvertedLists.h>

#include <memory>
#include <utility>

#include "src/faiss/foreign/faiss_compat.h"
#include "src/scan/layout/code_lists.h"

namespace polarquant {

class PolarInvertedLists final : public ::faiss::InvertedLists {
 public:
  using idx_t = int64_t;

  explicit PolarInvertedLists(std::unique_ptr<CodeLists> lists);

  const CodeLists& lists() const { return *lists_; }
  /// Of the same codec, as many. Returns those before.
  std::unique_ptr<CodeLists> replace_lists(std::unique_ptr<CodeLists> lists) {
    return std::exchange(lists_, std::move(lists));
  }

  size_t list_size(size_t list_no) const override;
  /// To be given back by release_codes.
  const uint8_t* get_codes(size_t list_no) const override;
  const idx_t* get_ids(size_t list_no) const override;
  void release_codes(size_t list_no, const uint8_t* codes) const override;
  idx_t get_single_id(size_t list_no, size_t offset) const override;
  const uint8_t* get_single_code(size_t list_no, size_t offset) const override;

  size_t add_entries(size_t list_no, size_t n_entry, const idx_t* ids,
                     const uint8_t* code) override;
  void update_entries(size_t list_no, size_t offset, size_t n_entry, const idx_t* ids,
                      const uint8_t* code) override;
  void set_id(size_t list_no, size_t offset, idx_t id);
  /// New rows have codes of zeros and the id −1, until update_entries.
  void resize(size_t list_no, size_t new_size) override;
  void reset() override;

  /// To be told of rows that were taken out, of so many, when nothing else is done to the lists:
  /// from time to time memory between them goes back to the system.
  void note_removed(size_t removed, size_t rows) noexcept;

 private:
  std::unique_ptr<CodeLists> lists_;
  size_t removed_ = 0;  // since that was last done
};

}  // namespace polarquant
