// SPDX-License-Identifier: MIT
#pragma once

#include "cuda/device_index.h"
#include "cuda/interface.h"

namespace polarquant::cuda {

/// The results of a search of no rows.
void write_no_results(const DeviceIndex& index, const SearchRequest& request);

/// How a search's queries are grouped, and the memory that a group works in.
class SearchGroups {
 public:
  SearchGroups() = default;
  SearchGroups(const DeviceIndex& index, const SearchRequest& request);

  void take_memory(Workspace* workspace) const;
  /// Searches in this memory. `request` has the numbers of the one that this was made for.
  void run(const DeviceIndex& index, const SearchRequest& request,
           const Workspace& workspace) const;

 private:
  int64_t queries_ = 0;      // of a group, at most
  size_t filter_bytes_ = 0;  // for what the request brings
  size_t device_bytes_ = 0;  // with these
  size_t pinned_bytes_ = 0;
};

/// The search of the function table (interface.h), for all rows. Waits for the stream before it
/// returns.
void search(const DeviceIndex& index, const SearchRequest& request);

}  // namespace polarquant::cuda
