// SPDX-License-Identifier: MIT
// The objects of codec and query handles of the C ABI; the index's is in index_handle.h,
// since only builds with FAISS have it.
#pragma once

#include <memory>

#include "polarquant/polarquant.h"
#include "src/codec/codec.h"

struct polar_codec {
  std::unique_ptr<polarquant::Codec> codec;
};

struct polar_query {
  polarquant::PreparedQuery query;
};
