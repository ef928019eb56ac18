// SPDX-License-Identifier: MIT
// How indexes are written to files of sections, and read back: one row for each kind of index. The
// kind's tag is the kind of the section that an index begins with; the sections after it, and
// indexes inside it, are up to the row. docs/format.md, "Index files", has the bytes.
#pragma once

#include <faiss/Index.h>

#include <memory>

#include "src/core/byte_stream.h"
#include "src/io/section_reader.h"
#include "src/io/section_writer.h"
#include "src/scan/stores/joined_lists.h"

namespace polarquant {

/// An index that was read.
struct StoredIndex {
  std::unique_ptr<::faiss::Index> index;
  /// Whether each label that a search returns is −1 or below ntotal, whatever the file says:
  /// containers use labels to look things up.
  bool labels_are_rows = true;
};

class IndexReading {
 public:
  IndexReading(SectionReader& sections, bool trust_faiss)
      : sections_(sections), trusts_faiss_(trust_faiss) {}

  SectionReader& sections() { return sections_; }
  /// Whether FAISS's parts are given to FAISS's reader unchecked, and of all kinds.
  bool trusts_faiss() const { return trusts_faiss_; }
  /// Whether inverted files of ours whose file says that they have a map from ids to rows, each of
  /// an id of its own, keep ids (IndexIVFPolar::keep_ids) in place of FAISS's map.
  bool keeps_ids() const { return keeps_ids_; }
  void keep_ids() { keeps_ids_ = true; }
  /// An index inside another one, which begins with the next section.
  StoredIndex read_index();
  /// All that a file has: to the end of the sections, and checked as a whole
  /// (allowed_compositions.h).
  std::unique_ptr<::faiss::Index> read_whole();

 private:
  SectionReader& sections_;
  bool trusts_faiss_;
  bool keeps_ids_ = false;
  int depth_ = 0;
};

/// How rows of several indexes are joined.
struct Joining {
  JoinedLists::Copies copies;
  /// What ids of rows that come grow by.
  int64_t add_id;
  /// False: ids of rows that come are dropped, for an index that is dropped itself.
  bool takes_ids = true;
};

struct StoredKind {
  SectionKind tag;
  bool (*recognizes)(const ::faiss::Index& index);
  /// The index must live, and stay as it is, until the sections are written.
  void (*add_sections)(const ::faiss::Index& index, SectionWriter& sections);
  StoredIndex (*read)(IndexReading& reading);
  /// join_rows of two indexes of this kind; null where rows cannot be joined.
  void (*join)(::faiss::Index& index, ::faiss::Index& other, const Joining& joining) = nullptr;
};

/// The sections of an index. Throws unsupported where it has a part that nobody can write.
void add_index_sections(const ::faiss::Index& index, SectionWriter& sections);

/// Puts the rows of `other`, a mapped index, after those of `index`, another one: they stay in
/// their files. `index` can then be written, take other rows so and, with copies of all lists, be
/// searched; `other` has no rows afterwards. Both were let pass by require_mergeable
/// (index/row_changes.h). Throws unsupported for kinds whose rows cannot be joined: graphs,
/// published codes in groups, and parts of FAISS's; both can then only be dropped.
void join_rows(::faiss::Index& index, ::faiss::Index& other, const Joining& joining);

/// Whether join_rows takes indexes like this one.
bool can_join_rows(const ::faiss::Index& index);

/// Whether an index is of our kinds, or has one of ours inside, so that FAISS cannot write it.
bool needs_our_sections(const ::faiss::Index& index);

/// The fields that every container's head section begins with.
struct StoredHead {
  int32_t dim = 0;
  int64_t ntotal = 0;
  ::faiss::MetricType metric = ::faiss::METRIC_L2;
  bool is_trained = false;
};
void put_head(const ::faiss::Index& index, ByteWriter& out);
/// Throws corrupt_data for values that no index has, and metrics but inner product and L2.
StoredHead get_head(ByteReader& in);

}  // namespace polarquant
