// SPDX-License-Identifier: MIT
#include "src/faiss/foreign/faiss_transform_bytes.h"

#include <algorithm>
#include <iterator>

#include "src/codec/codec.h"
#include "src/faiss/foreign/faiss_bytes.h"

namespace polarquant {
namespace {

/// What has been read of a transform when its dimensions come, which are last.
struct Sizes {
  bool is_linear = false;
  bool have_bias = false;
  uint64_t matrix = 0;
  uint64_t bias = 0;
  uint64_t mean = 0;  // 0: none
  FaissArray<int32_t> map;
  bool is_map = false;
};

void read_linear(FaissByteReader& in, Sizes& sizes) {
  sizes.is_linear = true;
  sizes.have_bias = in.get_bool("have_bias");
  sizes.matrix = in.get_vector<float>().size;
  sizes.bias = in.get_vector<float>().size;
}

void read_pca(FaissByteReader& in, Sizes& sizes) {
  in.get<float>();  // eigen_power
  in.get<float>();  // epsilon
  in.get_bool("random_rotation");
  in.get<int32_t>();  // balanced_bins
  sizes.mean = in.get_vector<float>().size;
  in.get_vector<float>();  // eigenvalues
  in.get_vector<float>();  // PCAMat
  read_linear(in, sizes);
}

void read_map(FaissByteReader& in, Sizes& sizes) {
  sizes.is_map = true;
  sizes.map = in.get_vector<int32_t>();
}

void read_normalization(FaissByteReader& in, Sizes& /*sizes*/) {
  const auto norm = in.get<float>();
  FaissByteReader::expect(norm == 2, "norm", norm);
}

struct TransformRow {
  SectionKind name;
  void (*read)(FaissByteReader& in, Sizes& sizes);
};
constexpr TransformRow kTransforms[] = {
    {faiss_name("rrot"), read_linear},        {faiss_name("LTra"), read_linear},
    {faiss_name("Pcam"), read_pca},           {faiss_name("RmDT"), read_map},
    {faiss_name("VNrm"), read_normalization},
};

void check_sizes(const Sizes& sizes, uint64_t d_in, uint64_t d_out, bool is_trained) {
  if (sizes.is_map) {
    FaissByteReader::expect(sizes.map.size == d_out, "map's size", sizes.map.size);
    for (uint64_t i = 0; i < sizes.map.size; ++i) {
      FaissByteReader::expect(sizes.map[i] >= -1 && sizes.map[i] < static_cast<int64_t>(d_in),
                              "map", sizes.map[i]);
    }
  } else if (!sizes.is_linear) {
    FaissByteReader::expect(d_in == d_out, "d_out", d_out);
  }
  if (!is_trained) return;
  if (sizes.is_linear) {
    FaissByteReader::expect(sizes.matrix == d_in * d_out, "A's size", sizes.matrix);
    FaissByteReader::expect(!sizes.have_bias || sizes.bias == d_out, "b's size", sizes.bias);
  }
  FaissByteReader::expect(sizes.mean == d_in || sizes.mean == 0, "mean's size", sizes.mean);
}

}  // namespace

void check_transform(FaissByteReader& in) {
  const auto name = in.get<uint32_t>();
  const auto* const row =
      std::find_if(std::begin(kTransforms), std::end(kTransforms),
                   [name](const TransformRow& known) { return known.name == name; });
  require(
      row != std::end(kTransforms), StatusCode::unsupported,
      "index file: FAISS's transform {} is read with trust_faiss alone, which gives it to FAISS "
      "unchecked",
      print_kind(name));
  Sizes sizes;
  row->read(in, sizes);
  const auto d_in = in.get_between<int32_t>("d_in", 1, kMaxDim);
  const auto d_out = in.get_between<int32_t>("d_out", 1, kMaxDim);
  check_sizes(sizes, static_cast<uint64_t>(d_in), static_cast<uint64_t>(d_out),
              in.get_bool("is_trained"));
}

void check_faiss_transform(const uint8_t* data, size_t bytes) {
  FaissByteReader in(data, bytes);
  check_transform(in);
  FaissByteReader::expect(in.left() == 0, "bytes after a transform", in.left());
}

}  // namespace polarquant
