// SPDX-License-Identifier: MIT
#include "src/faiss/files/stored_polar.h"

#include <cmath>
#include <utility>

#include "polarquant/faiss.h"
#include "src/codec/codec.h"
#include "src/faiss/foreign/faiss_metric.h"
#include "src/faiss/index/index_options.h"
#include "src/faiss/index/row_ids.h"
#include "src/scan/search/fast_codec_kernels.h"
#include "src/scan/stores/joined_rows.h"
#include "src/scan/stores/row_sections.h"

namespace polarquant {
namespace {

constexpr SectionKind kHead = section_kind("POLR");
constexpr SectionKind kCodec = section_kind("CODC");
constexpr SectionKind kIds = section_kind("IDS ");
constexpr const char* kWhat = "index file: section POLR";

/// Whether these options make a codec, as they must when an index takes its first add back. The
/// rotation is left out: it may take long to make, and no option changes it.
void require_options(const IndexPolar::Options& options, const Codec& codec) {
  Spec spec = codec.spec();
  if (spec.rotation != RotationKind::pca) spec.rotation = RotationKind::none;
  try {
    const Codec made(spec, codec.dim(), codec.metric(), codec_options(options));
  } catch (const Error& error) {
    fail(StatusCode::corrupt_data, "{}: {}", kWhat, error.what());
  }
}

}  // namespace

/// IndexPolar's friend.
struct IndexPolarStorage {
  static void add_sections(const ::faiss::Index& written, SectionWriter& sections) {
    const auto& index = dynamic_cast<const IndexPolar&>(written);
    ByteWriter head;
    put_head(index, head);
    head.put<uint32_t>(index.ids().empty() ? 0 : 1);
    head.put<uint32_t>(index.codec_->has_encoded() ? 1 : 0);
    head.put<float>(index.exactness);
    head.put<uint32_t>(index.options_.learn_centre ? 1 : 0);
    head.put<uint32_t>(index.options_.single_rows ? 1 : 0);
    head.put<uint64_t>(index.options_.seed);
    head.put<double>(index.options_.norm_unit);
    head.put_array(index.options_.centre);
    sections.add_small(kHead, head.bytes());
    sections.add_small(kCodec, index.codec_->save_state());
    add_row_sections(sections, *index.codec_, row_order(index.options_), *index.codes_);
    if (!index.ids().empty()) add_ids_section(index.ids(), sections);
  }

  static StoredIndex read(IndexReading& reading) {
    SectionReader& sections = reading.sections();
    const std::vector<uint8_t> bytes = sections.read_small(kHead);
    ByteReader in(bytes.data(), bytes.size(), kWhat);
    const StoredHead head = get_head(in);
    const auto has_ids = in.get<uint32_t>("has_ids");
    const auto has_encoded = in.get<uint32_t>("has_encoded");
    const auto exactness = in.get<float>("exactness");
    const auto learn_centre = in.get<uint32_t>("learn_centre");
    const auto single_rows = in.get<uint32_t>("single_rows");
    IndexPolar::Options options;
    options.seed = in.get<uint64_t>("seed");
    options.norm_unit = in.get<double>("norm_unit");
    options.centre = in.get_array<float>("centre", static_cast<uint64_t>(head.dim));
    in.expect_end();
    require(has_ids <= 1 && has_encoded <= 1 && learn_centre <= 1 && single_rows <= 1,
            StatusCode::corrupt_data, "{}: flags {} {} {} {}; 0 and 1 are allowed", kWhat, has_ids,
            has_encoded, learn_centre, single_rows);
    // Written so that a NaN is refused too.
    require(exactness >= 0, StatusCode::corrupt_data, "{}: exactness {}; 0 to infinity is allowed",
            kWhat, exactness);
    options.learn_centre = learn_centre == 1;
    options.single_rows = single_rows == 1;

    const std::vector<uint8_t> state = sections.read_small(kCodec);
    std::unique_ptr<Codec> codec =
        Codec::load_state(state.data(), state.size(), fast_codec_kernels());
    require(codec->dim() == head.dim && codec->metric() == codec_metric(head.metric) &&
                codec->is_trained() == head.is_trained && codec->seed() == options.seed,
            StatusCode::corrupt_data,
            "{}: its dim, metric, seed and training are not those of the codec's state", kWhat);
    require((head.ntotal == 0 || head.is_trained) && (has_ids == 0 || head.ntotal > 0),
            StatusCode::corrupt_data, "{}: {} rows, trained {}, with ids {}", kWhat, head.ntotal,
            head.is_trained, has_ids);
    require_options(options, *codec);

    std::unique_ptr<IndexPolar> index(new IndexPolar(head.dim, head.metric));
    index->spec_ = print_spec(codec->spec());
    index->options_ = std::move(options);
    index->codec_ = std::move(codec);
    index->codes_ =
        read_row_sections(sections, *index->codec_, row_order(index->options_), head.ntotal);
    // Rows that another index encoded, and that were merged, did not set the flag in older files.
    if (has_encoded == 1 || (head.ntotal > 0 && !index->codes_->holds_floats()))
      index->codec_->mark_encoded();
    // An index without rows lies in a file as if it had codes.
    if (head.ntotal == 0 && !index->codes_->is_mapped()) index->codes_ = index->make_store();
    index->exactness = exactness;
    index->is_trained = head.is_trained;
    index->ntotal = head.ntotal;
    if (has_ids == 1) read_ids(sections, *index);
    return {std::move(index), has_ids == 0};
  }

  static void join(::faiss::Index& joined, ::faiss::Index& from, const Joining& joining) {
    auto& index = dynamic_cast<IndexPolar&>(joined);
    auto& other = dynamic_cast<IndexPolar&>(from);
    require(!index.options_.single_rows && !other.options_.single_rows, StatusCode::unsupported,
            "merge: rows that lie one by one, as graphs have them, are not joined");
    require(
        !index.codes_->holds_floats() && !other.codes_->holds_floats(), StatusCode::state_mismatch,
        "merge: one of the indexes was never trained, and keeps its first rows as floats; train "
        "before rows are added");
    if (joining.takes_ids) join_ids(*index.ids_, other, joining.add_id);
    other.ids_->clear();
    auto* rows = dynamic_cast<JoinedRows*>(index.codes_.get());
    if (rows == nullptr) {
      auto made = std::make_unique<JoinedRows>(*index.codec_);
      made->join(std::move(index.codes_));
      rows = made.get();
      index.codes_ = std::move(made);
    }
    rows->join(std::exchange(other.codes_, other.make_store()));
    if (other.codec_->has_encoded()) index.codec_->mark_encoded();
    index.ntotal += std::exchange(other.ntotal, 0);
  }

 private:
  /// With a way back from ids to rows, which finds those that come twice.
  static void join_ids(RowIds& ids, IndexPolar& other, int64_t add_id) {
    if (other.ids().empty()) return;
    const auto append = [](RowIds& to, idx_t id) {
      require(to.append(id), StatusCode::bad_argument,
              "merge: id {} is there twice; ids must differ", id);
    };
    if (!ids.looks_up()) {
      RowIds both_ways;
      both_ways.reserve(ids.all().size() + other.ids().size());
      for (const idx_t id : ids.all()) append(both_ways, id);
      ids = std::move(both_ways);
    }
    ids.reserve(other.ids().size());
    for (const idx_t id : other.ids()) append(ids, id + add_id);
  }

  static void read_ids(SectionReader& sections, IndexPolar& index) {
    std::vector<int64_t> ids = read_ids_section(sections, index.ntotal);
    // A mapped index is there at once.
    const bool is_mapped = index.codes_->is_mapped();
    if (!is_mapped) index.ids_->reserve(ids.size());
    for (size_t row = 0; row < ids.size(); ++row) {
      require(ids[row] >= 0 && (is_mapped || index.ids_->append(ids[row])),
              StatusCode::corrupt_data,
              "index file: id {} of row {} is negative or another row's; ids of 0 and above, each "
              "once, are allowed",
              ids[row], row);
    }
    if (is_mapped) *index.ids_ = RowIds::read_only(std::move(ids));
  }
};

void add_ids_section(const std::vector<int64_t>& ids, SectionWriter& sections) {
  sections.add_data(kIds, [&ids](ByteSink& sink) {
    if (!ids.empty()) sink.write(ids.data(), ids.size() * sizeof(int64_t));
  });
}

std::vector<int64_t> read_ids_section(SectionReader& sections, int64_t n) {
  return sections.read_array<int64_t>(kIds, static_cast<uint64_t>(n));
}

constinit const StoredKind kStoredPolar = {
    kHead,
    [](const ::faiss::Index& index) { return dynamic_cast<const IndexPolar*>(&index) != nullptr; },
    IndexPolarStorage::add_sections, IndexPolarStorage::read, IndexPolarStorage::join};

}  // namespace polarquant
