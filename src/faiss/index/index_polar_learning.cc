// SPDX-License-Identifier: MIT
// How an IndexPolar gets its codec's state: by training, from its first rows, which it keeps as
// floats until they are enough, or from an index that is merged into it. Learned and coded parts
// are made aside and adopted whole.
#include <algorithm>
#include <utility>
#include <vector>

#include "polarquant/faiss.h"
#include "src/codec/codec.h"
#include "src/faiss/foreign/faiss_error.h"
#include "src/faiss/index/coded_rows.h"
#include "src/faiss/index/index_options.h"
#include "src/faiss/index/index_polar_mark.h"
#include "src/faiss/index/row_checks.h"
#include "src/faiss/index/row_ids.h"
#include "src/scan/search/measure_margins.h"
#include "src/scan/stores/codec_copy.h"
#include "src/scan/stores/float_row_store.h"

namespace polarquant {
namespace {

/// The most rows of an add that are copied beside those held: more would teach nothing more.
constexpr int64_t kMostCopiedRows = 100'000;

}  // namespace

std::unique_ptr<Codec> copy_codec(const Codec& codec) {
  std::unique_ptr<Codec> copy = copy_of(codec);
  if (codec.has_encoded()) copy->mark_encoded();
  return copy;
}

/// Whether new rows can teach the codec, which encodes without it, its centre or unit: neither was
/// learned, not all was given, and nothing was encoded.
bool IndexPolar::learns_from_rows() const {
  const bool learns_centre =
      options_.learn_centre && options_.centre.empty() && codec_->has_factors();
  return codec_->origin() == StateOrigin::initial && !codec_->has_encoded() &&
         codec_->is_trained() && (learns_centre || options_.norm_unit == 0);
}

std::string IndexPolar::difference_of_kind(const IndexPolar& other) const {
  if (spec_ != other.spec_) return format_text("spec ({} and {})", spec_, other.spec_);
  if (d != other.d || metric_type != other.metric_type) return "dim or metric";
  if (codec_->seed() != other.codec_->seed())
    return format_text("seed ({} and {})", codec_->seed(), other.codec_->seed());
  return "";
}

/// "" when rows of both can mix, else what differs. Floats go into any state of their kind of
/// codec, and an index that learned nothing yet can take over all that was not given.
std::string IndexPolar::difference(const IndexPolar& other) const {
  if (!other.codes_->holds_floats() && !learns_from_rows())
    return codec_->difference(*other.codec_);
  std::string kind = difference_of_kind(other);
  if (!kind.empty() || other.codes_->holds_floats()) return kind;
  const std::span<const float> centre = codec_->centre();
  const bool centre_is_given = !options_.learn_centre || !options_.centre.empty();
  const bool same_centre = std::equal(centre.begin(), centre.end(), other.codec_->centre().begin());
  if (centre_is_given && !same_centre) return "centre";
  const double unit = other.codec_->norm_unit();
  if (options_.norm_unit != 0 && codec_->norm_unit() != unit)
    return format_text("norm_unit ({:.6g} and {:.6g})", codec_->norm_unit(), unit);
  return "";
}

std::unique_ptr<RowStore> IndexPolar::make_store() const {
  if (learns_from_rows()) return make_float_row_store(d);
  return make_coded_store(*codec_, options_);
}

IndexPolar::idx_t IndexPolar::rows_as_floats() const {
  return codes_->holds_floats() ? codes_->rows() : 0;
}

void IndexPolar::lay_out_records(int links) {
  with_faiss_errors([&] {
    require(options_.single_rows, StatusCode::unsupported,
            "records: rows of this index lie in blocks; those of graphs lie one by one");
    require_records(*codec_, links);
    if (!codes_->holds_floats()) codes_->lay_out_records(*codec_, links);
    options_.record_links = links;
  });
}

/// Whether the rows held are coded when so many come. Nothing is learned any more once the codec
/// encoded rows for others.
bool IndexPolar::must_code_held_rows(idx_t coming) const {
  return codes_->holds_floats() && (!learns_from_rows() || ntotal + coming >= rows_to_learn);
}

/// What the rows held and n others, (n, d), teach the codec. Of very many others beside rows held
/// some are taken, evenly spread.
std::unique_ptr<Codec> IndexPolar::learned_codec(idx_t n, const float* x) const {
  std::unique_ptr<Codec> codec = copy_codec(*codec_);
  if (!learns_from_rows() || ntotal + n == 0) return codec;
  if (ntotal == 0) {
    codec->train(n, x, measure_margins);
    return codec;
  }
  const std::span<const float> held = codes_->floats();
  const int64_t taken = std::min(n, kMostCopiedRows);
  std::vector<float> rows;
  rows.reserve(held.size() + static_cast<size_t>(taken * d));
  rows.assign(held.begin(), held.end());
  for (int64_t i = 0; i < taken; ++i) {
    const float* row = x + i * (n / taken) * d;
    rows.insert(rows.end(), row, row + d);
  }
  codec->train(ntotal + taken, rows.data(), measure_margins);
  return codec;
}

/// The rows held, of which none are coded, coded by this codec.
IndexPolar::Contents IndexPolar::code_held_rows(std::unique_ptr<Codec> codec) const {
  std::unique_ptr<RowStore> rows = make_coded_store(*codec, options_);
  if (rows_as_floats() > 0) rows->append(*codec, ntotal, codes_->floats().data(), 0);
  return {std::move(codec), std::move(rows)};
}

void IndexPolar::take(Contents contents) noexcept {
  codec_ = std::move(contents.codec);
  codes_ = std::move(contents.rows);
  ntotal = codes_->rows();
  is_trained = codec_->is_trained();
}

void IndexPolar::train(idx_t n, const float* x) {
  with_faiss_errors([&] {
    require_writable("train", *codes_);
    require_rows("train", n, d, x);
    std::unique_ptr<Codec> codec = copy_codec(*codec_);
    codec->train(n, x, measure_margins);
    take(code_held_rows(std::move(codec)));
  });
}

void IndexPolar::code_rows() {
  with_faiss_errors([&] {
    if (rows_as_floats() == 0) return;
    require_writable("code_rows", *codes_);
    take(code_held_rows(learned_codec(0, nullptr)));
  });
}

/// Rows that were checked. Unchanged after an error, but for ids.
void IndexPolar::append_rows(idx_t n, const float* x, const CodedRows& coded) {
  if (must_code_held_rows(n)) {
    require_float_rows(d, n, x);  // before they teach anything
    Contents learned = code_held_rows(learned_codec(n, x));
    learned.rows->append(*learned.codec, n, x, 0);
    take(std::move(learned));
    return;
  }
  if (coded.empty()) {
    codes_->append(*codec_, n, x, 0);
  } else {
    codes_->append_codes(*codec_, n, coded.codes.data());
  }
  ntotal = codes_->rows();
}

IndexPolar::Mark IndexPolar::mark(idx_t coming) const {
  if (!must_code_held_rows(coming)) return {codes_->mark(*codec_), {}};
  const std::span<const float> held = codes_->floats();
  return {{}, {copy_codec(*codec_), make_float_row_store(d, {held.begin(), held.end()})}};
}

void IndexPolar::go_back_to(Mark before) noexcept {
  if (before.uncoded.rows != nullptr) {
    take(std::move(before.uncoded));
  } else {
    codes_->go_back_to(*codec_, before.codes);
    ntotal = codes_->rows();
  }
  ids_->truncate(static_cast<size_t>(ntotal));
}

}  // namespace polarquant
