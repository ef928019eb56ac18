// SPDX-License-Identifier: MIT
// The inverted file over polar codes: a faiss::IndexIVF whose lists are searched in blocks.
// Included by polarquant/faiss.h.
#ifndef POLARQUANT_FAISS_IVF_H
#define POLARQUANT_FAISS_IVF_H

#include <faiss/IndexIVF.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "polarquant/faiss_ivf_base.h"

namespace polarquant {

class CentroidSearch;
class Codec;
class CodeLists;
class ListPlaces;
class PolarInvertedLists;
class ScanCodec;
struct CodedRows;
struct InvertedFile;
struct ListCentre;
struct SearchRequest;
struct SearchResult;

/// Search parameters of IndexIVFPolar.
struct SearchParametersIVFPolar : ::faiss::SearchParametersIVF {
  /// As IndexIVFPolar::exactness.
  float exactness = 2.25F;
  /// As SearchParametersPolar::progress.
  std::function<bool(double done)> progress;
};

/// An inverted file of polar codes: rows are coded about the centroid of their list, and a search
/// scans the nprobe lists nearest to the query.
///
/// metric: METRIC_INNER_PRODUCT or METRIC_L2. All of faiss::IndexIVF works as FAISS describes it
/// (nprobe, max_codes, direct map, merge, copy_subset_to, search_preassigned, scanners, …), and
/// FAISS's tools can walk invlists, which unpacks codes as they ask for them. Searches of ours read
/// the blocks themselves, and by threads as suits them: parallel_mode is not read, but its value
/// PARALLEL_MODE_NO_HEAP_INIT is refused.
/// Threads: const members may run together on one index; the others need sole use. Results do not
/// depend on the number of threads. In a fork()ed child everything runs on one thread.
/// Errors: faiss::FaissException, its text naming the argument, its value and what is allowed; the
/// index is unchanged after one.
struct IndexIVFPolar : IndexIVFBase {
  /// FAISS's type of ids: faiss::idx_t, in older releases faiss::Index::idx_t.
  using idx_t = int64_t;

  struct Options {
    uint64_t seed = 1;  ///< of the rotation
    /// Whether rows are coded about their list's centroid; false: all about their mean.
    bool by_residual = true;
    double norm_unit = 0;  ///< typical norm of x − centroid; 0: learned
  };

  /// quantizer: finds lists; borrowed, unless own_fields is set. spec: as for IndexPolar; not those
  /// that code rows in groups ("PolarPair…g128").
  IndexIVFPolar(::faiss::Index* quantizer, size_t d, size_t nlist, const std::string& spec,
                ::faiss::MetricType metric = ::faiss::METRIC_L2);
  IndexIVFPolar(::faiss::Index* quantizer, size_t d, size_t nlist, const std::string& spec,
                ::faiss::MetricType metric, const Options& options);
  ~IndexIVFPolar() override;
  IndexIVFPolar(const IndexIVFPolar&) = delete;
  IndexIVFPolar& operator=(const IndexIVFPolar&) = delete;

  /// The canonical name of the codec.
  std::string spec() const;
  const Options& options() const { return options_; }
  const Codec& codec() const { return *codec_; }
  /// The index as its searches read it, borrowed; for copies of it elsewhere. Throws while it is
  /// not trained, and where `invlists` was replaced.
  InvertedFile inverted_file() const;
  /// (nlist, d), of a flat quantizer: a query's lists are those of its nprobe nearest centroids, by
  /// the quantizer's metric. Null where lists are found otherwise.
  const float* flat_centroids() const;
  /// Codec, centroids as they are searched, codes, ids and the way to them (keep_ids), in bytes;
  /// without the quantizer, FAISS's direct map, and what lies in a mapped file.
  size_t memory_bytes() const;

  /// As IndexPolar::exactness.
  float exactness = 2.25F;

  using ::faiss::IndexIVF::train;  // some releases have a second form
  /// x: (n, d), finite. Trains the quantizer unless it is trained, and the codec on residuals.
  /// Refused once the index holds rows.
  void train(idx_t n, const float* x) override;

  /// x: (n, d), finite. xids: (n), or null for ntotal, ntotal + 1, … Rows go to the list that a
  /// search with one probe would look at.
  void add_with_ids(idx_t n, const float* x, const idx_t* xids) override;
  /// precomputed_idx: (n), each row's list, −1: the row is left out. xids: (n) or null.
  void add_to_lists(idx_t n, const float* x, const idx_t* xids,
                    const idx_t* precomputed_idx) override;
  /// What add_with_ids, add_to_lists (of these lists), update_vectors and, where adds_others,
  /// upsert_vectors do, as the library asks for it: rows are coded, and then put in.
  CodedRows encode_rows(idx_t n, const float* x) const;
  CodedRows encode_rows(idx_t n, const float* x, const idx_t* lists) const;
  void add_rows(idx_t n, const idx_t* xids, const CodedRows& coded);
  void put_rows(const char* call, idx_t n, const idx_t* ids, const CodedRows& coded,
                bool adds_others);
  void encode_vectors(idx_t n, const float* x, const idx_t* list_nos, uint8_t* codes,
                      bool include_listno = false) const override;
  /// Decodes what sa_encode, or encode_vectors with list numbers, made.
  void sa_decode(idx_t n, const uint8_t* bytes, float* x) const override;

  /// params: SearchParametersIVFPolar, SearchParametersIVF, or others of which only `sel` is read.
  void search(idx_t n, const float* x, idx_t k, float* distances, idx_t* labels,
              const ::faiss::SearchParameters* params = nullptr) const override;
  /// Rows of the nprobe lists within the radius, best first; params as for search.
  void range_search(idx_t n, const float* x, float radius, ::faiss::RangeSearchResult* result,
                    const ::faiss::SearchParameters* params = nullptr) const override;
  /// What search and range_search do, as the library asks for it; but where the lists have fewer
  /// than k rows that a filter keeps, the search goes on in more lists, in all if need be.
  void search_lists(const SearchRequest& request, const SearchResult& result) const;
  /// centroid_dis is not read: what it says follows from the lists.
  void search_preassigned(idx_t n, const float* x, idx_t k, const idx_t* assign,
                          const float* centroid_dis, float* distances, idx_t* labels,
                          bool store_pairs, const ::faiss::IVFSearchParameters* params = nullptr,
                          ::faiss::IndexIVFStats* stats = nullptr) const override;
  /// Scans codes in the row format, as invlists->get_codes gives them.
  ::faiss::InvertedListScanner* make_scanner(bool store_pairs,
                                             const ::faiss::IDSelector* sel) const override;

  /// Keeps a way from ids to rows, as FAISS's direct map that is a hash table does, in 8 to 10
  /// bytes a row instead of 48, and takes the place of that: what needs a direct map goes by it,
  /// and files say that there is one. Each row then has an id of its own, 0 and above: others are
  /// refused, here and when they are added. Dropped again by keep_ids(false), and by the next
  /// change after FAISS's direct map was made.
  void keep_ids(bool kept = true);
  bool keeps_ids() const { return places_ != nullptr; }
  /// Whether a row has this id; where ids are kept.
  bool has_id(idx_t id) const;
  /// Needs ids that are kept, or a direct map. A mapped index (ReadOptions) whose file has one
  /// looks through its ids.
  void reconstruct(idx_t key, float* recons) const override;
  void reconstruct_from_offset(int64_t list_no, int64_t offset, float* recons) const override;
  /// Codes of both indexes must mix: the same codec state and centroids.
  void check_compatible_for_merge(const ::faiss::Index& other) const override;
  void merge_from(::faiss::Index& other, idx_t add_id) override;
  size_t remove_ids(const ::faiss::IDSelector& sel) override;
  /// v: (nv, d), finite, new rows for ids that are there; the last of equal ids counts. Needs ids
  /// that are kept, or a direct map. After an error, out of memory among them, the rows are the old
  /// ones.
  void update_vectors(int nv, const idx_t* idx, const float* v) override;
  /// The same for n rows, of which those whose ids are not there are added. Needs ids that are
  /// kept, or a direct map that is a hash table.
  void upsert_vectors(idx_t n, const idx_t* idx, const float* v);
  void reset() override;
  /// What changes of rows refuse, as the library asks for it.
  void require_changeable(const char* call) const;

 private:
  friend struct IndexIVFPolarStorage;  // reads and writes files
  friend ListPlaces* places_of(const ::faiss::IndexIVF& index);

  std::unique_ptr<Codec> make_codec() const;
  void adopt(std::unique_ptr<Codec> codec, float centroid_scale);
  float subtract_centroids(idx_t n, float* x) const;
  const float* centre_of(idx_t list, std::vector<float>* buffer) const;
  void learn_centres();
  void require_trained(const char* call) const;
  /// Ours; null when invlists was replaced by another kind.
  const PolarInvertedLists* polar_lists() const;
  void learn_centroid_search();
  void require_parallel_mode() const;
  void find_nearest_lists(idx_t n, const float* x, idx_t* lists) const;
  void require_places(const char* call, idx_t n, const idx_t* ids, bool adds_others) const;
  bool is_mapped(idx_t id) const;
  void settle_map();
  CodedRows encode_in_lists(idx_t n, const float* x, std::vector<idx_t> lists) const;
  void code_and_put(const char* call, idx_t n, const idx_t* ids, const float* x, bool adds_others);
  struct Probing;  // how many lists a search looks at, and how they are found
  void find_lists(const SearchRequest& request, const Probing& probing, float* centroid_dis,
                  idx_t* lists) const;
  void search_probed(const Probing& probing, const SearchRequest& request,
                     const SearchResult& result, idx_t wanted_rows) const;
  void use_lists(std::unique_ptr<CodeLists> lists);
  InvertedFile inverted_file(const PolarInvertedLists& lists) const;
  bool uses_centroid_search() const;
  void encode_into(idx_t n, const float* x, const idx_t* list_nos, uint8_t* codes) const;

  std::string spec_;
  Options options_;
  std::unique_ptr<Codec> codec_;
  float centroid_scale_ = 1;               // a list's centre is its centroid times this
  std::unique_ptr<ScanCodec> scan_codec_;  // of trained codecs with integer levels
  std::vector<float> rotated_centroids_;   // (nlist, d), of residual codes
  std::vector<ListCentre> centres_;        // (nlist), pointing there
  /// Searches flat quantizers; null: the quantizer finds lists itself.
  std::unique_ptr<CentroidSearch> centroid_search_;
  std::unique_ptr<ListPlaces> places_;  // null: ids are not kept
  /// What kind of direct map the file of a mapped index asks for; there is none in memory.
  ::faiss::DirectMap::Type map_in_file_ = ::faiss::DirectMap::NoMap;
};

}  // namespace polarquant

#endif
