// SPDX-License-Identifier: MIT
// write_index, read_index, verify_index and clone_index.
#include <memory>
#include <utility>
#include <vector>

#include "polarquant/faiss.h"
#include "src/faiss/files/index_files.h"
#include "src/faiss/files/stored_kinds.h"
#include "src/faiss/foreign/faiss_error.h"
#include "src/faiss/index/index_parts.h"
#include "src/faiss/index/polar_inverted_lists.h"
#include "src/io/atomic_file.h"
#include "src/scan/stores/row_store.h"

namespace polarquant {
namespace {

class CallbackSink final : public ByteSink {
 public:
  explicit CallbackSink(const WriteBytes& write) : write_(write) {}
  void write(const void* data, size_t bytes) override { write_(data, bytes); }

 private:
  const WriteBytes& write_;
};

SectionWriter sections_of(const ::faiss::Index& index) {
  SectionWriter sections;
  add_index_sections(index, sections);
  return sections;
}

void skip_caller_sections(SectionReader& sections) {
  if (sections.next_kind() != kCallerHead) return;
  sections.read_small(kCallerHead);
  if (sections.next_kind() != kCallerIds) return;
  if (sections.is_mapped()) {
    sections.map_data(kCallerIds);
  } else {
    sections.read_whole(kCallerIds);
  }
}

std::unique_ptr<::faiss::Index> read_sections(SectionReader sections, const ReadOptions& options,
                                              bool keeps_ids = false) {
  skip_caller_sections(sections);
  IndexReading reading(sections, options.trust_faiss);
  if (keeps_ids) reading.keep_ids();
  return reading.read_whole();
}

}  // namespace

void write_file(const SectionWriter& sections, const std::string& path, const CheckFile& check,
                const SectionWriter::Watch& watch) {
  AtomicFile file(path);
  sections.write(file, watch);
  if (!check) {
    file.commit();
    return;
  }
  file.commit([&](std::unique_ptr<ByteSource> written) {
    try {
      check(SectionReader(std::move(written)));
    } catch (const Error& error) {
      fail(StatusCode::corrupt_data,
           "{}: what was written cannot be read back, so that a file of this name is as it was: {}",
           path, error.what());
    }
  });
}

void require_same_rows(const ::faiss::Index& index, const ::faiss::Index& read) {
  require(read.d == index.d && read.ntotal == index.ntotal && read.is_trained == index.is_trained &&
              read.metric_type == index.metric_type,
          StatusCode::corrupt_data, "{} rows of {} dimensions; the index has {} of {}", read.ntotal,
          read.d, index.ntotal, index.d);
}

void write_file(const SectionWriter& sections, const WriteBytes& write) {
  CallbackSink sink(write);
  sections.write(sink);
}

SectionReader open_file(const std::string& path, bool memory_map) {
  if (memory_map) return SectionReader(std::make_shared<const MappedFile>(path));
  return SectionReader(file_source(path));
}

void write_index(const ::faiss::Index& index, const std::string& path,
                 const WriteOptions& options) {
  with_faiss_errors([&] {
    CheckFile check;
    if (options.verify) {
      check = [&](SectionReader file) {
        ReadOptions as_written;
        as_written.trust_faiss = true;
        require_same_rows(index, *read_sections(std::move(file), as_written));
      };
    }
    write_file(sections_of(index), path, check);
  });
}

void write_index(const ::faiss::Index& index, const WriteBytes& write) {
  with_faiss_errors([&] { write_file(sections_of(index), write); });
}

std::unique_ptr<::faiss::Index> read_index(const std::string& path, const ReadOptions& options) {
  return with_faiss_errors(
      [&] { return read_sections(open_file(path, options.memory_map), options); });
}

std::unique_ptr<::faiss::Index> read_index(const ReadBytes& read, const ReadOptions& options) {
  return with_faiss_errors([&] {
    require(!options.memory_map, StatusCode::bad_argument,
            "options.memory_map: only files can be mapped; false is allowed here");
    return read_sections(SectionReader(callback_source(read)), options);
  });
}

void verify_index(const ::faiss::Index& index) {
  with_faiss_errors([&] {
    for_each_part(index, [](const ::faiss::Index& part) {
      if (const auto* polar = dynamic_cast<const IndexPolar*>(&part)) polar->codes().verify();
      const auto* ivf = dynamic_cast<const ::faiss::IndexIVF*>(&part);
      if (ivf == nullptr) return;
      const auto* lists = dynamic_cast<const PolarInvertedLists*>(ivf->invlists);
      if (lists != nullptr) lists->lists().verify();
    });
  });
}

std::unique_ptr<::faiss::Index> clone_index(const ::faiss::Index& index) {
  return clone_index(index, IdsOfClone::as_index);
}

std::unique_ptr<::faiss::Index> clone_index(const ::faiss::Index& index, IdsOfClone ids) {
  bool keeps_ids = ids == IdsOfClone::kept;
  for_each_part(index, [&](const ::faiss::Index& part) {
    const auto* lists = dynamic_cast<const IndexIVFPolar*>(&part);
    if (lists != nullptr && lists->keeps_ids()) keeps_ids = true;
  });
  std::vector<uint8_t> bytes;
  write_index(index, [&](const void* data, size_t count) {
    const auto* from = static_cast<const uint8_t*>(data);
    bytes.insert(bytes.end(), from, from + count);
  });
  ReadOptions options;
  options.trust_faiss = true;
  return with_faiss_errors([&] {
    return read_sections(SectionReader(memory_source(bytes.data(), bytes.size())), options,
                         keeps_ids);
  });
}

}  // namespace polarquant
