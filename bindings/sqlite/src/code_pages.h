// SPDX-License-Identifier: MIT
// Rows as codes, in blocks as searches read them. A record of docs_blocks is a page of 1,024 rows:
// their rowids, and their blocks, as docs/format.md lays them out, filled up with zeros to whole
// blocks of 64 rows, so that a record seldom changes its size. In memory the pages lie one after
// another, each where it would be if all were read; they are read when they are needed.
#pragma once

#include <cstddef>
#include <memory>
#include <set>

#include "codec_calls.h"
#include "shadow_tables.h"
#include "stored_rows.h"

namespace polarquant::sqlite {

class Blob;

class CodePages final : public StoredRows {
 public:
  /// Borrows the tables.
  CodePages(ShadowTables& tables, Codec codec);

  const polar_codec* codec() const { return codec_.get(); }

  void refresh(int64_t count) override;
  void forget_changes() noexcept override;
  bool has_changes() const override { return !changed_.empty(); }
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

  /// Reads a page if it is not in memory. Throws SqlError where it is damaged.
  void read(int64_t page);

 private:
  struct AlignedDelete {
    void operator()(uint8_t* data) const;
  };

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

  int64_t page_count() const;
  size_t page_bytes() const;
  int64_t rows_of(int64_t page) const;
  /// Of the blocks of so many rows, whole ones.
  size_t padded_bytes(int64_t rows) const;
  polar_blocks blocks() const { return {count_, data_.get(), bytes_}; }
  std::vector<uint8_t> encode(std::span<const float> vectors) const;
  std::vector<uint8_t> code(int64_t slot) const;
  void append_codes(std::span<const int64_t> ids, std::span<const uint8_t> codes);

  /// Space for so many rows, and not much more. Changes nothing else.
  void reserve(int64_t rows);
  void set_count(int64_t rows);
  void read(int64_t page, Blob& blob);
  void read_all();
  void note_change(int64_t slot) noexcept;
  void write_page(int64_t page, int64_t version);
  [[noreturn]] void fail(int64_t page, const std::string& what) const;

  ShadowTables& tables_;
  Codec codec_;
  int64_t dim_ = 0;
  size_t code_bytes_ = 0;
  size_t row_bytes_ = 0;  // in blocks
  std::unique_ptr<uint8_t[], AlignedDelete> data_;
  size_t bytes_ = 0;               // of data_
  std::vector<int64_t> ids_;       // by slot
  std::vector<int64_t> versions_;  // by page; kNotRead, kChanged
  int64_t not_read_ = 0;           // pages
  std::set<int64_t> changed_;      // pages, also of those that are gone
};

}  // namespace polarquant::sqlite
