// SPDX-License-Identifier: MIT
#include "src/device/cuda_list_filter.h"

#include <algorithm>
#include <utility>

#include "src/scan/search/filter_rules.h"
#include "src/scan/search/plan.h"

namespace polarquant::device {
namespace {

/// The rows of lists that a filter over ids keeps, by their numbers.
RowFilter ask_for_rows(const CudaLists& lists, const RowFilter& filter) {
  std::vector<uint64_t> allowed(static_cast<size_t>(lists.row_numbers() / kBlockRows));
  // Spare rows after a list are none, and are not asked about.
  for (int64_t list = 0; list < lists.count(); ++list) {
    const int64_t first = lists.first_row(list);
    if (lists.rows(list) > 0)
      filter.member_masks(lists.ids(list), lists.rows(list),
                          &allowed[static_cast<size_t>(first / kBlockRows)]);
  }
  return RowFilter(std::make_shared<KeptRows>(std::move(allowed), lists.row_numbers()));
}

/// (lists)
std::vector<cuda::ListFilter> filter_lists(const CudaLists& lists, const KeptListRows& kept) {
  std::vector<cuda::ListFilter> filters;
  for (int64_t list = 0; list < lists.count(); ++list) {
    const int64_t rows = kept.count(list);
    const bool is_few = lists.spans(list) == 1 && scores_all_of_list(rows);
    filters.push_back({static_cast<uint32_t>(rows), is_few ? 1U : 0U});
  }
  return filters;
}

}  // namespace

CudaKeptLists::CudaKeptLists(const CudaLists& lists, const KeptListRows& kept,
                             const CudaParts& parts, DeviceThreads* threads)
    : lists_(filter_lists(lists, kept)), bits_(parts.size()) {
  threads->run_together(parts.size(), [&](size_t i) {
    const uint64_t* words = kept.words().data() + parts[i]->rows().first / kBlockRows;
    bits_[i] = parts[i]->copy_bits(words, lists_.data());
  });
}

CudaListFilter::CudaListFilter(const CudaLists& lists, RowFilter filter, int64_t wanted_rows,
                               std::shared_ptr<const RowCopiesElsewhere> there)
    : filter_(std::move(filter)), there_(std::move(there)) {
  if (filter_.keeps_all()) return;
  const auto* kept = dynamic_cast<const KeptListRows*>(filter_.rule());
  if (kept == nullptr) {
    filter_ = ask_for_rows(lists, filter_);
    allowed_ = static_cast<const KeptRows*>(filter_.rule())->words().data();
    return;
  }
  wanted_rows_ = wanted_rows;
  share_ = kept->share();
  if (there_ != nullptr) return;
  allowed_ = kept->words().data();
  lists_ = filter_lists(lists, *kept);
}

std::vector<uint8_t> CudaListFilter::ranks_few(const ScanCodec& codec,
                                               const SearchRequest& request) const {
  std::vector<uint8_t> ranks;
  if (known().empty()) return ranks;
  // list_search does so where a group's queries are searched one by one.
  for (int64_t first = 0; first < request.nq; first += kListGroupQueries) {
    const int64_t nq = std::min(kListGroupQueries, request.nq - first);
    const ListPlan plan = plan_lists(&codec, ScanMachine::here(),
                                     {nq, request.options.nprobe, std::ssize(known()),
                                      request.options.exactness, request.threads, share_});
    ranks.insert(ranks.end(), static_cast<size_t>(nq), plan.by_lists ? 0 : 1);
  }
  return ranks;
}

}  // namespace polarquant::device
