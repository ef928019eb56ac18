// SPDX-License-Identifier: MIT
// Searches of codes: in all pages at once, or in runs of those that the connection's memory limit
// leaves space for. Both find the same, to the bit.
#include <algorithm>
#include <numeric>
#include <utility>

#include "code_pages.h"
#include "stored_format.h"

namespace polarquant::sqlite {
namespace {

constexpr int64_t kPageWords = kPageRows / 64;

/// Whether the filter keeps a row of a page.
bool keeps_any(const polar_filter* filter, int64_t page) {
  if (filter == nullptr) return true;
  const int64_t words = (filter->bitset.num_bits + 63) / 64;
  const uint64_t* begin = filter->bitset.words + std::min(page * kPageWords, words);
  const uint64_t* end = filter->bitset.words + std::min((page + 1) * kPageWords, words);
  return std::any_of(begin, end, [](uint64_t word) { return word != 0; });
}

polar_search_options options_with(const polar_filter* filter) {
  polar_search_options options;
  polar_search_options_init(&options);
  options.filter = filter;
  return options;
}

/// Nearest first, ties to the lower slot.
void sort_best_first(Neighbors* found, bool higher_is_nearer) {
  std::vector<size_t> order(found->slots.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    if (found->scores[a] != found->scores[b])
      return (found->scores[a] > found->scores[b]) == higher_is_nearer;
    return found->slots[a] < found->slots[b];
  });
  Neighbors sorted;
  for (const size_t at : order) {
    sorted.scores.push_back(found->scores[at]);
    sorted.slots.push_back(found->slots[at]);
  }
  *found = std::move(sorted);
}

}  // namespace

void CodePages::for_each_run(const polar_filter* filter,
                             const std::function<void(const Run&)>& search) {
  const auto run = [&](int64_t first, int64_t end) {
    hold(first, end);
    const int64_t first_row = first * kPageRows;
    const size_t begin = static_cast<size_t>(first) * page_bytes();
    const int64_t rows = std::min(end * kPageRows, count_) - first_row;
    search({first_row, {rows, memory_.data() + begin, memory_.bytes() - begin}});
  };
  if (page_count() <= most_pages()) return run(0, page_count());
  make_space(0);  // the limit may have become lower
  int64_t page = 0;
  while (true) {
    while (page < page_count() && !keeps_any(filter, page)) ++page;
    if (page == page_count()) return;
    const int64_t first = page;
    const int64_t most = std::min(page_count(), first + most_pages());
    while (page < most && keeps_any(filter, page)) ++page;
    run(first, page);
  }
}

Neighbors CodePages::search(std::span<const float> query, int64_t k, const polar_filter* filter) {
  Neighbors found{std::vector<float>(static_cast<size_t>(k)),
                  std::vector<int64_t>(static_cast<size_t>(k))};
  const polar_search_options options = options_with(filter);
  std::vector<std::vector<uint8_t>> partials;
  for_each_run(filter, [&](const Run& run) {
    if (run.blocks.rows == count_)
      return check(polar_blocks_search(codec_.get(), &run.blocks, 1, query.data(), k, &options,
                                       found.scores.data(), found.slots.data()));
    size_t bytes = 0;
    check(polar_blocks_partial_bytes(codec_.get(), &run.blocks, 1, k, &bytes));
    std::vector<uint8_t>& partial = partials.emplace_back(bytes);
    check(polar_blocks_search_partial(codec_.get(), &run.blocks, run.first_row, 1, query.data(), k,
                                      &options, bytes, partial.data(), &bytes));
    partial.resize(bytes);
  });
  if (!partials.empty()) {
    std::vector<const uint8_t*> data;
    std::vector<size_t> sizes;
    for (const std::vector<uint8_t>& partial : partials) {
      data.push_back(partial.data());
      sizes.push_back(partial.size());
    }
    check(polar_merge_partials(std::ssize(data), data.data(), sizes.data(), 1, k,
                               found.scores.data(), found.slots.data()));
  }
  drop_missing(found);
  return found;
}

Neighbors CodePages::range_search(std::span<const float> query, float radius,
                                  const polar_filter* filter) {
  Neighbors all;
  int runs = 0;
  for_each_run(filter, [&](const Run& run) {
    polar_filter kept;
    polar_filter_init(&kept);
    if (filter != nullptr) {
      kept = *filter;
      kept.bitset.words += run.first_row / 64;
      kept.bitset.num_bits = std::min(run.blocks.rows, filter->bitset.num_bits - run.first_row);
    }
    const polar_search_options options = options_with(&kept);
    const Neighbors found =
        find_in_range([&](int64_t capacity, int64_t* lims, float* scores, int64_t* rows) {
          check(polar_blocks_range_search(codec_.get(), &run.blocks, 1, query.data(), radius,
                                          &options, capacity, lims, scores, rows));
        });
    all.scores.insert(all.scores.end(), found.scores.begin(), found.scores.end());
    for (const int64_t row : found.slots) all.slots.push_back(run.first_row + row);
    ++runs;
  });
  if (runs > 1) sort_best_first(&all, codec_info(codec_.get()).metric != POLAR_METRIC_L2);
  return all;
}

}  // namespace polarquant::sqlite
