// SPDX-License-Identifier: MIT
// Blocks of codes of any bytes. Input: three bytes for the codec, two for what is done, then codes.
//
// Blocks give back the codes that were packed, a search of them is that of the codes, and changes
// leave the rows that they should. Blocks whose bytes are no codes are searched all the same.
#include <bit>
#include <cmath>
#include <memory>

#include "src/core/random.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/trained_codecs.h"

using namespace polarquant::fuzz;

namespace {

constexpr int64_t kMostRows = 150;
constexpr size_t kAlignment = 64;

/// No rows, in memory of exactly this size on a boundary of 64 bytes.
class Blocks {
 public:
  explicit Blocks(size_t bytes) {
    void* memory = nullptr;
    expect(posix_memalign(&memory, kAlignment, bytes) == 0, "no memory");
    memory_.reset(static_cast<uint8_t*>(memory));
    std::memset(memory, 0, bytes);
    held = {0, memory_.get(), bytes};
  }

  polar_blocks held;

 private:
  struct Free {
    void operator()(uint8_t* memory) const { std::free(memory); }
  };
  std::unique_ptr<uint8_t, Free> memory_;
};

struct Found {
  std::vector<float> scores;
  std::vector<int64_t> ids;
};

struct Search {
  const TrainedCodec& trained;
  const polar_search_options* options;
  std::vector<float> queries;
  int64_t nq;
  int64_t k;

  Found in_blocks(const polar_blocks& blocks) const {
    Found found = empty_result();
    expect_ok("blocks_search", polar_blocks_search(trained.codec, &blocks, nq, queries.data(), k,
                                                   options, found.scores.data(), found.ids.data()));
    for (size_t i = 0; i < found.ids.size(); ++i) {
      expect(found.ids[i] >= -1 && found.ids[i] < blocks.rows, "an id that no row has");
      expect(!std::isnan(found.scores[i]), "a score that is no number");
    }
    return found;
  }
  Found in_codes(const std::vector<uint8_t>& codes, int64_t rows) const {
    Found found = empty_result();
    expect_ok("search",
              polar_codec_search(trained.codec, nq, queries.data(), rows, codes.data(),
                                 codes.size(), k, options, found.scores.data(), found.ids.data()));
    return found;
  }

 private:
  Found empty_result() const {
    const auto count = static_cast<size_t>(nq * k);
    return {std::vector<float>(count), std::vector<int64_t>(count)};
  }
};

void check_same(const Found& a, const Found& b) {
  expect(a.ids == b.ids, "a search of blocks finds other rows than one of codes");
  expect(std::memcmp(a.scores.data(), b.scores.data(), a.scores.size() * sizeof(float)) == 0,
         "a search of blocks gives other scores than one of codes");
}

void change(const TrainedCodec& trained, polar_blocks* blocks, const uint8_t* code,
            polarquant::Random& random) {
  const size_t code_bytes = trained.info.code_bytes;
  for (int step = 0; step < 6 && blocks->rows > 0; ++step) {
    const int64_t rows = blocks->rows;
    const auto row = static_cast<int64_t>(random.below(static_cast<uint64_t>(rows)));
    switch (random.below(3)) {
      case 0:
        expect_ok("overwrite",
                  polar_blocks_overwrite(trained.codec, blocks, row, code, code_bytes));
        break;
      case 1:
        expect_ok("swap_remove", polar_blocks_swap_remove(trained.codec, blocks, row));
        expect(blocks->rows == rows - 1, "a row that was taken out is counted");
        break;
      default: {
        std::vector<uint64_t> removed(static_cast<size_t>((rows + 63) / 64));
        int64_t gone = 0;
        for (uint64_t& word : removed) word = random.next() & random.next();
        if (rows % 64 != 0) removed.back() &= (uint64_t{1} << (rows % 64)) - 1;
        for (const uint64_t word : removed) gone += std::popcount(word);
        expect_ok("remove", polar_blocks_remove(trained.codec, blocks, removed.data()));
        expect(blocks->rows == rows - gone, "removing leaves another number of rows");
      }
    }
  }
  std::vector<uint8_t> remaining(static_cast<size_t>(blocks->rows) * code_bytes);
  expect_ok("get what is left", polar_blocks_get(trained.codec, blocks, 0, blocks->rows,
                                                 remaining.data(), remaining.size()));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t bytes) {
  Input input(data, bytes);
  const TrainedCodec trained = take_codec(input);
  if (trained.codec == nullptr || trained.info.group_rows > 1) return 0;
  const uint8_t choice = input.byte();
  const uint8_t seed = input.byte();
  const CodeCount count = count_codes(trained, input.left(), kMostRows);
  size_t block_bytes = 0;
  if (!allow_failure("blocks_bytes", polar_blocks_bytes(trained.codec, count.rows, &block_bytes)))
    return 0;
  Blocks blocks(block_bytes);
  const std::vector<uint8_t> any_bytes(input.data(), input.data() + input.left());
  const std::vector<uint8_t> codes = input.take(count.bytes);
  expect_ok("append", polar_blocks_append(trained.codec, &blocks.held, count.rows, codes.data(),
                                          codes.size()));
  std::vector<uint8_t> back(codes.size());
  expect_ok("get",
            polar_blocks_get(trained.codec, &blocks.held, 0, count.rows, back.data(), back.size()));
  // Where the last byte of a plane is not full, bits that encoding leaves 0 are not kept.
  expect(trained.info.dim % 64 != 0 || back == codes, "blocks give back other codes");

  const ChosenOptions options(choice, count.rows);
  const Search search{trained, options.get(), rows_of(3, trained.info.dim, seed),
                      choice % 2 == 0 ? 1 : 3, 1 + choice / 16 % (count.rows + 4)};
  check_same(search.in_blocks(blocks.held), search.in_codes(codes, count.rows));
  if (count.rows == 0) return 0;
  polarquant::Random random(seed);
  change(trained, &blocks.held, codes.data(), random);
  blocks.held.rows = count.rows;
  std::memcpy(blocks.held.data, any_bytes.data(), std::min(any_bytes.size(), block_bytes));
  search.in_blocks(blocks.held);
  return 0;
}
