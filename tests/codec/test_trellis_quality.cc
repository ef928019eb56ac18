// SPDX-License-Identifier: MIT
// The figures of docs/codec.md's table, measured: error per dimension of û against u on the unit
// Gaussian, dim 1024, 2048 vectors; and one codebook made again to the byte.
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "src/codec/spec.h"
#include "src/codec/trellis_codebooks.h"
#include "tests/codec/gaussian_rows.h"
#include "tests/support/catch.h"
#include "tools/train_codebooks/codebook_plan.h"

using namespace polarquant;

namespace {

constexpr int kDim = 1024;
constexpr int kVectors = 2048;

double measure(const char* spec) {
  const std::unique_ptr<Quantizer> quantizer = make_quantizer(parse_spec(spec), kDim);
  std::vector<uint8_t> code(quantizer->code_bytes());
  std::vector<float> decoded(kDim);
  const std::vector<float> rows = test::gaussian_rows(kVectors, kDim, 99);
  double error = 0;
  for (int row = 0; row < kVectors; ++row) {
    const float* u = &rows[static_cast<size_t>(row) * kDim];
    quantizer->encode(u, code.data());
    quantizer->decode(code.data(), 0, decoded.data());
    for (int j = 0; j < kDim; ++j)
      error += static_cast<double>(u[j] - decoded[j]) * (u[j] - decoded[j]);
  }
  return error / kDim / kVectors;
}

struct Figure {
  const char* spec;
  double table;
  double allowed;  // allowed multiple of the table's figure
};

}  // namespace

TEST_CASE("error on the unit Gaussian is the table's", "[trellis][quality]") {
  for (const Figure& figure :
       {Figure{"Polar0.5", .531, 1.03}, Figure{"Polar1", .279, 1.03},
        Figure{"Polar1.5", .148, 1.03}, Figure{"Polar2", .0826, 1.03},
        Figure{"Polar2.5", .0415, 1.03}, Figure{"Polar3", .0212, 1.03},
        Figure{"Polar3.5", .0110, 1.03}, Figure{"Polar4", .0060, 1.03},
        Figure{"Polar8", 4.2e-5, 1.03}, Figure{"Polar2+2", .0072, 1.0},
        Figure{"Polar4+2", .00060, 1.0}, Figure{"PolarScalar2", .1175, 1.02},
        Figure{"PolarScalar3", .03454, 1.02}, Figure{"PolarScalar4", .009497, 1.02},
        Figure{"PolarScalar5", .002499, 1.02}, Figure{"PolarTree4.2.2.2", .0330, 1.0}}) {
    const double mse = measure(figure.spec);
    std::printf("%-18s mse per dimension %.6f, %.3f of %g\n", figure.spec, mse, mse / figure.table,
                figure.table);
    CAPTURE(figure.spec, mse);
    CHECK(mse <= figure.table * figure.allowed);
  }
}

TEST_CASE("the stored error of each codebook is what it reaches", "[trellis][quality]") {
  for (const TrellisCodebook& book : trellis_codebooks()) {
    const std::string spec = print_spec({CodecFamily::trellis, {book.twice_bits}});
    CAPTURE(spec, book.mse);
    CHECK(std::abs(measure(spec.c_str()) / book.mse - 1) < .01);
  }
}

TEST_CASE("a codebook can be made again to the byte", "[trellis][quality]") {
  const TrellisCodebook& book = *find_trellis_codebook(2);
  for (const training::CodebookPlan& plan : training::codebook_plans()) {
    if (plan.twice_bits != book.twice_bits) continue;
    const TrellisCodebook again = training::train_codebook(plan, book.seed);
    CHECK(std::memcmp(&again.cells, &book.cells, sizeof book.cells) == 0);
  }
}
