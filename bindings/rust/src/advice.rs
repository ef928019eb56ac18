// SPDX-License-Identifier: MIT
//! Which code to take for vectors like a sample.

use crate::callbacks::{Callbacks, ProgressFn};
use crate::cancel::CancelToken;
use crate::handle::Handle;
use crate::sizes::{count_rows, to_i32, to_i64, to_text, to_usize};
use crate::structs;
use crate::{Metric, Result};
use polarquant_sys as sys;
use std::ffi::{CStr, CString};
use std::fmt;
use std::ops::ControlFlow;
use std::os::raw::c_char;

/// What advice is asked for.
#[derive(Clone, Copy, Default)]
pub struct AdviceOptions<'a> {
    num_threads: usize,
    seed: Option<u64>,
    k: Option<usize>,
    wanted_recall: f64,
    allowed_bytes: f64,
    max_rows: Option<usize>,
    max_queries: Option<usize>,
    total_rows: usize,
    specs: Option<&'a [&'a str]>,
    progress: Option<&'a ProgressFn<'a>>,
    cancel: Option<&'a CancelToken>,
}

impl<'a> AdviceOptions<'a> {
    /// The defaults.
    pub fn new() -> Self {
        AdviceOptions::default()
    }

    /// Threads that compute, 0 to 1024; 0, the default, is OpenMP's default.
    pub fn num_threads(self, num_threads: usize) -> Self {
        AdviceOptions { num_threads, ..self }
    }

    /// Draws the parts of the sample, and rotations; by default 1.
    pub fn seed(self, seed: u64) -> Self {
        AdviceOptions { seed: Some(seed), ..self }
    }

    /// Neighbours searched for: 1 to max_rows / 10, by default 10.
    pub fn k(self, k: usize) -> Self {
        AdviceOptions { k: Some(k), ..self }
    }

    /// Recall that is wanted, 0 to 1: the code of the fewest bytes that surely reaches it is
    /// recommended. By default the best value is: the most of recall less .01 for each half bit a
    /// dimension.
    pub fn wanted_recall(self, wanted_recall: f64) -> Self {
        AdviceOptions { wanted_recall, ..self }
    }

    /// Bytes that are allowed for each vector: the code of the highest recall within them is
    /// recommended; with [`wanted_recall`](AdviceOptions::wanted_recall), the code for that if it
    /// fits.
    pub fn allowed_bytes(self, allowed_bytes: f64) -> Self {
        AdviceOptions { allowed_bytes, ..self }
    }

    /// Rows searched at most: 10 to 2^40, by default 20,000.
    pub fn max_rows(self, max_rows: usize) -> Self {
        AdviceOptions { max_rows: Some(max_rows), ..self }
    }

    /// Queries at most: 10 to 2^40, by default 1,000.
    pub fn max_queries(self, max_queries: usize) -> Self {
        AdviceOptions { max_queries: Some(max_queries), ..self }
    }

    /// Rows that there will be, up to 2^40; 0, the default: the sample is all.
    pub fn total_rows(self, total_rows: usize) -> Self {
        AdviceOptions { total_rows, ..self }
    }

    /// Specs to measure; by default those of 0.5 to 8 bits a dimension that a user would choose
    /// among.
    pub fn specs(self, specs: &'a [&'a str]) -> Self {
        AdviceOptions { specs: Some(specs), ..self }
    }

    /// As [`SearchOptions::progress`](crate::SearchOptions::progress). Training one code is not
    /// interrupted.
    pub fn progress(self, progress: &'a (dyn Fn(f64) -> ControlFlow<()> + Sync)) -> Self {
        AdviceOptions { progress: Some(progress), ..self }
    }

    /// Stops the call when the token says so.
    pub fn cancel(self, token: &'a CancelToken) -> Self {
        AdviceOptions { cancel: Some(token), ..self }
    }

    /// As the library takes it, but for specs and callbacks.
    fn to_raw(self) -> Result<sys::polar_advice_options> {
        let mut raw: sys::polar_advice_options = structs::defaults();
        raw.num_threads = to_i32("num_threads", self.num_threads)?;
        raw.seed = self.seed.unwrap_or(raw.seed);
        raw.wanted_recall = self.wanted_recall;
        raw.allowed_bytes = self.allowed_bytes;
        raw.total_rows = to_i64("total_rows", self.total_rows)?;
        let set = |name, given: Option<usize>, default| match given {
            Some(value) => to_i64(name, value),
            None => Ok(default),
        };
        raw.k = set("k", self.k, raw.k)?;
        raw.max_rows = set("max_rows", self.max_rows, raw.max_rows)?;
        raw.max_queries = set("max_queries", self.max_queries, raw.max_queries)?;
        Ok(raw)
    }
}

impl fmt::Debug for AdviceOptions<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AdviceOptions")
            .field("num_threads", &self.num_threads)
            .field("seed", &self.seed)
            .field("k", &self.k)
            .field("wanted_recall", &self.wanted_recall)
            .field("allowed_bytes", &self.allowed_bytes)
            .field("max_rows", &self.max_rows)
            .field("max_queries", &self.max_queries)
            .field("total_rows", &self.total_rows)
            .field("specs", &self.specs)
            .finish_non_exhaustive()
    }
}

/// Codes measured on a sample, and the one to take.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Advice {
    /// The codes, by rising bytes for the default ones.
    pub rows: Vec<AdviceRow>,
    /// The place in `rows` of the code to take; none is what was asked for otherwise.
    pub recommended: Option<usize>,
    /// Why, in a sentence or two.
    pub reason: String,
    /// Whether the queries are rows of the sample.
    pub held_out_queries: bool,
    /// Vectors in each part of the sample: queries, …
    pub queries: usize,
    /// … rows searched, …
    pub base_rows: usize,
    /// … and rows trained on.
    pub train_rows: usize,
}

/// One code on the sample.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct AdviceRow {
    /// Its name.
    pub spec: String,
    /// "", or why it was not measured: then the numbers are 0.
    pub problem: String,
    /// Whether `train` must come before `encode`.
    pub needs_training: bool,
    /// Factors included.
    pub bytes_per_vector: f64,
    /// Recall@k, 0 to 1.
    pub recall: f64,
    /// Half of its 95 % interval.
    pub recall_margin: f64,
    /// Recall@k when only a quarter of the rows is searched.
    pub quarter_recall: f64,
    /// Recall@k over `total_rows`.
    pub expected_recall: f64,
    /// Mean ‖x̂ − x‖² / ‖x − c‖², x̂ unbiased, of rows not trained on.
    pub error: f64,
    /// Gain of a trained code in recall over its untrained one; 0 unless "-pca".
    pub gain: f64,
    /// Half of the 95 % interval of the gain.
    pub gain_margin: f64,
    /// Memory of rotation and tables, once for all vectors.
    pub codec_bytes: usize,
    /// False for "-pca" that gains no more than noise.
    pub pays: bool,
    /// Whether it is the code to take.
    pub is_recommended: bool,
}

/// Measures codes on rows x, (n, dim), drawn from what is to be stored.
///
/// queries: (nq, dim), 10 or more, where they are of another kind than the rows; with none, a tenth of
/// the rows is held out as queries. About 22 · k rows are needed.
///
/// BadArgument for too few rows, numbers that are not finite and wrong specs. A code that cannot be
/// measured has its problem told in its row. Takes a minute or more by the defaults.
pub fn advise(
    dim: usize,
    metric: Metric,
    x: &[f32],
    queries: &[f32],
    options: &AdviceOptions<'_>,
) -> Result<Advice> {
    let size = to_i32("dim", dim)?;
    let n = to_i64("x", count_rows("x", x.len(), dim)?)?;
    let nq = to_i64("queries", count_rows("queries", queries.len(), dim)?)?;
    let mut raw = options.to_raw()?;
    let named = options.specs.unwrap_or(&[]).iter().map(|spec| to_text("specs", spec));
    let texts: Vec<CString> = named.collect::<Result<_>>()?;
    let specs: Vec<*const c_char> = texts.iter().map(|text| text.as_ptr()).collect();
    if options.specs.is_some() {
        raw.specs = specs.as_ptr();
        raw.num_specs = to_i64("specs", specs.len())?;
    }
    let callbacks =
        Callbacks { progress: options.progress, cancel: options.cancel, ..Callbacks::default() };
    let (function, user) = callbacks.progress();
    raw.progress = function;
    raw.progress_user = user;
    // SAFETY: x and queries have their rows of dim numbers; specs and callbacks outlive the call.
    let made = Handle::create(|out| unsafe {
        let (rows, asked) = (x.as_ptr(), queries.as_ptr());
        sys::polar_advice_create(size, metric.number(), n, rows, nq, asked, &raw, out)
    });
    callbacks.panic.resume();
    read_advice(&made?)
}

fn read_advice(handle: &Handle<sys::polar_advice>) -> Result<Advice> {
    // SAFETY: the function fills the info up to its size.
    let info: sys::polar_advice_info =
        structs::read(|info| unsafe { sys::polar_advice_get_info(handle.shared(), info) })?;
    Ok(Advice {
        rows: (0..info.rows).map(|row| read_row(handle, row)).collect::<Result<_>>()?,
        recommended: usize::try_from(info.recommended).ok(),
        reason: to_string(info.reason),
        held_out_queries: info.held_out_queries != 0,
        queries: to_usize(info.queries),
        base_rows: to_usize(info.base_rows),
        train_rows: to_usize(info.train_rows),
    })
}

fn read_row(handle: &Handle<sys::polar_advice>, row: i64) -> Result<AdviceRow> {
    // SAFETY: the function fills the row up to its size.
    let raw: sys::polar_advice_row =
        structs::read(|filled| unsafe { sys::polar_advice_get_row(handle.shared(), row, filled) })?;
    Ok(AdviceRow {
        spec: to_string(raw.spec),
        problem: to_string(raw.problem),
        needs_training: raw.needs_training != 0,
        bytes_per_vector: raw.bytes_per_vector,
        recall: raw.recall,
        recall_margin: raw.recall_margin,
        quarter_recall: raw.quarter_recall,
        expected_recall: raw.expected_recall,
        error: raw.error,
        gain: raw.gain,
        gain_margin: raw.gain_margin,
        codec_bytes: raw.codec_bytes,
        pays: raw.pays != 0,
        is_recommended: raw.is_recommended != 0,
    })
}

/// A copy of a text that lives as long as the advice.
fn to_string(text: *const c_char) -> String {
    if text.is_null() {
        return String::new();
    }
    // SAFETY: closed by 0, and the advice lives.
    unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
}
