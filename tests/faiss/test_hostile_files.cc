// SPDX-License-Identifier: MIT
// Files that are damaged, cut, spliced or made to harm. Damage is always refused. What has right
// checksums and wrong contents is refused, or gives an index that works, within the memory that
// such files may take.
#include <faiss/IndexIVF.h>
#include <faiss/impl/AuxIndexStructures.h>
#include <faiss/impl/FaissException.h>

#include <algorithm>
#include <string>

#include "src/core/random.h"
#include "src/faiss/foreign/faiss_error.h"
#include "tests/faiss/file_surgery.h"
#include "tests/faiss/limited_memory.h"
#include "tests/faiss/stored_indexes.h"
#include "tests/support/temporary_folder.h"

namespace polarquant::test {
namespace {

const StoredCase kCases[] = {
    {"Polar2", 64, 70},
    {"Polar4", 20, 30, true},
    {"Polar4", 20, 30, true, true},
    {"HNSW8,Polar2", 20, 60, false, true},
    {"Polar2-pca", 70, 200},
    {"PolarTree4.2.2.2-online", 16, 60},
    {"PolarPair4x4", 16, 40},
    {"PolarPair4x4g128", 16, 150},
    {"PCA12,IDMap2,Polar4", 20, 40, true},
    {"Polar2,RFlat", 20, 40},
    {"SQ8,Refine(Polar8)", 20, 40},
    {"IVF4(Polar8),Polar4", 16, 60, true},
    {"IVF4,Polar4", 16, 160, true},
    {"IVF4,Polar2", 70, 160},
    {"IVF3,PolarTree4.2.2.2", 16, 120},
    {"PCA12,IVF4,Polar8", 20, 160},
    {"IVF4,Polar2,RFlat", 20, 160},
    {"IDMap2,IVF4,Polar4", 20, 160, true},
    {"IVF4_HNSW4,Polar4", 16, 160},
    {"HNSW8,Polar2", 20, 60},
    {"HNSW8x,Polar8", 20, 60},
    {"IDMap2,HNSW8,Polar2", 20, 60, true},
    {"NSG8,Polar2", 20, 70},
    {"PCA12,NSG8,Polar2,RFlat", 20, 70},
    {"IDMap2,Flat", 16, 30, true},
    {"Flat,RFlat", 16, 60},
    {"PCA12,SQfp16", 16, 60},
    {"IVF4(HNSW4,Polar4),Polar4", 16, 60},
};

struct Original {
  const char* description;
  std::vector<uint8_t> bytes;
};

const std::vector<Original>& originals() {
  static const std::vector<Original> made = [] {
    std::vector<Original> files;
    for (const StoredCase& stored : kCases) {
      files.push_back({stored.description, written(*make_stored(stored, ::faiss::METRIC_L2))});
    }
    for (const auto map : {::faiss::DirectMap::Array, ::faiss::DirectMap::Hashtable}) {
      const auto index = make_stored({"IVF4,Polar4", 20, 160}, ::faiss::METRIC_L2);
      dynamic_cast<::faiss::IndexIVF&>(*index).set_direct_map_type(map);
      files.push_back({"lists with a map", written(*index)});
    }
    files.push_back({"a graph", written(*make_graph("Polar2", 20, 60, ::faiss::METRIC_L2))});
    files.push_back({"no rows", written(*index_factory(20, "NSG8,Polar2", ::faiss::METRIC_L2))});
    return files;
  }();
  return made;
}

/// The largest request for memory of a small file: tables of the codecs, and what inverted files
/// without centroids may claim (docs/format.md).
constexpr size_t kLargestRequest = size_t{64} << 20;

enum class Outcome { refused, loaded };

template <typename Call>
void attempt(const Call& call) {
  try {
    call();
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception&) {  // errors are fine
  }
}

/// What FAISS's tools do with inverted lists.
void use_lists(::faiss::Index& index, const std::vector<float>& x) {
  auto* ivf = dynamic_cast<::faiss::IndexIVF*>(&index);
  if (ivf == nullptr) return;
  std::vector<float> rows(static_cast<size_t>(3 * 4 * index.d));
  std::vector<float> distances(3 * 4);
  std::vector<int64_t> labels(3 * 4);
  attempt([&] { ivf->reconstruct_n(0, 3, rows.data()); });
  attempt([&] {
    ivf->search_and_reconstruct(3, x.data(), 4, distances.data(), labels.data(), rows.data());
  });
  attempt([&] {
    for (size_t list = 0; list < ivf->nlist; ++list) {
      const ::faiss::InvertedLists::ScopedCodes codes(ivf->invlists, list);
      const ::faiss::InvertedLists::ScopedIds ids(ivf->invlists, list);
    }
  });
  attempt([&] { ivf->make_direct_map(true); });
  attempt([&] { ivf->reconstruct(0, rows.data()); });
}

/// The index is used as a caller would; errors are fine, crashes are not.
void use(::faiss::Index& index, bool is_mapped) {
  const std::vector<float> x = clustered_rows(3, index.d, 5);
  attempt([&] { find(index, x, 4); });
  attempt([&] {
    ::faiss::RangeSearchResult found(3);
    index.range_search(3, x.data(), 1, &found);
  });
  std::vector<float> row(static_cast<size_t>(index.d));
  attempt([&] { index.reconstruct(0, row.data()); });
  attempt([&] { index.reconstruct(index.ntotal - 1, row.data()); });
  use_lists(index, x);
  attempt([&] { verify_index(index); });
  attempt([&] { written(index); });
  if (is_mapped) return;
  const int64_t ids[] = {10, 11, 12};
  attempt([&] { index.add(3, x.data()); });
  attempt([&] { index.add_with_ids(3, x.data(), ids); });
  attempt([&] { find(index, x, 4); });
}

template <typename Read>
Outcome outcome_of(bool is_mapped, const Read& read) {
  const LimitedMemory limited(kLargestRequest);
  Outcome outcome = Outcome::refused;
  try {
    const auto index = read();
    outcome = Outcome::loaded;
    if (is_mapped) {
      use(*index, is_mapped);  // damage is met where it is touched
      verify_index(*index);
    }
    use(*index, is_mapped);
  } catch (const FaissError& error) {
    // A file can be wrong in many ways, but never be the library's own fault.
    REQUIRE(error.code() != StatusCode::internal);
    outcome = Outcome::refused;
  } catch (const std::bad_alloc&) {
    FAIL("memory: a request for " << limited.refused() << " bytes");
  }
  REQUIRE(limited.refused() == 0);
  return outcome;
}

/// As a whole by calls, then mapped and verified. Both must agree.
Outcome read_both_ways(const std::vector<uint8_t>& bytes, const TemporaryFolder& folder) {
  const std::string path = folder.write("index", std::string(bytes.begin(), bytes.end()));
  const Outcome whole = outcome_of(false, [&] { return read_index(path); });
  ReadOptions options;
  options.memory_map = true;
  const Outcome mapped = outcome_of(true, [&] { return read_index(path, options); });
  // Calls have no end to compare with: what is after an index is not theirs.
  const Outcome called = outcome_of(false, [&] { return read_from(bytes, {}, 4096); });
  if (whole == Outcome::loaded) CHECK(called == Outcome::loaded);
  // A mapped index does not look whether ids of rows are different, or those of lists are others
  // than 0 to ntotal - 1 where they need not be.
  if (mapped == Outcome::refused) CHECK(whole == Outcome::refused);
  return whole == Outcome::loaded || mapped == Outcome::loaded ? Outcome::loaded : Outcome::refused;
}

const Original& pick(Random& random) { return originals()[random.below(originals().size())]; }

uint64_t interesting_number(Random& random) {
  constexpr uint64_t kNumbers[] = {0,
                                   1,
                                   2,
                                   3,
                                   0x7f,
                                   0x80,
                                   0xff,
                                   0xffff,
                                   0x7fffffff,
                                   0x80000000,
                                   0xffffffff,
                                   uint64_t{1} << 32,
                                   uint64_t{1} << 40,
                                   (uint64_t{1} << 40) - 1,
                                   uint64_t{1} << 62,
                                   INT64_MAX,
                                   uint64_t{1} << 63,
                                   UINT64_MAX,
                                   0x7fc00000,
                                   0x7f800000};
  return random.below(4) == 0 ? random.next() : kNumbers[random.below(std::size(kNumbers))];
}

/// Writes a number of 1, 2, 4 or 8 bytes somewhere, or changes one that is there by a little.
void change_number(std::vector<uint8_t>& bytes, Random& random) {
  const size_t width = size_t{1} << random.below(4);
  if (bytes.size() < width) return;
  // Fields are aligned more often than not.
  size_t at = random.below(bytes.size() - width + 1);
  if (random.below(2) == 0) at = at / width * width;
  uint64_t value = 0;
  std::memcpy(&value, bytes.data() + at, width);
  value = random.below(3) == 0 ? value + random.below(5) - 2 : interesting_number(random);
  std::memcpy(bytes.data() + at, &value, width);
}

/// One kind of damage, without new checksums.
std::vector<uint8_t> damaged(std::vector<uint8_t> bytes, Random& random) {
  switch (random.below(6)) {
    case 0:  // a cut
      bytes.resize(random.below(bytes.size()));
      break;
    case 1: {  // bytes that are missing in the middle
      const size_t at = random.below(bytes.size());
      const size_t count = std::min<size_t>(1 + random.below(5000), bytes.size() - at);
      bytes.erase(bytes.begin() + static_cast<ptrdiff_t>(at),
                  bytes.begin() + static_cast<ptrdiff_t>(at + count));
      break;
    }
    case 2: {  // bytes too many
      const size_t at = random.below(bytes.size() + 1);
      bytes.insert(bytes.begin() + static_cast<ptrdiff_t>(at), 1 + random.below(5000),
                   static_cast<uint8_t>(random.next()));
      break;
    }
    case 3:  // a number somewhere, in the header more often than elsewhere
      if (random.below(2) == 0) {
        std::vector<uint8_t> head(bytes.begin(), bytes.begin() + 512);
        change_number(head, random);
        std::copy(head.begin(), head.end(), bytes.begin());
      } else {
        change_number(bytes, random);
      }
      break;
    default:  // a bit
      bytes[random.below(bytes.size())] ^= static_cast<uint8_t>(1 << random.below(8));
  }
  return bytes;
}

void run_damage(int count, uint64_t seed) {
  const TemporaryFolder folder;
  Random random(seed);
  int changed = 0;
  for (int i = 0; i < count; ++i) {
    const Original& original = pick(random);
    const std::vector<uint8_t> bytes = damaged(original.bytes, random);
    if (bytes == original.bytes) continue;
    ++changed;
    INFO(original.description << ", mutation " << i << " of seed " << seed);
    REQUIRE(read_both_ways(bytes, folder) == Outcome::refused);
  }
  SUCCEED(changed << " damaged files, all refused");
}

/// Sections with other contents, order or kinds.
void change_sections(std::vector<FileSection>& sections, Random& random) {
  FileSection& section = sections[random.below(sections.size())];
  switch (random.below(10)) {
    case 0:
      section.bytes.resize(random.below(section.bytes.size() + 1));
      break;
    case 1:
      section.bytes.resize(section.bytes.size() + 1 + random.below(200));
      break;
    case 2:
      std::swap(section, sections[random.below(sections.size())]);
      break;
    case 3:
      if (sections.size() > 1) {
        sections.erase(sections.begin() + static_cast<ptrdiff_t>(&section - sections.data()));
      }
      break;
    case 4: {
      const FileSection copy = section;
      sections.insert(sections.begin() + static_cast<ptrdiff_t>(random.below(sections.size() + 1)),
                      copy);
      break;
    }
    case 5: {  // of another file
      const std::vector<FileSection> others = take_apart(pick(random).bytes);
      section = others[random.below(others.size())];
      break;
    }
    case 6:
      section.place = static_cast<SectionPlace>(1 - static_cast<uint32_t>(section.place));
      break;
    default:
      for (uint64_t changes = 1 + random.below(3); changes > 0; --changes)
        change_number(section.bytes, random);
  }
}

/// The same where it is felt: in the small sections, and in front of FAISS's.
void change_heads(std::vector<FileSection>& sections, Random& random) {
  FileSection& section = sections[random.below(sections.size())];
  std::vector<uint8_t> head(
      section.bytes.begin(),
      section.bytes.begin() + static_cast<ptrdiff_t>(std::min<size_t>(section.bytes.size(), 160)));
  change_number(head, random);
  std::copy(head.begin(), head.end(), section.bytes.begin());
}

void run_hostility(int count, uint64_t seed) {
  const TemporaryFolder folder;
  Random random(seed);
  int loaded = 0;
  for (int i = 0; i < count; ++i) {
    const Original& original = pick(random);
    INFO(original.description << ", mutation " << i << " of seed " << seed);
    std::vector<uint8_t> bytes;
    if (random.below(10) == 0) {
      bytes = original.bytes;
      std::vector<uint8_t> head(bytes.begin(), bytes.begin() + 512);
      change_number(head, random);
      std::copy(head.begin(), head.end(), bytes.begin());
      sign_table(bytes);
    } else {
      std::vector<FileSection> sections = take_apart(original.bytes);
      if (random.below(2) == 0) {
        change_heads(sections, random);
      } else {
        change_sections(sections, random);
      }
      bytes = put_together(std::move(sections));
    }
    if (read_both_ways(bytes, folder) == Outcome::loaded) ++loaded;
  }
  SUCCEED(count << " hostile files, " << loaded << " of them harmless and loaded");
}

TEST_CASE("A file cut at any section, and at many other bytes, is refused", "[faiss][io]") {
  const TemporaryFolder folder;
  for (const Original& original : originals()) {
    INFO(original.description);
    std::vector<size_t> lengths = {0, 1, 8, 63, 64, 65};
    for (const SectionEntry& entry :
         parse_table(original.bytes.data(), original.bytes.data() + kHeaderBytes)) {
      for (const uint64_t at : {entry.offset, entry.offset + entry.bytes}) {
        for (const uint64_t length : {at - 1, at, at + 1}) {
          if (length < original.bytes.size()) lengths.push_back(static_cast<size_t>(length));
        }
      }
    }
    for (const size_t length : lengths) {
      INFO("cut at " << length);
      const std::vector<uint8_t> bytes(original.bytes.begin(),
                                       original.bytes.begin() + static_cast<ptrdiff_t>(length));
      REQUIRE(read_both_ways(bytes, folder) == Outcome::refused);
    }
  }
}

TEST_CASE("Every bit of a file counts", "[faiss][io]") {
  const TemporaryFolder folder;
  std::vector<uint8_t> bytes = written(*make_stored({"Polar1", 16, 10, true}, ::faiss::METRIC_L2));
  for (size_t at = 0; at < bytes.size(); at += at < 1024 ? 1 : 61) {
    bytes[at] ^= static_cast<uint8_t>(1 << at % 8);
    INFO("byte " << at);
    REQUIRE(read_both_ways(bytes, folder) == Outcome::refused);
    bytes[at] ^= static_cast<uint8_t>(1 << at % 8);
  }
  REQUIRE(read_both_ways(bytes, folder) == Outcome::loaded);
}

TEST_CASE("Damaged files are refused", "[faiss][io]") { run_damage(300, 1); }
TEST_CASE("Hostile files do no harm", "[faiss][io]") { run_hostility(400, 2); }

TEST_CASE("10,000 damaged files are refused", "[faiss][io][slow]") { run_damage(10'000, 3); }
TEST_CASE("10,000 hostile files do no harm", "[faiss][io][slow]") { run_hostility(10'000, 4); }

}  // namespace
}  // namespace polarquant::test
