// SPDX-License-Identifier: MIT
// Rows in the lists of an inverted file.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "src/scan/layout/code_lists.h"
#include "src/scan/search/fast_codec_kernels.h"
#include "src/scan/search/list_search.h"
#include "tests/scan/scan_rows.h"

namespace polarquant::test {

/// Encoded rows about the centres of their lists; one list is empty, one centre is 0, one row its
/// own centre. Ids are not the list_offsets.
struct FileOfRows {
  static constexpr int64_t kLists = 9;

  std::unique_ptr<Codec> codec;
  std::unique_ptr<ScanCodec> scan;
  std::vector<float> centroids;
  std::vector<float> rotated;
  std::vector<ListCentre> centres;
  std::unique_ptr<CodeLists> lists;

  FileOfRows(const std::string& spec, int dim, Metric metric, int64_t n)
      : centroids(normal_numbers(kLists * dim, 31)), rotated(centroids.size()) {
    std::fill_n(centroids.begin() + 3 * dim, dim, 0.0F);
    std::vector<float> x = normal_numbers(n * dim, 32);
    std::vector<int64_t> list_of(static_cast<size_t>(n));
    std::vector<float> residuals = x;
    for (int64_t row = 0; row < n; ++row) {
      // Most rows in two lists, so that these have several blocks.
      const int64_t list = row % 3 == 0 ? row % (kLists - 1) : row % 2;
      list_of[static_cast<size_t>(row)] = list;
      for (int j = 0; j < dim; ++j)
        x[static_cast<size_t>(row * dim + j)] += centroids[static_cast<size_t>(list * dim + j)];
    }
    std::copy_n(centroids.begin() + list_of[5] * dim, dim, x.begin() + int64_t{5} * dim);
    CodecOptions options;
    options.learn_centre = false;
    codec = std::make_unique<Codec>(parse_spec(spec), dim, metric, options);
    codec->use_kernels(fast_codec_kernels());
    codec->train(n, residuals.data());
    if (BlockLayout::supports(*codec)) scan = std::make_unique<ScanCodec>(*codec);
    std::vector<uint8_t> codes(codec->layout().bytes(n));
    codec->encode_residuals(
        n, x.data(),
        [&](int64_t row) { return &centroids[static_cast<size_t>(list_of[row] * dim)]; },
        codes.data(), 1);
    lists = CodeLists::make(*codec, kLists);
    for (int64_t row = 0; row < n; ++row) {
      const int64_t id = (row * 7919) % 100003;
      lists->append(list_of[static_cast<size_t>(row)], 1, &id,
                    codes.data() + static_cast<size_t>(row) * lists->code_bytes());
    }
    for (int64_t list = 0; list < kLists; ++list)
      centres.push_back(codec->list_centre(&centroids[static_cast<size_t>(list * dim)],
                                           &rotated[static_cast<size_t>(list * dim)]));
  }

  InvertedFile file() const { return {*codec, scan.get(), *lists, centres}; }
};

}  // namespace polarquant::test
