// SPDX-License-Identifier: MIT
// CodeBlocks against a plain list of codes: after any change its memory is that of the list
// appended at once to a new one.
#include "src/scan/layout/code_blocks.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "tests/scan/scan_rows.h"

namespace polarquant::test {
namespace {

constexpr int64_t kRowsOfChunk = 65536;

/// The rows that are expected, one code after another.
struct PlainRows {
  size_t code_bytes = 0;
  std::vector<uint8_t> codes;

  int64_t rows() const { return static_cast<int64_t>(codes.size() / code_bytes); }
  const uint8_t* code(int64_t row) const {
    return codes.data() + static_cast<size_t>(row) * code_bytes;
  }
  void append(int64_t n, const uint8_t* more) {
    codes.insert(codes.end(), more, more + static_cast<size_t>(n) * code_bytes);
  }
  void overwrite(int64_t row, const uint8_t* code) {
    std::copy_n(code, code_bytes, codes.begin() + row * static_cast<int64_t>(code_bytes));
  }
  void remove(int64_t row) {
    const auto at = codes.begin() + row * static_cast<int64_t>(code_bytes);
    codes.erase(at, at + static_cast<ptrdiff_t>(code_bytes));
  }
  void truncate(int64_t rows) { codes.resize(static_cast<size_t>(rows) * code_bytes); }
};

/// Same rows, in the same bytes, places without a row included.
void require_same(const CodeBlocks& found, const PlainRows& expected) {
  REQUIRE(found.rows() == expected.rows());
  CodeBlocks fresh(found.layout());
  fresh.append(expected.rows(), expected.codes.data());
  const std::vector<BlockRows> a = found.spans();
  const std::vector<BlockRows> b = fresh.spans();
  REQUIRE(a.size() == b.size());
  int64_t rows = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    REQUIRE(a[i].first_row == rows);
    REQUIRE(a[i].rows == b[i].rows);
    REQUIRE(reinterpret_cast<uintptr_t>(a[i].data) % 64 == 0);
    const int64_t full = a[i].rows / kBlockRows;
    const int capacity = BlockLayout::capacity(a[i].rows % kBlockRows);
    const BlockLayout& layout = found.layout();
    const size_t sketches =
        static_cast<size_t>(full) * layout.sketch_bytes(kBlockRows) + layout.sketch_bytes(capacity);
    REQUIRE(std::memcmp(a[i].data, b[i].data, sketches) == 0);
    const size_t payloads = static_cast<size_t>(a[i].rows) * layout.payload_bytes();
    REQUIRE(std::memcmp(a[i].payloads, b[i].payloads, payloads) == 0);
    rows += a[i].rows;
  }
  REQUIRE(rows == expected.rows());
  std::vector<uint8_t> code(expected.code_bytes);
  for (int64_t row = 0; row < rows; ++row) {
    if (rows > 2000 && row % 97 != 0 && row % kRowsOfChunk > 1 && row + 2 < rows) continue;
    found.get(row, code.data());
    REQUIRE(std::memcmp(code.data(), expected.code(row), code.size()) == 0);
  }
}

/// Blocks, the plain rows they should hold, and codes to add.
struct Pair {
  CodeBlocks blocks;
  PlainRows plain;
  std::vector<uint8_t> supply;
  int64_t next = 0;

  Pair(const std::string& spec, int dim, int64_t rows)
      : Pair(*make_codec(spec, dim, Metric::l2), rows) {}
  Pair(const Codec& codec, int64_t rows)
      : blocks(BlockLayout(codec)),
        plain{codec.layout().group_bytes, {}},
        supply(made_up_codes(codec, rows, 17)) {}

  const uint8_t* take(int64_t n) {
    const uint8_t* codes = supply.data() + static_cast<size_t>(next) * plain.code_bytes;
    next += n;
    REQUIRE(static_cast<size_t>(next) * plain.code_bytes <= supply.size());
    return codes;
  }
  void append(int64_t n) {
    const uint8_t* codes = take(n);
    blocks.append(n, codes);
    plain.append(n, codes);
  }
  void remove(const std::vector<uint64_t>& removed) {
    int64_t gone = 0;
    for (int64_t row = plain.rows() - 1; row >= 0; --row) {
      const auto word = static_cast<size_t>(row / 64);
      if (word >= removed.size() || (removed[word] >> row % 64 & 1) == 0) continue;
      plain.remove(row);
      ++gone;
    }
    CHECK(blocks.remove(removed) == gone);
  }
};

}  // namespace

TEST_CASE("appending in odd portions is appending at once", "[scan][blocks]") {
  for (const std::string spec :
       {"Polar2", "Polar2+4", "Polar1", "Polar8", "PolarScalar3", "Polar3-pca"}) {
    for (const int dim : {7, 96, 129}) {
      CAPTURE(spec, dim);
      Pair pair(spec, dim, 1000);
      require_same(pair.blocks, pair.plain);
      for (const int64_t n : {1, 6, 1, 0, 1, 55, 1, 62, 3, 64, 63, 129, 200, 8}) {
        pair.append(n);
        CAPTURE(pair.plain.rows());
        require_same(pair.blocks, pair.plain);
      }
    }
  }
}

TEST_CASE("rows are overwritten, removed in order and swapped away", "[scan][blocks]") {
  Pair pair("Polar2+2", 33, 4000);
  pair.append(300);
  for (const int64_t row : {0, 7, 8, 63, 64, 255, 299}) {
    const uint8_t* code = pair.take(1);
    pair.blocks.overwrite(row, code);
    pair.plain.overwrite(row, code);
  }
  require_same(pair.blocks, pair.plain);

  pair.remove({});
  pair.remove({0, 0, 0, 0, 0});
  require_same(pair.blocks, pair.plain);
  pair.remove({1});  // a bitmap shorter than the rows
  require_same(pair.blocks, pair.plain);
  pair.remove(
      {0x8000000000000001, 0, 0xaaaaaaaaaaaaaaaa, ~uint64_t{0}, 0, 0, 0});  // and a longer one
  require_same(pair.blocks, pair.plain);
  // Bits after the last row count for nothing.
  std::vector<uint64_t> past_end(static_cast<size_t>(pair.plain.rows() / 64 + 3), 0);
  for (int64_t row = pair.plain.rows(); row < static_cast<int64_t>(past_end.size()) * 64; ++row) {
    past_end[static_cast<size_t>(row / 64)] |= uint64_t{1} << row % 64;
  }
  pair.remove(past_end);
  require_same(pair.blocks, pair.plain);

  for (int64_t row : {int64_t{0}, int64_t{70}, pair.plain.rows() - 3}) {
    const std::vector<uint8_t> last(pair.plain.code(pair.plain.rows() - 1),
                                    pair.plain.code(pair.plain.rows() - 1) + pair.plain.code_bytes);
    pair.plain.overwrite(row, last.data());
    pair.plain.truncate(pair.plain.rows() - 1);
    pair.blocks.swap_remove(row);
    require_same(pair.blocks, pair.plain);
  }
  pair.blocks.swap_remove(pair.plain.rows() - 1);
  pair.plain.truncate(pair.plain.rows() - 1);
  require_same(pair.blocks, pair.plain);
  pair.remove(std::vector<uint64_t>(10, ~uint64_t{0}));
  require_same(pair.blocks, pair.plain);
  pair.append(70);
  require_same(pair.blocks, pair.plain);
}

TEST_CASE("rows are dropped to any number", "[scan][blocks]") {
  for (int64_t rows = 0; rows <= 200; ++rows) {
    Pair pair("Polar5", 7, 300);
    pair.append(200);
    pair.blocks.truncate(rows);
    pair.plain.truncate(rows);
    CAPTURE(rows);
    require_same(pair.blocks, pair.plain);
    pair.append(67);
    require_same(pair.blocks, pair.plain);
  }
  Pair pair("Polar5", 7, 300);
  pair.append(30);
  pair.blocks.truncate(31);  // more than there are
  require_same(pair.blocks, pair.plain);
  pair.blocks.clear();
  pair.plain.truncate(0);
  require_same(pair.blocks, pair.plain);
  CHECK(pair.blocks.memory_bytes() == 0);
  CHECK(pair.blocks.spans().empty());
}

TEST_CASE("an append can be taken back", "[scan][blocks]") {
  for (const int64_t rows : {0, 1, 7, 8, 9, 63, 64, 65, 127, 128, 200}) {
    for (const int64_t more : {0, 1, 8, 60, 64, 150}) {
      CAPTURE(rows, more);
      Pair pair("Polar3", 65, 1000);
      pair.append(rows);
      pair.append(more);
      pair.blocks.truncate(rows);
      pair.plain.truncate(rows);
      require_same(pair.blocks, pair.plain);
      pair.append(3);
      require_same(pair.blocks, pair.plain);
    }
  }
}

TEST_CASE("any sequence of changes ends in the rows it should", "[scan][blocks]") {
  for (uint64_t seed = 0; seed < 8; ++seed) {
    Random random(seed);
    Pair pair("Polar2", 10, 40000);
    for (int step = 0; step < 60; ++step) {
      const int64_t rows = pair.plain.rows();
      const auto below = [&](int64_t bound) {
        return static_cast<int64_t>(random.below(static_cast<uint64_t>(bound)));
      };
      const int64_t kind = rows == 0 ? 0 : below(6);
      CAPTURE(seed, step, rows, kind);
      if (kind <= 1) {
        pair.append(below(150));
      } else if (kind == 2) {
        std::vector<uint64_t> removed(static_cast<size_t>(below(rows / 64 + 2)));
        for (uint64_t& word : removed) word = random.next() & random.next() & random.next();
        pair.remove(removed);
      } else if (kind == 3) {
        const int64_t row = below(rows);
        const std::vector<uint8_t> last(pair.plain.code(rows - 1),
                                        pair.plain.code(rows - 1) + pair.plain.code_bytes);
        pair.plain.overwrite(row, last.data());
        pair.plain.truncate(rows - 1);
        pair.blocks.swap_remove(row);
      } else if (kind == 4) {
        const int64_t kept = rows - below(std::min<int64_t>(rows, 40) + 1);
        pair.blocks.truncate(kept);
        pair.plain.truncate(kept);
      } else {
        pair.append(below(150));
        pair.blocks.truncate(rows);
        pair.plain.truncate(rows);
      }
      require_same(pair.blocks, pair.plain);
    }
  }
}

TEST_CASE("blocks go on in the next chunk", "[scan][blocks]") {
  Pair pair("Polar2", 2, 2 * kRowsOfChunk + 1000);
  pair.append(kRowsOfChunk - 3);
  REQUIRE(pair.blocks.spans().size() == 1);
  const uint8_t* first = pair.blocks.spans()[0].data;
  pair.append(3);
  REQUIRE(pair.blocks.spans().size() == 1);
  require_same(pair.blocks, pair.plain);
  first = pair.blocks.spans()[0].data;
  pair.append(1);
  REQUIRE(pair.blocks.spans().size() == 2);
  require_same(pair.blocks, pair.plain);
  pair.append(kRowsOfChunk + 100);
  REQUIRE(pair.blocks.spans().size() == 3);
  CHECK(pair.blocks.spans()[0].data == first);  // a full chunk does not move
  require_same(pair.blocks, pair.plain);

  std::vector<uint64_t> removed(static_cast<size_t>(pair.plain.rows() / 64 + 1));
  removed[100] = 0x5555;
  removed[1023] = 0x8000000000000000;  // the chunk's last row
  removed[1024] = 1;                   // and the next one's first
  pair.remove(removed);
  require_same(pair.blocks, pair.plain);

  pair.blocks.truncate(kRowsOfChunk);
  pair.plain.truncate(kRowsOfChunk);
  require_same(pair.blocks, pair.plain);
  pair.blocks.truncate(kRowsOfChunk - 64);
  pair.plain.truncate(kRowsOfChunk - 64);
  require_same(pair.blocks, pair.plain);

  Pair back("Polar2", 2, 2 * kRowsOfChunk + 1000);  // the same codes
  back.append(kRowsOfChunk);
  back.append(70);
  back.blocks.truncate(kRowsOfChunk);
  back.plain.truncate(kRowsOfChunk);
  require_same(back.blocks, back.plain);
  back.blocks.truncate(kRowsOfChunk - 3);
  back.plain.truncate(kRowsOfChunk - 3);
  require_same(back.blocks, back.plain);
}

TEST_CASE("blocks hold little more memory than their codes", "[scan][blocks]") {
  const auto codec = make_codec("Polar2", 384, Metric::l2);
  const std::vector<uint8_t> codes = made_up_codes(*codec, 20000, 1);
  const auto code_at = [&](int64_t row) {
    return codes.data() + static_cast<size_t>(row) * codec->layout().group_bytes;
  };
  for (const int64_t portion : {20000, 2500, 100, 1}) {
    CAPTURE(portion);
    CodeBlocks blocks{BlockLayout(*codec)};
    for (int64_t row = 0; row < 20000; row += portion) blocks.append(portion, code_at(row));
    CHECK(blocks.memory_bytes() * 100 <= codes.size() * 101);
  }
  // Of few rows: the last block filled up, and one more.
  for (const int64_t rows : {1, 30, 100, 500}) {
    for (const int64_t portion : {int64_t{1}, rows}) {
      CAPTURE(rows, portion);
      CodeBlocks blocks{BlockLayout(*codec)};
      for (int64_t row = 0; row < rows; row += portion) blocks.append(portion, code_at(row));
      CHECK(blocks.memory_bytes() <= blocks.layout().bytes((rows + 7) / 8 * 8) + 3 * kReadAhead);
    }
  }
}

TEST_CASE("too many rows are refused, and the blocks stay", "[scan][blocks]") {
  Pair pair("Polar2", 7, 100);
  pair.append(70);
  CHECK_THROWS_AS(pair.blocks.append(int64_t{1} << 62, pair.supply.data()), Error);
  require_same(pair.blocks, pair.plain);
}

}  // namespace polarquant::test
