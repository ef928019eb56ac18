// SPDX-License-Identifier: MIT
#include "src/scan/layout/code_lists.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "src/core/spare_room.h"
#include "src/core/status.h"

namespace polarquant {
namespace {

/// What a list of so many rows keeps of its memory as rows go.
size_t most_capacity(size_t rows) { return rows + most_spare_rows(rows) + kRowStep; }

/// Gives back memory beyond `most` elements, unless there is none to do it with.
template <typename Vector>
void return_spare(Vector& vector, size_t most) noexcept {
  if (vector.capacity() <= most) return;
  try {
    vector.shrink_to_fit();
  } catch (...) {
    // They can stay where they are.
  }
}

/// What lists in memory have in common, whatever their codes lie in.
class OwnedLists : public CodeLists {
 public:
  OwnedLists(const Codec& codec, std::vector<std::vector<int64_t>> ids)
      : CodeLists(codec, std::ssize(ids)), ids_(std::move(ids)) {}

  int64_t rows(int64_t list) const override { return std::ssize(ids_of(list)); }
  uint64_t held_rows_state() const override { return held_.number(); }
  const int64_t* ids(int64_t list) const override { return ids_of(list).data(); }
  void set_id(int64_t list, int64_t row, int64_t id) override {
    note_change();
    ids_of(list)[static_cast<size_t>(row)] = id;
  }

 protected:
  /// To be called by all that is not adding rows.
  void note_change() noexcept { held_.change(); }
  /// Space for ids of n more rows.
  void reserve_ids(int64_t list, int64_t n) {
    std::vector<int64_t>& ids = ids_of(list);
    const size_t needed = ids.size() + static_cast<size_t>(n);
    if (needed <= ids.capacity()) return;
    ids.reserve(whole_steps(needed + ids.size() / kSpareShare));
  }
  void truncate_ids(int64_t list, int64_t rows) noexcept {
    ids_of(list).resize(static_cast<size_t>(rows));
    return_spare(ids_of(list), most_capacity(static_cast<size_t>(rows)));
  }
  std::vector<int64_t>& ids_of(int64_t list) { return ids_[static_cast<size_t>(list)]; }
  const std::vector<int64_t>& ids_of(int64_t list) const { return ids_[static_cast<size_t>(list)]; }
  size_t ids_memory() const {
    size_t bytes = ids_.capacity() * sizeof(std::vector<int64_t>);
    for (const auto& ids : ids_) bytes += ids.capacity() * sizeof(int64_t);
    return bytes;
  }
  void clear_ids() noexcept {
    for (auto& ids : ids_) ids = std::vector<int64_t>();
  }

 private:
  std::vector<std::vector<int64_t>> ids_;
  HeldRowsState held_;
};

class BlockLists final : public OwnedLists {
 public:
  BlockLists(const Codec& codec, std::vector<CodeBlocks> blocks,
             std::vector<std::vector<int64_t>> ids)
      : OwnedLists(codec, std::move(ids)),
        blocks_(std::move(blocks)),
        first_spans_(blocks_.size()) {
    for (int64_t list = 0; list < count(); ++list) note_first_span(list);
  }

  size_t memory_bytes() const override {
    size_t bytes = ids_memory() + blocks_.capacity() * sizeof(CodeBlocks) +
                   first_spans_.capacity() * sizeof(BlockRows);
    for (const CodeBlocks& blocks : blocks_) bytes += blocks.memory_bytes();
    return bytes;
  }
  size_t span_count(int64_t list) const override { return CodeBlocks::spans_count(rows(list)); }
  BlockRows span(int64_t list, size_t number) const override {
    return number == 0 ? first_spans_[static_cast<size_t>(list)] : blocks(list).span(number);
  }
  const uint8_t* row_codes(int64_t /*list*/) const override { return nullptr; }
  void get(int64_t list, int64_t row, uint8_t* code) const override { blocks(list).get(row, code); }

  void append(int64_t list, int64_t n, const int64_t* ids, const uint8_t* codes) override {
    reserve_ids(list, n);
    try {
      blocks(list).append(n, codes);
    } catch (...) {
      note_first_span(list);  // the same rows may lie elsewhere
      throw;
    }
    note_first_span(list);
    ids_of(list).insert(ids_of(list).end(), ids, ids + n);
  }
  void overwrite(int64_t list, int64_t row, int64_t id, const uint8_t* code) override {
    note_change();
    blocks(list).overwrite(row, code);
    ids_of(list)[static_cast<size_t>(row)] = id;
  }
  void truncate(int64_t list, int64_t rows) override {
    if (rows >= this->rows(list)) return;
    note_change();
    blocks(list).truncate(rows);
    note_first_span(list);
    truncate_ids(list, rows);
  }
  void clear() override {
    note_change();
    for (CodeBlocks& blocks : blocks_) blocks.clear();
    std::fill(first_spans_.begin(), first_spans_.end(), BlockRows{});
    clear_ids();
  }

 private:
  void note_first_span(int64_t list) noexcept {
    const CodeBlocks& code_blocks = blocks(list);
    first_spans_[static_cast<size_t>(list)] =
        code_blocks.spans_count() > 0 ? code_blocks.span(0) : BlockRows{};
  }
  CodeBlocks& blocks(int64_t list) { return blocks_[static_cast<size_t>(list)]; }
  const CodeBlocks& blocks(int64_t list) const { return blocks_[static_cast<size_t>(list)]; }

  std::vector<CodeBlocks> blocks_;
  // Side by side: otherwise a search that goes from list to list would wait for memory three times
  // before it could read a row.
  std::vector<BlockRows> first_spans_;
};

class RowCodeLists final : public OwnedLists {
 public:
  RowCodeLists(const Codec& codec, std::vector<std::vector<uint8_t>> codes,
               std::vector<std::vector<int64_t>> ids)
      : OwnedLists(codec, std::move(ids)), codes_(std::move(codes)) {}

  size_t memory_bytes() const override {
    size_t bytes = ids_memory() + codes_.capacity() * sizeof(std::vector<uint8_t>);
    for (const auto& codes : codes_) bytes += codes.capacity();
    return bytes;
  }
  size_t span_count(int64_t /*list*/) const override { return 0; }
  BlockRows span(int64_t /*list*/, size_t /*number*/) const override { return {}; }
  const uint8_t* row_codes(int64_t list) const override { return codes(list).data(); }
  void get(int64_t list, int64_t row, uint8_t* code) const override {
    std::memcpy(code, codes(list).data() + offset(row), code_bytes());
  }

  void append(int64_t list, int64_t n, const int64_t* ids, const uint8_t* codes) override {
    reserve_ids(list, n);
    reserve_more(this->codes(list), offset(n));
    this->codes(list).insert(this->codes(list).end(), codes, codes + offset(n));
    ids_of(list).insert(ids_of(list).end(), ids, ids + n);
  }
  void overwrite(int64_t list, int64_t row, int64_t id, const uint8_t* code) override {
    note_change();
    std::memcpy(codes(list).data() + offset(row), code, code_bytes());
    ids_of(list)[static_cast<size_t>(row)] = id;
  }
  void truncate(int64_t list, int64_t rows) override {
    if (rows >= this->rows(list)) return;
    note_change();
    codes(list).resize(offset(rows));
    return_spare(codes(list), most_capacity(static_cast<size_t>(rows)) * code_bytes());
    truncate_ids(list, rows);
  }
  void clear() override {
    note_change();
    for (auto& codes : codes_) codes = std::vector<uint8_t>();
    clear_ids();
  }

 private:
  size_t offset(int64_t row) const { return static_cast<size_t>(row) * code_bytes(); }
  std::vector<uint8_t>& codes(int64_t list) { return codes_[static_cast<size_t>(list)]; }
  const std::vector<uint8_t>& codes(int64_t list) const {
    return codes_[static_cast<size_t>(list)];
  }

  std::vector<std::vector<uint8_t>> codes_;
};

}  // namespace

void CodeLists::set_id(int64_t list, int64_t row, int64_t id) {
  std::vector<uint8_t> code(code_bytes());
  get(list, row, code.data());
  overwrite(list, row, id, code.data());
}

void CodeLists::append_spans(int64_t list, std::vector<BlockRows>* spans) const {
  for (size_t i = 0; i < span_count(list); ++i) spans->push_back(span(list, i));
}

CodeLists::CodeLists(const Codec& codec, int64_t lists)
    : count_(lists), code_bytes_(codec.layout().group_bytes) {
  require(codec.layout().group_rows == 1, StatusCode::unsupported,
          "{}: codes {} rows together, so that they cannot be parted to lists",
          print_spec(codec.spec()), codec.layout().group_rows);
  if (BlockLayout::supports(codec)) layout_.emplace(codec);
}

std::unique_ptr<CodeLists> CodeLists::make(const Codec& codec, int64_t lists) {
  const auto count = static_cast<size_t>(lists);
  std::vector<std::vector<int64_t>> ids(count);
  if (!BlockLayout::supports(codec))
    return from_row_codes(codec, std::vector<std::vector<uint8_t>>(count), std::move(ids));
  return from_blocks(codec, std::vector<CodeBlocks>(count, CodeBlocks(BlockLayout(codec))),
                     std::move(ids));
}

std::unique_ptr<CodeLists> CodeLists::from_blocks(const Codec& codec,
                                                  std::vector<CodeBlocks> blocks,
                                                  std::vector<std::vector<int64_t>> ids) {
  return std::make_unique<BlockLists>(codec, std::move(blocks), std::move(ids));
}

std::unique_ptr<CodeLists> CodeLists::from_row_codes(const Codec& codec,
                                                     std::vector<std::vector<uint8_t>> codes,
                                                     std::vector<std::vector<int64_t>> ids) {
  return std::make_unique<RowCodeLists>(codec, std::move(codes), std::move(ids));
}

}  // namespace polarquant
