// SPDX-License-Identifier: MIT
#include "src/faiss/files/stored_nsg.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "src/faiss/graphs/graph_over_polar.h"
#include "src/faiss/graphs/nsg_graph.h"

namespace polarquant {
namespace {

constexpr SectionKind kHead = section_kind("NSG ");
constexpr SectionKind kLinks = section_kind("LINK");
constexpr const char* kWhat = "index file: section NSG ";

using Links = decltype(::faiss::NSG::final_graph)::element_type;

/// The links of a graph without rows have no size.
NsgLinks links_of(const ::faiss::IndexNSG& index) {
  const Links* links = index.nsg.final_graph.get();
  if (links == nullptr) return {};
  return {links->N, links->K, links->data};
}

void require_sound(const ::faiss::IndexNSG& index) {
  const NsgNumbers numbers = nsg_numbers(index);
  const NsgField* wrong = nsg_field_out_of_range(numbers);
  if (wrong != nullptr) {
    fail(StatusCode::unsupported, "index: its {} is {}; {} to {} can be written", wrong->name,
         numbers.*wrong->value, wrong->least, wrong->most);
  }
  const NsgLinks links = links_of(index);
  require(links.n == index.ntotal, StatusCode::unsupported,
          "index: its graph has {} rows; those of the index are {}", links.n, index.ntotal);
  const char* flaw = flaw_of(links, links.n == 0 ? -1 : index.nsg.enterpoint);
  require(flaw == nullptr, StatusCode::unsupported,
          "index: its graph's {} is not that of a graph of {} rows", flaw == nullptr ? "" : flaw,
          index.ntotal);
}

void add_sections(const ::faiss::Index& written, SectionWriter& sections) {
  const auto& index = dynamic_cast<const ::faiss::IndexNSG&>(written);
  require_sound(index);
  const NsgLinks links = links_of(index);
  const NsgNumbers numbers = nsg_numbers(index);
  ByteWriter head;
  put_head(index, head);
  // Without rows FAISS leaves the entry point as it was.
  head.put<int32_t>(links.n == 0 ? -1 : index.nsg.enterpoint);
  head.put<int32_t>(static_cast<int32_t>(links.degree));
  for (const NsgField& field : nsg_fields()) head.put<int32_t>(numbers.*field.value);
  sections.add_small(kHead, head.bytes());
  sections.add_data(kLinks, [links](ByteSink& sink) {
    const auto count = static_cast<size_t>(links.n * links.degree);
    if (count > 0) sink.write(links.links, count * sizeof(int32_t));
  });
  add_index_sections(*index.storage, sections);
}

NsgNumbers get_numbers(ByteReader& in) {
  NsgNumbers numbers = {};
  for (const NsgField& field : nsg_fields()) numbers.*field.value = in.get<int32_t>(field.name);
  const NsgField* wrong = nsg_field_out_of_range(numbers);
  if (wrong != nullptr) {
    fail(StatusCode::corrupt_data, "{}: {} {} is not allowed; {} to {}", kWhat, wrong->name,
         numbers.*wrong->value, wrong->least, wrong->most);
  }
  return numbers;
}

StoredIndex read(IndexReading& reading) {
  SectionReader& sections = reading.sections();
  const std::vector<uint8_t> bytes = sections.read_small(kHead);
  ByteReader in(bytes.data(), bytes.size(), kWhat);
  const StoredHead head = get_head(in);
  const auto entry_point = in.get<int32_t>("entry point");
  const auto degree = in.get<int32_t>("links of a row");
  const NsgNumbers numbers = get_numbers(in);
  in.expect_end();
  require(head.ntotal == 0 ? degree == 0 : degree >= 1 && head.ntotal <= kMaxNsgLinks / degree,
          StatusCode::corrupt_data, "{}: {} links for each of {} rows are not allowed", kWhat,
          degree, head.ntotal);

  const std::vector<int32_t> links =
      sections.read_array<int32_t>(kLinks, static_cast<uint64_t>(head.ntotal * degree));
  const char* flaw = flaw_of({head.ntotal, degree, links.data()}, entry_point);
  require(flaw == nullptr, StatusCode::corrupt_data, "{}: its {} is not that of a graph of {} rows",
          kWhat, flaw == nullptr ? "" : flaw, head.ntotal);

  StoredIndex storage = reading.read_index();
  auto* polar = dynamic_cast<IndexPolar*>(storage.index.get());
  require(polar != nullptr && storage.labels_are_rows && polar->d == head.dim &&
              polar->metric_type == head.metric && polar->ntotal == head.ntotal &&
              polar->is_trained == head.is_trained,
          StatusCode::corrupt_data,
          "{}: its {} rows, dim {}, are not those of the storage, {} rows, dim {}", kWhat,
          head.ntotal, head.dim, storage.index->ntotal, storage.index->d);
  static_cast<void>(storage.index.release());
  auto index = std::make_unique<NSGOverPolar>(std::unique_ptr<IndexPolar>(polar), numbers.R);
  set_nsg_numbers(numbers, *index);
  index->ntotal = head.ntotal;
  index->nsg.enterpoint = entry_point;
  if (head.ntotal > 0) {
    const auto n = static_cast<int>(head.ntotal);
    index->nsg.final_graph = std::make_shared<Links>(n, degree);
    std::copy(links.begin(), links.end(), index->nsg.final_graph->data);
    index->nsg.ntotal = n;
    index->nsg.is_built = index->is_built = true;
  }
  return {std::move(index), true};
}

}  // namespace

constinit const StoredKind kStoredNsg = {
    kHead,
    [](const ::faiss::Index& index) {
      const auto* graph = dynamic_cast<const ::faiss::IndexNSG*>(&index);
      return graph != nullptr && dynamic_cast<const IndexPolar*>(graph->storage) != nullptr;
    },
    add_sections, read};

}  // namespace polarquant
