// SPDX-License-Identifier: MIT
#include "src/scan/search/kept_vectors.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>
#include <utility>

#include "src/scan/search/list_row_scorer.h"
#include "src/scan/search/query_tasks.h"
#include "src/simd/exact_sums.h"

namespace polarquant {
namespace {

/// Makes of ŷ the vector of a row, in place, and returns its constant.
float make_linear(const Codec& codec, const ListCentre& centre, const RowTerms& terms, float* y) {
  const int dim = codec.dim();
  const float* c = centre.rotated;
  const float across = terms.scale * simd_exact_sums().dot_float(c, y, dim);
  float constant = 0;
  float centre_weight = 1;
  if (codec.metric() == Metric::l2) {
    constant = centre.norm * centre.norm + terms.constant - across;
    centre_weight = -2;
  } else if (codec.has_factors() && centre.norm > 0) {
    centre_weight += terms.constant / centre.norm - across / (centre.norm * centre.norm);
  }
  for (int j = 0; j < dim; ++j) y[j] = centre_weight * c[j] + terms.scale * y[j];
  return constant;
}

/// Half the squared distance of two centres, less half of a's square.
float distance_of_centres(const InvertedFile& file, int64_t a, int64_t b) {
  const ListCentre& from = file.centres[static_cast<size_t>(a)];
  const ListCentre& to = file.centres[static_cast<size_t>(b)];
  return to.norm * to.norm / 2 -
         simd_exact_sums().dot_float(from.rotated, to.rotated, file.codec.dim());
}

int64_t nearest_of(const InvertedFile& file, int64_t list, std::span<const int64_t> others) {
  float least = std::numeric_limits<float>::infinity();
  int64_t nearest = 0;
  for (size_t i = 0; i < others.size(); ++i) {
    const float distance = distance_of_centres(file, list, others[i]);
    if (distance < least) {
      least = distance;
      nearest = static_cast<int64_t>(i);
    }
  }
  return nearest;
}

/// Goes from each list to the nearest of those left.
void put_in_chain(const InvertedFile& file, int64_t from, std::span<int64_t> lists) {
  for (size_t i = 0; i < lists.size(); from = lists[i++]) {
    const std::span<int64_t> left = lists.subspan(i);
    std::swap(left[0], left[static_cast<size_t>(nearest_of(file, from, left))]);
  }
}

}  // namespace

// Lists join the nearest of √n of them: these are put in a chain, and then those of each, which
// takes n√n distances where one chain of all would take n².
std::vector<int64_t> lists_by_place(const InvertedFile& file) {
  const int64_t lists = file.lists.count();
  std::vector<int64_t> order(static_cast<size_t>(lists));
  std::iota(order.begin(), order.end(), int64_t{0});
  if (file.centres.empty() || lists < 3) return order;
  const auto groups = static_cast<int64_t>(std::ceil(std::sqrt(static_cast<double>(lists))));
  std::vector<int64_t> middles;
  for (int64_t i = 0; i < groups; ++i) middles.push_back(i * lists / groups);
  put_in_chain(file, middles[0], middles);
  std::vector<std::vector<int64_t>> members(static_cast<size_t>(groups));
  for (int64_t list = 0; list < lists; ++list)
    members[static_cast<size_t>(nearest_of(file, list, middles))].push_back(list);
  order.clear();
  for (std::vector<int64_t>& group : members) {
    if (group.empty()) continue;
    put_in_chain(file, order.empty() ? group[0] : order.back(), group);
    order.insert(order.end(), group.begin(), group.end());
  }
  return order;
}

KeptVectors::KeptVectors(const InvertedFile& file, const KeptListRows& kept)
    : is_l2_(file.codec.metric() == Metric::l2),
      has_centres_(!file.centres.empty()),
      bytes_(std::max<int64_t>(kept.count(), 1), file.codec.dim()),
      means_(bytes_.tiles(), file.codec.dim()) {
  list_offsets_.reserve(static_cast<size_t>(kept.count()));
  for (const int64_t list : lists_by_place(file))
    kept.for_each(list, [this](int64_t row) { list_offsets_.push_back(row); });
  put_rows(file);
}

void KeptVectors::put_rows(const InvertedFile& file) {
  ListRowScorer rows(file);
  AlignedVector<float> y(static_cast<size_t>(file.codec.dim()));
  AlignedVector<float> mean(y.size());
  float mean_constant = 0;
  for (int64_t number = 0; number < count(); ++number) {
    const int64_t row = list_offsets_[static_cast<size_t>(number)];
    const RowTerms terms = rows.decode(row);
    std::copy_n(rows.decoded(), y.size(), y.data());
    float constant = terms.constant;
    if (has_centres_) {
      const ListCentre& centre = file.centres[static_cast<size_t>(list_of_offset(row))];
      constant = make_linear(file.codec, centre, terms, y.data());
    } else {
      for (float& value : y) value *= terms.scale;
    }
    bytes_.set(number, y.data(), constant);
    const int64_t tile = number / kTileQueries;
    const int64_t in_tile = std::min<int64_t>(kTileQueries, count() - tile * kTileQueries);
    const float share = 1 / static_cast<float>(in_tile);
    for (size_t j = 0; j < y.size(); ++j) mean[j] += share * y[j];
    mean_constant += share * constant;
    if (number + 1 < count() && (number + 1) % kTileQueries != 0) continue;
    means_.set(tile, mean.data(), mean_constant);
    std::fill(mean.begin(), mean.end(), 0.0F);
    mean_constant = 0;
  }
}

void KeptVectors::find_candidates(const PreparedQuery& query, int64_t k, int64_t most,
                                  Memory* memory, std::vector<int64_t>* list_offsets) const {
  list_offsets->clear();
  if (list_offsets_.empty()) return;
  const float sign = is_l2_ ? -1 : 1;
  const float weight = has_centres_ ? 1 : query.bias_weight;
  memory->values.assign(static_cast<size_t>(bytes_.padded_dim()), 0);
  memory->all.resize(bytes_.similarities());
  const ByteQuery rounded =
      bytes_.round_query(query.rotated.data(), 0, sign * weight, sign, memory->values.data());
  const int8_t* values = memory->values.data();
  float* all = memory->all.data();
  const int64_t wanted = std::min(k, count());
  const int64_t most_tiles = div_up(std::max(most, 2 * wanted), kTileQueries);
  if (bytes_.tiles() <= most_tiles) {
    bytes_.score(rounded, values, 0, bytes_.tiles(), all);
    ByteVectors::find_candidates({all, static_cast<size_t>(count())}, bytes_.margin(rounded),
                                 wanted, &memory->found);
    for (const int64_t number : memory->found)
      list_offsets->push_back(list_offsets_[static_cast<size_t>(number)]);
    return;
  }
  means_.score(rounded, values, 0, means_.tiles(), all);
  ByteVectors::find_candidates({all, static_cast<size_t>(bytes_.tiles())}, 0, most_tiles,
                               &memory->tiles);
  memory->similarity.clear();
  for (const int64_t tile : memory->tiles) {
    bytes_.score(rounded, values, tile, tile + 1, all);
    const float* first = all + tile * kTileQueries;
    const int64_t in_tile = std::min<int64_t>(kTileQueries, count() - tile * kTileQueries);
    memory->similarity.insert(memory->similarity.end(), first, first + in_tile);
  }
  ByteVectors::find_candidates(memory->similarity, bytes_.margin(rounded),
                               std::min<int64_t>(wanted, std::ssize(memory->similarity)),
                               &memory->found);
  // Only the last tile of all may have fewer than others.
  for (const int64_t found : memory->found) {
    const int64_t tile = memory->tiles[static_cast<size_t>(found / kTileQueries)];
    list_offsets->push_back(
        list_offsets_[static_cast<size_t>(tile * kTileQueries + found % kTileQueries)]);
  }
}

}  // namespace polarquant
