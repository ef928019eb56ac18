// SPDX-License-Identifier: MIT
#include <cmath>
#include <limits>
#include <vector>

#include "src/codec/trellis.h"
#include "src/core/random.h"
#include "tests/support/catch.h"

using namespace polarquant;

namespace {

Cells random_cells(uint64_t seed) {
  Random random(seed);
  Cells cells;
  for (int cell = 0; cell < kCells; ++cell) {
    cells.x[cell] = static_cast<float>(random.normal());
    cells.y[cell] = static_cast<float>(random.normal());
  }
  return cells;
}

struct Sample {
  std::vector<float> x, y, weight;
  TrellisPoints points() const {
    return {x.data(), y.data(), weight.data(), static_cast<int>(x.size())};
  }
};

Sample random_sample(int pairs, uint64_t seed) {
  Random random(seed);
  Sample sample;
  for (int pair = 0; pair < pairs; ++pair) {
    sample.x.push_back(static_cast<float>(random.normal()));
    sample.y.push_back(static_cast<float>(random.normal()));
    sample.weight.push_back(1);
  }
  return sample;
}

double error_of(const Sample& sample, const Cells& cells, const std::vector<int>& windows) {
  double error = 0;
  for (size_t pair = 0; pair < sample.x.size(); ++pair) {
    const double dx = sample.x[pair] - cells.x[windows[pair]];
    const double dy = sample.y[pair] - cells.y[windows[pair]];
    error += dx * dx + sample.weight[pair] * dy * dy;
  }
  return error;
}

std::vector<int> windows_of_ring(const std::vector<uint8_t>& ring, int pairs, int step) {
  std::vector<int> windows;
  for (int pair = 0; pair < pairs; ++pair)
    windows.push_back(read_window(ring.data(), pairs, step, pair));
  return windows;
}

std::vector<uint8_t> encode_ring(const Sample& sample, const Cells& cells, int step) {
  const int pairs = sample.points().pairs;
  std::vector<uint8_t> windows(pairs);
  TrellisEncoder(cells, step).encode(sample.points(), windows.data());
  std::vector<uint8_t> ring((pairs * step + 7) / 8, 0xff);
  pack_windows(windows.data(), pairs, step, ring.data());
  for (int pair = 0; pair < pairs; ++pair) {
    REQUIRE(read_window(ring.data(), pairs, step, pair) == windows[pair]);
  }
  return ring;
}

}  // namespace

TEST_CASE("windows read back from the ring are the encoder's, for every step and length",
          "[trellis]") {
  for (int step = 1; step <= 8; ++step) {
    const Cells cells = random_cells(step);
    for (const int pairs : {1, 2, 3, 5, 7, 8, 9, 16, 31, 32, 33, 50, 100}) {
      CAPTURE(step, pairs);
      const std::vector<uint8_t> ring = encode_ring(random_sample(pairs, pairs), cells, step);
      if (pairs * step % 8 != 0) CHECK(ring.back() >> (pairs * step % 8) == 0);
    }
  }
}

TEST_CASE("a window is the eight ring bits that end with the pair's own", "[trellis]") {
  Random random(1);
  for (int step = 1; step <= 8; ++step) {
    for (const int pairs : {1, 2, 3, 9, 20}) {
      const int bits = pairs * step;
      std::vector<uint8_t> ring((bits + 7) / 8);
      for (uint8_t& byte : ring) byte = static_cast<uint8_t>(random.next());
      for (int pair = 0; pair < pairs; ++pair) {
        int expected = 0;
        for (int i = 0; i < 8; ++i) {
          const int position = ((pair * step + step - 8 + i) % bits + 8 * bits) % bits;
          expected |= ((ring[position / 8] >> (position % 8)) & 1) << i;
        }
        CAPTURE(step, pairs, pair);
        REQUIRE(read_window(ring.data(), pairs, step, pair) == expected);
      }
    }
  }
}

TEST_CASE("short sequences get the best ring there is", "[trellis]") {
  for (int step = 1; step <= 6; ++step) {
    const Cells cells = random_cells(10 + step);
    for (int pairs = 1; pairs * step <= 12; ++pairs) {
      for (uint64_t seed = 0; seed < 5; ++seed) {
        Sample sample = random_sample(pairs, 100 * seed + pairs);
        if (seed == 4) sample.weight.back() = 0;
        double best = std::numeric_limits<double>::infinity();
        for (int bits = 0; bits < (1 << (pairs * step)); ++bits) {
          const std::vector<uint8_t> ring = {static_cast<uint8_t>(bits),
                                             static_cast<uint8_t>(bits >> 8)};
          best = std::fmin(best, error_of(sample, cells, windows_of_ring(ring, pairs, step)));
        }
        const std::vector<uint8_t> ring = encode_ring(sample, cells, step);
        const double found = error_of(sample, cells, windows_of_ring(ring, pairs, step));
        CAPTURE(step, pairs, seed, best, found);
        REQUIRE(found <= best * (1 + 1e-5) + 1e-6);
      }
    }
  }
}

TEST_CASE("the start state found by the warm-up is nearly the best one", "[trellis]") {
  // Against the best over all start states: the exhaustive search on a repeated encoder run is out
  // of reach for long rings, so each start is tried by coding a ring whose last bits are forced to
  // it.
  const Cells cells = random_cells(3);
  double free_error = 0;
  double ring_error = 0;
  for (uint64_t seed = 0; seed < 50; ++seed) {
    const Sample sample = random_sample(64, seed);
    const std::vector<uint8_t> ring = encode_ring(sample, cells, 2);
    ring_error += error_of(sample, cells, windows_of_ring(ring, 64, 2));
    // A lower bound: the two halves as rings' pieces cost at least what a ring twice as long costs.
    Sample doubled = sample;
    doubled.x.insert(doubled.x.end(), sample.x.begin(), sample.x.end());
    doubled.y.insert(doubled.y.end(), sample.y.begin(), sample.y.end());
    doubled.weight.insert(doubled.weight.end(), sample.weight.begin(), sample.weight.end());
    const std::vector<uint8_t> long_ring = encode_ring(doubled, cells, 2);
    free_error += error_of(doubled, cells, windows_of_ring(long_ring, 128, 2)) / 2;
  }
  CAPTURE(ring_error, free_error);
  CHECK(ring_error <= 1.01 * free_error);
}

TEST_CASE("ties take the lowest window", "[trellis]") {
  Cells cells;
  for (int cell = 0; cell < kCells; ++cell) cells.x[cell] = cells.y[cell] = 1;
  for (int step = 1; step <= 8; ++step) {
    for (const int pairs : {1, 4, 40}) {
      CAPTURE(step, pairs);
      for (const uint8_t byte : encode_ring(random_sample(pairs, 5), cells, step)) CHECK(byte == 0);
    }
  }
}
