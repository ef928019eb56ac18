// SPDX-License-Identifier: MIT
// What the index calls need to know of FAISS's own classes, which no virtual function of theirs
// tells: which indexes take ids, which must be given them, and what a stored row costs.
#pragma once

#include <faiss/Index.h>

#include <cstddef>
#include <cstdint>
#include <memory>

namespace faiss {
struct IndexIVF;
}

namespace polarquant::capi {

/// The index that finds rows as an inverted file, nullptr when it is none.
const ::faiss::IndexIVF* inverted_file(const ::faiss::Index& index) noexcept;
::faiss::IndexIVF* inverted_file(::faiss::Index& index) noexcept;

/// Gives an index that takes the place of another one how many lists that one's searches look
/// through. No effect unless both are inverted files.
void keep_nprobe(const ::faiss::Index& from, ::faiss::Index& to);

/// How an index of these parts takes the ids of its rows.
enum class IdSupport {
  none,      // add alone
  optional,  // add or add_with_ids
  required,  // add_with_ids alone (IDMap, IDMap2)
};
IdSupport id_support(const ::faiss::Index& index);

/// Whether ids of rows without ids of the caller's are positions that close up as rows are removed;
/// in inverted files and id maps they stay, so that the next rows' ids would be some that are held.
bool positions_close_up(const ::faiss::Index& index);

/// Whether rows are found by ids that a caller gave them, one by one.
bool finds_ids(const ::faiss::Index& index);

/// Makes an inverted file that gets its first row keep a map from ids to rows, without which it
/// cannot reconstruct; as before again unless keep() is called. No effect on other indexes, and on
/// those that have rows.
class MapForReconstruct {
 public:
  MapForReconstruct(::faiss::Index& index, bool rows_have_ids);
  ~MapForReconstruct();
  MapForReconstruct(const MapForReconstruct&) = delete;
  MapForReconstruct& operator=(const MapForReconstruct&) = delete;
  void keep() noexcept { changed_ = nullptr; }

 private:
  ::faiss::IndexIVF* changed_ = nullptr;
  int type_before_ = 0;  // FAISS's DirectMap::Type
  bool kept_ids_before_ = false;
};

/// Bytes of one stored row's code, ids and graph links not counted. Throws unsupported where FAISS
/// does not tell.
size_t stored_row_bytes(const ::faiss::Index& index);

/// The index of a factory string. Throws bad_argument for what FAISS's parser would crash on, and
/// for what it throws.
std::unique_ptr<::faiss::Index> make_index(const char* description, int dim, bool inner_product);

}  // namespace polarquant::capi
