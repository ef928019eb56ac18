// SPDX-License-Identifier: MIT
#include "src/faiss/files/stored_ivf.h"

#include <faiss/IndexFlat.h>
#include <faiss/IndexIVF.h>
#include <faiss/IndexIVFPQ.h>
#include <faiss/clone_index.h>
#include <faiss/impl/FaissException.h>

#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "src/faiss/factory/description_limits.h"
#include "src/faiss/files/allowed_compositions.h"
#include "src/faiss/foreign/stored_faiss.h"

namespace polarquant {
namespace {

constexpr SectionKind kHead = section_kind("IVFQ");

/// While it lives, an inverted file does not own its parts: where FAISS's copying fails half way,
/// the copy's destructors would delete them. Only destructors read who owns, so that others may
/// search meanwhile; others who copy wait.
class WithoutOwner {
 public:
  explicit WithoutOwner(const ::faiss::IndexIVF& index)
      : lock_(mutex()),
        index_(const_cast<::faiss::IndexIVF&>(index)),
        own_fields_(index.own_fields),
        own_invlists_(index.own_invlists) {
    index_.own_fields = index_.own_invlists = false;
  }
  ~WithoutOwner() {
    index_.own_fields = own_fields_;
    index_.own_invlists = own_invlists_;
  }
  WithoutOwner(const WithoutOwner&) = delete;
  WithoutOwner& operator=(const WithoutOwner&) = delete;

 private:
  static std::mutex& mutex() {
    static std::mutex only;
    return only;
  }

  std::lock_guard<std::mutex> lock_;
  ::faiss::IndexIVF& index_;
  decltype(::faiss::IndexIVF::own_fields) own_fields_;
  decltype(::faiss::IndexIVF::own_invlists) own_invlists_;
};

/// Makes a copy of an inverted file that shares its lists and has an empty stand-in as its
/// quantizer: FAISS can write it, and the index, which others may be searching, stays.
class WithStandIn final : public ::faiss::Cloner {
 public:
  static std::unique_ptr<::faiss::Index> make(const ::faiss::IndexIVF& index) {
    std::unique_ptr<::faiss::IndexIVF> copy;
    try {
      const WithoutOwner shared(index);
      copy.reset(WithStandIn().clone_IndexIVF(&index));
    } catch (const ::faiss::FaissException& error) {
      fail(StatusCode::unsupported, "index: FAISS does not copy its inverted file: {}",
           error.what());
    }
    copy->quantizer = new ::faiss::IndexFlat(index.d, index.metric_type);
    copy->own_fields = true;
    return copy;
  }
};

void add_sections(const ::faiss::Index& written, SectionWriter& sections) {
  const auto& index = dynamic_cast<const ::faiss::IndexIVF&>(written);
  ByteWriter head;
  put_head(index, head);
  head.put<uint64_t>(index.nlist);
  head.put<uint32_t>(static_cast<uint8_t>(index.quantizer_trains_alone));
  sections.add_small(kHead, head.bytes());
  add_index_sections(*index.quantizer, sections);
  add_faiss_section([&index] { return WithStandIn::make(index); }, sections);
}

StoredIndex read(IndexReading& reading) {
  require(reading.trusts_faiss(), StatusCode::unsupported,
          "index file: FAISS's inverted file with a coarse quantizer of ours is read with "
          "trust_faiss alone, which gives its lists to FAISS unchecked");
  const std::vector<uint8_t> bytes = reading.sections().read_small(kHead);
  ByteReader in(bytes.data(), bytes.size(), "index file: section IVFQ");
  const StoredHead head = get_head(in);
  const auto nlist = in.get<uint64_t>("nlist");
  const auto trains_alone = in.get<uint32_t>("quantizer_trains_alone");
  in.expect_end();
  require(trains_alone <= 2, StatusCode::corrupt_data,
          "index file: quantizer_trains_alone {} is not allowed; 0 to 2", trains_alone);

  StoredIndex quantizer = read_coarse_quantizer(reading, head, nlist);
  StoredIndex read = read_faiss_section(reading, false);
  auto* index = dynamic_cast<::faiss::IndexIVF*>(read.index.get());
  require(index != nullptr && index->d == head.dim && index->metric_type == head.metric &&
              index->ntotal == head.ntotal && index->nlist == nlist &&
              index->is_trained == head.is_trained,
          StatusCode::corrupt_data,
          "index file: the inverted file is not the one that section IVFQ tells of");
  if (index->own_fields) delete index->quantizer;
  index->quantizer = quantizer.index.release();
  index->own_fields = true;
  index->quantizer_trains_alone = static_cast<char>(trains_alone);
  auto* pq = dynamic_cast<::faiss::IndexIVFPQ*>(index);
  if (pq != nullptr && pq->is_trained && pq->by_residual) {
    pq->use_precomputed_table = 0;
    pq->precompute_table();
  }
  return read;
}

}  // namespace

StoredIndex read_coarse_quantizer(IndexReading& reading, const StoredHead& head, uint64_t nlist) {
  require(head.is_trained || nlist <= static_cast<uint64_t>(kMostNewLists),
          StatusCode::corrupt_data,
          "index file: an inverted file that is not trained has {} lists; up to {} are allowed",
          nlist, kMostNewLists);
  StoredIndex quantizer = reading.read_index();
  require_allowed_quantizer(*quantizer.index, reading.trusts_faiss());
  const ::faiss::Index& coarse = *quantizer.index;
  require(quantizer.labels_are_rows && coarse.d == head.dim && coarse.metric_type == head.metric &&
              coarse.ntotal >= 0 &&
              (head.is_trained ? static_cast<uint64_t>(coarse.ntotal) == nlist
                               : static_cast<uint64_t>(coarse.ntotal) <= nlist),
          StatusCode::corrupt_data,
          "index file: a coarse quantizer of {} rows, dim {}; {} lists, dim {} expected",
          coarse.ntotal, coarse.d, nlist, head.dim);
  return quantizer;
}

constinit const StoredKind kStoredIVFOverPolar = {
    kHead,
    [](const ::faiss::Index& index) {
      const auto* ivf = dynamic_cast<const ::faiss::IndexIVF*>(&index);
      return ivf != nullptr && needs_our_sections(*ivf->quantizer);
    },
    add_sections, read};

}  // namespace polarquant
