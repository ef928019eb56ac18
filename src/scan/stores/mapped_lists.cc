// SPDX-License-Identifier: MIT
#include "src/scan/stores/mapped_lists.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <mutex>
#include <span>
#include <utility>

#include "src/core/aligned_buffer.h"
#include "src/core/checked_size.h"
#include "src/io/read_ahead.h"
#include "src/scan/model/scan_codec.h"
#include "src/scan/stores/mapped_row_store.h"

namespace polarquant {
namespace {

class MappedLists final : public CodeLists {
 public:
  MappedLists(const Codec& codec, ListPlaces places, std::shared_ptr<const MappedSection> codes,
              std::shared_ptr<const MappedSection> ids, bool ids_are_rows)
      : CodeLists(codec, places.count()),
        places_(std::move(places)),
        codes_(std::move(codes)),
        ids_(std::move(ids)),
        ids_are_rows_(ids_are_rows),
        ids_checked_(static_cast<size_t>(places_.count())) {}

  int64_t rows(int64_t list) const override { return places_.rows(list); }
  /// The pages belong to the system, which takes them back when it needs them.
  size_t memory_bytes() const override {
    return places_.memory_bytes() + ids_checked_.size() * sizeof ids_checked_[0];
  }
  bool is_mapped() const override { return true; }
  void verify() const override {
    codes_->verify_anew();
    ids_->verify_anew();
    for (int64_t list = 0; list < count(); ++list) check_ids(list);
  }

  const int64_t* ids(int64_t list) const override {
    const std::atomic<uint8_t>& checked = ids_checked_[static_cast<size_t>(list)];
    if (checked.load(std::memory_order_acquire) == 0) check_ids(list);
    return ids_at(list);
  }
  size_t span_count(int64_t list) const override {
    return static_cast<size_t>((rows(list) + kMappedSpanRows - 1) / kMappedSpanRows);
  }
  BlockRows span(int64_t list, size_t number) const override {
    const BlockRows all = list_rows(list);
    const int64_t first = static_cast<int64_t>(number) * kMappedSpanRows;
    const BlockRows span{all.data + layout().sketches_bytes(first),
                         std::min(kMappedSpanRows, all.rows - first), first,
                         all.payloads + layout().payloads_bytes(first)};
    require_intact(span.data, layout().sketches_bytes(span.rows));
    require_intact(span.payloads, layout().payloads_bytes(span.rows));
    return span;
  }
  const uint8_t* row_codes(int64_t list) const override {
    const uint8_t* codes = codes_->data() + places_.begin(list);
    require_intact(codes, static_cast<size_t>(rows(list)) * code_bytes());
    return codes;
  }
  void get(int64_t list, int64_t row, uint8_t* code) const override {
    if (!has_blocks()) {
      const size_t offset = places_.begin(list) + static_cast<size_t>(row) * code_bytes();
      require_intact(codes_->data() + offset, code_bytes());
      std::memcpy(code, codes_->data() + offset, code_bytes());
      return;
    }
    const RowPlace place = list_rows(list).place(layout(), row);
    require_intact(place.sketch, layout().sketch_bytes(place.capacity));
    require_intact(layout().row_payload(place), layout().payload_bytes());
    layout().get_row(place, code);
  }

  void read_ahead(std::span<const int64_t> lists) const override {
    if (!ahead_.is_wanted()) return;
    std::call_once(scattered_, [&] {
      codes_->expect_scattered();
      ids_->expect_scattered();
    });
    for (const int64_t list : lists) {
      const size_t begin = places_.begin(list);
      const size_t bytes = places_.begin(list + 1) - begin;
      if (bytes == 0) continue;
      if (!codes_->is_resident(begin) || !codes_->is_resident(begin + bytes - 1))
        ahead_.tell_missing();
      codes_->read_ahead(begin, bytes);
    }
  }

  void append(int64_t /*list*/, int64_t /*n*/, const int64_t* /*ids*/,
              const uint8_t* /*codes*/) override {
    refuse_change_of_mapped();
  }
  void overwrite(int64_t /*list*/, int64_t /*row*/, int64_t /*id*/,
                 const uint8_t* /*code*/) override {
    refuse_change_of_mapped();
  }
  void truncate(int64_t /*list*/, int64_t /*rows*/) override { refuse_change_of_mapped(); }
  void clear() override { refuse_change_of_mapped(); }

 private:
  const int64_t* ids_at(int64_t list) const {
    return reinterpret_cast<const int64_t*>(ids_->data()) + places_.first_row(list);
  }
  void check_ids(int64_t list) const {
    const int64_t* ids = ids_at(list);
    const auto n = static_cast<size_t>(rows(list));
    ids_->require_intact(static_cast<size_t>(places_.first_row(list)) * sizeof(int64_t),
                         n * sizeof(int64_t));
    for (size_t row = 0; ids_are_rows_ && row < n; ++row) {
      require(ids[row] >= 0 && ids[row] < places_.total_rows(), StatusCode::corrupt_data,
              "index file: id {} of row {} of list {}; 0 to {} are allowed", ids[row], row, list,
              places_.total_rows() - 1);
    }
    ids_checked_[static_cast<size_t>(list)].store(1, std::memory_order_release);
  }

  // Not verified yet.
  BlockRows list_rows(int64_t list) const {
    const uint8_t* sketches = codes_->data() + places_.begin(list);
    return {sketches, rows(list), 0, sketches + layout().sketches_bytes(rows(list))};
  }
  void require_intact(const uint8_t* data, size_t bytes) const {
    codes_->require_intact(static_cast<size_t>(data - codes_->data()), bytes);
  }

  ListPlaces places_;
  std::shared_ptr<const MappedSection> codes_;
  std::shared_ptr<const MappedSection> ids_;
  bool ids_are_rows_;
  mutable std::vector<std::atomic<uint8_t>> ids_checked_;  // of each list
  mutable ReadAhead ahead_;
  mutable std::once_flag scattered_;
};

}  // namespace

ListPlaces::ListPlaces(const Codec& codec, std::span<const int64_t> sizes, LevelForm levels) {
  constexpr const char* kWhat = "bytes of lists";
  const bool has_blocks = BlockLayout::supports(codec);
  const BlockLayout layout(codec, RowOrder::blocks, levels);
  first_row_.reserve(sizes.size() + 1);
  begin_.reserve(sizes.size() + 1);
  first_row_.push_back(0);
  begin_.push_back(has_blocks ? kReadAhead : 0);
  for (const int64_t rows : sizes) {
    size_t end = 0;
    if (has_blocks) {
      layout.bytes(rows);  // a smaller size cannot wrap either
      end = checked_add(begin_.back(), layout.sketches_bytes(rows) + layout.payloads_bytes(rows),
                        kWhat);
      end = checked_add(end, kAlignment - 1, kWhat) / kAlignment * kAlignment;
    } else {
      end = checked_add(begin_.back(), checked_mul(rows, layout.row_format_bytes(), kWhat), kWhat);
    }
    first_row_.push_back(static_cast<int64_t>(checked_add(first_row_.back(), rows, kWhat)));
    begin_.push_back(end);
  }
  checked_mul(total_rows(), sizeof(int64_t), "bytes of ids");
  section_bytes_ = has_blocks ? checked_add(begin_.back(), kReadAhead, kWhat) : begin_.back();
}

std::unique_ptr<CodeLists> map_lists(const Codec& codec, ListPlaces places,
                                     std::shared_ptr<const MappedSection> codes,
                                     std::shared_ptr<const MappedSection> ids, bool ids_are_rows) {
  return std::make_unique<MappedLists>(codec, std::move(places), std::move(codes), std::move(ids),
                                       ids_are_rows);
}

}  // namespace polarquant
