// SPDX-License-Identifier: MIT
// Prints a hash of the codes of a fixed set of rows for each codec and dim: the same lines on every
// machine, compiler and optimization level (expected.txt).

#include <cmath>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "src/codec/codec.h"
#include "src/codec/planned_quantizer.h"
#include "src/core/checksum.h"
#include "src/core/format.h"
#include "src/core/random.h"
#include "tests/support/older_state.h"

using namespace polarquant;  // NOLINT: a program, not a header

namespace {

template <typename... Args>
void print(fmt::format_string<Args...> format, Args&&... args) {
  std::fputs(format_text(format, std::forward<Args>(args)...).c_str(), stdout);
}

struct Case {
  int dim;
  Metric metric;
};

// Unoptimized builds run this too, so the cases are few: metrics differ in the factors alone.
constexpr Case kCases[] = {
    {3, Metric::l2}, {40, Metric::inner_product}, {100, Metric::cosine}, {193, Metric::l2}};

constexpr int64_t kRows = 130;  // one full group of 128 and a tail

std::vector<float> rows_of(int dim) {
  Random random(42);
  std::vector<float> rows(static_cast<size_t>(kRows * dim));
  for (float& value : rows) value = static_cast<float>(0.3 + random.normal());
  return rows;
}

// Training is LAPACK's, whose last bits differ; what it finds is a basis and a plan, given here.
void print_planned() {
  constexpr int kDim = 330;
  const Rotation dense(RotationKind::dense, kDim, 7);
  AlignedVector<int16_t> basis;
  for (size_t i = 0; i < kDim; ++i) {
    std::vector<float> axis(kDim);
    axis[i] = 1;
    dense.apply_transpose(axis.data());
    for (const float value : axis) basis.push_back(basis_number(value));
  }
  const Rotation rotation(kDim, basis);
  PlannedQuantizer quantizer(kDim, TrellisQuantizer(kDim, 8).code_bytes());
  quantizer.set_plan({{14, 1.7F}, {9, 1.2F}, {9, 1}, {5, .8F}, {2, .5F}, {0, .3F}}, {});
  std::vector<float> rows = rows_of(kDim);
  std::vector<uint8_t> codes(quantizer.code_bytes() * kRows);
  for (int64_t row = 0; row < kRows; ++row) {
    float* x = rows.data() + row * kDim;
    rotation.apply(x);
    quantizer.encode(x, codes.data() + static_cast<size_t>(row) * quantizer.code_bytes());
  }
  print("plan dim {} codes {:016x}\n", kDim, checksum64(codes.data(), codes.size()));
}

void print_codes(const char* text, const char* form, const Codec& codec,
                 const std::vector<float>& rows) {
  std::vector<uint8_t> codes(codec.layout().bytes(kRows));
  codec.encode(kRows, rows.data(), codes.data(), 1);
  print("{}{} dim {} metric {} state {:016x} codes {:016x}\n", text, form, codec.dim(),
        static_cast<int>(codec.metric()), codec.state_id(), checksum64(codes.data(), codes.size()));
}

}  // namespace

int main() {
  print_planned();
  for (const char* text : {"Polar0.5",
                           "Polar1",
                           "Polar1.5",
                           "Polar2",
                           "Polar2.5",
                           "Polar3",
                           "Polar3.5",
                           "Polar4",
                           "Polar4.5",
                           "Polar5",
                           "Polar8",
                           "Polar2+2",
                           "Polar4+2",
                           "Polar2-dense",
                           "Polar2-norot",
                           "PolarTree4.2",
                           "PolarTree4.2-online",
                           "PolarPair4x4",
                           "PolarPair4x4g128",
                           "PolarScalar4"}) {
    for (const Case& one : kCases) {
      const std::vector<float> rows = rows_of(one.dim);
      Codec codec(parse_spec(text), one.dim, one.metric, CodecOptions{});
      codec.train(kRows, rows.data());
      print_codes(text, "", codec, rows);
      const std::unique_ptr<Codec> older = test::older_codec(codec);
      if (older->state_id() != codec.state_id()) print_codes(text, " of float16", *older, rows);
    }
  }
  return 0;
}
