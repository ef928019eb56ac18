// SPDX-License-Identifier: MIT
// The objects of codec, query and filter handles of the C ABI; the index's is in index_handle.h,
// since only builds with FAISS have it.
#pragma once

#include <memory>

#include "polarquant/polarquant.h"
#include "src/codec/codec.h"
#include "src/scan/search/row_filter.h"

struct polar_codec {
  std::unique_ptr<polarquant::Codec> codec;
};

struct polar_prepared_filter {
  polarquant::RowFilter filter;
};

struct polar_query {
  polarquant::PreparedQuery query;
};
