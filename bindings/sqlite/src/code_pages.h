// SPDX-License-Identifier: MIT
// Rows as codes, in blocks as searches read them. A record of docs_blocks is a page of 1,024 rows:
// their rowids, and their blocks, as docs/format.md lays them out, filled up with zeros to whole
// blocks of 64 rows, so that a record seldom changes its size. In memory the pages lie one after
// another, each where it would be if all were read; they are read when they are needed. Where they
// are more than the connection's memory limit, a search reads them in runs, one run after another.
#pragma once

#include <cstddef>
#include <functional>
#include <set>

#include "codec_calls.h"
#include "memory_limit.h"
#include "page_memory.h"
#include "shadow_tables.h"
#include "stored_rows.h"

namespace polarquant::sqlite {

class Blob;

class CodePages final : public StoredRows {
 public:
  /// Borrows both.
  CodePages(ShadowTables& tables, Codec codec, const MemoryLimit& limit);

  const polar_codec* codec() const { return codec_.get(); }

  void refresh(int64_t count) override;
  void forget_changes() noexcept override;
  bool has_changes() const override { return !changed_.empty(); }
  bool has_too_many_changes() const override { return std::ssize(changed_) > most_pages() / 2; }
  void write(int64_t version) override;

  int64_t id(int64_t slot) override;
  void set_id(int64_t slot, int64_t id) override;
  std::vector<float> vector(int64_t slot) override;

  void append(std::span<const int64_t> ids, std::span<const float> vectors) override;
  void overwrite(int64_t slot, std::span<const float> vector) override;
  void take_out(int64_t slot) override;

  Neighbors search(std::span<const float> query, int64_t k, const polar_filter* filter) override;
  Neighbors range_search(std::span<const float> query, float radius,
                         const polar_filter* filter) override;
  void verify() override;
  void salvage(const std::function<bool(int64_t)>& is_wanted) override;

 private:
  /// A row of docs_blocks; borrowed.
  struct Record {
    int64_t page;
    int64_t version;
    int64_t rows;
    int64_t sum;
    std::span<const uint8_t> ids;
    std::span<const uint8_t> data;
  };
  /// That of a statement which has all but the data in its first columns.
  static Record record(const Use& use, std::span<const uint8_t> data);
  /// What is wrong with it; "" for nothing.
  std::string flaw(const Record& record) const;

  /// In the place of a page's version.
  static constexpr int64_t kNotRead = 0;
  static constexpr int64_t kChanged = -1;
  /// What is in memory of a page.
  struct Page {
    int64_t version = kNotRead;  // of its rowids
    bool is_held = false;        // its codes, too
  };
  Page& state(int64_t page) { return pages_[static_cast<size_t>(page)]; }

  int64_t page_count() const;
  size_t page_bytes() const;
  int64_t rows_of(int64_t page) const;
  /// Of the blocks of so many rows, whole ones.
  size_t padded_bytes(int64_t rows) const;
  polar_blocks blocks() const { return {count_, memory_.data(), memory_.bytes()}; }
  std::vector<uint8_t> encode(std::span<const float> vectors) const;
  std::vector<uint8_t> code(int64_t slot) const;
  void append_codes(std::span<const int64_t> ids, std::span<const uint8_t> codes);

  /// Space for so many rows, and not much more. Changes nothing else.
  void reserve(int64_t rows);
  /// Gives the pages that are held memory of so many bytes.
  void reallocate(size_t bytes);
  void set_count(int64_t rows);
  /// So many bytes from there on, or up to the end of the memory.
  void clear(uint8_t* begin, size_t bytes);

  /// Pages that memory is to hold at most, but for changes.
  int64_t most_pages() const;
  /// Drops pages where so many more would be too many.
  void make_space(int64_t pages);
  bool is_held(int64_t page) const { return pages_[static_cast<size_t>(page)].is_held; }
  void set_held(int64_t page, bool is_held) noexcept;
  /// Reads a page that is not held. Throws SqlError where it is damaged.
  void read(int64_t page, Blob& blob);
  /// These pages, of which some may be held.
  void hold(int64_t first, int64_t end);
  /// That of a slot, and another one, for changes.
  void hold_pages_of(int64_t slot, int64_t other);

  /// Rows of pages that follow one another, and are held.
  struct Run {
    int64_t first_row;
    polar_blocks blocks;
  };
  /// Calls search(run) for runs which together have all rows that the filter keeps.
  void for_each_run(const polar_filter* filter, const std::function<void(const Run&)>& search);

  void note_change(int64_t slot) noexcept;
  void write_page(int64_t page, int64_t version);
  [[noreturn]] void fail(int64_t page, const std::string& what) const;

  ShadowTables& tables_;
  Codec codec_;
  const MemoryLimit& limit_;
  int64_t dim_ = 0;
  size_t code_bytes_ = 0;
  size_t row_bytes_ = 0;  // in blocks
  PageMemory memory_;
  std::vector<int64_t> ids_;  // by slot
  std::vector<Page> pages_;
  int64_t held_ = 0;           // of pages_
  std::set<int64_t> changed_;  // pages, also of those that are gone
};

}  // namespace polarquant::sqlite
