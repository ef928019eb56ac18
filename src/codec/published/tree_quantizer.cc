// SPDX-License-Identifier: MIT
#include "src/codec/published/tree_quantizer.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <utility>

#include "src/codec/bit_packing.h"
#include "src/codec/dot.h"
#include "src/codec/lloyd_max.h"
#include "src/codec/published/scalar_kmeans.h"
#include "src/core/portable_math.h"
#include "src/core/random.h"
#include "src/core/status.h"

namespace polarquant {
namespace {

AngleCodebook::Range range_of(int level) {
  return level == 1 ? AngleCodebook::Range::circle : AngleCodebook::Range::quarter;
}

std::vector<int> checked_bits(int dim, std::vector<int> bits) {
  const auto deepest =
      static_cast<int>(std::bit_width(static_cast<unsigned>(std::max(dim, 2) - 1)));
  const auto levels = static_cast<int>(bits.size());
  require(levels >= 1 && levels <= deepest, StatusCode::bad_argument,
          "PolarTree: {} levels for dim {}; 1 to {} are allowed", levels, dim, deepest);
  for (int level = 1; level <= levels; ++level) {
    const int width = bits[static_cast<size_t>(level - 1)];
    require(width >= 1 && width <= kMaxCodebookBits, StatusCode::bad_argument,
            "PolarTree: {} bits at level {}; 1 to {} are allowed", width, level, kMaxCodebookBits);
  }
  return bits;
}

/// Level 1 is a circle, where a full turn is 0; above, a right angle belongs to the range.
bool angle_in_range(double angle, int level) {
  return angle >= 0 && (level == 1 ? angle < 2 * kPi : angle <= kPi / 2);
}

[[noreturn]] void refuse_block(const float* values, int first, int size, double most) {
  fail(StatusCode::bad_argument,
       "PolarTree: the norm of rotated coordinates {} to {} is {:.6g} units; 0 to {:.6g} are "
       "allowed",
       first, first + size - 1, std::sqrt(dot_exact(values, values, size)), most);
}

}  // namespace

TreeQuantizer::TreeQuantizer(int dim, std::vector<int> bits, bool online)
    : dim_(dim),
      bits_(checked_bits(dim, std::move(bits))),
      online_(online),
      blocks_((dim + block_size() - 1) / block_size()) {
  if (online_) return;
  for (int level = 1; level <= levels(); ++level) {
    codebooks_.emplace_back(angle_codebook(level, level_bits(level)).levels, range_of(level));
  }
}

size_t TreeQuantizer::code_bytes() const { return bytes_of_bits(index_bit(levels() + 1, 0)); }

/// The first bit of an angle's index; of the level after the last: the end of the code.
size_t TreeQuantizer::index_bit(int level, int64_t angle) const {
  size_t bit = static_cast<size_t>(blocks_) * 16;
  for (int lower = 1; lower < level; ++lower) {
    bit += (static_cast<size_t>(blocks_) << (levels() - lower)) *
           static_cast<size_t>(level_bits(lower));
  }
  if (level > levels()) return bit;
  return bit + static_cast<size_t>(angle) * static_cast<size_t>(level_bits(level));
}

void TreeQuantizer::encode(const float* v, uint8_t* code) const {
  require_trained();
  std::memset(code, 0, code_bytes());
  std::vector<float> radii(static_cast<size_t>(block_size()));
  const double most = max_short_float(short_float_);
  for (int block = 0; block < blocks_; ++block) {
    const float* source = v + static_cast<int64_t>(block) * block_size();
    const int size = std::min(block_size(), dim_ - block * block_size());
    std::copy(source, source + size, radii.begin());
    std::fill(radii.begin() + size, radii.end(), 0.0F);
    for (int level = 1; level <= levels(); ++level) {
      const int angles = block_size() >> level;
      size_t bit = index_bit(level, static_cast<int64_t>(block) * angles);
      for (int j = 0; j < angles; ++j) {
        const float x = radii[static_cast<size_t>(2 * j)];
        const float y = radii[static_cast<size_t>(2 * j + 1)];
        write_bits(code, bit, level_bits(level),
                   static_cast<uint32_t>(codebook(level).nearest(x, y)));
        bit += static_cast<size_t>(level_bits(level));
        const auto wide_x = static_cast<double>(x);
        const auto wide_y = static_cast<double>(y);
        const double radius = std::sqrt(wide_x * wide_x + wide_y * wide_y);
        // Checked at every level: a radius only grows, and no float may overflow on the way.
        if (!(radius <= most)) refuse_block(source, block * block_size(), size, most);
        radii[static_cast<size_t>(j)] = static_cast<float>(radius);
      }
    }
    write_short_float(short_float_, radii[0], code + 2 * block);
  }
}

// One level of all blocks at a time: its angles lie side by side, as do their radii.
void TreeQuantizer::decode(const uint8_t* code, int /*row*/, float* y) const {
  require_trained();
  const auto size = static_cast<size_t>(blocks_) * static_cast<size_t>(block_size());
  thread_local std::vector<float> radii;
  thread_local std::vector<float> parts;
  thread_local std::vector<uint16_t> indices;
  radii.resize(size);
  parts.resize(size);
  indices.resize(size);
  for (int block = 0; block < blocks_; ++block)
    radii[static_cast<size_t>(block)] = read_short_float(short_float_, code + 2 * block);
  for (int level = levels(); level >= 1; --level) {
    const int angles = blocks_ << (levels() - level);
    read_fields(code, index_bit(level, 0), level_bits(level), angles, indices.data());
    const float* cosines = codebook(level).cosines().data();
    const float* sines = codebook(level).sines().data();
    for (int j = 0; j < angles; ++j) {
      const auto at = static_cast<size_t>(j);
      parts[2 * at] = radii[at] * cosines[indices[at]];
      parts[2 * at + 1] = radii[at] * sines[indices[at]];
    }
    std::swap(radii, parts);
  }
  std::copy_n(radii.begin(), dim_, y);
}

/// The angle of one node straight from the coordinates below it; false when both radii are 0.
bool TreeQuantizer::training_angle(const float* v, int level, int64_t angle, double* out) const {
  const int64_t half = int64_t{1} << (level - 1);
  const int64_t start = 2 * half * angle;
  const auto clipped = [this](int64_t coordinate) { return std::min<int64_t>(coordinate, dim_); };
  const auto first = static_cast<int>(clipped(start));
  const auto middle = static_cast<int>(clipped(start + half));
  const auto end = static_cast<int>(clipped(start + 2 * half));
  double x = 0;
  double y = 0;
  if (level == 1) {
    x = first < middle ? static_cast<double>(v[first]) : 0;
    y = middle < end ? static_cast<double>(v[middle]) : 0;
  } else {
    x = std::sqrt(dot_exact(v + first, v + first, middle - first));
    y = std::sqrt(dot_exact(v + middle, v + middle, end - middle));
  }
  if (x == 0 && y == 0) return false;
  *out = portable_atan2(y, x);
  if (*out < 0) *out += 2 * kPi;
  // A tiny negative angle rounds to a full turn.
  if (!angle_in_range(*out, level)) *out = 0;
  return true;
}

std::vector<double> TreeQuantizer::collect_angles(int64_t n, const float* v, int level,
                                                  uint64_t seed) const {
  const int64_t per_row = static_cast<int64_t>(blocks_) << (levels() - level);
  const int64_t total = n * per_row;
  const bool all = total <= kMaxTrainingAngles;
  Random random(seed, static_cast<uint64_t>(level));
  std::vector<double> angles;
  for (int64_t i = 0; i < std::min(total, kMaxTrainingAngles); ++i) {
    const auto chosen = all ? i : static_cast<int64_t>(random.below(static_cast<uint64_t>(total)));
    double angle = 0;
    if (training_angle(v + chosen / per_row * dim_, level, chosen % per_row, &angle)) {
      angles.push_back(angle);
    }
  }
  return angles;
}

void TreeQuantizer::train(int64_t n, const float* v, uint64_t seed) {
  if (!online_) return;
  std::vector<AngleCodebook> learned;
  for (int level = 1; level <= levels(); ++level) {
    const int bits = level_bits(level);
    std::vector<double> angles = collect_angles(n, v, level, seed);
    // Rows of zeros tell nothing: the analytic density then serves.
    std::vector<double> centroids = angles.empty()
                                        ? angle_codebook(level, bits).levels
                                        : scalar_kmeans(std::move(angles), 1 << bits, seed);
    learned.emplace_back(std::move(centroids), range_of(level));
  }
  codebooks_ = std::move(learned);
}

void TreeQuantizer::save_tables(ByteWriter& out) const {
  if (!online_) return;
  out.put<uint8_t>(is_trained() ? 1 : 0);
  for (const AngleCodebook& book : codebooks_) out.put_array(book.angles());
}

void TreeQuantizer::load_tables(ByteReader& in) {
  if (!online_) return;
  const auto trained = in.get<uint8_t>("PolarTree trained flag");
  require(trained <= 1, StatusCode::corrupt_data, "PolarTree: trained flag {}; 0 and 1 are allowed",
          trained);
  std::vector<AngleCodebook> loaded;
  for (int level = 1; trained == 1 && level <= levels(); ++level) {
    const auto count = uint64_t{1} << level_bits(level);
    std::vector<double> angles = in.get_array<double>("PolarTree centroids", count);
    require(angles.size() == count, StatusCode::corrupt_data,
            "PolarTree: {} centroids at level {}; {} expected", angles.size(), level, count);
    for (size_t i = 0; i < angles.size(); ++i) {
      require(angle_in_range(angles[i], level), StatusCode::corrupt_data,
              "PolarTree: centroid {} of level {} is {}; 0 to {} are allowed", i, level, angles[i],
              level == 1 ? 2 * kPi : kPi / 2);
      require(i == 0 || angles[i] >= angles[i - 1], StatusCode::corrupt_data,
              "PolarTree: centroid {} of level {} is below the one before it", i, level);
    }
    loaded.emplace_back(std::move(angles), range_of(level));
  }
  codebooks_ = std::move(loaded);
}

size_t TreeQuantizer::memory_bytes() const {
  size_t bytes = bits_.capacity() * sizeof(int);
  for (const AngleCodebook& book : codebooks_) bytes += sizeof(AngleCodebook) + book.memory_bytes();
  return bytes;
}

void TreeQuantizer::require_trained() const {
  require(is_trained(), StatusCode::not_trained,
          "PolarTree with online codebooks needs train() before it can encode or decode");
}

}  // namespace polarquant
