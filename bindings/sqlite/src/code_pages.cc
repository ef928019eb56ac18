// SPDX-License-Identifier: MIT
#include "code_pages.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <unordered_set>
#include <utility>

#include "blob.h"
#include "checksum.h"
#include "stored_format.h"

namespace polarquant::sqlite {
namespace {

constexpr int64_t kBlockRows = 64;
/// Searches read at most so many bytes past the last row, which count for nothing.
constexpr size_t kReadAhead = 64;
/// However low the limit is.
constexpr int64_t kLeastPages = 2;

int64_t divide_up(int64_t a, int64_t b) { return (a + b - 1) / b; }
int64_t padded_rows(int64_t rows) { return divide_up(rows, kBlockRows) * kBlockRows; }
std::span<const uint8_t> as_bytes(const int64_t* numbers, size_t count) {
  return {reinterpret_cast<const uint8_t*>(numbers), count * sizeof(int64_t)};
}

}  // namespace

CodePages::CodePages(ShadowTables& tables, Codec codec, const MemoryLimit& limit)
    : tables_(tables), codec_(std::move(codec)), limit_(limit) {
  const polar_codec_info info = codec_info(codec_.get());
  dim_ = info.dim;
  code_bytes_ = info.code_bytes;
  size_t none = 0;
  size_t one_block = 0;
  check(polar_blocks_bytes(codec_.get(), 0, &none));
  check(polar_blocks_bytes(codec_.get(), kBlockRows, &one_block));
  // More than a code, where its signs do not fill words.
  row_bytes_ = (one_block - none) / kBlockRows;
  reserve(0);
}

int64_t CodePages::page_count() const { return divide_up(count_, kPageRows); }
size_t CodePages::page_bytes() const { return padded_bytes(kPageRows); }
int64_t CodePages::rows_of(int64_t page) const {
  return std::min(kPageRows, count_ - page * kPageRows);
}
size_t CodePages::padded_bytes(int64_t rows) const {
  return static_cast<size_t>(padded_rows(rows)) * row_bytes_;
}
void CodePages::fail(int64_t page, const std::string& what) const {
  throw damaged(tables_.table() + "_blocks, record " + std::to_string(page) + ": " + what);
}

void CodePages::clear(uint8_t* begin, size_t bytes) {
  const auto most = static_cast<size_t>(memory_.data() + memory_.bytes() - begin);
  std::memset(begin, 0, std::min(bytes, most));
}

void CodePages::reserve(int64_t rows) {
  size_t needed = 0;
  check(polar_blocks_bytes(codec_.get(), divide_up(rows, kBlockRows) * kBlockRows, &needed));
  const bool is_much_too_large = memory_.bytes() > 2 * needed + page_bytes();
  if (needed <= memory_.bytes() && !is_much_too_large) return;
  const size_t bytes = needed + (is_much_too_large ? 0 : needed / 8);
  try {
    reallocate(bytes);
  } catch (const std::bad_alloc&) {
    if (needed > memory_.bytes()) throw;  // else it stays larger than it needs to be
  }
}
void CodePages::reallocate(size_t bytes) {
  // Pages that are not held take no memory: the system gives it when it is written to.
  PageMemory memory(bytes);
  const size_t kept = std::min({memory_.bytes(), bytes, padded_bytes(count_)});
  for (int64_t page = 0; page < std::ssize(pages_); ++page) {
    const size_t begin = static_cast<size_t>(page) * page_bytes();
    if (is_held(page) && begin < kept)
      std::memcpy(memory.data() + begin, memory_.data() + begin,
                  std::min(page_bytes(), kept - begin));
  }
  memory_ = std::move(memory);
}

void CodePages::set_count(int64_t rows) {
  count_ = rows;
  ids_.resize(static_cast<size_t>(rows));
  pages_.resize(static_cast<size_t>(page_count()));
  held_ =
      std::count_if(pages_.begin(), pages_.end(), [](const Page& page) { return page.is_held; });
}

// ---- What memory holds ----

int64_t CodePages::most_pages() const {
  if (limit_.bytes == MemoryLimit::kNone) return limit_.bytes;
  return std::max(kLeastPages, limit_.bytes / static_cast<int64_t>(page_bytes()));
}
void CodePages::make_space(int64_t pages) {
  if (held_ <= most_pages() - pages) return;
  const int64_t held = held_;
  for (int64_t page = 0; page < page_count(); ++page)
    if (state(page).version != kChanged) set_held(page, false);
  if (held_ < held) reallocate(memory_.bytes());
}
void CodePages::set_held(int64_t page, bool is_held) noexcept {
  held_ += (is_held ? 1 : 0) - (state(page).is_held ? 1 : 0);
  state(page).is_held = is_held;
}
void CodePages::hold(int64_t first, int64_t end) {
  const auto missing = std::count_if(pages_.begin() + first, pages_.begin() + end,
                                     [](const Page& page) { return !page.is_held; });
  if (missing == 0) return;
  make_space(missing);
  if (missing == end - first)
    memory_.expect_writes(
        static_cast<size_t>(first) * page_bytes(),
        end < page_count() ? static_cast<size_t>(end) * page_bytes() : memory_.bytes());
  Blob data(tables_, "blocks", "data");
  for (int64_t page = first; page < end; ++page)
    if (!is_held(page)) read(page, data);
}
void CodePages::hold_pages_of(int64_t slot, int64_t other) {
  const int64_t page = slot / kPageRows;
  const int64_t other_page = other / kPageRows;
  make_space((is_held(page) ? 0 : 1) + (is_held(other_page) || other_page == page ? 0 : 1));
  // Each reads one at most, and has the space for it.
  hold(page, page + 1);
  hold(other_page, other_page + 1);
}

void CodePages::refresh(int64_t count) {
  const int64_t pages = divide_up(count, kPageRows);
  // Its size in the file bounds what a page takes in memory.
  std::vector<int64_t> versions;
  Use use(tables_.statements(), tables_.queries().read_page_heads);
  for (int64_t page = 0; use.next(); ++page) {
    const int64_t rows = std::min(kPageRows, count - page * kPageRows);
    if (page >= pages || use.integer(0) != page)
      fail(use.integer(0), "a table of " + std::to_string(count) + " rows does not have it");
    if (use.integer(2) != static_cast<int64_t>(padded_bytes(rows)))
      fail(page, "its blobs are not of the size that " + std::to_string(rows) + " rows take");
    versions.push_back(use.integer(1));
  }
  if (std::ssize(versions) < pages) fail(std::ssize(versions), "it is not there");
  // A page that others changed has another version.
  pages_.resize(versions.size());
  for (size_t page = 0; page < versions.size(); ++page)
    if (pages_[page].version != versions[page]) pages_[page] = {};
  reserve(count);
  set_count(count);
}

void CodePages::forget_changes() noexcept {
  for (const int64_t page : changed_) {
    if (page >= std::ssize(pages_)) continue;
    state(page).version = kNotRead;
    set_held(page, false);
  }
  changed_.clear();
}

void CodePages::note_change(int64_t slot) noexcept {
  const int64_t page = slot / kPageRows;
  if (page < std::ssize(pages_)) state(page).version = kChanged;
}

std::string CodePages::flaw(const Record& record) const {
  if (record.rows < 1 || record.rows > kPageRows) return std::to_string(record.rows) + " rows";
  if (record.data.size() != padded_bytes(record.rows) ||
      record.ids.size() != static_cast<size_t>(padded_rows(record.rows)) * sizeof(int64_t))
    return "its blobs are not of the size that " + std::to_string(record.rows) + " rows take";
  if (checksum({record.page, record.version, record.rows}, {record.ids, record.data}) != record.sum)
    return "its checksum is not that of its bytes";
  if (record.version <= 0) return "its version is " + std::to_string(record.version);
  return "";
}
CodePages::Record CodePages::record(const Use& use, std::span<const uint8_t> data) {
  return {use.integer(0), use.integer(1), use.integer(2), use.integer(3), use.bytes(4), data};
}

void CodePages::read(int64_t page, Blob& blob) {
  Use use(tables_.statements(), tables_.queries().read_page);
  if (!use.with(page).next()) fail(page, "it is not there");
  // Where it will stay, as long as nothing of it is used before it is known to be whole.
  const std::span<uint8_t> data(memory_.data() + static_cast<size_t>(page) * page_bytes(),
                                padded_bytes(rows_of(page)));
  if (!blob.read(page, data)) fail(page, "its data is of another size");
  if (page + 1 == page_count() || !is_held(page + 1)) clear(data.data() + data.size(), kReadAhead);
  const Record stored = record(use, data);
  if (stored.rows != rows_of(page))
    fail(page, std::to_string(stored.rows) + " rows where there should be " +
                   std::to_string(rows_of(page)));
  if (const std::string what = flaw(stored); !what.empty()) fail(page, what);
  std::memcpy(ids_.data() + page * kPageRows, stored.ids.data(),
              static_cast<size_t>(stored.rows) * sizeof(int64_t));
  state(page).version = stored.version;
  set_held(page, true);
}
void CodePages::verify() {
  refresh(count_);
  std::fill(pages_.begin(), pages_.end(), Page());
  held_ = 0;
  for (int64_t page = 0; page < page_count(); ++page) hold(page, page + 1);
}

void CodePages::salvage(const std::function<bool(int64_t)>& is_wanted) {
  set_count(0);
  std::unordered_set<int64_t> kept;
  std::vector<uint8_t> codes(static_cast<size_t>(kPageRows) * code_bytes_);
  size_t needed = 0;
  check(polar_blocks_bytes(codec_.get(), kPageRows, &needed));
  const PageMemory blocks(needed);
  Use use(tables_.statements(), tables_.queries().read_pages);
  while (use.next()) {
    const Record stored = record(use, use.bytes(5));
    if (!flaw(stored).empty()) continue;
    std::memcpy(blocks.data(), stored.data.data(), stored.data.size());
    const polar_blocks page = {stored.rows, blocks.data(), blocks.bytes()};
    const size_t bytes = static_cast<size_t>(stored.rows) * code_bytes_;
    check(polar_blocks_get(codec_.get(), &page, 0, stored.rows, codes.data(), bytes));
    for (int64_t row = 0; row < stored.rows; ++row) {
      int64_t id = 0;
      std::memcpy(&id, stored.ids.data() + static_cast<size_t>(row) * sizeof id, sizeof id);
      if (is_wanted(id) && kept.insert(id).second)
        append_codes({&id, 1},
                     {codes.data() + static_cast<size_t>(row) * code_bytes_, code_bytes_});
    }
  }
  Use(tables_.statements(), tables_.queries().delete_pages).run();
}

void CodePages::write(int64_t version) {
  for (const int64_t page : changed_) {
    if (page < page_count()) {
      write_page(page, version);
    } else {
      Use(tables_.statements(), tables_.queries().delete_page).with(page).run();
    }
  }
  for (const int64_t page : changed_)
    if (page < page_count()) state(page).version = version;
  changed_.clear();
}
void CodePages::write_page(int64_t page, int64_t version) {
  const int64_t rows = rows_of(page);
  const uint8_t* begin = memory_.data() + static_cast<size_t>(page) * page_bytes();
  std::span<const uint8_t> data(begin, padded_bytes(rows));
  std::span<const uint8_t> ids =
      as_bytes(ids_.data() + page * kPageRows, static_cast<size_t>(rows));
  // The last block has the capacity of its rows rounded up to eight.
  std::vector<uint8_t> padded_data;
  std::vector<uint8_t> padded_ids;
  if (rows % kBlockRows != 0) {
    const size_t used = static_cast<size_t>(divide_up(rows, 8) * 8) * row_bytes_;
    padded_data.assign(begin, begin + used);
    padded_data.resize(data.size());
    data = padded_data;
    padded_ids.assign(ids.begin(), ids.end());
    padded_ids.resize(static_cast<size_t>(padded_rows(rows)) * sizeof(int64_t));
    ids = padded_ids;
  }
  const int64_t sum = checksum({page, version, rows}, {ids, data});
  const auto run = [&](const std::string& sql) {
    Use(tables_.statements(), sql)
        .with(version)
        .with(rows)
        .with(sum)
        .with(ids)
        .with(data)
        .with(page)
        .run();
    return sqlite3_changes(tables_.statements().db());
  };
  if (run(tables_.queries().update_page) == 0) run(tables_.queries().insert_page);
}

int64_t CodePages::id(int64_t slot) {
  const int64_t page = slot / kPageRows;
  if (state(page).version == kNotRead) hold(page, page + 1);
  return ids_[static_cast<size_t>(slot)];
}
void CodePages::set_id(int64_t slot, int64_t id) {
  hold_pages_of(slot, slot);
  changed_.insert(slot / kPageRows);
  ids_[static_cast<size_t>(slot)] = id;
  note_change(slot);
}
std::vector<uint8_t> CodePages::encode(std::span<const float> vectors) const {
  const auto n = static_cast<int64_t>(vectors.size()) / dim_;
  std::vector<uint8_t> codes(static_cast<size_t>(n) * code_bytes_);
  check(polar_codec_encode(codec_.get(), n, vectors.data(), nullptr, codes.data(), codes.size()));
  return codes;
}
std::vector<uint8_t> CodePages::code(int64_t slot) const {
  std::vector<uint8_t> code(code_bytes_);
  const polar_blocks all = blocks();
  check(polar_blocks_get(codec_.get(), &all, slot, 1, code.data(), code.size()));
  return code;
}
std::vector<float> CodePages::vector(int64_t slot) {
  hold_pages_of(slot, slot);
  const std::vector<uint8_t> bytes = code(slot);
  std::vector<float> values(static_cast<size_t>(dim_));
  check(polar_codec_decode(codec_.get(), 1, bytes.data(), bytes.size(),
                           POLAR_RECONSTRUCTION_LEAST_ERROR, nullptr, values.data()));
  return values;
}

void CodePages::append(std::span<const int64_t> ids, std::span<const float> vectors) {
  append_codes(ids, encode(vectors));
}
void CodePages::append_codes(std::span<const int64_t> ids, std::span<const uint8_t> codes) {
  if (count_ % kPageRows != 0) hold_pages_of(count_ - 1, count_ - 1);
  const int64_t rows = count_ + std::ssize(ids);
  const int64_t pages = divide_up(rows, kPageRows);
  reserve(rows);
  ids_.resize(static_cast<size_t>(rows));
  pages_.resize(static_cast<size_t>(pages), {kChanged, false});
  for (int64_t page = count_ / kPageRows; page < pages; ++page) changed_.insert(page);
  // The blocks that begin now; what others have after their rows was cleared before, or read.
  const size_t begin = padded_bytes(count_);
  clear(memory_.data() + begin, padded_bytes(rows) - begin + kReadAhead);
  polar_blocks all = blocks();
  check(polar_blocks_append(codec_.get(), &all, std::ssize(ids), codes.data(), codes.size()));
  std::copy(ids.begin(), ids.end(), ids_.begin() + count_);
  note_change(count_);
  for (int64_t page = count_ / kPageRows; page < pages; ++page) set_held(page, true);
  count_ = rows;
}
void CodePages::overwrite(int64_t slot, std::span<const float> vector) {
  const std::vector<uint8_t> code = encode(vector);
  hold_pages_of(slot, slot);
  changed_.insert(slot / kPageRows);
  polar_blocks all = blocks();
  check(polar_blocks_overwrite(codec_.get(), &all, slot, code.data(), code.size()));
  note_change(slot);
}
void CodePages::take_out(int64_t slot) {
  const int64_t last = count_ - 1;
  hold_pages_of(slot, last);
  changed_.insert(slot / kPageRows);
  changed_.insert(last / kPageRows);
  polar_blocks all = blocks();
  check(polar_blocks_swap_remove(codec_.get(), &all, slot));
  ids_[static_cast<size_t>(slot)] = ids_.back();
  note_change(slot);
  note_change(last);
  set_count(last);
  reserve(last);
}

}  // namespace polarquant::sqlite
