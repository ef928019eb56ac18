// SPDX-License-Identifier: MIT
// FAISS indexes over polar codes: faiss::Index subclasses and the factory that makes them.
// Link polarquant::faiss and your own FAISS; see docs/faiss.md.
#ifndef POLARQUANT_FAISS_H
#define POLARQUANT_FAISS_H

#include <faiss/Index.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "polarquant/faiss_ivf.h"
#include "polarquant/faiss_parameters.h"

namespace polarquant {

class Codec;
class RowIds;
class RowStore;
struct CodedRows;
struct SearchRequest;
struct SearchResult;

/// Search parameters of IndexPolar.
struct SearchParametersPolar : ::faiss::SearchParameters {
  /// As IndexPolar::exactness.
  float exactness = 2.25F;
  /// Told now and then, one call at a time but from any thread, the share of the work that is done;
  /// false stops the search, which then throws. May be empty.
  std::function<bool(double done)> progress;
};

/// Search parameters of a refinement around our indexes, with any release of FAISS; newer ones have
/// IndexRefineSearchParameters, which do the same there.
struct SearchParametersRefine : ::faiss::SearchParameters {
  /// In the place of IndexRefine::k_factor, 1 or more: rows scored again, as a multiple of k.
  float k_factor = 1;
  /// The parameters of the index that finds these rows; `sel` belongs there. Borrowed, may be null.
  const ::faiss::SearchParameters* base_index_params = nullptr;
};

/// A flat index of polar codes, searched without decoding them to floats.
///
/// metric: METRIC_INNER_PRODUCT or METRIC_L2; for cosine put "L2norm," in front of the string and
/// use inner product. search returns inner products or squared distances, as FAISS does; both are
/// estimates from the codes.
/// Training is optional for most specs (is_trained is then true from the start). An index that was
/// never trained keeps its first rows as floats and searches them exactly; the add, or merge, that
/// brings them to rows_to_learn teaches it its centre and unit, from those held and the new ones,
/// and codes all. So it does not matter in which pieces rows come. With centre and unit given
/// (Options) rows are coded at once. Train before sharding, since only codes of equal states mix.
/// Threads: const members may run together on one index; the others need sole use. add, search and
/// decoding use OpenMP's threads (omp_set_num_threads); results do not depend on their number. In a
/// fork()ed child they run on one thread.
/// Errors: faiss::FaissException, its text naming the argument, its value and what is allowed; the
/// index is unchanged after one.
struct IndexPolar : ::faiss::Index {
  /// FAISS's type of ids: faiss::idx_t, in older releases faiss::Index::idx_t.
  using idx_t = int64_t;

  /// How many rows teach an index that was never trained. Rows' squared distances to the mean of so
  /// many are on average a thousandth longer than to that of all; as floats they take 1.5 MB at 384
  /// dimensions, which a query passes in about a tenth of a millisecond.
  static constexpr idx_t rows_to_learn = 1000;

  struct Options {
    uint64_t seed = 1;          ///< of the rotation
    bool learn_centre = true;   ///< let train, or the first rows, set the centre
    std::vector<float> centre;  ///< (d) or empty
    double norm_unit = 0;       ///< typical norm of x − centre; 0: learned
    /// Keep each row's code in one place, for graphs, which take rows in any order; in blocks, as
    /// by default, scans are faster.
    bool single_rows = false;
    /// With single_rows: keep each row in a record with places for so many links of a graph, and
    /// for the signs of the rows that they lead to ("HNSW8x" has 16). 0: no records.
    int record_links = 0;
  };

  /// spec: "Polar2", "Polar4+2-dense", "PolarTree4.2.2.2", … (docs/codec.md lists them).
  IndexPolar(int d, const std::string& spec, ::faiss::MetricType metric = ::faiss::METRIC_L2);
  IndexPolar(int d, const std::string& spec, ::faiss::MetricType metric, const Options& options);
  ~IndexPolar() override;
  IndexPolar(const IndexPolar&) = delete;
  IndexPolar& operator=(const IndexPolar&) = delete;

  /// The canonical name of the codec.
  std::string spec() const;
  const Options& options() const { return options_; }
  /// Codec, codes and ids, in bytes; codes that lie in a mapped file are not counted.
  size_t memory_bytes() const;
  const Codec& codec() const { return *codec_; }
  /// The rows as they are stored, and the ids of rows that have ids of their own, else none.
  const RowStore& codes() const { return *codes_; }
  /// How many rows are kept as floats: all or none.
  idx_t rows_as_floats() const;
  const std::vector<idx_t>& ids() const;

  using ::faiss::Index::train;  // some releases have a second form
  /// x: (n, d), n ≥ 1, finite. Rows that are kept as floats are coded by what is learned. Refused
  /// once the index or its codec holds codes.
  void train(idx_t n, const float* x) override;
  /// Codes rows that are kept as floats now, by what they teach; nothing to do for others.
  void code_rows();
  /// x: (n, d), finite, n ≥ 0. Rows get the ids ntotal, ntotal + 1, …; refused when the index holds
  /// rows with ids of their own.
  void add(idx_t n, const float* x) override;
  /// xids: (n), each ≥ 0 and not yet in the index; refused when it holds rows without ids of their
  /// own.
  void add_with_ids(idx_t n, const float* x, const idx_t* xids) override;
  /// x: (n, d), finite, n ≥ 0; distances, labels: (n, k), best first, ties by lower row; where
  /// there are fewer than k rows, label −1 with distance +inf, or −inf for inner product. k ≥ 1.
  /// params: SearchParametersPolar, or others of which only `sel` is read: a selector of ids, asked
  /// from any thread.
  void search(idx_t n, const float* x, idx_t k, float* distances, idx_t* labels,
              const ::faiss::SearchParameters* params = nullptr) const override;
  /// All rows within a radius: inner products above it, squared distances below it. result, made
  /// for n queries, gets them best first, ties by lower row. At finite exactness a few rows near
  /// the radius are left out (docs/search.md). params as for search.
  void range_search(idx_t n, const float* x, float radius, ::faiss::RangeSearchResult* result,
                    const ::faiss::SearchParameters* params = nullptr) const override;
  /// What add, add_with_ids (xids not null) and update_vectors do, as the library asks for it: with
  /// rows that encode_rows coded before, or without.
  CodedRows encode_rows(idx_t n, const float* x) const;
  void add_rows(idx_t n, const float* x, const idx_t* xids, const CodedRows& coded);
  void update_rows(idx_t n, const idx_t* keys, const float* x, const CodedRows& coded);
  /// What search and range_search do, as the library asks for it.
  void search_rows(const SearchRequest& request, const SearchResult& result) const;
  /// What remove_ids does where rows have no ids of their own, as the library asks for it: first
  /// what it refuses, then the rows whose bit is 1, bit row % 64 of word row / 64.
  void require_removable(const char* call) const;
  void remove_positions(const std::vector<uint64_t>& gone) noexcept;
  /// What update_vectors does by positions, each in the index, as the library asks for it: of rows
  /// that encode_rows coded before, or of x where rows are kept as floats.
  void put_positions(const std::vector<idx_t>& rows, const float* x,
                     const CodedRows& coded) noexcept;
  /// As for remove_positions, of one row, whose place the row `heir`, no earlier one, takes, and
  /// the last row its.
  void remove_row(idx_t row, idx_t heir);
  /// As for remove_positions: rows, which must be single ones, lie in records with so many links
  /// from now on (Options::record_links), which the graph around them writes.
  void lay_out_records(int links);
  RowStore& records() { return *codes_; }
  /// Whether a row has this id.
  bool has_id(idx_t id) const;
  /// The reconstruction of least error of the row with this id, (d); of one kept as floats itself.
  void reconstruct(idx_t key, float* recons) const override;
  /// The same for the ids i0 … i0+ni−1, (ni, d).
  void reconstruct_n(idx_t i0, idx_t ni, float* recons) const override;
  /// How sure a search leaves rows out without scoring them, in standard deviations of what a row's
  /// sign bits say about its score; 0 to +infinity, which scores every row. The default loses at
  /// most .001 of recall@10 on real embeddings. Read by codes with signs ("Polar2" and above)
  /// of 64 dimensions and more; the others always have every row scored.
  float exactness = 2.25F;

  /// Removes the rows whose ids the selector names and returns how many they were. Of rows with ids
  /// of their own the last ones take their places, so that an IDSelectorArray or IDSelectorBatch
  /// costs about a microsecond an id; other selectors are asked for each row. Other rows' ids are
  /// their positions: they keep their order and close up, as in FAISS's flat indexes, at the cost
  /// of a copy of the codes after the first that goes.
  size_t remove_ids(const ::faiss::IDSelector& sel) override;
  /// Codes x, (n, d), in the place of the rows with these ids, keys (n), each in the index; the
  /// last of equal keys counts. Needs sole use.
  void update_vectors(idx_t n, const idx_t* keys, const float* x);
  /// Moves all rows of another IndexPolar of the same codec state after the rows held; it is empty
  /// afterwards. Rows that other keeps as floats are added as add would; an index that learned
  /// nothing yet takes over the state of other's codes, and codes by it what it holds. Ids of their
  /// own grow by add_id and must be new; rows without get the next positions, add_id 0 (or ntotal).
  /// Indexes with and without ids of their own do not mix.
  void merge_from(::faiss::Index& other, idx_t add_id = 0) override;
  /// Throws, naming what differs, unless rows of both can mix: spec, centre, unit, seed, …
  void check_compatible_for_merge(const ::faiss::Index& other) const override;

  /// Removes all rows; the codec's state stays.
  void reset() override;

  /// Estimates between a query, or a row, and a row, by position (the id where rows have no ids of
  /// their own): what HNSW and refinement use. It must not outlive the index; adding rows is fine.
  ::faiss::DistanceComputer* get_distance_computer() const override;

  /// Codes of single rows, for callers that keep them; encoding with an index that learned nothing
  /// yet fixes its state as it is, by which the next add codes rows that are kept as floats. Not
  /// for PolarPair…g128, whose rows share codes.
  size_t sa_code_size() const override;
  void sa_encode(idx_t n, const float* x, uint8_t* bytes) const override;
  void sa_decode(idx_t n, const uint8_t* bytes, float* x) const override;

 private:
  friend struct IndexPolarStorage;  // files
  friend class AddedRows;           // takes an add back
  struct Contents;
  struct Mark;

  IndexPolar(int d, ::faiss::MetricType metric);  // without codec and codes
  bool learns_from_rows() const;
  std::unique_ptr<RowStore> make_store() const;
  Mark mark(idx_t coming) const;
  void go_back_to(Mark before) noexcept;
  void append(const char* call, idx_t n, const float* x, const CodedRows& coded);
  void append_rows(idx_t n, const float* x, const CodedRows& coded);
  bool must_code_held_rows(idx_t coming) const;
  std::unique_ptr<Codec> learned_codec(idx_t n, const float* x) const;
  Contents code_held_rows(std::unique_ptr<Codec> codec) const;
  void take(Contents contents) noexcept;
  std::string difference_of_kind(const IndexPolar& other) const;
  std::string difference(const IndexPolar& other) const;
  idx_t row_of(const char* call, idx_t key) const;

  std::string spec_;
  Options options_;
  std::unique_ptr<Codec> codec_;
  std::unique_ptr<RowStore> codes_;
  std::unique_ptr<RowIds> ids_;  // of no row, or one per row
};

/// faiss::index_factory with our names in it. They can stand
/// - alone: "Polar2";
/// - after vector transforms: "PCA128,Polar4", "L2norm,Polar4";
/// - inside an id map, written before or after: "IDMap,Polar4", "PCA64,IDMap2,Polar4";
/// - with a refinement: "Polar2,RFlat", "Polar2,Refine(SQ8)", "Polar2,Refine(Polar8)",
///   "SQ4,Refine(Polar8)"; "IDMap,Polar2,RFlat" is the id map of the refinement, since FAISS's
///   reading, a refinement of an id map, could not add;
/// - in an inverted file: "IVF1024,Polar4", "IVF1024_HNSW32,Polar2",
///   "IMI2x8,Polar4" (L2 alone), "IVF1024(Polar8),Polar4", and after transforms:
///   "OPQ16,IVF1024,Polar4";
/// - as the rows of a graph: "HNSW32,Polar4", also written "HNSW32_Polar4", and "NSG32,Polar4";
///   with an x, "HNSW8x,Polar8", each row lies with its links and with signs of its neighbours in
///   one record, which costs memory and makes searches faster; its rows are Polar0.5 to Polar8;
/// - as the coarse quantizer of FAISS's inverted files: "IVF1024(Polar8),SQ8".
/// A string without one of our names goes to FAISS untouched, but numbers in strings have ranges,
/// and what could not be used or written is refused (docs/faiss.md). Around our names the result
/// has FAISS's classes, or subclasses of them that differ in this: id maps and refinements accept
/// search parameters (a selector of ids) where FAISS's own refuse them; train also trains our index
/// after transforms that need no training; a search in a fork()ed child does not wait for OpenMP
/// threads that the child does not have. Searches are tuned by the fields that FAISS and our
/// classes have (nprobe, hnsw.efSearch, k_factor, exactness, …), by search parameters, or by name
/// (set_index_parameters). Throws faiss::FaissException naming the part that is wrong
/// and what is allowed. The caller owns the index, which owns its parts.
std::unique_ptr<::faiss::Index> index_factory(int d, const std::string& description,
                                              ::faiss::MetricType metric = ::faiss::METRIC_L2);

/// The string that makes an empty index like this one: of ours, of FAISS's that its factory makes
/// by transforms, id maps, refinements, flat and inverted files of floats, scalar and product
/// quantizers, HNSW and NSG, and, where this FAISS has a function of this name itself, of what that
/// knows. index_factory makes the index again, and of that this function the same string.
/// What strings do not say is not in it: parameters of searches and training, IndexPolar::Options.
/// From files FAISS gives some parts back as others: an OPQ as a linear transform, which no string
/// makes, and product quantizers without polysemous training ("np").
/// Throws faiss::FaissException for what no string makes, naming it.
std::string reverse_index_factory(const ::faiss::Index& index);

/// index.train, for rows that may be too long. FAISS's own classes ("IVF64,PQ8", also with our
/// centroids, "IVF64(Polar8),SQ8") believe that squares of their rows are floats, and end the
/// process where they are not; they check nothing when they are called directly. Here x, (n, d),
/// is refused unless n ≥ 1 and rows are finite, no longer than 2^61, and of 2^125 in squared
/// lengths together. Classes of ours check all this by themselves. A failure in FAISS's training
/// leaves what it has learned until then. Throws faiss::FaissException.
void train_index(::faiss::Index& index, int64_t n, const float* x);
/// index.add, or add_with_ids where ids, (n), is not null: x, (n, d), with the same checks of rows,
/// n ≥ 0; and after a failure, memory that ran out among them, the index is as it was, which is
/// more than FAISS's own classes do (docs/c_api.md says what is left to them).
void add_to_index(::faiss::Index& index, int64_t n, const float* x, const int64_t* ids = nullptr);

/// Codes x, (n, index.d), in the place of the rows with these ids, keys (n): of an IndexPolar, also
/// in id maps, or an IndexIVFPolar with a direct map; also after vector transforms. The last of
/// equal keys counts. After an error the rows are the old ones.
void update_vectors(::faiss::Index& index, int64_t n, const int64_t* keys, const float* x);
/// The same, but rows whose keys are not in the index are added. For an IndexPolar whose rows have
/// ids of their own and an IndexIVFPolar whose direct map is a hash table, also after transforms.
void upsert_vectors(::faiss::Index& index, int64_t n, const int64_t* keys, const float* x);

/// Builds the links of NSG graphs of our specs, wherever they are inside, anew from their rows'
/// codes: after rows went or came in the place of others, searches are as fast, and find as much,
/// as in a graph that was built of these rows. A graph of fewer rows than NSG is built of keeps its
/// links. Other indexes keep nothing of rows that went, and stay as they are. Unchanged after an
/// error.
void compact_index(::faiss::Index& index);

// ---- Files ------------------------------------------------------------------------------------

/// Called with the next bytes of a file; what it throws ends the writing.
using WriteBytes = std::function<void(const void* data, size_t bytes)>;
/// Fills up to `bytes` bytes of data and returns how many; 0 where there are no more.
using ReadBytes = std::function<size_t(void* data, size_t bytes)>;

struct WriteOptions {
  /// Reads the whole file back before it takes its name, and throws, leaving what was there, unless
  /// it makes an index of as many rows. The index is in memory twice meanwhile. To a path only.
  bool verify = false;
};

/// Writes an index with all it has inside: indexes of ours, alone or in the containers that
/// index_factory makes, and FAISS's own, whose parts keep FAISS's bytes. docs/format.md has the
/// format; faiss::read_index does not know it. Nobody may change the index meanwhile.
///
/// To a path (the system's bytes) the file appears whole or not at all: it is written beside its
/// place, synced and renamed. After a failure, a full disk or a crash, a file of that name is as it
/// was, but for one failure: where the folder cannot be synced after the rename, the new file is
/// in place, and the text says so. A symbolic link stays, and what it names is made or replaced. A
/// process that is killed leaves nothing on Linux's own file systems; on others it can leave a file
/// ".polar-" with 16 hexadecimal digits in the folder.
/// FaissException: no such folder, no room,
/// an index that FAISS cannot write.
void write_index(const ::faiss::Index& index, const std::string& path,
                 const WriteOptions& options = {});
/// The same by calls of up to any number of bytes, front to back.
void write_index(const ::faiss::Index& index, const WriteBytes& write);

struct ReadOptions {
  /// Leaves the rows of our flat indexes and inverted files in the file, which is mapped to memory
  /// and must stay as it is (it may be removed or replaced, but not be written to or cut short:
  /// that ends the process). Such an index cannot be changed. What else the file has is read and
  /// verified as always; rows are verified when they are first used, by 1 MiB: single rows, the
  /// lists that a search probes, all rows of a flat index by its first search, or by verify_index.
  /// Ids of a flat index's rows are copied to memory, 8 bytes each, those of an inverted file stay;
  /// reconstruct looks through them. From a path only.
  bool memory_map = false;
  /// FAISS believes what a file says. So what stands around our codes is read alone, by a table
  /// (docs/format.md): flat indexes, SQ8 and SQfp16, refinements by these or ours, id maps, linear
  /// transforms, inverted files and graphs of our codes; its bytes are checked before FAISS's
  /// reader sees them, and what it makes of them afterwards. All else is refused by name. True:
  /// FAISS's parts, of any kind, are given to it unchecked, which is for files from whom you trust:
  /// others can end the process, or worse. Checksums are verified either way.
  bool trust_faiss = false;
};

/// The index of a file that write_index, or the C library, wrote. Nothing in the file is trusted:
/// whatever it says, it gives a working index or a FaissException that says what is wrong, and
/// memory stays within what the file's size and the codec of its names take. Parts of FAISS's are
/// in memory twice meanwhile.
std::unique_ptr<::faiss::Index> read_index(const std::string& path,
                                           const ReadOptions& options = {});
/// The same by calls, front to back; reads no byte after the index.
std::unique_ptr<::faiss::Index> read_index(const ReadBytes& read, const ReadOptions& options = {});

/// Reads all that an index has in a mapped file, and throws FaissException unless it is what was
/// written. Nothing to do for other indexes.
void verify_index(const ::faiss::Index& index);

/// An index like this one, in memory, which can be changed. In memory twice meanwhile.
std::unique_ptr<::faiss::Index> clone_index(const ::faiss::Index& index);

}  // namespace polarquant

#endif
