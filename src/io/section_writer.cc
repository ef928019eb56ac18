// SPDX-License-Identifier: MIT
#include "src/io/section_writer.h"

#include <algorithm>
#include <cstdint>

#include "src/core/checksum.h"
#include "src/core/status.h"

namespace polarquant {
namespace {

/// Tells how many bytes of all sections were made.
struct Count {
  const SectionWriter::Watch& watch;
  uint64_t made = 0;

  void add(uint64_t bytes) {
    made += bytes;
    if (watch) watch(made);
  }
};

/// Counts bytes and sums each chunk of them, and passes them on where there is a sink.
class SummingSink final : public ByteSink {
 public:
  SummingSink(ByteSink* next, Count& count) : next_(next), count_(count) {}

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
    count_.add((total_ - 1) % kChunkBytes + 1);
    sums_.push_back(chunk_.sum());
    chunk_ = StreamingChecksum();
  }

  ByteSink* next_;
  Count& count_;
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

void SectionWriter::add_data(SectionKind kind, Produce produce) {
  sections_.push_back({kind, SectionPlace::data, {}, std::move(produce)});
}

void SectionWriter::write(ByteSink& sink, const Watch& watch) const {
  require(sections_.size() < kMaxSections, StatusCode::unsupported,
          "index: it has {} sections; a file holds at most {}", sections_.size(), kMaxSections - 1);
  Count count{watch};
  std::vector<uint64_t> sums;
  std::vector<SectionEntry> table(1);
  for (const Section& section : sections_) {
    SectionEntry entry;
    entry.kind = section.kind;
    entry.place = section.place;
    if (section.place == SectionPlace::small) {
      entry.bytes = section.bytes.size();
      entry.checksum = checksum64(section.bytes.data(), section.bytes.size());
    } else {
      SummingSink summing(nullptr, count);
      section.produce(summing);
      const std::vector<uint64_t>& own = summing.finish();
      entry.bytes = summing.total();
      entry.checksum = sum_of_sums(own);
      sums.insert(sums.end(), own.begin(), own.end());
    }
    table.push_back(entry);
  }
  table[0].kind = kChecksums;
  table[0].bytes = sums.size() * sizeof(uint64_t);
  table[0].checksum = sum_of_sums(sums);

  uint64_t end = kHeaderBytes + table.size() * kTableEntryBytes;
  for (SectionEntry& entry : table) {
    entry.offset = offset_after(end, entry.place);
    end = entry.offset + entry.bytes;
  }
  const std::vector<uint8_t> header = print_header(version_, table, end);
  sink.write(header.data(), header.size());
  pad_to(sink, header.size(), table[0].offset);
  if (!sums.empty()) sink.write(sums.data(), sums.size() * sizeof(uint64_t));
  end = table[0].offset + table[0].bytes;
  for (size_t i = 0; i < sections_.size(); ++i) {
    const SectionEntry& entry = table[i + 1];
    pad_to(sink, end, entry.offset);
    if (entry.place == SectionPlace::small) {
      if (entry.bytes > 0) sink.write(sections_[i].bytes.data(), sections_[i].bytes.size());
    } else {
      SummingSink summing(&sink, count);
      sections_[i].produce(summing);
      require(sum_of_sums(summing.finish()) == entry.checksum && summing.total() == entry.bytes,
              StatusCode::internal,
              "index: its section {} changed while it was written; writing needs an index that "
              "nobody changes",
              print_kind(entry.kind));
    }
    end = entry.offset + entry.bytes;
  }
}

}  // namespace polarquant
