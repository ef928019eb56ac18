// SPDX-License-Identifier: MIT
#include "src/io/section_writer.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <functional>

#include "src/core/checksum.h"
#include "src/core/status.h"

namespace polarquant {
namespace {

/// Counts bytes and sums each chunk of them, and passes them on where there is a sink.
class SummingSink final : public ByteSink {
 public:
  SummingSink(ByteSink* next, std::function<void(uint64_t)> count)
      : next_(next), count_(std::move(count)) {}

  void write(const void* data, size_t bytes) override {
    if (next_ != nullptr) next_->write(data, bytes);
    const auto* from = static_cast<const uint8_t*>(data);
    while (bytes > 0) {
      const size_t count = std::min<size_t>(bytes, kChunkBytes - total_ % kChunkBytes);
      chunk_.add(from, count);
      total_ += count;
      if (total_ % kChunkBytes == 0) end_chunk();
      from += count;
      bytes -= count;
    }
  }

  /// To be called once, after the last byte.
  const std::vector<uint64_t>& finish() {
    if (total_ % kChunkBytes != 0) end_chunk();
    return sums_;
  }
  uint64_t total() const { return total_; }

 private:
  void end_chunk() {
    if (count_) count_((total_ - 1) % kChunkBytes + 1);
    sums_.push_back(chunk_.sum());
    chunk_ = StreamingChecksum();
  }

  ByteSink* next_;
  std::function<void(uint64_t)> count_;
  uint64_t total_ = 0;
  StreamingChecksum chunk_;
  std::vector<uint64_t> sums_;
};

void pad_to(ByteSink& sink, uint64_t from, uint64_t to) {
  const std::vector<uint8_t> zeros(static_cast<size_t>(to - from));
  if (!zeros.empty()) sink.write(zeros.data(), zeros.size());
}

uint64_t sum_of_sums(const std::vector<uint64_t>& sums) {
  return checksum64(sums.data(), sums.size() * sizeof(uint64_t));
}

}  // namespace

void SectionWriter::add_small(SectionKind kind, std::vector<uint8_t> bytes) {
  sections_.push_back({kind, SectionPlace::small, std::move(bytes), {}});
}

void SectionWriter::add_data(SectionKind kind, Produce produce, std::optional<uint64_t> bytes) {
  sections_.push_back({kind, SectionPlace::data, {}, std::move(produce), bytes});
}

/// Where sections come to lie, and the sums of those that were counted.
class SectionWriter::Plan {
 public:
  explicit Plan(size_t sections) : table_(1) { table_.reserve(sections + 1); }

  void add(const SectionEntry& entry, const std::vector<uint64_t>& sums) {
    first_sum_.push_back(sums_.size());
    table_.push_back(entry);
    sums_.insert(sums_.end(), sums.begin(), sums.end());
  }
  /// Once all are added.
  void place() {
    table_[0].kind = kChecksums;
    table_[0].bytes = sums_.size() * sizeof(uint64_t);
    end_ = kHeaderBytes + table_.size() * kTableEntryBytes;
    for (SectionEntry& entry : table_) {
      entry.offset = offset_after(end_, entry.place);
      end_ = entry.offset + entry.bytes;
    }
  }
  const SectionEntry& entry(size_t section) const { return table_[section + 1]; }
  /// Of a section that was not summed before.
  void set_sums(size_t section, const std::vector<uint64_t>& sums) {
    std::copy(sums.begin(), sums.end(),
              sums_.begin() + static_cast<ptrdiff_t>(first_sum_[section]));
    table_[section + 1].checksum = sum_of_sums(sums);
  }
  /// The file's first bytes: header, table and sums.
  std::vector<uint8_t> begin(uint32_t version) {
    table_[0].checksum = sum_of_sums(sums_);
    std::vector<uint8_t> bytes = print_header(version, table_, end_);
    bytes.resize(table_[0].offset + table_[0].bytes);
    if (!sums_.empty()) std::memcpy(bytes.data() + table_[0].offset, sums_.data(), table_[0].bytes);
    return bytes;
  }

 private:
  std::vector<SectionEntry> table_;
  std::vector<uint64_t> sums_;
  std::vector<size_t> first_sum_;  // of each section
  uint64_t end_ = 0;               // of the file
};

void SectionWriter::count(const Section& section, bool is_summed_later, Plan& plan) const {
  SectionEntry entry;
  entry.kind = section.kind;
  entry.place = section.place;
  std::vector<uint64_t> sums;
  if (section.place == SectionPlace::small) {
    entry.bytes = section.bytes.size();
    entry.checksum = checksum64(section.bytes.data(), section.bytes.size());
  } else if (is_summed_later) {
    entry.bytes = *section.size;
    sums.resize(static_cast<size_t>(chunks_of(entry.bytes)));
  } else {
    SummingSink summing(nullptr, {});
    section.produce(summing);
    sums = summing.finish();
    entry.bytes = summing.total();
    entry.checksum = sum_of_sums(sums);
  }
  plan.add(entry, sums);
}

void SectionWriter::write(ByteSink& sink, const Watch& watch) const {
  require(sections_.size() < kMaxSections, StatusCode::unsupported,
          "index: it has {} sections; a file holds at most {}", sections_.size(), kMaxSections - 1);
  const auto is_summed_later = [&](const Section& section) {
    return sink.can_overwrite() && section.place == SectionPlace::data && section.size.has_value();
  };
  Plan plan(sections_.size());
  bool begins_anew = false;
  for (const Section& section : sections_) {
    count(section, is_summed_later(section), plan);
    begins_anew = begins_anew || is_summed_later(section);
  }
  plan.place();

  const std::vector<uint8_t> begin = plan.begin(version_);
  sink.write(begin.data(), begin.size());
  uint64_t end = begin.size();
  uint64_t written = 0;
  const std::function<void(uint64_t)> tell = [&](uint64_t bytes) {
    written += bytes;
    if (watch) watch(written);
  };
  for (size_t i = 0; i < sections_.size(); ++i) {
    const Section& section = sections_[i];
    const SectionEntry entry = plan.entry(i);
    pad_to(sink, end, entry.offset);
    end = entry.offset + entry.bytes;
    if (section.place == SectionPlace::small) {
      if (entry.bytes > 0) sink.write(section.bytes.data(), section.bytes.size());
      continue;
    }
    SummingSink summing(&sink, tell);
    section.produce(summing);
    const std::vector<uint64_t>& sums = summing.finish();
    if (is_summed_later(section)) plan.set_sums(i, sums);
    require(summing.total() == entry.bytes && sum_of_sums(sums) == plan.entry(i).checksum,
            StatusCode::internal,
            "index: its section {} changed while it was written; writing needs an index that "
            "nobody changes",
            print_kind(entry.kind));
  }
  if (!begins_anew) return;
  const std::vector<uint8_t> summed = plan.begin(version_);
  sink.overwrite_begin(summed.data(), summed.size());
}

}  // namespace polarquant
