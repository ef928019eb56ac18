// SPDX-License-Identifier: MIT
// Made by generate.sh; not to be edited.

pub const POLAR_VERSION_MAJOR: i32 = 0;
pub const POLAR_VERSION_MINOR: i32 = 1;
pub const POLAR_VERSION_PATCH: i32 = 0;
pub const POLAR_OK: i32 = 0;
pub const POLAR_ERROR_BAD_ARGUMENT: i32 = 10;
pub const POLAR_ERROR_UNSUPPORTED: i32 = 20;
pub const POLAR_ERROR_NOT_TRAINED: i32 = 30;
pub const POLAR_ERROR_NOT_FOUND: i32 = 40;
pub const POLAR_ERROR_STATE_MISMATCH: i32 = 50;
pub const POLAR_ERROR_OUT_OF_MEMORY: i32 = 60;
pub const POLAR_ERROR_CORRUPT_DATA: i32 = 70;
pub const POLAR_ERROR_NEWER_FORMAT: i32 = 80;
pub const POLAR_ERROR_IO: i32 = 90;
pub const POLAR_ERROR_CUDA: i32 = 100;
pub const POLAR_ERROR_CANCELLED: i32 = 110;
pub const POLAR_ERROR_INTERNAL: i32 = 120;
pub const POLAR_METRIC_INNER_PRODUCT: i32 = 0;
pub const POLAR_METRIC_L2: i32 = 1;
pub const POLAR_METRIC_COSINE: i32 = 2;
pub const POLAR_FILTER_NONE: i32 = 0;
pub const POLAR_FILTER_BITSET: i32 = 1;
pub const POLAR_FILTER_IDS: i32 = 2;
pub const POLAR_FILTER_RANGE: i32 = 3;
pub const POLAR_FILTER_CALLBACK: i32 = 4;
pub const POLAR_FILTER_PREPARED: i32 = 5;
pub const POLAR_RECONSTRUCTION_LEAST_ERROR: i32 = 0;
pub const POLAR_RECONSTRUCTION_UNBIASED: i32 = 1;
pub const POLAR_CUDA_SHARDED: i32 = 0;
pub const POLAR_CUDA_REPLICATED: i32 = 1;
extern "C" {
    #[doc = " Version of the library that runs: major·10000 + minor·100 + patch."]
    pub fn polar_version() -> i32;
    #[doc = " \"0.1.0\"; a static string."]
    pub fn polar_version_string() -> *const ::std::os::raw::c_char;
}
pub type polar_status = i32;
extern "C" {
    #[doc = " \"bad argument\", \"not trained\", …; \"unknown status\" for others. A static string."]
    pub fn polar_status_name(status: polar_status) -> *const ::std::os::raw::c_char;
    #[doc = " Copies the text of this thread's last failed call into buf, cut to at most cap − 1 bytes between"]
    #[doc = " two characters and closed by 0 (nothing is written when cap is 0 or buf is NULL). Returns the"]
    #[doc = " whole text's length without the 0. \"\" before the first failure; a call that succeeds does not"]
    #[doc = " clear it. UTF-8."]
    pub fn polar_last_error(buf: *mut ::std::os::raw::c_char, cap: usize) -> usize;
}
pub type polar_metric = i32;
#[doc = " Told the share of the work that is done, 0 to 1; non-zero stops the call. Must not throw or"]
#[doc = " longjmp."]
pub type polar_progress_fn =
    ::core::option::Option<unsafe extern "C" fn(user: *mut ::core::ffi::c_void, done: f64) -> i32>;
#[doc = " How a call works that trains, encodes, adds, scores or the like."]
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct polar_work_options {
    #[doc = " sizeof(polar_work_options), set by polar_work_options_init"]
    pub struct_size: u32,
    #[doc = " 0 to 1024; default 0 = OpenMP's default"]
    pub num_threads: i32,
    #[doc = " Told now and then, from the calling thread, what share is done, as far as that is known, in"]
    #[doc = " calls into FAISS too; within a second, but for the parts of a training that LAPACK does."]
    #[doc = " Non-zero stops the call, which returns POLAR_ERROR_CANCELLED and leaves everything as it was;"]
    #[doc = " output arrays then hold nothing of use. NULL (default): nobody is told."]
    pub progress: polar_progress_fn,
    pub progress_user: *mut ::core::ffi::c_void,
}
extern "C" {
    #[doc = " As polar_work_options_init, which calls it; struct_size: the caller's sizeof."]
    pub fn polar_work_options_init_sized(options: *mut polar_work_options, struct_size: usize);
}
#[doc = " How a polar_filter says which ids it keeps."]
pub type polar_filter_kind = i32;
#[doc = " A bit for each id from 0 on: bit id%64 of word id/64, ⌈num_bits/64⌉ words. Ids from num_bits on"]
#[doc = " are left out."]
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct polar_bitset {
    pub words: *const u64,
    pub num_bits: i64,
}
#[doc = " (count) ids, ascending, without repeats."]
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct polar_id_list {
    pub ids: *const i64,
    pub count: i64,
}
#[doc = " first ≤ id < end; an end of 2^63−1: first ≤ id. An end of first or less keeps nothing."]
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct polar_id_range {
    pub first: i64,
    pub end: i64,
}
#[doc = " Non-zero keeps the id. Called from any thread, several at once; must not throw or longjmp."]
pub type polar_keep_fn =
    ::core::option::Option<unsafe extern "C" fn(user: *mut ::core::ffi::c_void, id: i64) -> i32>;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct polar_id_callback {
    pub keep: polar_keep_fn,
    pub user: *mut ::core::ffi::c_void,
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct polar_prepared_filter {
    _unused: [u8; 0],
}
#[doc = " Ids to keep, of rows that a search may return or a removal takes. Only the member that `kind`"]
#[doc = " names is read."]
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct polar_filter {
    #[doc = " sizeof(polar_filter), set by polar_filter_init"]
    pub struct_size: u32,
    #[doc = " POLAR_FILTER_…; default POLAR_FILTER_NONE"]
    pub kind: polar_filter_kind,
    pub bitset: polar_bitset,
    pub ids: polar_id_list,
    pub range: polar_id_range,
    pub callback: polar_id_callback,
    pub prepared: *const polar_prepared_filter,
}
extern "C" {
    #[doc = " As polar_filter_init, which calls it; struct_size: the caller's sizeof."]
    pub fn polar_filter_init_sized(filter: *mut polar_filter, struct_size: usize);
    #[doc = " *out: a filter that keeps what `filter` keeps now, for use with POLAR_FILTER_PREPARED. It has"]
    #[doc = " copies of its bits or ids, and keeps what searches found: which rows of an index it leaves, and"]
    #[doc = " how many. The first search of an index, and the first one after each change of its rows, finds"]
    #[doc = " that, in about a nanosecond a row where rows have ids of the caller's, and less for positions;"]
    #[doc = " the searches that follow need not."]
    #[doc = ""]
    #[doc = " filter: any kind but POLAR_FILTER_CALLBACK, whose answers may change, and POLAR_FILTER_PREPARED."]
    #[doc = " One prepared filter serves any number of indexes and threads at once; it keeps what it found of"]
    #[doc = " the last four states of indexes: an eighth of a byte a row each, and, after some searches, where"]
    #[doc = " it leaves few rows, copies of these: of a flat index up to an eighth of all, of a graph up to"]
    #[doc = " three fifths, but no more rows than 2,000 times ef_search, of an inverted file vectors of (dim)"]
    #[doc = " bytes for up to an eighth."]
    pub fn polar_prepared_filter_create(
        filter: *const polar_filter,
        out: *mut *mut polar_prepared_filter,
    ) -> polar_status;
    #[doc = " NULL is ignored. No search that uses it may be running."]
    pub fn polar_prepared_filter_destroy(prepared: *mut polar_prepared_filter);
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct polar_search_options {
    #[doc = " sizeof(polar_search_options), set by polar_search_options_init"]
    pub struct_size: u32,
    #[doc = " 0 to 1024; default 0 = OpenMP's default"]
    pub num_threads: i32,
    #[doc = " How sure rows are left out without being scored, in standard deviations of what a row's sign"]
    #[doc = " bits say about its score; 0 to +inf, which scores every row. The default, 2.25, loses at most"]
    #[doc = " .001 of recall@10 on real embeddings. Read by codes with signs (\"Polar2\" and above) of"]
    #[doc = " 64 dimensions and more; the others always have every row scored."]
    #[doc = " POLAR_ERROR_UNSUPPORTED for graphs, unless it is the default."]
    pub exactness: f32,
    #[doc = " 0"]
    pub reserved: i32,
    #[doc = " which rows may be returned, by id; NULL (default): every row"]
    pub filter: *const polar_filter,
    #[doc = " Told now and then, one call at a time but from any thread, what share is done; non-zero stops"]
    #[doc = " the search, which returns POLAR_ERROR_CANCELLED. NULL (default): nobody is told."]
    pub progress: polar_progress_fn,
    pub progress_user: *mut ::core::ffi::c_void,
    #[doc = " Read by searches of indexes; POLAR_ERROR_UNSUPPORTED where the index is not of that kind. */"]
    #[doc = " of our specs more with a filter (docs/search.md), and where these have fewer than k rows that"]
    #[doc = " it keeps, all if need be."]
    pub nprobe: i64,
    #[doc = " nodes a graph's search keeps, to 2^31-1; default 0: 16, as FAISS has it"]
    pub ef_search: i64,
    #[doc = " Rows that a refinement (\"Polar2,RFlat\") scores again for each query, as a multiple of k: 1 or"]
    #[doc = " more, beyond the rows there are all; default 0: the index's own, 1 in a new index, which only"]
    #[doc = " puts the k rows in better order."]
    pub k_factor: f64,
}
extern "C" {
    #[doc = " As polar_search_options_init, which calls it; struct_size: the caller's sizeof."]
    pub fn polar_search_options_init_sized(options: *mut polar_search_options, struct_size: usize);
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct polar_codec {
    _unused: [u8; 0],
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct polar_codec_options {
    #[doc = " sizeof(polar_codec_options), set by polar_codec_options_init"]
    pub struct_size: u32,
    #[doc = " 0 or 1 (default): train may set the centre to the rows' mean"]
    pub learn_centre: i32,
    #[doc = " of the random rotation; any value, default 1"]
    pub seed: u64,
    #[doc = " (dim), or NULL (default): learned when learn_centre, else 0"]
    pub centre: *const f32,
    #[doc = " typical ‖x−centre‖, 2^-40 to 2^40; default 0: learned, 1 before"]
    pub norm_unit: f64,
}
extern "C" {
    #[doc = " As polar_codec_options_init, which calls it; struct_size: the caller's sizeof."]
    pub fn polar_codec_options_init_sized(options: *mut polar_codec_options, struct_size: usize);
    #[doc = " Makes a codec. spec: \"Polar2\", \"Polar4+2-dense\", \"PolarTree4.2.2.2\", \"PolarPair4x4\","]
    #[doc = " \"PolarScalar4\", …: docs/codec.md lists all, polar_spec_help() prints them. dim: 1 to 65535."]
    #[doc = " options: NULL for the defaults. *out is NULL after a failure."]
    #[doc = " Cost: O(dim) time and memory; a \"-dense\" rotation takes O(dim²)."]
    pub fn polar_codec_create(
        spec: *const ::std::os::raw::c_char,
        dim: i32,
        metric: polar_metric,
        options: *const polar_codec_options,
        out: *mut *mut polar_codec,
    ) -> polar_status;
    #[doc = " NULL is fine."]
    pub fn polar_codec_destroy(codec: *mut polar_codec);
    #[doc = " Copies a text that lists every spec's form, meaning and an example, as polar_last_error"]
    #[doc = " copies its text."]
    pub fn polar_spec_help(buf: *mut ::std::os::raw::c_char, cap: usize) -> usize;
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct polar_codec_info {
    #[doc = " set by the caller to sizeof(polar_codec_info) before the call"]
    pub struct_size: u32,
    #[doc = " dimensions of a vector"]
    pub dim: i32,
    #[doc = " POLAR_METRIC_…"]
    pub metric: polar_metric,
    #[doc = " 0 only while encode must wait for train"]
    pub is_trained: i32,
    #[doc = " centre and unit: 0 as created, 2 trained; 1 in states of earlier"]
    #[doc = "versions, from an index's first rows"]
    pub state_origin: i32,
    #[doc = " rows that share a code; 1 for all but PolarPair…g128"]
    pub group_rows: i32,
    #[doc = " of the rotation"]
    pub seed: u64,
    #[doc = " bytes of one code (of group_rows rows), factors included"]
    pub code_bytes: usize,
    #[doc = " of these, the factors; 0 for codecs without factors"]
    pub factor_bytes: usize,
    #[doc = " bytes of a row of the unfinished last group; 0 when group_rows is 1"]
    pub tail_row_bytes: usize,
    #[doc = " 8·code_bytes / (group_rows·dim), factors included"]
    pub bits_per_dim: f64,
    #[doc = " error per dimension on the unit Gaussian; 0 where not defined"]
    pub mse: f64,
    #[doc = " ‖centre‖"]
    pub centre_norm: f64,
    #[doc = " power of two near the typical ‖x−centre‖"]
    pub norm_unit: f64,
    #[doc = " equal exactly for codecs whose codes mix"]
    pub state_id: u64,
}
extern "C" {
    #[doc = " Fills *info up to its struct_size; what the library does not know becomes 0."]
    pub fn polar_codec_get_info(
        codec: *const polar_codec,
        info: *mut polar_codec_info,
    ) -> polar_status;
    #[doc = " Copies the canonical spec, as polar_last_error copies its text; 0 for a NULL codec."]
    pub fn polar_codec_spec(
        codec: *const polar_codec,
        buf: *mut ::std::os::raw::c_char,
        cap: usize,
    ) -> usize;
    #[doc = " Copies the centre, (dim), zeros when there is none."]
    pub fn polar_codec_get_centre(codec: *const polar_codec, centre: *mut f32) -> polar_status;
    #[doc = " *bytes: memory held by the codec: rotation, tables, centre."]
    pub fn polar_codec_memory_bytes(codec: *const polar_codec, bytes: *mut usize) -> polar_status;
    #[doc = " Learns the centre, the unit and, where the codec has them, codebooks from n ≥ 1 rows x, (n, dim),"]
    #[doc = " a sample of what will be encoded. The centre is the mean, and the unit a power of two near the"]
    #[doc = " root mean square of ‖x−centre‖, of the typical rows: those up to eight times as far from it as"]
    #[doc = " nine of ten are, nearly always all, so that a few rows of another scale decide nothing. Where the"]
    #[doc = " mean would be further from the middle row than 0 is, the centre stays 0. What is learned decides"]
    #[doc = " how well rows are coded, never whether they can be (polar_codec_encode). A codec that is not"]
    #[doc = " trained has the centre and unit that it was created with, 0 and 1 by default."]
    #[doc = " Optional for most codecs, required for PolarPairMxN, PolarTree…-online, …-pca and PolarB…. These"]
    #[doc = " two learn their rotation and plan, too: from n ≥ 2·dim rows, better 10·dim, in O(n·dim² + dim³),"]
    #[doc = " and, of 512 rows and more, how far searches' estimates are off. …-kmK learns K centroids in the"]
    #[doc = " place of a centre, from at least 2 rows for each besides a tenth of all, better 10, in"]
    #[doc = " O(n·K·dim). A row that is not finite, or longer than 2^61 (2.3e18) but for cosine, is refused by"]
    #[doc = " number, and nothing is learned. POLAR_ERROR_STATE_MISMATCH once this codec has encoded anything."]
    #[doc = " options: NULL for the defaults, here and below. Needs sole use."]
    pub fn polar_codec_train(
        codec: *mut polar_codec,
        n: i64,
        x: *const f32,
        options: *const polar_work_options,
    ) -> polar_status;
}
#[doc = " A segment of the plan of a …-pca or PolarB… codec: rotated coordinates that have one rate. Of the"]
#[doc = " last one with bits of PolarB… only its first coordinates may have them."]
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct polar_segment {
    #[doc = " its first coordinate; segments in order, by falling variance"]
    pub first: i32,
    #[doc = " coordinates: 64, or fewer in the last one"]
    pub dim: i32,
    #[doc = " a dimension: 0 (nothing of it is stored), 0.5 … 5, 6, 7, 8"]
    pub bits: f64,
    #[doc = " standard deviation of its coordinates of √dim·R(x−c)/‖x−c‖"]
    pub scale: f64,
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct polar_codec_plan {
    #[doc = " set by the caller to sizeof(polar_codec_plan) before the call"]
    pub struct_size: u32,
    #[doc = " 1: rotation and rates are trained; 0: they gained too little on rows that"]
    #[doc = "were held out, so that codes are those of the untrained codec"]
    pub has_basis: i32,
    #[doc = " of dim"]
    pub segments: i64,
    #[doc = " on rows that were held out: mean ‖x\u{302}−x‖²/‖x−c‖², x\u{302} unbiased"]
    pub error: f64,
    #[doc = " the same of the untrained codec; 0 of PolarB…, which has none"]
    pub untrained_error: f64,
}
extern "C" {
    #[doc = " Fills *plan, and the first min(cap, plan->segments) of segments, which may be NULL when cap is 0."]
    #[doc = " POLAR_ERROR_UNSUPPORTED unless the codec is …-pca or PolarB…; POLAR_ERROR_NOT_TRAINED before"]
    #[doc = " train."]
    pub fn polar_codec_get_plan(
        codec: *const polar_codec,
        plan: *mut polar_codec_plan,
        segments: *mut polar_segment,
        cap: i64,
    ) -> polar_status;
    #[doc = " How well a …-pca or PolarB… codec still fits: *drift becomes the error of n ≥ 1 rows x, (n, dim),"]
    #[doc = " divided by the error of the rows that training held out. Near 1: as well as then; above 1.2 or so"]
    #[doc = " it is time to train a new codec. Errors as polar_codec_get_plan. Cost: that of encoding."]
    pub fn polar_codec_drift(
        codec: *const polar_codec,
        n: i64,
        x: *const f32,
        options: *const polar_work_options,
        drift: *mut f64,
    ) -> polar_status;
    #[doc = " Bytes of n ≥ 0 encoded rows: n·code_bytes, or for group_rows > 1:"]
    #[doc = " ⌊n/group_rows⌋·code_bytes + (n mod group_rows)·tail_row_bytes."]
    pub fn polar_codec_encoded_bytes(
        codec: *const polar_codec,
        n: i64,
        bytes: *mut usize,
    ) -> polar_status;
    #[doc = " Codes n ≥ 0 rows x, (n, dim), into codes; codes_bytes must be polar_codec_encoded_bytes(n). The"]
    #[doc = " bytes are the same on every machine and are laid out as docs/format.md says. Every finite row is"]
    #[doc = " coded at any time, whatever the codec was trained on: those nearer to the centre than 2^-61 units"]
    #[doc = " as the centre itself, and only those further away than 2^61 or than 2^61 units, which scores in"]
    #[doc = " floats could not hold, are refused by number. (A state that a library before format 4 wrote has"]
    #[doc = " factors of less range: 2^-13 and 2^14 units.) Cost: O(n·dim·256)."]
    pub fn polar_codec_encode(
        codec: *const polar_codec,
        n: i64,
        x: *const f32,
        options: *const polar_work_options,
        codes: *mut u8,
        codes_bytes: usize,
    ) -> polar_status;
}
pub type polar_reconstruction = i32;
extern "C" {
    #[doc = " Decodes all n rows of codes into x, (n, dim). codes_bytes as for encode."]
    pub fn polar_codec_decode(
        codec: *const polar_codec,
        n: i64,
        codes: *const u8,
        codes_bytes: usize,
        kind: polar_reconstruction,
        options: *const polar_work_options,
        x: *mut f32,
    ) -> polar_status;
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct polar_query {
    _unused: [u8; 0],
}
extern "C" {
    #[doc = " q: (dim). Cost O(dim log dim), O(dim²) for \"-dense\"."]
    pub fn polar_query_prepare(
        codec: *const polar_codec,
        q: *const f32,
        out: *mut *mut polar_query,
    ) -> polar_status;
    #[doc = " The query is the vector of row `row` of n coded rows, 0 ≤ row < n."]
    pub fn polar_query_prepare_from_code(
        codec: *const polar_codec,
        n: i64,
        codes: *const u8,
        codes_bytes: usize,
        row: i64,
        out: *mut *mut polar_query,
    ) -> polar_status;
    #[doc = " NULL is fine."]
    pub fn polar_query_destroy(query: *mut polar_query);
    #[doc = " scores, (n): estimate for each row by the codec's metric: ⟨q,x⟩, cosine, or ‖q−x‖² (an estimate,"]
    #[doc = " so it can be slightly below 0). POLAR_ERROR_STATE_MISMATCH for a query of another codec state."]
    pub fn polar_codec_score(
        codec: *const polar_codec,
        query: *const polar_query,
        n: i64,
        codes: *const u8,
        codes_bytes: usize,
        options: *const polar_work_options,
        scores: *mut f32,
    ) -> polar_status;
    #[doc = " The k best of n coded rows for each of nq queries, (nq, dim): scores and ids, both (nq, k), best"]
    #[doc = " first, ties by lower id; ids are row positions, of the filter too. Where n < k, id −1 with score"]
    #[doc = " −inf (inner product, cosine) or +inf (L2). k ≥ 1. The result does not depend on the number of"]
    #[doc = " threads. The flagship's rows, residual codes and Polar8 are ranked by integer scores, within 1 %"]
    #[doc = " of the codes' own error of polar_codec_score; docs/search.md says which rows are left out."]
    pub fn polar_codec_search(
        codec: *const polar_codec,
        nq: i64,
        queries: *const f32,
        n: i64,
        codes: *const u8,
        codes_bytes: usize,
        k: i64,
        options: *const polar_search_options,
        scores: *mut f32,
        ids: *mut i64,
    ) -> polar_status;
    #[doc = " All of n coded rows within a radius of each of nq queries, (nq, dim): score > radius (inner"]
    #[doc = " product, cosine) or squared distance < radius (L2), by polar_codec_score. lims, (nq + 1): rows"]
    #[doc = " lims[q] … lims[q+1] − 1 are those of query q, best first, ties by lower id; ids are row"]
    #[doc = " positions. scores and ids, (capacity): the rows below capacity, of all queries together, are"]
    #[doc = " written; lims always tells how many there are. Two calls, the first with capacity 0 (scores and"]
    #[doc = " ids may then be NULL), get all of them, at the cost of two searches. At finite exactness a few"]
    #[doc = " rows near the radius are left out; +inf finds every row. Memory: 12 bytes a row found, besides."]
    pub fn polar_codec_range_search(
        codec: *const polar_codec,
        nq: i64,
        queries: *const f32,
        n: i64,
        codes: *const u8,
        codes_bytes: usize,
        radius: f32,
        options: *const polar_search_options,
        capacity: i64,
        lims: *mut i64,
        scores: *mut f32,
        ids: *mut i64,
    ) -> polar_status;
    #[doc = " scores, (na, nb): estimates between every row of a and every row of b, from codes alone;"]
    #[doc = " symmetric. L2 estimates can be below 0, most of all of a row to itself."]
    pub fn polar_codec_score_codes(
        codec: *const polar_codec,
        na: i64,
        codes_a: *const u8,
        codes_a_bytes: usize,
        nb: i64,
        codes_b: *const u8,
        codes_b_bytes: usize,
        options: *const polar_work_options,
        scores: *mut f32,
    ) -> polar_status;
    #[doc = " out, (nw, dim): Σ_i weights[w,i]·x\u{302}_i over n rows for each of nw weight vectors, (nw, n), finite;"]
    #[doc = " x\u{302} is the reconstruction of least error. Rows are decoded one at a time."]
    pub fn polar_codec_combine(
        codec: *const polar_codec,
        n: i64,
        codes: *const u8,
        codes_bytes: usize,
        nw: i64,
        weights: *const f32,
        options: *const polar_work_options,
        out: *mut f32,
    ) -> polar_status;
    #[doc = " Writes everything that decides the bytes of codes. *needed becomes the size; when buf is NULL or"]
    #[doc = " cap is smaller, nothing is written (POLAR_OK for a NULL buf, POLAR_ERROR_BAD_ARGUMENT for a small"]
    #[doc = " one). Format: docs/format.md."]
    pub fn polar_codec_save_state(
        codec: *const polar_codec,
        buf: *mut u8,
        cap: usize,
        needed: *mut usize,
    ) -> polar_status;
    #[doc = " A codec with that state. Damaged bytes are refused."]
    pub fn polar_codec_load_state(
        data: *const u8,
        bytes: usize,
        out: *mut *mut polar_codec,
    ) -> polar_status;
    #[doc = " POLAR_OK when codes of a and b mix, else POLAR_ERROR_STATE_MISMATCH; the text names what differs."]
    pub fn polar_codec_check_same_state(
        a: *const polar_codec,
        b: *const polar_codec,
    ) -> polar_status;
}
#[doc = " Codes in blocks of 64 rows, as an index keeps them, in memory of the caller's: what searches read"]
#[doc = " fastest (docs/search.md; docs/format.md has the bytes). For codecs of Polar0.5 to Polar8 and"]
#[doc = " residual codes; POLAR_ERROR_UNSUPPORTED for the others. Changes need sole use of the blocks; a"]
#[doc = " call that fails changes nothing but where it says so."]
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct polar_blocks {
    #[doc = " held; 0 to begin with, and kept by the calls that change them"]
    pub rows: i64,
    #[doc = " on a 64-byte boundary"]
    pub data: *mut u8,
    #[doc = " that data has room for: at least polar_blocks_bytes of the rows after a call"]
    pub bytes: usize,
}
extern "C" {
    #[doc = " *bytes: what blocks of n ≥ 0 rows take, with what a search may read after them."]
    pub fn polar_blocks_bytes(codec: *const polar_codec, n: i64, bytes: *mut usize)
        -> polar_status;
    #[doc = " Packs n codes after the rows held, which become n more."]
    pub fn polar_blocks_append(
        codec: *const polar_codec,
        blocks: *mut polar_blocks,
        n: i64,
        codes: *const u8,
        codes_bytes: usize,
    ) -> polar_status;
    #[doc = " The codes of `count` rows from row `first` on, exactly as they were packed."]
    pub fn polar_blocks_get(
        codec: *const polar_codec,
        blocks: *const polar_blocks,
        first: i64,
        count: i64,
        codes: *mut u8,
        codes_bytes: usize,
    ) -> polar_status;
    #[doc = " One code in the place of row `row`."]
    pub fn polar_blocks_overwrite(
        codec: *const polar_codec,
        blocks: *mut polar_blocks,
        row: i64,
        code: *const u8,
        code_bytes: usize,
    ) -> polar_status;
    #[doc = " Takes out the rows whose bit is 1, bit row%64 of word row/64 of ⌈rows/64⌉ words; the others keep"]
    #[doc = " their order."]
    pub fn polar_blocks_remove(
        codec: *const polar_codec,
        blocks: *mut polar_blocks,
        removed: *const u64,
    ) -> polar_status;
    #[doc = " The last row takes the place of row `row`; rows become one less."]
    pub fn polar_blocks_swap_remove(
        codec: *const polar_codec,
        blocks: *mut polar_blocks,
        row: i64,
    ) -> polar_status;
    #[doc = " As polar_codec_search."]
    pub fn polar_blocks_search(
        codec: *const polar_codec,
        blocks: *const polar_blocks,
        nq: i64,
        queries: *const f32,
        k: i64,
        options: *const polar_search_options,
        scores: *mut f32,
        ids: *mut i64,
    ) -> polar_status;
    #[doc = " As polar_codec_range_search."]
    pub fn polar_blocks_range_search(
        codec: *const polar_codec,
        blocks: *const polar_blocks,
        nq: i64,
        queries: *const f32,
        radius: f32,
        options: *const polar_search_options,
        capacity: i64,
        lims: *mut i64,
        scores: *mut f32,
        ids: *mut i64,
    ) -> polar_status;
    #[doc = " *bytes: the most that the partial result of nq queries and the k best has."]
    pub fn polar_blocks_partial_bytes(
        codec: *const polar_codec,
        blocks: *const polar_blocks,
        nq: i64,
        k: i64,
        bytes: *mut usize,
    ) -> polar_status;
    #[doc = " Writes what polar_merge_partials needs of these blocks to `partial`, of `capacity` bytes, and its"]
    #[doc = " size to *bytes. first_row: how many rows the blocks before have; ids are positions in all rows,"]
    #[doc = " and so a filter's. Arguments, errors and threads as of polar_blocks_search."]
    pub fn polar_blocks_search_partial(
        codec: *const polar_codec,
        blocks: *const polar_blocks,
        first_row: i64,
        nq: i64,
        queries: *const f32,
        k: i64,
        options: *const polar_search_options,
        capacity: usize,
        partial: *mut u8,
        bytes: *mut usize,
    ) -> polar_status;
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct polar_index {
    _unused: [u8; 0],
}
extern "C" {
    #[doc = " description: one of our specs, alone (\"Polar2\") or in a FAISS factory string (\"PCA128,Polar4\","]
    #[doc = " \"Polar2,RFlat\"), or any FAISS string whose numbers are 1 or more. Cosine: rows and queries are"]
    #[doc = " normalized on the way in (zero stays zero) to an index of inner products. dim: 1 to 65535."]
    pub fn polar_index_create(
        description: *const ::std::os::raw::c_char,
        dim: i32,
        metric: polar_metric,
        out: *mut *mut polar_index,
    ) -> polar_status;
    #[doc = " NULL is fine."]
    pub fn polar_index_destroy(index: *mut polar_index);
    #[doc = " Learns what the index needs from n ≥ 1 rows, (n, dim), forgetting what it learned before."]
    #[doc = " options: NULL for the defaults, here and below. An"]
    #[doc = " inverted file needs a row for each list, better 39; a product quantizer as many for each of its"]
    #[doc = " 2^bits centroids; POLAR_ERROR_BAD_ARGUMENT for fewer. POLAR_ERROR_STATE_MISMATCH once it holds"]
    #[doc = " rows, but for those that one of our specs alone still keeps as floats (polar_index_add), which"]
    #[doc = " are coded then. FAISS's polysemous training of product quantizers (\"PQ8\") is left out, as \"np\""]
    #[doc = " does."]
    pub fn polar_index_train(
        index: *mut polar_index,
        n: i64,
        x: *const f32,
        options: *const polar_work_options,
    ) -> polar_status;
    #[doc = " Adds n ≥ 0 rows, (n, dim), with ids ntotal, ntotal + 1, … A row that is refused leaves the index"]
    #[doc = " as it was; so does a lack of memory."]
    #[doc = " An index of one of our specs, alone or in containers and graphs, that was not trained keeps its"]
    #[doc = " rows as floats, and searches them exactly, until they are 1,000: from these, and from all others"]
    #[doc = " of the add or merge that brings them there, it learns its codes' centre and unit, and codes them."]
    #[doc = " So recall does not depend on the pieces in which rows come."]
    pub fn polar_index_add(
        index: *mut polar_index,
        n: i64,
        x: *const f32,
        options: *const polar_work_options,
    ) -> polar_status;
    #[doc = " Adds n ≥ 0 rows with ids of the caller's, (n), each ≥ 0 and not in the index yet. An index takes"]
    #[doc = " rows with ids or rows without, not both. POLAR_ERROR_UNSUPPORTED for a FAISS index that takes"]
    #[doc = " none; \",IDMap2\" after its description gives it ids."]
    pub fn polar_index_add_with_ids(
        index: *mut polar_index,
        n: i64,
        x: *const f32,
        ids: *const i64,
        options: *const polar_work_options,
    ) -> polar_status;
    #[doc = " The k nearest of each of nq ≥ 0 queries, (nq, dim): scores and ids, (nq, k), best first, ties as"]
    #[doc = " FAISS leaves them, by lower row in an index that is one of our specs alone; id −1 with score −inf"]
    #[doc = " (inner product, cosine) or +inf (L2) where there are fewer. k ≥ 1. options: NULL for the"]
    #[doc = " defaults; POLAR_ERROR_UNSUPPORTED, naming the option, for one that the index has no use for, and"]
    #[doc = " for a filter of the few FAISS indexes whose rows are neither filtered by FAISS nor scored one by"]
    #[doc = " one."]
    pub fn polar_index_search(
        index: *const polar_index,
        nq: i64,
        queries: *const f32,
        k: i64,
        options: *const polar_search_options,
        scores: *mut f32,
        ids: *mut i64,
    ) -> polar_status;
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct polar_index_info {
    #[doc = " set by the caller to sizeof(polar_index_info) before the call"]
    pub struct_size: u32,
    #[doc = " dimensions of a vector"]
    pub dim: i32,
    #[doc = " POLAR_METRIC_…"]
    pub metric: polar_metric,
    #[doc = " 1 when rows can be added, 0 when train must come first"]
    pub is_trained: i32,
    #[doc = " rows held"]
    pub ntotal: i64,
}
extern "C" {
    #[doc = " Fills *info up to its struct_size; what the library does not know becomes 0."]
    pub fn polar_index_get_info(
        index: *const polar_index,
        info: *mut polar_index_info,
    ) -> polar_status;
    #[doc = " Copies the description, as polar_last_error copies its text; 0 for a NULL index."]
    pub fn polar_index_description(
        index: *const polar_index,
        buf: *mut ::std::os::raw::c_char,
        cap: usize,
    ) -> usize;
    #[doc = " Tells what polar_index_search would do for nq queries, 1 to 2^40, k ≥ 1 and these"]
    #[doc = " options, NULL for the defaults: how it scans, rows, stages, and about how many bytes it reads."]
    #[doc = " Nothing is searched. Lines of text for people, \"scan: …\" and so on; their words may change."]
    #[doc = " Copied as polar_last_error copies its text; *needed becomes the whole text's length. Errors as"]
    #[doc = " those of the search."]
    pub fn polar_index_explain(
        index: *const polar_index,
        nq: i64,
        k: i64,
        options: *const polar_search_options,
        buf: *mut ::std::os::raw::c_char,
        cap: usize,
        needed: *mut usize,
    ) -> polar_status;
    #[doc = " All rows within a radius of each of nq ≥ 0 queries, (nq, dim): score > radius (inner product,"]
    #[doc = " cosine) or squared distance < radius (L2). lims, (nq + 1): rows lims[q] … lims[q+1] − 1 are those"]
    #[doc = " of query q, best first, ties by lower row, where one of our specs finds them, in FAISS's order"]
    #[doc = " else. scores and ids, (capacity): the rows below capacity, of all queries together, are written;"]
    #[doc = " lims always tells how many there are. Two calls, the first with capacity 0 (scores and ids may"]
    #[doc = " then be NULL), get all of them, at the cost of two searches."]
    #[doc = " options: NULL for the defaults. At finite exactness a few rows near the radius are left out; +inf"]
    #[doc = " finds every row. A graph of our specs finds those that it comes to from the nearest by way of"]
    #[doc = " rows within the radius: nearly all. Of a refinement the refining codes say what is within the"]
    #[doc = " radius; they score the rows that the other index finds within a wider one, exactness times as far"]
    #[doc = " beyond as the two scores differ, and its 64 nearest: nearly all, and every row at +inf."]
    #[doc = " POLAR_ERROR_UNSUPPORTED for an index without range search (FAISS's graphs, scalar and product"]
    #[doc = " quantizers), also in refinements. Memory: 16 bytes a row found, besides, of refinements 12 more a"]
    #[doc = " row scored; filters of FAISS's own indexes are applied to what is found without."]
    pub fn polar_index_range_search(
        index: *const polar_index,
        nq: i64,
        queries: *const f32,
        radius: f32,
        options: *const polar_search_options,
        capacity: i64,
        lims: *mut i64,
        scores: *mut f32,
        ids: *mut i64,
    ) -> polar_status;
    #[doc = " Removes the rows with these ids, (n), in any order; ids that are not held are passed over."]
    #[doc = " *removed, unless NULL: rows that went. Rows without ids of the caller's keep their order and are"]
    #[doc = " numbered anew, from 0; where an index cannot do that (inverted files alone, id maps), and where"]
    #[doc = " it cannot remove at all (FAISS's NSG and packed lists), POLAR_ERROR_UNSUPPORTED. A refinement"]
    #[doc = " removes what both its indexes can. Of rows with ids the last ones take the places, which matters"]
    #[doc = " for nothing but ties. Cost: with ids of the caller's, in an index that is one of our specs or an"]
    #[doc = " inverted file of them, about a microsecond a row that goes; of an HNSW graph of our codes in an"]
    #[doc = " id map, in a call for one row, about as much as a row that comes; else a pass over all rows, of a"]
    #[doc = " graph over all links too, so that many in one call cost less. Memory is given back."]
    pub fn polar_index_remove(
        index: *mut polar_index,
        n: i64,
        ids: *const i64,
        removed: *mut i64,
    ) -> polar_status;
    #[doc = " The same for the rows that a search with this filter would find among, which must not be of"]
    #[doc = " POLAR_FILTER_NONE."]
    pub fn polar_index_remove_filtered(
        index: *mut polar_index,
        filter: *const polar_filter,
        removed: *mut i64,
    ) -> polar_status;
    #[doc = " Codes x, (n, dim), in the place of the rows with these ids, (n); of equal ids the last counts."]
    #[doc = " POLAR_ERROR_NOT_FOUND when an id is not in the index; POLAR_ERROR_UNSUPPORTED unless the index is"]
    #[doc = " one of our specs, also in id maps, an inverted file or graph of one, or a refinement of"]
    #[doc = " these; also after vector transforms. Cost: that of adding the rows, in graphs of removing as"]
    #[doc = " many, too, in refinements of inverted files of a pass over all ids."]
    pub fn polar_index_update(
        index: *mut polar_index,
        n: i64,
        ids: *const i64,
        x: *const f32,
        options: *const polar_work_options,
    ) -> polar_status;
    #[doc = " The same, but rows whose ids, each ≥ 0, are not in the index are added. For an index whose rows"]
    #[doc = " have ids of the caller's; POLAR_ERROR_UNSUPPORTED for id maps too."]
    pub fn polar_index_upsert(
        index: *mut polar_index,
        n: i64,
        ids: *const i64,
        x: *const f32,
        options: *const polar_work_options,
    ) -> polar_status;
    #[doc = " Builds the links of NSG graphs of our specs, wherever they are in the index, anew from their"]
    #[doc = " rows' codes: after many rows went or were updated, searches find as much as in a graph that was"]
    #[doc = " built of the rows held. Graphs of fewer rows than NSG is built of keep their links. Other indexes"]
    #[doc = " keep nothing of rows that went, and are left as they are. Cost: that of building the graph. An"]
    #[doc = " error leaves the index as it was."]
    pub fn polar_index_compact(
        index: *mut polar_index,
        options: *const polar_work_options,
    ) -> polar_status;
    #[doc = " Moves all rows of `other` after those of `index`; `other` is empty afterwards and stays usable."]
    #[doc = " Ids of the caller's stay and must differ, other rows are numbered on. Both must be made and"]
    #[doc = " trained alike: POLAR_ERROR_STATE_MISMATCH, with the part that differs, when their codes do not"]
    #[doc = " mix (train before sharding, or give all shards one state). Rows that `other` keeps as floats are"]
    #[doc = " added; an index of our specs that learned nothing yet takes over what the codes of `other` are"]
    #[doc = " made by, and codes by it what it holds. POLAR_ERROR_UNSUPPORTED for kinds whose rows cannot be"]
    #[doc = " moved: graphs, refinements, FAISS's packed lists. An error leaves both as they were."]
    pub fn polar_index_merge(
        index: *mut polar_index,
        other: *mut polar_index,
        options: *const polar_work_options,
    ) -> polar_status;
    #[doc = " Lists of the inverted file. 0 for an index that is none, and for NULL."]
    pub fn polar_index_nlist(index: *const polar_index) -> i64;
    #[doc = " Lists that a search looks through for each query where its options' nprobe is 0: 1 in a new"]
    #[doc = " index, as FAISS has it. Files keep it. 0 for an index that is no inverted file, and for NULL."]
    pub fn polar_index_nprobe(index: *const polar_index) -> i64;
    #[doc = " nprobe: 1 or more; beyond the lists there are, all are searched. Training keeps it."]
    #[doc = " POLAR_ERROR_UNSUPPORTED for an index that is no inverted file."]
    pub fn polar_index_set_nprobe(index: *mut polar_index, nprobe: i64) -> polar_status;
    #[doc = " polar_index_train with lists that were made elsewhere: centroids, (nlist, dim), become the lists'"]
    #[doc = " in this order, taken as they are, and the code is trained on the n ≥ 1 rows x, (n, dim). nlist:"]
    #[doc = " that of the index. For inverted files of our specs alone, whose coarse quantizer takes centroids"]
    #[doc = " (\"IVF1024,Polar4\", \"IVF1024_HNSW32,Polar2\"); POLAR_ERROR_UNSUPPORTED for others."]
    #[doc = " POLAR_ERROR_STATE_MISMATCH once the index holds rows."]
    pub fn polar_index_train_with_centroids(
        index: *mut polar_index,
        nlist: i64,
        centroids: *const f32,
        n: i64,
        x: *const f32,
        options: *const polar_work_options,
    ) -> polar_status;
    #[doc = " polar_index_add_with_ids into lists of the caller's choice, lists (n), each 0 to nlist − 1, in"]
    #[doc = " the place of those whose centroids are nearest. For the indexes of"]
    #[doc = " polar_index_train_with_centroids."]
    pub fn polar_index_add_to_lists(
        index: *mut polar_index,
        n: i64,
        x: *const f32,
        ids: *const i64,
        lists: *const i64,
        options: *const polar_work_options,
    ) -> polar_status;
    #[doc = " Rows held. 0 for NULL."]
    pub fn polar_index_ntotal(index: *const polar_index) -> i64;
    #[doc = " 1 when rows can be added, 0 when train must come first or index is NULL."]
    pub fn polar_index_is_trained(index: *const polar_index) -> i32;
    #[doc = " Bytes of one stored row's code, in all parts of the index, without ids and graph links."]
    #[doc = " POLAR_ERROR_UNSUPPORTED where rows share codes or FAISS does not tell."]
    pub fn polar_index_code_size(index: *const polar_index, bytes: *mut usize) -> polar_status;
    #[doc = " x, (dim): the reconstruction of the row with this id, of its normalized form for cosine;"]
    #[doc = " POLAR_ERROR_NOT_FOUND for none, POLAR_ERROR_UNSUPPORTED for an index that keeps no way back from"]
    #[doc = " id to row (\"IDMap,…\" where \"IDMap2,…\" does)."]
    pub fn polar_index_reconstruct(index: *const polar_index, id: i64, x: *mut f32)
        -> polar_status;
    #[doc = " *out: an index like this one, in memory, which can be changed. In memory twice meanwhile."]
    pub fn polar_index_clone(index: *const polar_index, out: *mut *mut polar_index)
        -> polar_status;
    #[doc = " Memory that the index takes: codes, ids, what was trained; what lies in a mapped file is not"]
    #[doc = " counted. FAISS's parts are counted by what they would be saved as."]
    pub fn polar_index_memory_bytes(index: *const polar_index, bytes: *mut usize) -> polar_status;
}
#[doc = " Receives the next bytes of a file, in order; non-zero ends the call with POLAR_ERROR_IO."]
pub type polar_write_fn = ::core::option::Option<
    unsafe extern "C" fn(
        user: *mut ::core::ffi::c_void,
        data: *const ::core::ffi::c_void,
        bytes: usize,
    ) -> i32,
>;
#[doc = " Fills up to `bytes` bytes of data, in order, and returns how many; 0 where there are no more,"]
#[doc = " negative ends the call with POLAR_ERROR_IO."]
pub type polar_read_fn = ::core::option::Option<
    unsafe extern "C" fn(
        user: *mut ::core::ffi::c_void,
        data: *mut ::core::ffi::c_void,
        bytes: usize,
    ) -> i64,
>;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct polar_load_options {
    #[doc = " sizeof(polar_load_options), set by polar_load_options_init"]
    pub struct_size: u32,
    #[doc = " 1: rows of our specs, flat and in inverted files, stay in the file, which is mapped to memory."]
    #[doc = " Such an index cannot be changed. Its rows are verified when they are first used: 1 MiB for a"]
    #[doc = " single row, the lists that are probed by a search of an inverted file, all by the first search"]
    #[doc = " of a flat index or polar_index_verify. polar_index_reconstruct looks through the ids. The file"]
    #[doc = " may be removed or replaced meanwhile, but not written to or cut short, which ends the process."]
    #[doc = " Not for polar_index_load_from. Default 0."]
    pub memory_map: i32,
    #[doc = " 0 (default): indexes of our specs are read, and what stands around them: \"Flat\", \"SQ8\" and"]
    #[doc = " \"SQfp16\", refinements by these or ours, IDMap and IDMap2, linear transforms, inverted files,"]
    #[doc = " HNSW and NSG graphs of our specs (docs/format.md has the table). Whatever such a file says, it"]
    #[doc = " gives an index that works or an error. All else, as \"IVF1024,Flat\", \"HNSW32,Flat\", \"PQ16\" and"]
    #[doc = " \"ITQ64,Polar4\", is refused with POLAR_ERROR_UNSUPPORTED, whoever saved it. 1: parts of FAISS's"]
    #[doc = " are given to FAISS's reader unchecked: for files from whom you trust, since others can end the"]
    #[doc = " process, or worse. Checksums are verified either way."]
    pub trust_faiss: i32,
    #[doc = " 0"]
    pub reserved: i32,
}
extern "C" {
    #[doc = " As polar_load_options_init, which calls it; struct_size: the caller's sizeof."]
    pub fn polar_load_options_init_sized(options: *mut polar_load_options, struct_size: usize);
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct polar_save_options {
    #[doc = " sizeof(polar_save_options), set by polar_save_options_init"]
    pub struct_size: u32,
    #[doc = " 1: the whole file is read back before it takes its name, and refused with"]
    #[doc = " POLAR_ERROR_CORRUPT_DATA, what was there left as it was, unless it makes an index of as many"]
    #[doc = " rows. The index is in memory twice meanwhile. Default 0."]
    pub verify: i32,
}
extern "C" {
    #[doc = " As polar_save_options_init, which calls it; struct_size: the caller's sizeof."]
    pub fn polar_save_options_init_sized(options: *mut polar_save_options, struct_size: usize);
    #[doc = " Writes the index to a file (docs/format.md): rows, ids, what was trained, parameters. The file"]
    #[doc = " appears whole or not at all: it is written beside its place, synced and renamed, so that after a"]
    #[doc = " failure, a full disk or a crash a file of that name is as it was. One failure alone comes after"]
    #[doc = " the rename: where the folder cannot be synced, the new file is in place, a crash of the system"]
    #[doc = " may still undo that, and the error's text says so. A symbolic link stays, and what it names is"]
    #[doc = " made or replaced. Of threads or processes that save to one path at the same time each writes a"]
    #[doc = " whole file, and the last one's stays. A process that is killed leaves"]
    #[doc = " nothing on Linux's own file systems; on others it can leave a file \".polar-\" with 16 hexadecimal"]
    #[doc = " digits in the folder. POLAR_ERROR_IO: the system refused; POLAR_ERROR_UNSUPPORTED:"]
    #[doc = " FAISS cannot write the index. options: NULL for the defaults."]
    pub fn polar_index_save(
        index: *const polar_index,
        path: *const ::std::os::raw::c_char,
        options: *const polar_save_options,
    ) -> polar_status;
    #[doc = " The same bytes by calls of `write`, front to back; `verify` is not for them."]
    pub fn polar_index_save_to(
        index: *const polar_index,
        write: polar_write_fn,
        user: *mut ::core::ffi::c_void,
        options: *const polar_save_options,
    ) -> polar_status;
    #[doc = " The index of a file of polar_index_save. Nothing in the file is trusted: whatever it says, it"]
    #[doc = " gives a working index or a status and a text that says what is wrong: POLAR_ERROR_CORRUPT_DATA,"]
    #[doc = " POLAR_ERROR_NEWER_FORMAT, POLAR_ERROR_UNSUPPORTED, POLAR_ERROR_IO. Memory stays within what the"]
    #[doc = " file's size and the codec of its names take. options: NULL for the defaults."]
    pub fn polar_index_load(
        path: *const ::std::os::raw::c_char,
        options: *const polar_load_options,
        out: *mut *mut polar_index,
    ) -> polar_status;
    #[doc = " The same by calls of `read`, front to back; no byte after the index is read."]
    pub fn polar_index_load_from(
        read: polar_read_fn,
        user: *mut ::core::ffi::c_void,
        options: *const polar_load_options,
        out: *mut *mut polar_index,
    ) -> polar_status;
    #[doc = " Reads all that a memory-mapped index has in its file: POLAR_ERROR_CORRUPT_DATA unless it is what"]
    #[doc = " was saved. POLAR_OK at once for other indexes, which were verified when they were loaded."]
    pub fn polar_index_verify(index: *const polar_index) -> polar_status;
    #[doc = " Merges the index files at these paths, (n), n ≥ 1, into one at `out`, which may be one of them"]
    #[doc = " but on Windows (POLAR_ERROR_IO there, and nothing changes): the same bytes, after equal training,"]
    #[doc = " as one index has that was given all rows in this order, and saved; but a BLAS may round vector"]
    #[doc = " transforms (\"PCA64,Polar4\") otherwise for another number of rows. Ids of the caller's stay and"]
    #[doc = " must differ (POLAR_ERROR_BAD_ARGUMENT names one that comes twice), other rows are numbered on."]
    #[doc = " Codes must be made alike: POLAR_ERROR_STATE_MISMATCH names the file and the part that differs;"]
    #[doc = " train once and give all shards that state (polar_index_clone). Parameters, as nprobe, are those"]
    #[doc = " of the first file. Files without rows are fine; rows kept as floats, of an index that was never"]
    #[doc = " trained, are refused. `out` appears whole or not at all, as by polar_index_save. Memory: what was"]
    #[doc = " trained, twice, the largest list's ids, a bit a row, and of flat indexes with ids of the caller's"]
    #[doc = " 20 bytes a row; files are mapped and read through, with up to 32 MiB of their pages in memory at"]
    #[doc = " a time. options: NULL for the defaults; num_threads is not used."]
    pub fn polar_merge_files(
        n: i64,
        paths: *const *const ::std::os::raw::c_char,
        out: *const ::std::os::raw::c_char,
        options: *const polar_work_options,
    ) -> polar_status;
    #[doc = " The index files at these paths, (n), n ≥ 1, as one index, with the answers, to the bit, of the"]
    #[doc = " file that polar_merge_files makes of them. They are mapped, and must stay as polar_load_options"]
    #[doc = " says of memory_map; the index cannot be changed, but saved and cloned. Rows are verified when"]
    #[doc = " they are first used; ids that two files have are found by polar_index_verify, and by saving."]
    #[doc = " Errors as those of polar_merge_files; besides, flat codes that do not lie in blocks (those of the"]
    #[doc = " published codecs) are not searched. Memory: what was trained, ids of the lists that are searched,"]
    #[doc = " 8 bytes each, and of flat indexes with ids of the caller's 20 bytes a row."]
    pub fn polar_index_open_shards(
        n: i64,
        paths: *const *const ::std::os::raw::c_char,
        out: *mut *mut polar_index,
    ) -> polar_status;
    #[doc = " *out: an index without rows, in memory, that codes as the one in the file at `path` does: for"]
    #[doc = " shards whose rows mix with the file's. Of the kinds above. The file's rows are not read."]
    pub fn polar_index_load_empty(
        path: *const ::std::os::raw::c_char,
        out: *mut *mut polar_index,
    ) -> polar_status;
    #[doc = " *bytes: the most that the partial result of nq queries and the k best has."]
    pub fn polar_index_partial_bytes(
        index: *const polar_index,
        nq: i64,
        k: i64,
        bytes: *mut usize,
    ) -> polar_status;
    #[doc = " Searches a part of an index for what polar_index_search finds in all of it, and writes the"]
    #[doc = " partial result to `partial`, of `capacity` bytes, and its size to *bytes. first_row: how many"]
    #[doc = " rows the parts before have; ids that are positions, and a filter over them, are the whole's."]
    #[doc = " Arguments, errors and threads as of polar_index_search; besides, POLAR_ERROR_UNSUPPORTED for a"]
    #[doc = " filter over an inverted file, whose lists are chosen by what the filter keeps of all parts:"]
    #[doc = " search these by polar_index_search, and take the best of all."]
    pub fn polar_index_search_partial(
        index: *const polar_index,
        first_row: i64,
        nq: i64,
        queries: *const f32,
        k: i64,
        options: *const polar_search_options,
        capacity: usize,
        partial: *mut u8,
        bytes: *mut usize,
    ) -> polar_status;
    #[doc = " The answer of the whole from the partial results of its parts, (n), n ≥ 1, in the order of their"]
    #[doc = " rows, to the same queries: scores and ids, (nq, k), as polar_index_search writes them. bytes:"]
    #[doc = " (n), the sizes. POLAR_ERROR_BAD_ARGUMENT for partial results of another nq or k,"]
    #[doc = " POLAR_ERROR_STATE_MISMATCH for those of different kinds of indexes, POLAR_ERROR_CORRUPT_DATA for"]
    #[doc = " other bytes."]
    pub fn polar_merge_partials(
        n: i64,
        partials: *const *const u8,
        bytes: *const usize,
        nq: i64,
        k: i64,
        scores: *mut f32,
        ids: *mut i64,
    ) -> polar_status;
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct polar_builder {
    _unused: [u8; 0],
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct polar_builder_options {
    #[doc = " sizeof(polar_builder_options), set by polar_builder_options_init"]
    pub struct_size: u32,
    #[doc = " 1: parts of an earlier build in the folder are removed, not refused. Of polar_builder_create."]
    #[doc = " Default 0."]
    pub replace: i32,
    #[doc = " Memory for rows of a part, 1 MiB or more; what was trained, and the floats of a call, come on"]
    #[doc = " top. Memory of many small lists is not packed tightly: leave as much again to the process."]
    #[doc = " Default 1 GiB."]
    pub memory_bytes: i64,
}
extern "C" {
    #[doc = " As polar_builder_options_init, which calls it; struct_size: the caller's sizeof."]
    pub fn polar_builder_options_init_sized(
        options: *mut polar_builder_options,
        struct_size: usize,
    );
    #[doc = " Begins the file at `path` with rows coded as `index` codes them: a trained one without rows, of"]
    #[doc = " which a copy is kept, in the folder too. POLAR_ERROR_NOT_TRAINED for one that was not trained,"]
    #[doc = " also where training is optional: parts would learn from different rows. POLAR_ERROR_BAD_ARGUMENT"]
    #[doc = " where the folder has parts of an earlier build, unless options->replace is 1. options: NULL for"]
    #[doc = " the defaults, here and below. An index file at `path` stays as it is until the new one is whole."]
    pub fn polar_builder_create(
        index: *const polar_index,
        path: *const ::std::os::raw::c_char,
        options: *const polar_builder_options,
        out: *mut *mut polar_builder,
    ) -> polar_status;
    #[doc = " Goes on with the build whose parts lie beside `path`: polar_builder_ntotal then tells after which"]
    #[doc = " rows, which are those of whole parts. POLAR_ERROR_NOT_FOUND where there is none."]
    #[doc = " POLAR_ERROR_CORRUPT_DATA names a part that is missing, damaged where it is looked at (its rows"]
    #[doc = " are verified by finish), or of another state."]
    pub fn polar_builder_resume(
        path: *const ::std::os::raw::c_char,
        options: *const polar_builder_options,
        out: *mut *mut polar_builder,
    ) -> polar_status;
    #[doc = " NULL is fine. Parts that were written stay; rows that were not are lost."]
    pub fn polar_builder_destroy(builder: *mut polar_builder);
    #[doc = " Adds n ≥ 0 rows, (n, dim), with ids ntotal, ntotal + 1, … After an error, in writing a part too,"]
    #[doc = " the rows that polar_builder_ntotal counts are in the builder."]
    pub fn polar_builder_add(
        builder: *mut polar_builder,
        n: i64,
        x: *const f32,
        options: *const polar_work_options,
    ) -> polar_status;
    #[doc = " The same with ids of the caller's, (n), each ≥ 0. Those that come twice are found within a part"]
    #[doc = " by this call, else by polar_builder_finish. A builder takes rows with ids or without, not both."]
    pub fn polar_builder_add_with_ids(
        builder: *mut polar_builder,
        n: i64,
        x: *const f32,
        ids: *const i64,
        options: *const polar_work_options,
    ) -> polar_status;
    #[doc = " Writes the rows in memory as a part, as before a stop that is to lose none."]
    pub fn polar_builder_write_part(builder: *mut polar_builder) -> polar_status;
    #[doc = " Writes the index file, as polar_merge_files does, and removes the folder of parts. The builder"]
    #[doc = " can then only be destroyed. After an error, or a stop by options->progress, the parts are there"]
    #[doc = " still, and it can be called again."]
    pub fn polar_builder_finish(
        builder: *mut polar_builder,
        options: *const polar_work_options,
    ) -> polar_status;
    #[doc = " Dimensions of a vector. 0 for NULL."]
    pub fn polar_builder_dim(builder: *const polar_builder) -> i32;
    #[doc = " Rows that were added, those of an earlier process's parts too. 0 for NULL."]
    pub fn polar_builder_ntotal(builder: *const polar_builder) -> i64;
    #[doc = " The rows of them that lie in whole parts. 0 for NULL."]
    pub fn polar_builder_written(builder: *const polar_builder) -> i64;
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct polar_advice {
    _unused: [u8; 0],
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct polar_advice_options {
    #[doc = " sizeof(polar_advice_options), set by polar_advice_options_init"]
    pub struct_size: u32,
    #[doc = " 0 to 1024; default 0 = OpenMP's default"]
    pub num_threads: i32,
    #[doc = " draws the parts of the sample, and rotations; any value, default 1"]
    pub seed: u64,
    #[doc = " neighbours searched for; 1 to max_rows/10, default 10"]
    pub k: i64,
    #[doc = " What is asked for; 0 (default): nothing. With wanted_recall, 0 to 1, the code of the fewest"]
    #[doc = " bytes that surely reaches it is recommended; with allowed_bytes, per vector, the one of the"]
    #[doc = " highest recall within them; with both, the first if it fits; with neither, the best value: the"]
    #[doc = " most of recall less .01 for each half bit a dimension."]
    pub wanted_recall: f64,
    pub allowed_bytes: f64,
    #[doc = " rows searched at most; 10 to 2^40, default 20000"]
    pub max_rows: i64,
    #[doc = " queries at most; 10 to 2^40, default 1000"]
    pub max_queries: i64,
    #[doc = " rows there will be, up to 2^40; default 0: n, the sample is all"]
    pub total_rows: i64,
    #[doc = " (num_specs) specs to measure, as polar_codec_create takes them; by default, NULL,"]
    #[doc = " those of 0.5 to 8 bits a dimension that a user would choose among, with and without \"-pca\","]
    #[doc = " and with allowed_bytes of 64 or less PolarB… of up to these bytes. The"]
    #[doc = " untrained code of each \"-pca\" is measured too."]
    pub specs: *const *const ::std::os::raw::c_char,
    pub num_specs: i64,
    #[doc = " As polar_search_options's. Training one code is not interrupted."]
    pub progress: polar_progress_fn,
    pub progress_user: *mut ::core::ffi::c_void,
}
extern "C" {
    #[doc = " As polar_advice_options_init, which calls it; struct_size: the caller's sizeof."]
    pub fn polar_advice_options_init_sized(options: *mut polar_advice_options, struct_size: usize);
    #[doc = " Measures codes on n rows x, (n, dim), drawn from what is to be stored, and nq queries, (nq, dim)."]
    #[doc = " With nq = 0 (queries may then be NULL) a tenth of the rows is held out as queries; give queries"]
    #[doc = " of your own, 10 or more, where they are of another kind than the rows. Parts are drawn at random"]
    #[doc = " by the seed: queries; up to half of the other rows, at most the larger of 20·dim and 10,000, to"]
    #[doc = " train on; of the rest max_rows to search. No row is in two parts, so that recall is that of rows"]
    #[doc = " which training has not seen. About 22·k rows are needed, \"-pca\" takes 2·dim to train on, better"]
    #[doc = " 10·dim."]
    #[doc = ""]
    #[doc = " Recall@k is the share of the k exact neighbours among the k that a search with the default"]
    #[doc = " exactness finds, over the rows searched; rows as near as the k-th count as found. Over more rows"]
    #[doc = " it is lower on some data, as neighbours lie closer together. So a quarter of these rows is"]
    #[doc = " searched alone, too: by how much more is missed over all of them, expected_recall tells recall"]
    #[doc = " over total_rows, and the recommendation goes by it; \"surely\" above means by more than"]
    #[doc = " recall_margin. A trained code is recommended only when it finds more than its untrained one by"]
    #[doc = " more than noise: query by query, by more than 1.96 standard errors."]
    #[doc = ""]
    #[doc = " The result is the same for the same arguments, whatever the number of threads; where a code is"]
    #[doc = " trained, on one machine and LAPACK. A code that cannot be measured has its problem told in its"]
    #[doc = " row. POLAR_ERROR_BAD_ARGUMENT for too few rows, numbers that are not finite, wrong specs;"]
    #[doc = " POLAR_ERROR_CANCELLED. *out is NULL after a failure."]
    #[doc = " Cost: for each code a training, max_rows encoded and max_queries searched for: a"]
    #[doc = " minute on two cores for 384 dimensions by the defaults, three for 1,536; training grows with"]
    #[doc = " dim³. Memory: the drawn rows as floats, and one code's rows."]
    pub fn polar_advice_create(
        dim: i32,
        metric: polar_metric,
        n: i64,
        x: *const f32,
        nq: i64,
        queries: *const f32,
        options: *const polar_advice_options,
        out: *mut *mut polar_advice,
    ) -> polar_status;
    #[doc = " NULL is fine."]
    pub fn polar_advice_destroy(advice: *mut polar_advice);
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct polar_advice_info {
    #[doc = " set by the caller to sizeof(polar_advice_info) before the call"]
    pub struct_size: u32,
    #[doc = " 1: the queries are rows of the sample"]
    pub held_out_queries: i32,
    #[doc = " codes measured, of polar_advice_get_row"]
    pub rows: i64,
    #[doc = " row to take; −1: no code is what was asked for"]
    pub recommended: i64,
    #[doc = " why, in a sentence or two; UTF-8, valid as long as the advice"]
    pub reason: *const ::std::os::raw::c_char,
    #[doc = " vectors in each part of the sample"]
    pub queries: i64,
    #[doc = " searched"]
    pub base_rows: i64,
    pub train_rows: i64,
}
extern "C" {
    #[doc = " Fills *info up to its struct_size; what the library does not know becomes 0."]
    pub fn polar_advice_get_info(
        advice: *const polar_advice,
        info: *mut polar_advice_info,
    ) -> polar_status;
}
#[doc = " One code on the sample."]
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct polar_advice_row {
    #[doc = " set by the caller to sizeof(polar_advice_row) before the call"]
    pub struct_size: u32,
    #[doc = " 1: polar_codec_train must come before encode"]
    pub needs_training: i32,
    #[doc = " valid as long as the advice"]
    pub spec: *const ::std::os::raw::c_char,
    #[doc = " \"\", or why it was not measured: then the numbers below are 0"]
    pub problem: *const ::std::os::raw::c_char,
    #[doc = " factors included"]
    pub bytes_per_vector: f64,
    #[doc = " recall@k, 0 to 1"]
    pub recall: f64,
    #[doc = " half of its 95 % interval, by the queries' spread"]
    pub recall_margin: f64,
    #[doc = " recall@k when only a quarter of the rows is searched"]
    pub quarter_recall: f64,
    #[doc = " recall@k over total_rows; recall when nothing speaks against it"]
    pub expected_recall: f64,
    #[doc = " mean ‖x\u{302}−x‖²/‖x−c‖², x\u{302} unbiased, of rows not trained on"]
    pub error: f64,
    #[doc = " recall less that of the untrained code; 0 unless \"-pca\""]
    pub gain: f64,
    #[doc = " half of the 95 % interval of the gain"]
    pub gain_margin: f64,
    #[doc = " memory of rotation and tables, once for all vectors"]
    pub codec_bytes: usize,
    #[doc = " 0: \"-pca\" that gains no more than noise, and is never recommended"]
    pub pays: i32,
    #[doc = " 1 for the row of polar_advice_info.recommended"]
    pub is_recommended: i32,
}
extern "C" {
    #[doc = " Fills *filled with row `row`, 0 ≤ row < rows, by rising bytes for the default codes."]
    pub fn polar_advice_get_row(
        advice: *const polar_advice,
        row: i64,
        filled: *mut polar_advice_row,
    ) -> polar_status;
    #[doc = " *count: devices, 1 or more."]
    pub fn polar_cuda_device_count(count: *mut i32) -> polar_status;
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct polar_cuda_device_info {
    #[doc = " set by the caller to sizeof(polar_cuda_device_info) before the call"]
    pub struct_size: u32,
    #[doc = " compute capability, as 9.0"]
    pub compute_major: i32,
    #[doc = " its second number"]
    pub compute_minor: i32,
    #[doc = " of the device"]
    pub multiprocessors: i32,
    #[doc = " of its memory"]
    pub total_bytes: u64,
    #[doc = " of these, not in use now, by anyone"]
    pub free_bytes: u64,
    #[doc = " closed by 0"]
    pub name: [::std::os::raw::c_char; 256usize],
}
extern "C" {
    #[doc = " Fills *info up to its struct_size. device: 0 to count − 1."]
    pub fn polar_cuda_get_device_info(
        device: i32,
        info: *mut polar_cuda_device_info,
    ) -> polar_status;
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct polar_cuda_index {
    _unused: [u8; 0],
}
#[doc = " What each of several devices has of an index."]
pub type polar_cuda_layout = i32;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct polar_cuda_options {
    #[doc = " sizeof(polar_cuda_options), set by polar_cuda_options_init"]
    pub struct_size: u32,
    #[doc = " Of the host: to code rows that an index keeps as floats, and to prepare the queries of a"]
    #[doc = " polar_cuda_codec; 0 to 1024, default 0 = OpenMP's default."]
    pub num_threads: i32,
    #[doc = " 0 (default) to the number of devices − 1; read when num_devices is 0"]
    pub device: i32,
    #[doc = " 0 (default) to 64; 0 for encoders and codecs"]
    pub num_devices: i32,
    #[doc = " (num_devices), for indexes on several devices, each 0 to the number of devices − 1. Shards are"]
    #[doc = " in this order: contiguous rows, as equally many as whole blocks of 64 allow. A device that is"]
    #[doc = " listed n times is given n shards, or n copies of all rows, as if it were n devices. Where there"]
    #[doc = " are fewer blocks than devices, the first ones alone have rows. NULL (default): `device`."]
    pub devices: *const i32,
    #[doc = " POLAR_CUDA_…; default sharded; the same for one device"]
    pub layout: polar_cuda_layout,
    #[doc = " 0"]
    pub reserved: i32,
}
extern "C" {
    #[doc = " As polar_cuda_options_init, which calls it; struct_size: the caller's sizeof."]
    pub fn polar_cuda_options_init_sized(options: *mut polar_cuda_options, struct_size: usize);
    #[doc = " Copies an index to a device, or to several: its blocks as they are, its codec, its ids. The index"]
    #[doc = " may change, or go, afterwards; the copy does not. For indexes that are one of our specs alone,"]
    #[doc = " \"Polar0.5\" to \"Polar8\", residual and trained codes (\"…-pca\"), for inverted files of these that"]
    #[doc = " find lists by all their centroids (\"IVF1024,Polar4\"), and for refinements of both"]
    #[doc = " (\"Polar2,Refine(Polar8)\", \"IVF1024,Polar4,RFlat\"); POLAR_ERROR_UNSUPPORTED for the others. A part"]
    #[doc = " of the rows of an inverted file is a part of its lists, about equal in rows. Rows that the index"]
    #[doc = " keeps as floats (polar_index_add) are coded for the copy, by what they teach. What refines is"]
    #[doc = " copied to the devices where these are such codes and have memory for them, else in host memory."]
    #[doc = " options: NULL for the defaults. Cost: the codes' bytes over the bus, to several devices at the"]
    #[doc = " same time; 8 bytes a row stay in host memory for ids, and of an inverted file as many for where"]
    #[doc = " ids are, if the index has that, and the centroids. Waits for the devices."]
    pub fn polar_cuda_index_from_index(
        index: *const polar_index,
        options: *const polar_cuda_options,
        out: *mut *mut polar_cuda_index,
    ) -> polar_status;
    #[doc = " The same from n ≥ 0 codes of the caller's; codes_bytes as for polar_codec_encode. Rows have their"]
    #[doc = " positions as ids. Packs the codes into blocks first, so that they are in memory twice meanwhile."]
    pub fn polar_cuda_index_from_codes(
        codec: *const polar_codec,
        n: i64,
        codes: *const u8,
        codes_bytes: usize,
        options: *const polar_cuda_options,
        out: *mut *mut polar_cuda_index,
    ) -> polar_status;
    #[doc = " Makes a copy what polar_cuda_index_from_index would now make of `index`, with the options that"]
    #[doc = " the copy was made with. Where rows have only come to the index since, by any call that adds or"]
    #[doc = " merges, no more than what the copy lacks goes over the bus: without lists the rows from the last"]
    #[doc = " block of 64 on that was not full; of an inverted file those of each list. What a device has stays"]
    #[doc = " in place, or moves within its memory: without lists where the copy's memory is full, to memory"]
    #[doc = " for a quarter more rows, so that many small adds cost little; of an inverted file always, since"]
    #[doc = " lists grow."]
    #[doc = ""]
    #[doc = " All is copied anew, to the same result, after any other change of rows (removed, updated, put,"]
    #[doc = " reset), after training, while rows are kept as floats, from an index that is another one, as one"]
    #[doc = " read from a file is, of refinements whose second step the host has, and of several devices that"]
    #[doc = " have a part of the rows each."]
    #[doc = ""]
    #[doc = " POLAR_ERROR_STATE_MISMATCH where `index` has another spec, metric or number of dimensions or of"]
    #[doc = " lists than the copy, or is a refinement and the copy is not, or the other way round; the others"]
    #[doc = " are those of polar_cuda_index_from_index. After an error the copy is as it was, and may be"]
    #[doc = " searched: what is new comes beside what is there, so that memory of the devices and of the host"]
    #[doc = " has to hold both for the time of the call, unless rows stay in place."]
    #[doc = ""]
    #[doc = " The copy needs sole use: no search of it may run meanwhile. Prepared searches, and CUDA graphs of"]
    #[doc = " them, may; they go on finding the rows that the copy had when they were created, and keep the"]
    #[doc = " memory of these. What prepared filters keep on the devices is found anew. Waits for the devices."]
    pub fn polar_cuda_index_refresh(
        copy: *mut polar_cuda_index,
        index: *const polar_index,
    ) -> polar_status;
    #[doc = " NULL is fine."]
    pub fn polar_cuda_index_destroy(index: *mut polar_cuda_index);
    #[doc = " The k nearest of each of nq ≥ 0 queries, (nq, dim): scores and ids, (nq, k); the same rows and"]
    #[doc = " scores, to the bit, as polar_blocks_search and polar_index_search give with these options"]
    #[doc = " (docs/cuda.md says when an inverted file's lists may be others). k ≥ 1. options: NULL for the"]
    #[doc = " defaults; nprobe 0 is what polar_index_nprobe was of the index when it was copied, ef_search is"]
    #[doc = " to be 0, and so are nprobe unless it was an inverted file, and k_factor unless it was a"]
    #[doc = " refinement: else POLAR_ERROR_UNSUPPORTED. Every filter works, as a bitset that the host makes of"]
    #[doc = " it; few rows that a filter keeps of an inverted file are scored by the host, and those that a"]
    #[doc = " prepared filter keeps of an index without lists, no more than an eighth, are copied side by side"]
    #[doc = " on the device by the first search: copies that are the filter's until it is destroyed."]
    #[doc = " num_threads is for preparing queries, and for what the host does with results; progress is not"]
    #[doc = " called."]
    #[doc = ""]
    #[doc = " Queries, scores, ids and the words of a filter's bitset are each in host memory or in a device's."]
    #[doc = " An index on one device that is no refinement uses them where they lie, if that is its own memory:"]
    #[doc = " queries are prepared there, with the host's bits, and nothing of them passes through the host. It"]
    #[doc = " copies, since the host has what they need: ids of an inverted file and of rows with ids of the"]
    #[doc = " caller's, and bitsets of these; scores of an inverted file, and its queries with any filter;"]
    #[doc = " queries, scores and ids with a prepared filter. All is copied for several devices and for"]
    #[doc = " refinements, and queries where the rotation is dense (\"-dense\") or beyond"]
    #[doc = " 8,192 dimensions. After an error results in a device's memory hold nothing of use."]
    #[doc = ""]
    #[doc = " stream: a cudaStream_t of the index's device, NULL for the default stream. All work is put on it,"]
    #[doc = " and it is waited for before the call returns; what writes queries in the device's memory is to be"]
    #[doc = " put on it before, or to have ended. An index with more than one in options.devices takes NULL"]
    #[doc = " alone: each device works on its own default stream, and waits in a thread of its own. Memory to"]
    #[doc = " work in is kept by the index for the next search: a search like one before on the same device"]
    #[doc = " allocates none there. Failures of a device name it."]
    pub fn polar_cuda_index_search(
        index: *const polar_cuda_index,
        nq: i64,
        queries: *const f32,
        k: i64,
        options: *const polar_search_options,
        stream: *mut ::core::ffi::c_void,
        scores: *mut f32,
        ids: *mut i64,
    ) -> polar_status;
    #[doc = " Rows held. 0 for NULL."]
    pub fn polar_cuda_index_ntotal(index: *const polar_cuda_index) -> i64;
    #[doc = " *bytes: device memory, of all its devices: codes, tables, and what searches keep to work in."]
    pub fn polar_cuda_index_memory_bytes(
        index: *const polar_cuda_index,
        bytes: *mut usize,
    ) -> polar_status;
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct polar_cuda_search {
    _unused: [u8; 0],
}
extern "C" {
    #[doc = " Takes the memory for searches of nq ≥ 1 queries for the k ≥ 1 nearest of each, which"]
    #[doc = " polar_cuda_search_start then starts. For an index on one device that has rows, is no inverted"]
    #[doc = " file and no refinement, and prepares queries there (polar_cuda_index_search says which does):"]
    #[doc = " POLAR_ERROR_UNSUPPORTED for the others. options: as for polar_cuda_index_search, NULL for the"]
    #[doc = " defaults; they are those of every start. What the filter keeps is asked now, and copied to the"]
    #[doc = " device. The index may be destroyed before the search, or refreshed: the search finds the rows"]
    #[doc = " that it had. Cost: device memory, of up"]
    #[doc = " to 4 queries some 2 bytes a row for each, of more some 0.6 MB for each of them, or of 4,096;"]
    #[doc = " 8 bytes a row where rows have ids of the caller's, and one bit a row with a filter."]
    pub fn polar_cuda_search_create(
        index: *const polar_cuda_index,
        nq: i64,
        k: i64,
        options: *const polar_search_options,
        out: *mut *mut polar_cuda_search,
    ) -> polar_status;
    #[doc = " Waits for the device, which may be at work on it. NULL is fine."]
    pub fn polar_cuda_search_destroy(search: *mut polar_cuda_search);
    #[doc = " Puts a search on a stream and returns: scores and ids, (nq, k), of queries, (nq, dim), as"]
    #[doc = " polar_cuda_index_search gives them, and *unfinished, one int32, all in the memory of the index's"]
    #[doc = " device, where they are read and written when the stream comes to it. *unfinished is 0 where they"]
    #[doc = " are these. It is 1 where rows that were as near as the k-th did not fit the memory, as where very"]
    #[doc = " many are alike, or where the host has to look at a query, which is not finite, too long or nearly"]
    #[doc = " so: then scores and ids hold nothing of use, and polar_cuda_index_search finds them, or says what"]
    #[doc = " is wrong with the query."]
    #[doc = ""]
    #[doc = " Nothing is allocated, copied to or from the host, or waited for: the call may be captured into a"]
    #[doc = " CUDA graph, whose launches search for the queries that then lie there. stream: a cudaStream_t of"]
    #[doc = " the index's device, NULL for the default stream. Starts of one search, and launches of graphs"]
    #[doc = " that have it, work in the same memory: each is to follow the one before, as those on one stream"]
    #[doc = " do. Searches created apart may work at the same time. POLAR_ERROR_BAD_ARGUMENT for arrays in host"]
    #[doc = " memory; what a kernel meets later is the stream's error."]
    pub fn polar_cuda_search_start(
        search: *const polar_cuda_search,
        queries: *const f32,
        stream: *mut ::core::ffi::c_void,
        scores: *mut f32,
        ids: *mut i64,
        unfinished: *mut i32,
    ) -> polar_status;
    #[doc = " *bytes: device memory of the search itself, without the index."]
    pub fn polar_cuda_search_memory_bytes(
        search: *const polar_cuda_search,
        bytes: *mut usize,
    ) -> polar_status;
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct polar_cuda_encoder {
    _unused: [u8; 0],
}
extern "C" {
    #[doc = " Copies what encoding needs of a trained codec to a device; the codec may change, or go,"]
    #[doc = " afterwards. For \"Polar0.5\" to \"Polar5\" of more than 64 dimensions, rotated as they are by default"]
    #[doc = " or with \"-norot\", and for trained codes (\"Polar4-pca\", \"Polar4+2-pca\") of as many;"]
    #[doc = " POLAR_ERROR_UNSUPPORTED for the others, and for rows too long for the device (some 13,000"]
    #[doc = " dimensions); POLAR_ERROR_NOT_TRAINED. options: NULL for the defaults."]
    pub fn polar_cuda_encoder_create(
        codec: *const polar_codec,
        options: *const polar_cuda_options,
        out: *mut *mut polar_cuda_encoder,
    ) -> polar_status;
    #[doc = " NULL is fine."]
    pub fn polar_cuda_encoder_destroy(encoder: *mut polar_cuda_encoder);
    #[doc = " Codes n ≥ 0 rows x, (n, dim), into codes, codes_bytes = n·code_bytes: the bytes of"]
    #[doc = " polar_codec_encode. x and codes are each in host memory or in the device's. A row that"]
    #[doc = " polar_codec_encode refuses is refused by number; codes then hold nothing of use. stream as for"]
    #[doc = " polar_cuda_index_search; memory to work in is kept by the encoder. Calls may run together."]
    pub fn polar_cuda_encoder_encode(
        encoder: *const polar_cuda_encoder,
        n: i64,
        x: *const f32,
        codes: *mut u8,
        codes_bytes: usize,
        stream: *mut ::core::ffi::c_void,
    ) -> polar_status;
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct polar_cuda_codec {
    _unused: [u8; 0],
}
extern "C" {
    #[doc = " Copies what decoding needs of a trained codec to a device; the codec may change, or go,"]
    #[doc = " afterwards. For every codec but PolarScalar by L2 where dim is no multiple of 128:"]
    #[doc = " POLAR_ERROR_UNSUPPORTED. options: NULL for the defaults."]
    pub fn polar_cuda_codec_create(
        codec: *const polar_codec,
        options: *const polar_cuda_options,
        out: *mut *mut polar_cuda_codec,
    ) -> polar_status;
    #[doc = " NULL is fine."]
    pub fn polar_cuda_codec_destroy(codec: *mut polar_cuda_codec);
    #[doc = " scores, (heads, nq, n): polar_codec_score of the n rows of each head, as the heads of attention"]
    #[doc = " have their keys, for the nq queries of that head, (heads, nq, dim). heads and nq 0 to 65535."]
    #[doc = " codes: those of the heads one after the other, heads·polar_codec_encoded_bytes(n) bytes. Codes"]
    #[doc = " and scores are each in host memory or in the device's, queries in host memory. The sums are"]
    #[doc = " those of the CPU in another order, so that scores differ by the rounding of floats; they are the"]
    #[doc = " same from call to call. stream as for polar_cuda_index_search; memory to work in is kept by the"]
    #[doc = " codec. Calls may run together."]
    pub fn polar_cuda_codec_score(
        codec: *const polar_cuda_codec,
        heads: i64,
        nq: i64,
        queries: *const f32,
        n: i64,
        codes: *const u8,
        codes_bytes: usize,
        stream: *mut ::core::ffi::c_void,
        scores: *mut f32,
    ) -> polar_status;
    #[doc = " out, (heads, nw, dim): polar_codec_combine of the n rows of each head, as the heads of attention"]
    #[doc = " have their values, by nw vectors of weights, (heads, nw, n). heads and nw 0 to 65535; codes,"]
    #[doc = " stream, memory and threads as for polar_cuda_codec_score. Weights and codes are each in host"]
    #[doc = " memory or in the device's, out in host memory. Sums of up to 1,024 rows are floats, those of"]
    #[doc = " these are doubles. Weights that are not finite, or whose sums are not, are refused; out is then"]
    #[doc = " as it was."]
    pub fn polar_cuda_codec_combine(
        codec: *const polar_cuda_codec,
        heads: i64,
        nw: i64,
        weights: *const f32,
        n: i64,
        codes: *const u8,
        codes_bytes: usize,
        stream: *mut ::core::ffi::c_void,
        out: *mut f32,
    ) -> polar_status;
}
