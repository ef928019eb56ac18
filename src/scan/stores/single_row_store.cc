// SPDX-License-Identifier: MIT
#include "src/scan/stores/single_row_store.h"

#include <cstring>
#include <utility>
#include <vector>

#include "src/codec/spec.h"
#include "src/scan/layout/row_removal.h"
#include "src/scan/model/link_estimate.h"
#include "src/scan/model/row_values.h"
#include "src/scan/search/row_search.h"
#include "src/scan/stores/int8_row_scorer.h"
#include "src/scan/stores/link_record_writer.h"
#include "src/scan/stores/single_rows.h"

namespace polarquant {
namespace {

class SingleRowStore final : public RowStore {
 public:
  explicit SingleRowStore(const Codec& codec) : rows_(codec) {}

  int64_t rows() const override { return rows_.rows(); }
  size_t memory_bytes() const override { return rows_.memory_bytes(); }

  void append(const Codec& codec, int64_t n, const float* x, int threads) override {
    require(n >= 0, StatusCode::bad_argument, "n: {} rows are not allowed; 0 or more", n);
    if (n == 0) return;
    std::vector<uint8_t> codes(codec.layout().bytes(n));
    codec.encode(n, x, codes.data(), threads);
    append_codes(codec, n, codes.data());
  }
  void append_codes(const Codec& codec, int64_t n, const uint8_t* codes) override {
    // The codec's state is final once it has encoded.
    std::unique_ptr<ScanCodec> scan_codec;
    if (rows() == 0) scan_codec = std::make_unique<ScanCodec>(codec, RowOrder::single);
    rows_.append(n, codes);
    records_are_written_ = false;
    if (scan_codec != nullptr) scan_codec_ = std::move(scan_codec);
  }
  void clear() noexcept override {
    rows_.clear();
    records_are_written_ = false;
  }

  void get(const Codec& /*codec*/, int64_t row, uint8_t* code) const override {
    rows_.get(row, code);
  }
  void overwrite(const Codec& /*codec*/, int64_t row, const uint8_t* code) noexcept override {
    rows_.overwrite(row, code);
    records_are_written_ = false;
  }
  void remove(const Codec& /*codec*/, std::span<const uint64_t> removed) override {
    rows_.truncate(move_kept_rows(rows(), removed,
                                  [this](int64_t from, int64_t to) { rows_.copy_row(from, to); }));
    records_are_written_ = false;
  }

  Mark mark(const Codec& /*codec*/) const override { return {rows(), {}}; }
  void go_back_to(const Codec& /*codec*/, const Mark& mark) noexcept override {
    rows_.truncate(mark.rows);
    records_are_written_ = false;
  }

  void search(const Codec& codec, const SearchRequest& request,
              const SearchResult& result) const override {
    const std::vector<uint8_t> codes = unpacked(codec);
    row_search(codec, {codes.data(), rows()}, request, result);
  }

  std::unique_ptr<RowScorer> make_scorer(const Codec& codec) const override {
    if (scan_codec_ == nullptr) return make_float_scorer(codec, *this);
    return make_int8_row_scorer(codec, *scan_codec_, rows_);
  }

  void lay_out_records(const Codec& codec, int links) override {
    require_records(codec, links);
    rows_.lay_out_records(links);
    records_are_written_ = false;
  }
  int record_links() const override {
    return rows_.records() == nullptr ? 0 : rows_.records()->links();
  }
  bool records_are_written() const override { return records_are_written_; }
  void set_records_written(bool written) noexcept override { records_are_written_ = written; }
  std::span<const uint8_t> record(int64_t row) const override {
    return {rows_.record(row), rows_.records()->bytes()};
  }
  void write_record(int64_t row, std::span<const int32_t> links,
                    RecordMemory* memory) noexcept override {
    const auto linked = [&](int64_t number, AlignedVector<int8_t>& values) {
      const RowPlace at = rows_.place(number);
      decode_padded_row(*scan_codec_, at, values.data());
      return LinkedRow{values.data(), load_terms(*scan_codec_, at)};
    };
    LinkRecordWriter(*scan_codec_, *rows_.records(), memory->terms)
        .write(
            linked(row, memory->node), links,
            [&](size_t i) { return linked(links[i], memory->neighbour); }, rows_.record(row));
  }
  void renumber_links(int64_t row, std::span<const int32_t> links) noexcept override {
    uint8_t* numbers = rows_.record(row) + rows_.records()->links_offset();
    std::memcpy(numbers, links.data(), links.size_bytes());
  }

 private:
  std::vector<uint8_t> unpacked(const Codec& codec) const {
    std::vector<uint8_t> codes(codec.layout().bytes(rows()));
    for (int64_t row = 0; row < rows(); ++row)
      rows_.get(row, codes.data() + static_cast<size_t>(row) * rows_.layout().row_format_bytes());
    return codes;
  }

  SingleRows rows_;
  bool records_are_written_ = false;
  std::unique_ptr<ScanCodec> scan_codec_;  // of the state that the rows were encoded in
};

}  // namespace

std::unique_ptr<RowStore> make_single_row_store(const Codec& codec) {
  return std::make_unique<SingleRowStore>(codec);
}

RecordMemory::RecordMemory(int dim, int links)
    : node(static_cast<size_t>(segments_of(dim) * kSegmentDims)),
      neighbour(node.size()),
      terms(static_cast<size_t>(links)) {}

}  // namespace polarquant
