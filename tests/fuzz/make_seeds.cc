// SPDX-License-Identifier: MIT
// Writes the first inputs of each fuzz target: make_seeds FOLDER. Small ones of every kind, from
// which libFuzzer goes on. To be run again when a format gets a new version.
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "src/core/random.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/index_sections.h"
#include "tests/support/temporary_folder.h"

using namespace polarquant::fuzz;

namespace {

class Corpus {
 public:
  Corpus(const std::string& root, const std::string& target) : folder_(root + "/" + target) {
    std::filesystem::create_directories(folder_);
  }
  /// Characters that file systems and shells read otherwise become "_".
  void add(std::string name, const std::string& bytes) const {
    for (char& character : name) {
      if (std::string(" /,()+.").find(character) != std::string::npos) character = '_';
    }
    std::ofstream(folder_ / name, std::ios::binary) << bytes;
  }

 private:
  std::filesystem::path folder_;
};

std::string text_of(const std::vector<uint8_t>& bytes) { return {bytes.begin(), bytes.end()}; }

constexpr const char* kSpecs[] = {
    "Polar0.5",         "Polar2",       "Polar3-dense",     "Polar4-norot",        "Polar4+2",
    "Polar8",           "Polar2-pca",   "PolarTree4.2.2.2", "PolarTree3.2-online", "PolarPair4x4",
    "PolarPair3x5g128", "PolarScalar4", "Polar2-dense+",    "PolarTree",           "polar2"};

void write_specs(const std::string& root) {
  const Corpus corpus(root, "spec_string");
  for (const char* spec : kSpecs) corpus.add(spec, std::string("\x04\x01", 2) + spec);
}

constexpr const char* kDescriptions[] = {
    "Polar2",           "IDMap2,Polar4", "PCA12,Polar4",     "IVF4,Polar4",   "IVF4_HNSW4,Polar4",
    "IVF4(Polar8),SQ8", "HNSW8,Polar2",  "NSG8,Polar2",      "Polar2,RFlat",  "SQ4,Refine(Polar8)",
    "IDMap2,Flat",      "IVF4,PQ4x4np",  "OPQ4,IVF4,Polar4", "L2norm,Polar4", "IVF4,Flat,RFlat",
    "PQ4x4fs",          "RR8,SQfp16",    "HNSW4_2+PQ2",      "LSH",           "IMI2x2,Polar4",
    "HNSW8x,Polar8"};

void write_descriptions(const std::string& root) {
  const Corpus corpus(root, "factory_string");
  for (const char* text : kDescriptions) corpus.add(text, std::string("\x05\x01", 2) + text);
}

void write_codec_states(const std::string& root) {
  const Corpus corpus(root, "codec_state");
  for (const char* spec : kSpecs) {
    polar_codec* codec = nullptr;
    if (polar_codec_create(spec, 20, POLAR_METRIC_L2, nullptr, &codec) != POLAR_OK) continue;
    expect_ok("train", polar_codec_train(codec, 60, rows_of(60, 20, 1).data(), nullptr));
    size_t needed = 0;
    expect_ok("size of the state", polar_codec_save_state(codec, nullptr, 0, &needed));
    std::vector<uint8_t> state(needed);
    expect_ok("save_state", polar_codec_save_state(codec, state.data(), needed, &needed));
    corpus.add(spec, text_of(state));
    polar_codec_destroy(codec);
  }
}

/// Bytes that any codec takes for codes; the first three choose the codec.
void write_codes(const std::string& root) {
  for (const char* target : {"codes", "blocks"}) {
    const Corpus corpus(root, target);
    polarquant::Random random(1);
    for (int spec = 0; spec < 34; ++spec) {
      std::string bytes;
      for (int i = 0; i < 400; ++i) bytes += static_cast<char>(random.next());
      bytes[0] = static_cast<char>(spec);
      bytes[1] = static_cast<char>(spec * 5);
      corpus.add("codec " + std::to_string(spec), bytes);
    }
  }
}

struct StoredKind {
  const char* description;
  int64_t rows;
  bool with_ids;
  bool untrained = false;  // so that rows are floats
};
constexpr StoredKind kStored[] = {{"Polar2", 20, false},
                                  {"Polar2", 20, true, true},
                                  {"HNSW8,Polar2", 30, false, true},
                                  {"Polar2", 0, false},
                                  {"Polar4", 20, true},
                                  {"Polar2-pca", 50, false},
                                  {"PolarTree4.2.2.2", 10, true},
                                  {"PolarPair4x4", 10, false},
                                  {"PolarPair4x4g128", 130, false},
                                  {"PCA8,IDMap2,Polar4", 20, true},
                                  {"Polar2,RFlat", 10, false},
                                  {"SQ4,Refine(Polar8)", 10, false},
                                  {"IVF4,Polar4", 30, false},
                                  {"IVF4,Polar4", 30, true},
                                  {"IVF4,Polar4", 0, false},
                                  {"IVF3,PolarScalar4", 20, true},
                                  {"IDMap2,IVF4,Polar4", 20, true},
                                  {"IVF4_HNSW4,Polar4", 20, false},
                                  {"IVF4,Polar2,RFlat", 20, false},
                                  {"HNSW8,Polar2", 30, false},
                                  {"IDMap2,HNSW8,Polar2", 20, true},
                                  {"HNSW8x,Polar8", 30, false},
                                  {"HNSW4x,Polar2", 20, false, true},
                                  {"NSG8,Polar2", 70, false},
                                  {"IDMap2,Flat", 10, true},
                                  {"Flat", 10, false},
                                  {"SQ8", 10, false},
                                  {"SQfp16", 10, false},
                                  {"IVF4,Flat", 20, false},
                                  {"IVF4,SQ8", 20, true},
                                  {"IVF4(Polar8),SQ8", 20, true},
                                  {"HNSW4,Flat", 20, false},
                                  {"HNSW4,SQ8", 20, false},
                                  {"IVF4,PQ4x4np", 20, false},
                                  {"PQ4x4np", 10, false},
                                  {"L2norm,Polar4", 10, false},
                                  {"RR8,Polar4", 10, false}};

void write_indexes(const std::string& root) {
  constexpr int kDim = 16;
  const Corpus corpus(root, "index_file");
  const std::vector<float> x = rows_of(200, kDim, 7);
  for (const StoredKind& kind : kStored) {
    polar_index* index = nullptr;
    expect_ok("create", polar_index_create(kind.description, kDim, POLAR_METRIC_L2, &index));
    if (!kind.untrained) expect_ok("train", polar_index_train(index, 200, x.data(), nullptr));
    std::vector<int64_t> ids;
    for (int64_t row = 0; row < kind.rows; ++row) ids.push_back(3 + 7 * row);
    expect_ok("add", kind.with_ids
                         ? polar_index_add_with_ids(index, kind.rows, x.data(), ids.data(), nullptr)
                         : polar_index_add(index, kind.rows, x.data(), nullptr));
    std::vector<uint8_t> file;
    const polar_write_fn append = [](void* user, const void* data, size_t count) -> int32_t {
      const auto* from = static_cast<const uint8_t*>(data);
      auto& to = *static_cast<std::vector<uint8_t>*>(user);
      to.insert(to.end(), from, from + count);
      return 0;
    };
    expect_ok("save_to", polar_index_save_to(index, append, &file, nullptr));
    corpus.add(std::string(kind.description) + (kind.with_ids ? " ids " : " ") +
                   (kind.untrained ? "floats " : "") + std::to_string(kind.rows),
               text_of(print_sections(polarquant::test::take_apart(file))));
    polar_index_destroy(index);
  }
}

void write_benchmark_files(const std::string& root) {
  const Corpus corpus(root, "benchmark_file");
  namespace test = polarquant::test;
  const std::string floats = test::bytes_of<float>({1, 2, 3, 4, 5, 6});
  const std::string ids = test::bytes_of<int32_t>({1, 2, 3, 4, 5, 6});
  const auto add = [&](const char* name, int choice, const std::string& bytes) {
    corpus.add(name, static_cast<char>(choice) + bytes);
  };
  add("npy", 0, test::npy_bytes(test::npy_dict("<f4", "(2, 3)"), floats));
  add("npy version 2", 0, test::npy_bytes(test::npy_dict("<f4", "(2, 3)"), floats, 2));
  add("npy float16", 0, test::npy_bytes(test::npy_dict("<f2", "(4, 3)"), floats));
  add("npy fortran", 0, test::npy_bytes(test::npy_dict("<f4", "(2, 3)", "True"), floats));
  add("npy ids", 1, test::npy_bytes(test::npy_dict("<i8", "(1, 3)"), ids));
  add("fvecs", 2, test::bytes_of<int32_t>({6}) + floats);
  add("ivecs", 3, test::bytes_of<int32_t>({6}) + ids);
  add("fbin", 4, test::bytes_of<uint32_t>({2, 3}) + floats);
  add("ibin", 5, test::bytes_of<uint32_t>({2, 3}) + ids);
  add("ibin with distances", 5, test::bytes_of<uint32_t>({1, 3}) + ids);
  add("f16bin", 6, test::bytes_of<uint32_t>({4, 3}) + floats);
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 2) {
    std::fprintf(stderr, "usage: make_seeds FOLDER\n");
    return 2;
  }
  write_specs(arguments[1]);
  write_descriptions(arguments[1]);
  write_codec_states(arguments[1]);
  write_codes(arguments[1]);
  write_indexes(arguments[1]);
  write_benchmark_files(arguments[1]);
  return 0;
}
