// SPDX-License-Identifier: MIT
// Writes a file of sections (section_format.h) front to back, into a sink that cannot seek.
//
// The table comes first and has sizes and checksums. A sink that can overwrite its begin gets it
// last, where sections say how long they are; else each section's bytes are made twice: once to
// count and sum them, once to write them. Nothing is held in memory meanwhile.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "src/io/byte_sink.h"
#include "src/io/section_format.h"

namespace polarquant {

class SectionWriter {
 public:
  /// Writes a section's bytes, the same ones each time it is called.
  using Produce = std::function<void(ByteSink&)>;

  /// The file's format version is at least this one, so that readers that do not know it say so.
  void need_version(uint32_t version) { version_ = std::max(version_, version); }
  void add_small(SectionKind kind, std::vector<uint8_t> bytes);
  /// What `produce` refers to must live until write(). bytes: how many it makes, where that is
  /// known.
  void add_data(SectionKind kind, Produce produce, std::optional<uint64_t> bytes = {});

  /// Told, about every MiB, how many bytes of data sections were written so far; what it throws
  /// ends the writing.
  using Watch = std::function<void(uint64_t written)>;

  /// Writes the file of the sections added. Throws internal when a section came out differently the
  /// second time, as it does when an index is changed while it is written.
  void write(ByteSink& sink, const Watch& watch = {}) const;

 private:
  struct Section {
    SectionKind kind;
    SectionPlace place;
    std::vector<uint8_t> bytes;  // of a small one
    Produce produce;             // of a data section
    std::optional<uint64_t> size = {};
  };
  class Plan;
  void count(const Section& section, bool is_summed_later, Plan& plan) const;

  std::vector<Section> sections_;
  uint32_t version_ = 1;
};

}  // namespace polarquant
