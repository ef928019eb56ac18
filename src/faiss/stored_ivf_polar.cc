// SPDX-License-Identifier: MIT
// An inverted file's lists as sections: how many rows each has, and the codes and ids of all, list
// by list, in the row format.
#include "src/faiss/stored_ivf_polar.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include "polarquant/faiss.h"
#include "src/codec/codec.h"
#include "src/faiss/faiss_metric.h"
#include "src/faiss/polar_inverted_lists.h"
#include "src/faiss/stored_polar.h"
#include "src/scan/scan_codec.h"
#include "src/scan/simd_codec_kernels.h"

namespace polarquant {
namespace {

constexpr SectionKind kHead = section_kind("IVFP");
constexpr SectionKind kCodec = section_kind("CODC");
constexpr SectionKind kSizes = section_kind("LIST");
constexpr SectionKind kRows = section_kind("ROWS");
constexpr SectionKind kIds = section_kind("IDS ");
constexpr const char* kWhat = "index file: section IVFP";

/// Rows of each list; they make `ntotal` together.
std::vector<int64_t> read_sizes(SectionReader& sections, uint64_t nlist, int64_t ntotal) {
  const uint64_t bytes = sections.begin_data(kSizes);
  require(bytes % sizeof(int64_t) == 0 && bytes / sizeof(int64_t) == nlist,
          StatusCode::corrupt_data,
          "index file: section LIST has {} bytes; the sizes of {} lists need 8 each", bytes, nlist);
  std::vector<int64_t> sizes;
  sections.append_data(sizes, nlist);
  int64_t left = ntotal;
  for (size_t list = 0; list < sizes.size(); ++list) {
    require(sizes[list] >= 0 && sizes[list] <= left, StatusCode::corrupt_data,
            "index file: list {} has {} rows; of {} rows {} are left for it", list, sizes[list],
            ntotal, left);
    left -= sizes[list];
  }
  require(left == 0, StatusCode::corrupt_data, "index file: {} of {} rows are in no list", left,
          ntotal);
  return sizes;
}

std::unique_ptr<Codec> read_codec(SectionReader& sections, const StoredHead& head) {
  const std::vector<uint8_t> state = sections.read_small(kCodec);
  std::unique_ptr<Codec> codec = Codec::load_state(state.data(), state.size());
  require(codec->dim() == head.dim && codec->metric() == codec_metric(head.metric) &&
              (codec->is_trained() || !head.is_trained) && codec->layout().group_rows == 1,
          StatusCode::corrupt_data,
          "{}: its dim, metric and training are not those of the codec's state", kWhat);
  codec->use_kernels(simd_codec_kernels());
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
    ByteWriter head;
    put_head(index, head);
    head.put<uint64_t>(index.nlist);
    head.put<uint32_t>(static_cast<uint8_t>(index.quantizer_trains_alone));
    head.put<uint32_t>(static_cast<uint32_t>(index.direct_map.type));
    head.put<uint64_t>(index.nprobe);
    head.put<uint64_t>(index.max_codes);
    head.put<float>(index.exactness);
    head.put<uint32_t>(index.options_.by_residual ? 1 : 0);
    head.put<uint64_t>(index.options_.seed);
    head.put<double>(index.options_.norm_unit);
    head.put<float>(index.centroid_scale_);
    sections.add_small(kHead, head.bytes());
    sections.add_small(kCodec, index.codec_->save_state());
    add_index_sections(*index.quantizer, sections);
    sections.add_data(kSizes, [&lists](ByteSink& sink) {
      for (int64_t list = 0; list < lists.count(); ++list) {
        const int64_t rows = lists.rows(list);
        sink.write(&rows, sizeof rows);
      }
    });
    sections.add_data(kRows, [&lists](ByteSink& sink) {
      std::vector<uint8_t> code(lists.code_bytes());
      for (int64_t list = 0; list < lists.count(); ++list) {
        for (int64_t row = 0; row < lists.rows(list); ++row) {
          lists.get(list, row, code.data());
          sink.write(code.data(), code.size());
        }
      }
    });
    sections.add_data(kIds, [&lists](ByteSink& sink) {
      for (int64_t list = 0; list < lists.count(); ++list) {
        const auto bytes = static_cast<size_t>(lists.rows(list)) * sizeof(int64_t);
        if (bytes > 0) sink.write(lists.ids(list), bytes);
      }
    });
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
    in.expect_end();
    require(trains_alone <= 2 && direct_map <= ::faiss::DirectMap::Hashtable && by_residual <= 1,
            StatusCode::corrupt_data, "{}: {} {} {} are not allowed; 0 to 2, 0 to 2 and 0 or 1",
            kWhat, trains_alone, direct_map, by_residual);
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
    StoredIndex quantizer = reading.read_index();
    const ::faiss::Index& coarse = *quantizer.index;
    require(quantizer.labels_are_rows && coarse.d == head.dim &&
                coarse.metric_type == head.metric && nlist >= 1 &&
                (head.is_trained ? static_cast<uint64_t>(coarse.ntotal) == nlist
                                 : static_cast<uint64_t>(coarse.ntotal) <= nlist),
            StatusCode::corrupt_data,
            "index file: a coarse quantizer of {} rows, dim {}; {} lists, dim {} expected",
            coarse.ntotal, coarse.d, nlist, head.dim);
    require(head.ntotal == 0 || head.is_trained, StatusCode::corrupt_data,
            "{}: {} rows, but not trained", kWhat, head.ntotal);
    const std::vector<int64_t> sizes = read_sizes(sections, nlist, head.ntotal);

    auto index = std::make_unique<IndexIVFPolar>(quantizer.index.get(), head.dim, nlist,
                                                 print_spec(codec->spec()), head.metric, options);
    quantizer.index.release();
    index->own_fields = true;
    index->quantizer_trains_alone = static_cast<char>(trains_alone);
    index->nprobe = nprobe;
    index->max_codes = max_codes;
    index->exactness = exactness;
    if (head.is_trained) index->adopt(std::move(codec), centroid_scale);
    read_rows(sections, sizes, *index);
    index->ntotal = head.ntotal;
    index->set_direct_map_type(static_cast<::faiss::DirectMap::Type>(direct_map));
    const bool labels_are_rows = has_rows_as_ids(*index);
    return {std::move(index), labels_are_rows};
  }

 private:
  /// Whether ids are 0 to ntotal − 1, each once.
  static bool has_rows_as_ids(const IndexIVFPolar& index) {
    std::vector<bool> is_there(static_cast<size_t>(index.ntotal));
    for (size_t list = 0; list < index.nlist; ++list) {
      const int64_t* ids = index.invlists->get_ids(list);
      for (size_t row = 0; row < index.invlists->list_size(list); ++row) {
        const int64_t id = ids[row];
        if (id < 0 || id >= index.ntotal || is_there[static_cast<size_t>(id)]) return false;
        is_there[static_cast<size_t>(id)] = true;
      }
    }
    return true;
  }

  static void read_rows(SectionReader& sections, const std::vector<int64_t>& sizes,
                        IndexIVFPolar& index) {
    const size_t code_bytes = index.code_size;
    int64_t rows = 0;
    for (const int64_t size : sizes) rows += size;
    const uint64_t bytes = sections.begin_data(kRows);
    require(bytes / code_bytes == static_cast<uint64_t>(rows) && bytes % code_bytes == 0,
            StatusCode::corrupt_data,
            "index file: section ROWS has {} bytes; {} rows of {} are needed", bytes, rows,
            code_bytes);
    // List by list; ids follow behind the last, and are put in their places then.
    for (size_t list = 0; list < sizes.size(); ++list) {
      std::vector<uint8_t> codes;
      sections.append_data(codes, static_cast<uint64_t>(sizes[list]) * code_bytes);
      const std::vector<int64_t> no_ids(static_cast<size_t>(sizes[list]), -1);
      index.invlists->add_entries(list, no_ids.size(), no_ids.data(), codes.data());
    }
    const std::vector<int64_t> ids = read_ids_section(sections, rows);
    CodeLists& lists = dynamic_cast<PolarInvertedLists&>(*index.invlists).lists();
    size_t first = 0;
    for (size_t list = 0; list < sizes.size(); ++list) {
      lists.set_ids(static_cast<int64_t>(list), ids.data() + first);
      first += static_cast<size_t>(sizes[list]);
    }
  }
};

constinit const StoredKind kStoredIVFPolar = {
    kHead,
    [](const ::faiss::Index& index) {
      return dynamic_cast<const IndexIVFPolar*>(&index) != nullptr;
    },
    IndexIVFPolarStorage::add_sections, IndexIVFPolarStorage::read};

}  // namespace polarquant
