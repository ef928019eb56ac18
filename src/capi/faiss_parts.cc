// SPDX-License-Identifier: MIT
#include "src/capi/faiss_parts.h"

#include <faiss/IVFlib.h>
#include <faiss/IndexIDMap.h>
#include <faiss/IndexIVF.h>
#include <faiss/IndexPreTransform.h>

#include <utility>

#include "polarquant/faiss.h"
#include "src/core/checked_size.h"
#include "src/core/status.h"
#include "src/faiss/foreign/faiss_error.h"
#include "src/faiss/index/index_parts.h"

namespace polarquant::capi {
const ::faiss::IndexIVF* inverted_file(const ::faiss::Index& index) noexcept {
  return dynamic_cast<const ::faiss::IndexIVF*>(&finding_index(index));
}

::faiss::IndexIVF* inverted_file(::faiss::Index& index) noexcept {
  return const_cast<::faiss::IndexIVF*>(inverted_file(std::as_const(index)));
}

void keep_nprobe(const ::faiss::Index& from, ::faiss::Index& to) {
  const ::faiss::IndexIVF* old_lists = inverted_file(from);
  ::faiss::IndexIVF* new_lists = inverted_file(to);
  if (old_lists != nullptr && new_lists != nullptr) new_lists->nprobe = old_lists->nprobe;
}

IdSupport id_support(const ::faiss::Index& index) {
  if (const auto* outer = dynamic_cast<const ::faiss::IndexPreTransform*>(&index)) {
    return id_support(*outer->index);
  }
  if (dynamic_cast<const ::faiss::IndexIDMap*>(&index) != nullptr) return IdSupport::required;
  const bool takes_ids = dynamic_cast<const IndexPolar*>(&index) != nullptr ||
                         dynamic_cast<const ::faiss::IndexIVF*>(&index) != nullptr;
  return takes_ids ? IdSupport::optional : IdSupport::none;
}

bool positions_close_up(const ::faiss::Index& index) {
  if (const auto* outer = dynamic_cast<const ::faiss::IndexPreTransform*>(&index)) {
    return positions_close_up(*outer->index);
  }
  return dynamic_cast<const ::faiss::IndexIDMap*>(&index) == nullptr &&
         dynamic_cast<const ::faiss::IndexIVF*>(&index) == nullptr;
}

bool finds_ids(const ::faiss::Index& index) {
  return id_support(index) == IdSupport::optional &&
         (inverted_file(index) != nullptr ||
          dynamic_cast<const IndexPolar*>(&finding_index(index)) != nullptr);
}

MapForReconstruct::MapForReconstruct(::faiss::Index& index, bool rows_have_ids) {
  if (index.ntotal > 0) return;
  ::faiss::IndexIVF* ivf = ::faiss::ivflib::try_extract_index_ivf(&index);
  if (ivf == nullptr) return;
  changed_ = ivf;
  type_before_ = ivf->direct_map.type;
  auto* polar = dynamic_cast<IndexIVFPolar*>(ivf);
  kept_ids_before_ = polar != nullptr && polar->keeps_ids();
  // In an IDMap the inverted file itself counts its rows.
  const bool ids_reach_it = rows_have_ids && id_support(index) == IdSupport::optional;
  // Without rows there is nothing to fill it with.
  ivf->direct_map.clear();
  if (polar != nullptr && polar->keeps_ids() != ids_reach_it) polar->keep_ids(ids_reach_it);
  if (polar != nullptr && ids_reach_it) return;
  ivf->direct_map.type = ids_reach_it ? ::faiss::DirectMap::Hashtable : ::faiss::DirectMap::Array;
}

MapForReconstruct::~MapForReconstruct() {
  if (changed_ == nullptr) return;
  changed_->direct_map.clear();
  auto* polar = dynamic_cast<IndexIVFPolar*>(changed_);
  if (polar != nullptr && !kept_ids_before_) polar->keep_ids(false);
  changed_->direct_map.type = static_cast<::faiss::DirectMap::Type>(type_before_);
}

size_t stored_row_bytes(const ::faiss::Index& index) {
  // sa_code_size would add the number of the list, which a stored row does not have.
  if (const auto* ivf = dynamic_cast<const ::faiss::IndexIVF*>(&index)) return ivf->code_size;
  const auto parts = parts_of(index);
  if (!parts.empty()) {
    size_t bytes = 0;
    for (const auto& part : parts)
      bytes = checked_add(bytes, stored_row_bytes(*part.index), "code size");
    return bytes;
  }
  try {
    return index.sa_code_size();
  } catch (const ::faiss::FaissException& error) {
    fail(StatusCode::unsupported, "index: FAISS does not tell the code size of its type ({})",
         error.what());
  }
}

std::unique_ptr<::faiss::Index> make_index(const char* description, int dim, bool inner_product) {
  try {
    return index_factory(dim, description,
                         inner_product ? ::faiss::METRIC_INNER_PRODUCT : ::faiss::METRIC_L2);
  } catch (const FaissError&) {
    throw;  // ours: its text says what is wrong
  } catch (const ::faiss::FaissException& error) {
    fail(StatusCode::bad_argument, "description: {}", error.what());
  }
}

}  // namespace polarquant::capi
