// SPDX-License-Identifier: MIT
// The arguments and functions of libpolarquant_cuda: plain data and a table of functions, its only
// export. No CUDA types, so that the core, which loads the library at run time, needs none.
//
// The core describes a codec by its int8 values (src/scan/model/scan_codec.h) and prepares queries;
// the device keeps blocks, scans them and ranks rows. Scores and bounds are computed by the float
// operations of src/scan/model/scan_query.h and src/codec/codec.h in their order, so that results
// are those of the CPU to the bit.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cuda/row_format.h"

namespace polarquant::cuda {

inline constexpr int kSegmentDims = 64;

/// The version of everything below; a library of another version is not used.
inline constexpr uint32_t kInterfaceVersion = 13;
/// extern "C" const FunctionTable* polarquant_cuda_functions(void).
inline constexpr char kEntryPoint[] = "polarquant_cuda_functions";

/// Rows of a block; every block on the device is full, with 0 in places without a row.
inline constexpr int kBlockRows = 64;
inline constexpr int kMaxSketchWords = 4;
inline constexpr int kMaxStages = 2;
/// Rates that segments of a trained code can have.
inline constexpr int kMaxParts = 13;
inline constexpr int kDeviceNameBytes = 256;
inline constexpr int32_t kHostMemory = -1;
/// Rows are numbered by 32 bits on a device.
inline constexpr int64_t kMaxRows = int64_t{4294967295} - kBlockRows;

enum class CodeKind : int32_t {
  windows,     // 8-bit windows over a ring of bits, one a pair
  magnitudes,  // fields of step_bits ≤ 7 bits, one a coordinate
};
enum class SignPlace : int32_t {
  none,   // the table has them
  words,  // the block's sign words
  plane,  // a plane of the row's payload, in coordinate order
};

/// One stage of a code: where its indices lie in a row's payload, and their values.
struct StageDescription {
  CodeKind kind;
  SignPlace signs;
  int32_t step_bits;  // windows: bits a pair; magnitudes: bits a coordinate
  uint32_t signs_offset;
  uint32_t codes_offset;
  int8_t value_x[256];  // int8 values
  int8_t value_y[256];
  float cell_x[256];  // what they were rounded from
  float cell_y[256];
};

/// The segments of a trained code that have one rate: they lie side by side.
struct PartDescription {
  StageDescription codes;
  int32_t first_segment;
  int32_t dim;  // coordinates
};

/// What a trained code's segments are coded at. A row's coordinates after the last part's are 0.
struct PlanDescription {
  int32_t parts;                // 0: the code is not trained, and each of its stages has one part
  int32_t second_stage;         // the first segment of the second of split stages; 0: one stage
  int32_t first_stage_words;    // the sketch's words of the first of split stages
  int32_t has_third_bit;        // of the weights of a query's first word
  const PartDescription* part;  // (parts), in order
  const float* scales;          // (segments), factors of what cells give
};

struct CodeDescription {
  int32_t dim;
  int32_t sign_words;      // of 64 bits, a row
  int32_t sketch_words;    // those of the sketch
  uint32_t payload_bytes;  // of a row
  FactorForm factor_form;
  float scale_unit;
  float bias_unit;
  int32_t is_l2;
  int32_t stages;
  float residual_gain;  // of the second stage
  StageDescription stage[kMaxStages];
  PlanDescription plan;  // for a trained code, instead of `stage`
};

/// The numbers that values and bounds of a query are made with; names as in Int8Stage and
/// BoundConstants.
struct Int8Description {
  float stage_step[kMaxStages];
  float length_of_norm;
  float first_stage_scale;
  float first_stage_error;
  float scale_of_norm;
  double margin;
  double sketch_margin;
  double slope_of_sign;
  double mean_squared_norm;
  double loss_of_squared_norm;
};

enum class Rotation : int32_t { none, hadamard, basis };

struct RotationDescription {
  Rotation kind;
  int32_t transform_size;
  float transform_scale;     // 1/√transform_size
  int32_t basis_one;         // the number that stands for 1 in `basis`
  int32_t most_basis_value;  // to which the largest coordinate is rounded before (rotation.h)
  int32_t reserved;
  const uint32_t* sign_masks;  // (9, dim), of a hadamard rotation
  const int16_t* basis;        // (dim, dim), of Rotation::basis
};

/// The longest queries that devices prepare.
inline constexpr int kMostPreparedDims = 8192;

/// What a device needs of a codec to prepare queries itself; names as in Codec::centre_query.
struct QueryDescription {
  RotationDescription rotation;
  const float* centre;  // (dim)
  double centre_norm;
  int32_t is_cosine;  // the codec takes queries at length 1
  int32_t reserved;
  Int8Description values;
};

/// The lists of an inverted file. Their rows follow one another on a device, each list's from a new
/// block on; a row's number is its block times kBlockRows and its place there.
struct ListsDescription {
  int64_t count;         // at least 1
  const int64_t* rows;   // (count), of each list: those that are on this device
  int32_t coarse_is_l2;  // lists are chosen by L2 distance, else by inner product
  int32_t reserved;
  const float* centroids;        // (count, dim), which queries are compared with
  const float* rotated_centres;  // (count, dim), as ListCentre; null: rows are coded without
  const float* centre_norms;     // (count), or null
  Int8Description values;
};

/// The constants of a query beside its values; names as in ScanQuery and PreparedQuery.
struct QueryConstants {
  float base;
  float weight;
  float dot_scale[2];
  float sketch_slope;
  float sketch_margin;
  float signs_sketch_slope;
  float signs_payload_slope;
  float signs_margin;
  float first_slope;  // for the first of two stages
  float first_margin;
  float first_other_slope;  // these two, and later_weight, for split stages
  float first_squared_norm_slope;
  int32_t later_weight;
  int32_t sketch_weight;
  float offset;  // for Codec::score_decoded
  float bias_weight;
  uint64_t fours_word;  // for trained codes
  uint64_t sign_words[kMaxSketchWords];
  uint64_t ones_words[kMaxSketchWords];
  uint64_t twos_words[kMaxSketchWords];
};

/// The numbers of a PreparedQuery beside its vector.
struct QueryTerms {
  float offset;
  float bias_weight;
};

/// What a filter keeps of a list's rows, on all devices.
struct ListFilter {
  uint32_t kept;
  uint32_t is_few;  // and such as SearchRequest::ranks_few is about
};

/// Queries in the device's memory, which the device prepares.
struct ResidentQueries {
  const float* queries;  // (nq, dim); null: the request has prepared ones
  int32_t normalizes;    // they are taken at length 1 first, as by MetricInput
  int32_t reserved;
  /// Out, in host memory: not 0 where one is not finite, or nearly too long or too short, so that
  /// what was found is of no use and the host has to look at them.
  uint32_t* refused;
};

/// A filter's bits that stay on a device: create_bits.
class DeviceBits;

/// A bit for each row in the device's memory, in words whose bits after the last are any; rows
/// without one are left out.
struct ResidentBits {
  const uint64_t* words;
  int64_t count;
};

struct SearchRequest {
  int64_t nq;
  int64_t k;
  int64_t results;                  // 1 to k: the first of k by score, which are written
  int32_t bounded;                  // rows are ranked by the least of score and bounds
  int32_t is_prepared;              // as create_search's are
  const QueryConstants* constants;  // (nq); for inverted files null, as are values
  const int8_t* values;             // (nq, padded_dim)
  const float* rotated;             // (nq, dim)
  ResidentQueries resident;         // in the place of what is prepared
  const uint64_t* allowed;          // a word for each block, bit i for its row i; null: every row
  ResidentBits resident_allowed;    // in the place of `allowed`; not for inverted files
  const DeviceBits* kept_bits;      // of this index, in the place of both
  float kept_share;                 // of the rows, about, by a filter; 0: not known
  void* stream;                     // a cudaStream_t
  int32_t* unfinished;              // as PreparedSearchArrays::unfinished
  int32_t scores_are_there;         // in the device's memory, not the host's; not of inverted files
  int32_t rows_are_there;
  float* scores;  // (nq, results)
  int64_t* rows;  // (nq, results), −1 for none
  // (nq, results), by which each row was chosen, larger is better; −inf for none. May be null.
  float* similarity;
  // For inverted files, which make a query's values for each list.
  int64_t nprobe;           // 1 to the number of lists
  const float* queries;     // (nq, dim), as the centroids are
  const QueryTerms* terms;  // (nq), without centres
  float exactness;
  // Where it is known what rows of each list are allowed, else null or 0. Lists without any are
  // passed over, and those after the nearest that have so many.
  const ListFilter* list_filter;  // (lists); with kept_bits those that these have
  int64_t wanted_rows;
  const uint8_t* ranks_few;  // (nq): 1, few allowed rows of a list are ranked by score alone
};

/// What a prepared search reads and writes, in the device's memory.
struct PreparedSearchArrays {
  const float* queries;  // (nq, dim)
  float* scores;         // (nq, results)
  int64_t* ids;          // (nq, results), −1 for none
  int32_t* unfinished;   // one: set to 1 where what was found is of no use, else to 0
  void* stream;          // a cudaStream_t
};

/// Scores of single rows, as Codec::score; of an index that is no inverted file.
struct ListedRowsRequest {
  int64_t nq;
  int64_t k;                // rows of a query
  const float* rotated;     // (nq, dim)
  const QueryTerms* terms;  // (nq)
  const int64_t* rows;      // (nq, k), −1 for none
  void* stream;             // a cudaStream_t
  float* scores;            // (nq, k), of no row the worst
};

struct DeviceInfo {
  int32_t compute_major;
  int32_t compute_minor;
  int32_t multiprocessors;
  int32_t reserved;
  uint64_t total_bytes;
  uint64_t free_bytes;
  char name[kDeviceNameBytes];
};

/// A failure; status 0 is none.
struct Failure {
  int32_t status;  // as StatusCode of src/core/status.h
  char text[508];
};

/// Coordinates first … first+dim−1, coded at one rate: all of a row, or a run of a plan's segments.
struct EncoderPart {
  CodeKind kind;      // magnitudes: of whole segments
  int32_t step_bits;  // windows: bits a pair; magnitudes: bits a coordinate, beside its sign
  int32_t has_signs;  // in a plane of their own
  int32_t first;      // begins a segment
  int32_t dim;
  uint32_t signs_offset;  // in a code
  uint32_t codes_offset;
  float cell_x[256];  // windows; magnitudes: levels
  float cell_y[256];  // windows; magnitudes: the boundaries above them
};

/// The numbers of a codec that encoding needs; names as in Codec::encode_direction. For codes of
/// one stage, of which each part is one trellis, or magnitudes.
struct EncoderDescription {
  int32_t dim;
  uint32_t code_bytes;  // without factors; bytes that no part writes are 0
  int32_t parts;
  int32_t reserved;
  const EncoderPart* part;  // (parts), in order
  const float* scales;      // (segments), by which coordinates are divided; null: 1
  RotationDescription rotation;
  int32_t is_l2;
  int32_t is_cosine;
  FactorForm factor_form;
  float scale_unit;
  float bias_unit;
  float min_scale;
  float max_scale;
  double root_dim;
  double shortest;  // of ‖x−c‖: below it the row is the centre
  double longest;
  double nearly_centre2;  // ‖x−c‖² up to this is 0
  double least_alignment;
  const float* centre;  // (dim)
};

/// Why a row cannot be coded.
enum class Refusal : int32_t { not_finite = 0, length = 1, factors = 2 };

struct EncodeRequest {
  int64_t n;
  const float* x;       // (n, dim), in host or device memory
  uint8_t* codes;       // (n, bytes of a row), in host or device memory
  void* stream;         // a cudaStream_t
  int64_t refused_row;  // out: the first row that cannot be coded, or −1
  Refusal refusal;      // out
};

/// score = offset + bias_weight·constant + scale·⟨query, row⟩, as of PreparedQuery.
struct RowScoresRequest {
  int64_t heads;
  int64_t nq;            // of a head
  int64_t n;             // rows of a head
  const uint8_t* codes;  // (heads, head_bytes), in host or device memory
  uint64_t head_bytes;
  const float* queries;     // (heads, nq, 16·units)
  const QueryTerms* terms;  // (heads, nq)
  void* stream;             // a cudaStream_t
  float* scores;            // (heads, nq, n), in host or device memory
};

struct RowSumsRequest {
  int64_t heads;
  int64_t nw;            // of a head
  int64_t n;             // rows of a head
  const uint8_t* codes;  // (heads, head_bytes), in host or device memory
  uint64_t head_bytes;
  const float* weights;  // (heads, nw, n), in host or device memory
  void* stream;          // a cudaStream_t
  double* sums;          // (heads, nw, 16·units + 1): Σ weight·scale·ŷ, and Σ weight
};

class DeviceIndex;
class PreparedSearch;
class DeviceEncoder;
class DeviceCodec;

/// All are thread-safe, except several calls on one index under construction; const ones may run
/// together. Blocks and arrays passed in are in host memory.
struct FunctionTable {
  uint32_t version;  // kInterfaceVersion, first in every version
  uint32_t table_bytes;
  void (*device_count)(int32_t* count, Failure* failure);
  void (*device_info)(int32_t device, DeviceInfo* info, Failure* failure);
  /// Makes an index for `rows` rows. Then every block is written once, in any order, and finish
  /// called.
  DeviceIndex* (*create)(int32_t device, const CodeDescription* code, int64_t rows,
                         Failure* failure);
  void (*write_blocks)(DeviceIndex* index, int64_t first_block, int64_t blocks,
                       const void* sketches, const void* payloads, Failure* failure);
  /// In the place of create: makes an index for `rows` rows on the device of `from`, which is
  /// finished, with its code and its set_queries. Without `sources` it begins with the rows of
  /// `from`, up to the last full block; the blocks after these are still to be written. They may
  /// lie in memory that is the same as that of `from`: searches of `from` go on finding its rows.
  /// Else it has for each block the block of `from` that (blocks) of `sources` name, −1: to be
  /// written.
  DeviceIndex* (*extend)(const DeviceIndex* from, int64_t rows, const int64_t* sources,
                         Failure* failure);
  /// As write_blocks, with the numbers of `blocks` blocks.
  void (*put_blocks)(DeviceIndex* index, int64_t blocks, const int64_t* numbers,
                     const void* sketches, const void* payloads, Failure* failure);
  void (*finish)(DeviceIndex* index, Failure* failure);
  /// Once, between create and finish: makes the index an inverted file, whose rows are those of the
  /// lists rounded up to whole blocks.
  void (*set_lists)(DeviceIndex* index, const ListsDescription* lists, Failure* failure);
  /// Once, between create and finish: lets searches take queries in the device's memory.
  void (*set_queries)(DeviceIndex* index, const QueryDescription* queries, Failure* failure);
  void (*search)(const DeviceIndex* index, const SearchRequest* request, Failure* failure);
  /// Whose memory each of `count` pointers is into: kHostMemory, or a device's number; the index's
  /// own where both reach it.
  void (*find_memory)(const DeviceIndex* index, int32_t count, const void* const* pointers,
                      int32_t* found, Failure* failure);
  /// Copies between host and device memory, on a cudaStream_t, which is waited for.
  void (*copy)(const DeviceIndex* index, void* to, const void* from, size_t bytes, void* stream,
               Failure* failure);
  void (*score_listed)(const DeviceIndex* index, const ListedRowsRequest* request,
                       Failure* failure);
  /// Copies n rows to the host, as the rows of blocks, in this order: `sketches` and `payloads`
  /// have space for whole blocks.
  void (*read_rows)(const DeviceIndex* index, int64_t n, const int64_t* rows, void* sketches,
                    void* payloads, Failure* failure);
  /// In place of write_blocks: `to`, which was created for n rows, gets these rows of `from`, (n),
  /// in this order. Both are on one device and have one code.
  void (*copy_rows)(DeviceIndex* to, const DeviceIndex* from, const int64_t* rows,
                    Failure* failure);
  /// Copies a word for each block, (blocks), to the index's device; of an inverted file also what
  /// of each list is kept, (lists).
  DeviceBits* (*create_bits)(const DeviceIndex* index, const uint64_t* words,
                             const ListFilter* lists, Failure* failure);
  void (*destroy_bits)(DeviceBits* bits);
  /// Takes memory for searches of an index that has set_queries and no lists; it must outlive them.
  /// Of `shape` is read what says how many, how far and by which kept_bits; ids: of the rows,
  /// (rows), or null where they are their numbers.
  PreparedSearch* (*create_search)(const DeviceIndex* index, const SearchRequest* shape,
                                   const int64_t* ids, Failure* failure);
  /// Puts a search on the stream, and neither waits for it nor takes memory. They have one memory:
  /// searches are to follow each other.
  void (*start_search)(const PreparedSearch* search, const PreparedSearchArrays* arrays,
                       Failure* failure);
  size_t (*search_bytes)(const PreparedSearch* search);
  /// Waits for the device.
  void (*destroy_search)(PreparedSearch* search);
  size_t (*memory_bytes)(const DeviceIndex* index);
  void (*destroy)(DeviceIndex* index);
  /// Throws unsupported for rows that are too long for the device.
  DeviceEncoder* (*create_encoder)(int32_t device, const EncoderDescription* description,
                                   Failure* failure);
  void (*encode)(const DeviceEncoder* encoder, EncodeRequest* request, Failure* failure);
  void (*destroy_encoder)(DeviceEncoder* encoder);
  DeviceCodec* (*create_codec)(int32_t device, const RowDescription* rows, Failure* failure);
  void (*score_rows)(const DeviceCodec* codec, const RowScoresRequest* request, Failure* failure);
  void (*sum_rows)(const DeviceCodec* codec, const RowSumsRequest* request, Failure* failure);
  void (*destroy_codec)(DeviceCodec* codec);
};

}  // namespace polarquant::cuda
