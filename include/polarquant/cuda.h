/* SPDX-License-Identifier: MIT */
/* Searches, encoding and scores on NVIDIA GPUs. polarquant.h has the rules for every function. */
#ifndef POLARQUANT_CUDA_H
#define POLARQUANT_CUDA_H

#include "polarquant/codec.h"
#include "polarquant/index.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- CUDA ----------------------------------------------------------------------------------- */

/*
 * Searches on NVIDIA GPUs. The work is done by libpolarquant_cuda, which is loaded when one of
 * these calls first needs it: from the path in the environment's POLARQUANT_CUDA_LIBRARY, else from
 * beside this library, else from where the system looks. Without it, and without a device, these
 * calls return POLAR_ERROR_UNSUPPORTED with a text that says which; what the CUDA runtime reports
 * is POLAR_ERROR_CUDA or POLAR_ERROR_OUT_OF_MEMORY. The current device of the calling thread is as
 * before after every call.
 */

/* *count: devices, 1 or more. */
POLAR_API polar_status polar_cuda_device_count(int32_t* count);

typedef struct polar_cuda_device_info {
  uint32_t struct_size;    /* set by the caller to sizeof(polar_cuda_device_info) before the call */
  int32_t compute_major;   /* compute capability, as 9.0 */
  int32_t compute_minor;   /* its second number */
  int32_t multiprocessors; /* of the device */
  uint64_t total_bytes;    /* of its memory */
  uint64_t free_bytes;     /* of these, not in use now, by anyone */
  char name[256];          /* closed by 0 */
} polar_cuda_device_info;

/* Fills *info up to its struct_size. device: 0 to count − 1. */
POLAR_API polar_status polar_cuda_get_device_info(int32_t device, polar_cuda_device_info* info);

/* Codes of an index in the memory of a device, or of several, to be searched there. Nothing but
 * polar_cuda_index_refresh changes it. */
typedef struct polar_cuda_index polar_cuda_index;

/* What each of several devices has of an index. */
typedef int32_t polar_cuda_layout;
#define POLAR_CUDA_SHARDED 0    /* a part of the rows; it searches these for every query */
#define POLAR_CUDA_REPLICATED 1 /* all rows; it searches them for a part of the queries */

typedef struct polar_cuda_options {
  uint32_t struct_size; /* sizeof(polar_cuda_options), set by polar_cuda_options_init */
  /* Of the host: to code rows that an index keeps as floats, and to prepare the queries of a
   * polar_cuda_codec; 0 to 1024, default 0 = OpenMP's default. */
  int32_t num_threads;
  int32_t device;      /* 0 (default) to the number of devices − 1; read when num_devices is 0 */
  int32_t num_devices; /* 0 (default) to 64; 0 for encoders and codecs */
  /* (num_devices), for indexes on several devices, each 0 to the number of devices − 1. Shards are
   * in this order: contiguous rows, as equally many as whole blocks of 64 allow. A device that is
   * listed n times is given n shards, or n copies of all rows, as if it were n devices. Where there
   * are fewer blocks than devices, the first ones alone have rows. NULL (default): `device`. */
  const int32_t* devices;
  polar_cuda_layout layout; /* POLAR_CUDA_…; default sharded; the same for one device */
  int32_t reserved;         /* 0 */
} polar_cuda_options;

/* As polar_cuda_options_init, which calls it; struct_size: the caller's sizeof. */
POLAR_API void polar_cuda_options_init_sized(polar_cuda_options* options, size_t struct_size);

/* Fills *options with the defaults. NULL is ignored. */
static inline void polar_cuda_options_init(polar_cuda_options* options) {
  polar_cuda_options_init_sized(options, sizeof *options);
}

/*
 * Copies an index to a device, or to several: its blocks as they are, its codec, its ids. The index
 * may change, or go, afterwards; the copy does not. For indexes that are one of our specs alone,
 * "Polar0.5" to "Polar8", residual and trained codes ("…-pca"), for inverted files of these that
 * find lists by all their centroids ("IVF1024,Polar4"), and for refinements of both
 * ("Polar2,Refine(Polar8)", "IVF1024,Polar4,RFlat"); POLAR_ERROR_UNSUPPORTED for the others. A part
 * of the rows of an inverted file is a part of its lists, about equal in rows. Rows that the index
 * keeps as floats (polar_index_add) are coded for the copy, by what they teach. What refines is
 * copied to the devices where these are such codes and have memory for them, else in host memory.
 * options: NULL for the defaults. Cost: the codes' bytes over the bus, to several devices at the
 * same time; 8 bytes a row stay in host memory for ids, and of an inverted file as many for where
 * ids are, if the index has that, and the centroids. Waits for the devices.
 */
POLAR_API polar_status polar_cuda_index_from_index(const polar_index* index,
                                                   const polar_cuda_options* options,
                                                   polar_cuda_index** out);
/* The same from n ≥ 0 codes of the caller's; codes_bytes as for polar_codec_encode. Rows have their
 * positions as ids. Packs the codes into blocks first, so that they are in memory twice meanwhile.
 */
POLAR_API polar_status polar_cuda_index_from_codes(const polar_codec* codec, int64_t n,
                                                   const uint8_t* codes, size_t codes_bytes,
                                                   const polar_cuda_options* options,
                                                   polar_cuda_index** out);
/*
 * Makes a copy what polar_cuda_index_from_index would now make of `index`, with the options that
 * the copy was made with. Where rows have only come to the index since, by any call that adds or
 * merges, no more than what the copy lacks goes over the bus: without lists the rows from the last
 * block of 64 on that was not full; of an inverted file those of each list. What a device has stays
 * in place, or moves within its memory: without lists where the copy's memory is full, to memory
 * for a quarter more rows, so that many small adds cost little; of an inverted file always, since
 * lists grow.
 *
 * All is copied anew, to the same result, after any other change of rows (removed, updated, put,
 * reset), after training, while rows are kept as floats, from an index that is another one, as one
 * read from a file is, of refinements whose second step the host has, and of several devices that
 * have a part of the rows each.
 *
 * POLAR_ERROR_STATE_MISMATCH where `index` has another spec, metric or number of dimensions or of
 * lists than the copy, or is a refinement and the copy is not, or the other way round; the others
 * are those of polar_cuda_index_from_index. After an error the copy is as it was, and may be
 * searched: what is new comes beside what is there, so that memory of the devices and of the host
 * has to hold both for the time of the call, unless rows stay in place.
 *
 * The copy needs sole use: no search of it may run meanwhile. Prepared searches, and CUDA graphs of
 * them, may; they go on finding the rows that the copy had when they were created, and keep the
 * memory of these. What prepared filters keep on the devices is found anew. Waits for the devices.
 */
POLAR_API polar_status polar_cuda_index_refresh(polar_cuda_index* copy, const polar_index* index);
/* NULL is fine. */
POLAR_API void polar_cuda_index_destroy(polar_cuda_index* index);

/*
 * The k nearest of each of nq ≥ 0 queries, (nq, dim): scores and ids, (nq, k); the same rows and
 * scores, to the bit, as polar_blocks_search and polar_index_search give with these options
 * (docs/cuda.md says when an inverted file's lists may be others). k ≥ 1. options: NULL for the
 * defaults; nprobe 0 is what polar_index_nprobe was of the index when it was copied, ef_search is
 * to be 0, and so are nprobe unless it was an inverted file, and k_factor unless it was a
 * refinement: else POLAR_ERROR_UNSUPPORTED. Every filter works, as a bitset that the host makes of
 * it; few rows that a filter keeps of an inverted file are scored by the host, and those that a
 * prepared filter keeps of an index without lists, no more than an eighth, are copied side by side
 * on the device by the first search: copies that are the filter's until it is destroyed.
 * num_threads is for preparing queries, and for what the host does with results; progress is not
 * called.
 *
 * Queries, scores, ids and the words of a filter's bitset are each in host memory or in a device's.
 * An index on one device that is no refinement uses them where they lie, if that is its own memory:
 * queries are prepared there, with the host's bits, and nothing of them passes through the host. It
 * copies, since the host has what they need: ids of an inverted file and of rows with ids of the
 * caller's, and bitsets of these; scores of an inverted file, and its queries with any filter;
 * queries, scores and ids with a prepared filter. All is copied for several devices and for
 * refinements, and queries where the rotation is dense ("-dense") or beyond
 * 8,192 dimensions. After an error results in a device's memory hold nothing of use.
 *
 * stream: a cudaStream_t of the index's device, NULL for the default stream. All work is put on it,
 * and it is waited for before the call returns; what writes queries in the device's memory is to be
 * put on it before, or to have ended. An index with more than one in options.devices takes NULL
 * alone: each device works on its own default stream, and waits in a thread of its own. Memory to
 * work in is kept by the index for the next search: a search like one before on the same device
 * allocates none there. Failures of a device name it.
 */
POLAR_API polar_status polar_cuda_index_search(const polar_cuda_index* index, int64_t nq,
                                               const float* queries, int64_t k,
                                               const polar_search_options* options, void* stream,
                                               float* scores, int64_t* ids);
/* Rows held. 0 for NULL. */
POLAR_API int64_t polar_cuda_index_ntotal(const polar_cuda_index* index);
/* *bytes: device memory, of all its devices: codes, tables, and what searches keep to work in. */
POLAR_API polar_status polar_cuda_index_memory_bytes(const polar_cuda_index* index, size_t* bytes);

/* Searches of one shape that are started on a device, and not waited for. */
typedef struct polar_cuda_search polar_cuda_search;

/*
 * Takes the memory for searches of nq ≥ 1 queries for the k ≥ 1 nearest of each, which
 * polar_cuda_search_start then starts. For an index on one device that has rows, is no inverted
 * file and no refinement, and prepares queries there (polar_cuda_index_search says which does):
 * POLAR_ERROR_UNSUPPORTED for the others. options: as for polar_cuda_index_search, NULL for the
 * defaults; they are those of every start. What the filter keeps is asked now, and copied to the
 * device. The index may be destroyed before the search, or refreshed: the search finds the rows
 * that it had. Cost: device memory, of up
 * to 4 queries some 2 bytes a row for each, of more some 0.6 MB for each of them, or of 4,096;
 * 8 bytes a row where rows have ids of the caller's, and one bit a row with a filter.
 */
POLAR_API polar_status polar_cuda_search_create(const polar_cuda_index* index, int64_t nq,
                                                int64_t k, const polar_search_options* options,
                                                polar_cuda_search** out);
/* Waits for the device, which may be at work on it. NULL is fine. */
POLAR_API void polar_cuda_search_destroy(polar_cuda_search* search);
/*
 * Puts a search on a stream and returns: scores and ids, (nq, k), of queries, (nq, dim), as
 * polar_cuda_index_search gives them, and *unfinished, one int32, all in the memory of the index's
 * device, where they are read and written when the stream comes to it. *unfinished is 0 where they
 * are these. It is 1 where rows that were as near as the k-th did not fit the memory, as where very
 * many are alike, or where the host has to look at a query, which is not finite, too long or nearly
 * so: then scores and ids hold nothing of use, and polar_cuda_index_search finds them, or says what
 * is wrong with the query.
 *
 * Nothing is allocated, copied to or from the host, or waited for: the call may be captured into a
 * CUDA graph, whose launches search for the queries that then lie there. stream: a cudaStream_t of
 * the index's device, NULL for the default stream. Starts of one search, and launches of graphs
 * that have it, work in the same memory: each is to follow the one before, as those on one stream
 * do. Searches created apart may work at the same time. POLAR_ERROR_BAD_ARGUMENT for arrays in host
 * memory; what a kernel meets later is the stream's error.
 */
POLAR_API polar_status polar_cuda_search_start(const polar_cuda_search* search,
                                               const float* queries, void* stream, float* scores,
                                               int64_t* ids, int32_t* unfinished);

/* *bytes: device memory of the search itself, without the index. */
POLAR_API polar_status polar_cuda_search_memory_bytes(const polar_cuda_search* search,
                                                      size_t* bytes);

/* A codec in a device's memory, to encode there. Immutable. */
typedef struct polar_cuda_encoder polar_cuda_encoder;

/*
 * Copies what encoding needs of a trained codec to a device; the codec may change, or go,
 * afterwards. For "Polar0.5" to "Polar5" of more than 64 dimensions, rotated as they are by default
 * or with "-norot", and for trained codes ("Polar4-pca", "Polar4+2-pca") of as many;
 * POLAR_ERROR_UNSUPPORTED for the others, and for rows too long for the device (some 13,000
 * dimensions); POLAR_ERROR_NOT_TRAINED. options: NULL for the defaults.
 */
POLAR_API polar_status polar_cuda_encoder_create(const polar_codec* codec,
                                                 const polar_cuda_options* options,
                                                 polar_cuda_encoder** out);
/* NULL is fine. */
POLAR_API void polar_cuda_encoder_destroy(polar_cuda_encoder* encoder);
/*
 * Codes n ≥ 0 rows x, (n, dim), into codes, codes_bytes = n·code_bytes: the bytes of
 * polar_codec_encode. x and codes are each in host memory or in the device's. A row that
 * polar_codec_encode refuses is refused by number; codes then hold nothing of use. stream as for
 * polar_cuda_index_search; memory to work in is kept by the encoder. Calls may run together.
 */
POLAR_API polar_status polar_cuda_encoder_encode(const polar_cuda_encoder* encoder, int64_t n,
                                                 const float* x, uint8_t* codes, size_t codes_bytes,
                                                 void* stream);

/* A codec in a device's memory, to score and combine codes there. Immutable. */
typedef struct polar_cuda_codec polar_cuda_codec;

/*
 * Copies what decoding needs of a trained codec to a device; the codec may change, or go,
 * afterwards. For every codec but PolarScalar by L2 where dim is no multiple of 128:
 * POLAR_ERROR_UNSUPPORTED. options: NULL for the defaults.
 */
POLAR_API polar_status polar_cuda_codec_create(const polar_codec* codec,
                                               const polar_cuda_options* options,
                                               polar_cuda_codec** out);
/* NULL is fine. */
POLAR_API void polar_cuda_codec_destroy(polar_cuda_codec* codec);
/*
 * scores, (heads, nq, n): polar_codec_score of the n rows of each head, as the heads of attention
 * have their keys, for the nq queries of that head, (heads, nq, dim). heads and nq 0 to 65535.
 * codes: those of the heads one after the other, heads·polar_codec_encoded_bytes(n) bytes. Codes
 * and scores are each in host memory or in the device's, queries in host memory. The sums are
 * those of the CPU in another order, so that scores differ by the rounding of floats; they are the
 * same from call to call. stream as for polar_cuda_index_search; memory to work in is kept by the
 * codec. Calls may run together.
 */
POLAR_API polar_status polar_cuda_codec_score(const polar_cuda_codec* codec, int64_t heads,
                                              int64_t nq, const float* queries, int64_t n,
                                              const uint8_t* codes, size_t codes_bytes,
                                              void* stream, float* scores);
/*
 * out, (heads, nw, dim): polar_codec_combine of the n rows of each head, as the heads of attention
 * have their values, by nw vectors of weights, (heads, nw, n). heads and nw 0 to 65535; codes,
 * stream, memory and threads as for polar_cuda_codec_score. Weights and codes are each in host
 * memory or in the device's, out in host memory. Sums of up to 1,024 rows are floats, those of
 * these are doubles. Weights that are not finite, or whose sums are not, are refused; out is then
 * as it was.
 */
POLAR_API polar_status polar_cuda_codec_combine(const polar_cuda_codec* codec, int64_t heads,
                                                int64_t nw, const float* weights, int64_t n,
                                                const uint8_t* codes, size_t codes_bytes,
                                                void* stream, float* out);

#ifdef __cplusplus
}
#endif

#endif
