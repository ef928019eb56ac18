// SPDX-License-Identifier: MIT
// IndexIVFPolar in files: a head, the codec's state, the coarse quantizer, the lists.
#include "src/faiss/files/stored_ivf_polar.h"

#include <faiss/impl/FaissException.h>

#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include "polarquant/faiss.h"
#include "src/codec/codec.h"
#include "src/faiss/files/stored_ivf.h"
#include "src/faiss/foreign/faiss_metric.h"
#include "src/faiss/index/polar_inverted_lists.h"
#include "src/scan/model/scan_codec.h"
#include "src/scan/search/fast_codec_kernels.h"
#include "src/scan/stores/joined_lists.h"
#include "src/scan/stores/list_sections.h"

namespace polarquant {
namespace {

constexpr SectionKind kHead = section_kind("IVFP");
constexpr SectionKind kCodec = section_kind("CODC");
constexpr const char* kWhat = "index file: section IVFP";

std::unique_ptr<Codec> read_codec(SectionReader& sections, const StoredHead& head) {
  const std::vector<uint8_t> state = sections.read_small(kCodec);
  std::unique_ptr<Codec> codec =
      Codec::load_state(state.data(), state.size(), fast_codec_kernels());
  require(codec->dim() == head.dim && codec->metric() == codec_metric(head.metric) &&
              (codec->is_trained() || !head.is_trained) && codec->layout().group_rows == 1 &&
              codec->spec().centroids == 0,
          StatusCode::corrupt_data,
          "{}: its dim, metric and training are not those of the codec's state", kWhat);
  return codec;
}

}  // namespace

/// IndexIVFPolar's friend.
struct IndexIVFPolarStorage {
  static void add_sections(const ::faiss::Index& written, SectionWriter& sections) {
    const auto& index = dynamic_cast<const IndexIVFPolar&>(written);
    const PolarInvertedLists* polar = index.polar_lists();
    require(polar != nullptr, StatusCode::unsupported,
            "index: its inverted lists were replaced by some of another kind, which cannot be "
            "written");
    const CodeLists& lists = polar->lists();
    const auto in_lists = static_cast<int64_t>(polar->compute_ntotal());
    require(in_lists == index.ntotal, StatusCode::unsupported,
            "index: {} of its {} rows are in no list; such an index cannot be written",
            index.ntotal - in_lists, index.ntotal);
    ByteWriter head;
    put_head(index, head);
    head.put<uint64_t>(index.nlist);
    head.put<uint32_t>(static_cast<uint8_t>(index.quantizer_trains_alone));
    auto map = index.direct_map.no() ? index.map_in_file_ : index.direct_map.type;
    if (index.keeps_ids() && index.direct_map.no()) map = ::faiss::DirectMap::Hashtable;
    head.put<uint32_t>(static_cast<uint32_t>(map));
    head.put<uint64_t>(index.nprobe);
    head.put<uint64_t>(index.max_codes);
    head.put<float>(index.exactness);
    head.put<uint32_t>(index.options_.by_residual ? 1 : 0);
    head.put<uint64_t>(index.options_.seed);
    head.put<double>(index.options_.norm_unit);
    head.put<float>(index.centroid_scale_);
    head.put<uint32_t>(ids_are_row_numbers(lists) ? 1 : 0);
    sections.add_small(kHead, head.bytes());
    sections.add_small(kCodec, index.codec_->save_state());
    add_index_sections(*index.quantizer, sections);
    add_list_sections(sections, *index.codec_, lists);
  }

  static StoredIndex read(IndexReading& reading) {
    SectionReader& sections = reading.sections();
    const std::vector<uint8_t> bytes = sections.read_small(kHead);
    ByteReader in(bytes.data(), bytes.size(), kWhat);
    const StoredHead head = get_head(in);
    const auto nlist = in.get<uint64_t>("nlist");
    const auto trains_alone = in.get<uint32_t>("quantizer_trains_alone");
    const auto direct_map = in.get<uint32_t>("direct_map");
    const auto nprobe = in.get<uint64_t>("nprobe");
    const auto max_codes = in.get<uint64_t>("max_codes");
    const auto exactness = in.get<float>("exactness");
    const auto by_residual = in.get<uint32_t>("by_residual");
    IndexIVFPolar::Options options;
    options.seed = in.get<uint64_t>("seed");
    options.norm_unit = in.get<double>("norm_unit");
    const auto centroid_scale = in.get<float>("centroid_scale");
    const auto ids_are_rows = in.get<uint32_t>("ids_are_rows");
    in.expect_end();
    require(trains_alone <= 2 && direct_map <= ::faiss::DirectMap::Hashtable && by_residual <= 1 &&
                ids_are_rows <= 1,
            StatusCode::corrupt_data,
            "{}: {} {} {} {} are not allowed; 0 to 2, 0 to 2, 0 or 1 and 0 or 1", kWhat,
            trains_alone, direct_map, by_residual, ids_are_rows);
    // Written so that a NaN is refused too.
    require(exactness >= 0 && options.norm_unit >= 0 && std::isfinite(options.norm_unit) &&
                std::isfinite(centroid_scale),
            StatusCode::corrupt_data,
            "{}: exactness {}, norm_unit {}, centroid_scale {}; finite numbers, 0 and above, are "
            "allowed",
            kWhat, exactness, options.norm_unit, centroid_scale);
    options.by_residual = by_residual == 1;

    std::unique_ptr<Codec> codec = read_codec(sections, head);
    require(codec->seed() == options.seed, StatusCode::corrupt_data,
            "{}: its seed is not that of the codec's state", kWhat);
    require(nlist >= 1, StatusCode::corrupt_data, "{}: it has no lists", kWhat);
    StoredIndex quantizer = read_coarse_quantizer(reading, head, nlist);
    require(head.ntotal == 0 || head.is_trained, StatusCode::corrupt_data,
            "{}: {} rows, but not trained", kWhat, head.ntotal);
    // Before anything is made for so many lists.
    const std::vector<int64_t> sizes = read_list_sizes(sections, nlist, head.ntotal);

    auto index = std::make_unique<IndexIVFPolar>(quantizer.index.get(), head.dim, nlist,
                                                 print_spec(codec->spec()), head.metric, options);
    static_cast<void>(quantizer.index.release());
    index->own_fields = true;
    index->quantizer_trains_alone = static_cast<char>(trains_alone);
    index->nprobe = nprobe;
    index->max_codes = max_codes;
    index->exactness = exactness;
    if (head.is_trained) index->adopt(std::move(codec), centroid_scale);
    index->use_lists(read_list_sections(sections, *index->codec_, sizes, ids_are_rows == 1));
    index->ntotal = head.ntotal;
    set_map(static_cast<::faiss::DirectMap::Type>(direct_map), reading.keeps_ids(), *index);
    return {std::move(index), ids_are_rows == 1};
  }

  static void join(::faiss::Index& joined, ::faiss::Index& from, const Joining& joining) {
    auto& index = dynamic_cast<IndexIVFPolar&>(joined);
    auto& other = dynamic_cast<IndexIVFPolar&>(from);
    if (index.ntotal == 0) index.map_in_file_ = other.map_in_file_;
    std::unique_ptr<CodeLists> held = take_lists(index);
    auto* lists = dynamic_cast<JoinedLists*>(held.get());
    if (lists == nullptr) {
      auto made = std::make_unique<JoinedLists>(*index.codec_, static_cast<int64_t>(index.nlist),
                                                joining.copies);
      made->join(std::move(held), 0);
      lists = made.get();
      held = std::move(made);
    }
    lists->join(take_lists(other), joining.add_id);
    other.map_in_file_ = ::faiss::DirectMap::NoMap;
    index.use_lists(std::move(held));
    index.ntotal += std::exchange(other.ntotal, 0);
  }

 private:
  /// Lists without rows are left in their place.
  static std::unique_ptr<CodeLists> take_lists(IndexIVFPolar& index) {
    auto* lists = dynamic_cast<PolarInvertedLists*>(index.invlists);
    require(lists != nullptr, StatusCode::unsupported,
            "index: its inverted lists were replaced by some of another kind");
    return lists->replace_lists(CodeLists::make(*index.codec_, static_cast<int64_t>(index.nlist)));
  }

  static void set_map(::faiss::DirectMap::Type type, bool keeps_ids, IndexIVFPolar& index) {
    if (index.polar_lists()->lists().is_mapped()) {
      index.map_in_file_ = type;
      return;
    }
    try {
      if (keeps_ids && type == ::faiss::DirectMap::Hashtable) {
        index.keep_ids();
        return;
      }
      index.set_direct_map_type(type);
    } catch (const ::faiss::FaissException& error) {
      fail(StatusCode::corrupt_data, "{}: direct map {} of its ids: {}", kWhat,
           static_cast<int>(type), error.what());
    }
  }
};

constinit const StoredKind kStoredIVFPolar = {
    kHead,
    [](const ::faiss::Index& index) {
      return dynamic_cast<const IndexIVFPolar*>(&index) != nullptr;
    },
    IndexIVFPolarStorage::add_sections, IndexIVFPolarStorage::read, IndexIVFPolarStorage::join};

}  // namespace polarquant
