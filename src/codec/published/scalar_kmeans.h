// SPDX-License-Identifier: MIT
// k-means of numbers: k-means++ seeding (Arthur, Vassilvitskii, SODA 2007), then Lloyd's iteration.
// On sorted numbers a cluster is a range, so with prefix sums an iteration costs k binary searches.
#pragma once

#include <cstdint>
#include <vector>

namespace polarquant {

/// `count` ≥ 1 centroids, ascending, of `values` (at least one, finite); the best of a few
/// seedings. With fewer distinct values than centroids the largest centroid is repeated. The same
/// values and seed give the same centroids on every machine; the order of the values has no
/// influence.
std::vector<double> scalar_kmeans(std::vector<double> values, int count, uint64_t seed);

}  // namespace polarquant
