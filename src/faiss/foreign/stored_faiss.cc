// SPDX-License-Identifier: MIT
#include "src/faiss/foreign/stored_faiss.h"

#include <faiss/IndexIDMap.h>
#include <faiss/IndexPreTransform.h>
#include <faiss/impl/FaissException.h>
#include <faiss/impl/io.h>
#include <faiss/index_io.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <new>
#include <utility>

#include "src/faiss/foreign/faiss_bytes.h"

namespace polarquant {
namespace {

constexpr SectionKind kIndex = section_kind("FAIS");
constexpr SectionKind kTransform = section_kind("VTRN");

class SinkWriter final : public ::faiss::IOWriter {
 public:
  explicit SinkWriter(ByteSink& sink) : sink_(sink) {}
  size_t operator()(const void* data, size_t size, size_t count) override {
    if (size * count > 0) sink_.write(data, size * count);
    return count;
  }

 private:
  ByteSink& sink_;
};

/// FAISS's own memory writer would keep bytes that are only counted.
class CountingSink final : public ByteSink {
 public:
  void write(const void* /*data*/, size_t bytes) override { total += bytes; }
  size_t total = 0;
};

class MemoryReader final : public ::faiss::IOReader {
 public:
  explicit MemoryReader(const AlignedVector<uint8_t>& bytes) : bytes_(bytes) {
    name = "index file";
  }
  size_t operator()(void* data, size_t size, size_t count) override {
    if (size == 0) return count;
    const size_t items = std::min(count, (bytes_.size() - position_) / size);
    if (items > 0) std::memcpy(data, bytes_.data() + position_, items * size);
    position_ += items * size;
    return items;
  }
  bool at_end() const { return position_ == bytes_.size(); }

 private:
  const AlignedVector<uint8_t>& bytes_;
  size_t position_ = 0;
};

/// Calls body(), which calls FAISS's reader; its errors mean that the bytes are wrong.
template <typename Body>
auto with_corrupt_data(Body&& body) {
  try {
    return body();
  } catch (const Error&) {
    throw;
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& error) {
    fail(StatusCode::corrupt_data, "index file: FAISS refuses its part: {}", error.what());
  }
}

/// The index after transforms.
const ::faiss::Index& inner(const ::faiss::Index& index) {
  const auto* chain = dynamic_cast<const ::faiss::IndexPreTransform*>(&index);
  return chain != nullptr ? inner(*chain->index) : index;
}

void write_faiss_index(const ::faiss::Index& index, ByteSink& sink) {
  SinkWriter writer(sink);
  try {
    ::faiss::write_index(&index, &writer);
  } catch (const ::faiss::FaissException& error) {
    fail(StatusCode::unsupported, "index: FAISS does not write it: {}", error.what());
  }
}

void write_faiss_transform(const ::faiss::VectorTransform& transform, ByteSink& sink) {
  SinkWriter writer(sink);
  try {
    ::faiss::write_VectorTransform(&transform, &writer);
  } catch (const ::faiss::FaissException& error) {
    fail(StatusCode::unsupported, "index: FAISS does not write its transform: {}", error.what());
  }
}

}  // namespace

size_t faiss_bytes_of(const ::faiss::Index& index) {
  CountingSink sink;
  write_faiss_index(index, sink);
  return sink.total;
}

size_t faiss_bytes_of(const ::faiss::VectorTransform& transform) {
  CountingSink sink;
  write_faiss_transform(transform, sink);
  return sink.total;
}

void add_transform_section(const ::faiss::VectorTransform& transform, SectionWriter& sections) {
  sections.add_data(kTransform,
                    [&transform](ByteSink& sink) { write_faiss_transform(transform, sink); });
}

std::unique_ptr<::faiss::VectorTransform> read_transform_section(IndexReading& reading) {
  const AlignedVector<uint8_t> bytes = reading.sections().read_whole(kTransform);
  if (!reading.trusts_faiss()) check_faiss_transform(bytes.data(), bytes.size());
  return with_corrupt_data([&] {
    MemoryReader reader(bytes);
    return std::unique_ptr<::faiss::VectorTransform>(::faiss::read_VectorTransform(&reader));
  });
}

void add_faiss_section(ProduceIndex index, SectionWriter& sections) {
  sections.add_data(kIndex, [produce = std::move(index)](ByteSink& sink) {
    write_faiss_index(*produce(), sink);
  });
}

StoredIndex read_faiss_section(IndexReading& reading, bool has_coarse) {
  const AlignedVector<uint8_t> bytes = reading.sections().read_whole(kIndex);
  if (!reading.trusts_faiss()) check_faiss_index(bytes.data(), bytes.size());
  // Tables that are made of the coarse quantizer wait until it is there.
  const int flags = has_coarse ? 0 : ::faiss::IO_FLAG_SKIP_PRECOMPUTE_TABLE;
  return with_corrupt_data([&] {
    MemoryReader reader(bytes);
    std::unique_ptr<::faiss::Index> index(::faiss::read_index(&reader, flags));
    require(index != nullptr && reader.at_end(), StatusCode::corrupt_data,
            "index file: section FAIS has more bytes than FAISS reads");
    const bool labels_are_rows =
        dynamic_cast<const ::faiss::IndexIDMap*>(&inner(*index)) == nullptr;
    return StoredIndex{std::move(index), labels_are_rows};
  });
}

constinit const StoredKind kStoredFaiss = {
    kIndex, [](const ::faiss::Index& /*index*/) { return true; },
    [](const ::faiss::Index& index, SectionWriter& sections) {
      sections.add_data(kIndex, [&index](ByteSink& sink) { write_faiss_index(index, sink); });
    },
    [](IndexReading& reading) { return read_faiss_section(reading, true); }};

}  // namespace polarquant
