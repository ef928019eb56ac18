// SPDX-License-Identifier: MIT
#include "tools/train_codebooks/training.h"

#include <cmath>
#include <memory>
#include <vector>

#include "src/core/random.h"

namespace polarquant::training {
namespace {

const std::vector<float> kOnes(kPairs, 1.0F);

TrellisPoints points_of(const std::vector<float>& sample) {
  return {sample.data(), sample.data() + kPairs, kOnes.data(), kPairs};
}

// Counts and sums of the points that chose each cell.
struct CellSums {
  std::vector<double> x = std::vector<double>(kCells, 0.0);
  std::vector<double> y = std::vector<double>(kCells, 0.0);
  std::vector<int64_t> count = std::vector<int64_t>(kCells, 0);
};

double assign(const TrellisPoints& points, const Cells& cells, const std::vector<uint8_t>& windows,
              CellSums* sums) {
  double error = 0;
  for (int pair = 0; pair < points.pairs; ++pair) {
    const int cell = windows[pair];
    const double dx = static_cast<double>(points.x[pair]) - cells.x[cell];
    const double dy = static_cast<double>(points.y[pair]) - cells.y[cell];
    error += dx * dx + dy * dy;
    if (sums == nullptr) continue;
    sums->x[cell] += points.x[pair];
    sums->y[cell] += points.y[pair];
    ++sums->count[cell];
  }
  return error;
}

// Runs the encoder over `vectors` samples; returns the error per dimension.
double run(const Source& source, const Cells& cells, int step, int vectors, CellSums* sums) {
  TrellisEncoder encoder(cells, step);
  std::vector<float> sample(2 * kPairs);
  std::vector<uint8_t> windows(kPairs);
  double error = 0;
  for (int vector = 0; vector < vectors; ++vector) {
    source(sample.data());
    const TrellisPoints points = points_of(sample);
    encoder.encode(points, windows.data());
    error += assign(points, cells, windows, sums);
  }
  return error / (2.0 * kPairs * vectors);
}

Cells sample_cells(const Source& source) {
  std::vector<float> sample(2 * kPairs);
  source(sample.data());
  Cells cells;
  for (int cell = 0; cell < kCells; ++cell) {
    cells.x[cell] = sample[cell];
    cells.y[cell] = sample[kPairs + cell];
  }
  return cells;
}

}  // namespace

Source normal_source(bool quadrant, uint64_t seed) {
  auto random = std::make_shared<Random>(seed);
  return [random, quadrant](float* points) {
    for (int i = 0; i < 2 * kPairs; ++i) {
      const auto value = static_cast<float>(random->normal());
      points[i] = quadrant ? std::fabs(value) : value;
    }
  };
}

Source residual_source(const TrellisCodebook& first, float gain, bool quadrant, uint64_t seed) {
  auto encoder = std::make_shared<TrellisEncoder>(first.cells, first.step);
  const Source magnitudes = normal_source(true, seed);
  const Source values = normal_source(false, seed);
  auto signs = std::make_shared<Random>(seed, 1);
  return [=, &first](float* points) {
    std::vector<uint8_t> windows(kPairs);
    (first.quadrant ? magnitudes : values)(points);
    const TrellisPoints target = {points, points + kPairs, kOnes.data(), kPairs};
    encoder->encode(target, windows.data());
    for (int i = 0; i < 2 * kPairs; ++i) {
      const float* cells = i < kPairs ? first.cells.x : first.cells.y;
      float error = gain * (points[i] - cells[windows[i % kPairs]]);
      if (first.quadrant && (signs->next() >> 63) != 0) error = -error;
      points[i] = quadrant ? std::fabs(error) : error;
    }
  };
}

Cells train_cells(const Source& source, int step, double expected_mse, const Schedule& schedule,
                  uint64_t seed) {
  Random noise(seed, 2);
  Cells cells = sample_cells(source);
  const double start_noise = 0.5 * std::sqrt(expected_mse);
  for (int iteration = 0; iteration < schedule.iterations; ++iteration) {
    // The last quarter runs without noise and settles.
    const double left = 1 - iteration / (0.75 * schedule.iterations);
    const double amount = left > 0 ? start_noise * left : 0;
    Cells shaken = cells;
    for (int cell = 0; cell < kCells; ++cell) {
      shaken.x[cell] += static_cast<float>(amount * noise.normal());
      shaken.y[cell] += static_cast<float>(amount * noise.normal());
    }
    CellSums sums;
    run(source, shaken, step, schedule.vectors_per_iteration, &sums);
    const Cells spare = sample_cells(source);
    for (int cell = 0; cell < kCells; ++cell) {
      const auto count = static_cast<double>(sums.count[cell]);
      const bool used =
          sums.count[cell] > 5;  // a cell that nothing chooses starts anew at a sample
      cells.x[cell] = used ? static_cast<float>(sums.x[cell] / count) : spare.x[cell];
      cells.y[cell] = used ? static_cast<float>(sums.y[cell] / count) : spare.y[cell];
    }
  }
  return cells;
}

double measure_mse(const Source& source, const Cells& cells, int step, int vectors) {
  return run(source, cells, step, vectors, nullptr);
}

}  // namespace polarquant::training
