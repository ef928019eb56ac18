// SPDX-License-Identifier: MIT
#include "src/io/mapped_section.h"

#include <algorithm>
#include <utility>

#include "src/core/checksum.h"
#include "src/core/parallel.h"
#include "src/core/status.h"

namespace polarquant {

MappedSection::MappedSection(std::shared_ptr<const MappedFile> file, const SectionEntry& entry,
                             std::vector<uint64_t> sums)
    : file_(std::move(file)), entry_(entry), sums_(std::move(sums)), intact_(sums_.size()) {}

void MappedSection::require_chunk(size_t chunk) const {
  const uint64_t begin = chunk * kChunkBytes;
  const auto bytes = static_cast<size_t>(std::min(kChunkBytes, entry_.bytes - begin));
  read_ahead(begin, bytes);
  require(checksum64(data() + begin, bytes) == sums_[chunk], StatusCode::corrupt_data,
          "index file: bytes {} to {} of section {} do not match their checksum; they are damaged",
          begin, begin + bytes, print_kind(entry_.kind));
  intact_[chunk].store(1, std::memory_order_release);
}

void MappedSection::require_intact(size_t offset, size_t bytes) const {
  if (bytes == 0 || all_intact_.load(std::memory_order_acquire)) return;
  const size_t last = (offset + bytes - 1) / kChunkBytes;
  for (size_t chunk = offset / kChunkBytes; chunk <= last; ++chunk) {
    if (intact_[chunk].load(std::memory_order_acquire) == 0) require_chunk(chunk);
  }
}

void MappedSection::require_intact() const {
  if (all_intact_.load(std::memory_order_acquire)) return;
  const auto chunks = static_cast<int64_t>(sums_.size());
  parallel_for(chunks, thread_count(0, chunks), [&](int64_t chunk, int) {
    if (intact_[static_cast<size_t>(chunk)].load(std::memory_order_acquire) == 0)
      require_chunk(static_cast<size_t>(chunk));
  });
  all_intact_.store(true, std::memory_order_release);
}

void MappedSection::expect_scattered() const { file_->expect_scattered(entry_.offset, bytes()); }

void MappedSection::read_ahead(size_t offset, size_t bytes) const {
  file_->read_ahead(entry_.offset + offset, bytes);
}

bool MappedSection::is_resident(size_t offset) const {
  return file_->is_resident(entry_.offset + offset);
}

void MappedSection::verify_anew() const {
  const auto chunks = static_cast<int64_t>(sums_.size());
  parallel_for(chunks, thread_count(0, chunks),
               [&](int64_t chunk, int) { require_chunk(static_cast<size_t>(chunk)); });
  all_intact_.store(true, std::memory_order_release);
}

}  // namespace polarquant
