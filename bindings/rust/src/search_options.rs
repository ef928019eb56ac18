// SPDX-License-Identifier: MIT
//! How a search works, and which rows it may return.

use crate::callbacks::{Callbacks, ProgressFn};
use crate::cancel::CancelToken;
use crate::error::{check, Result};
use crate::filter::Filter;
use crate::sizes::{to_i32, to_i64};
use crate::structs;
use polarquant_sys as sys;
use std::fmt;
use std::ops::ControlFlow;

/// How a search works, and which rows it may return. One serves any number of searches and threads.
///
/// An option that an index has no use for is
/// [`ErrorKind::Unsupported`](crate::ErrorKind::Unsupported), unless it is the default.
#[derive(Clone, Copy, Default)]
pub struct SearchOptions<'a> {
    num_threads: usize,
    exactness: Option<f32>,
    filter: Option<Filter<'a>>,
    nprobe: usize,
    ef_search: usize,
    k_factor: f64,
    progress: Option<&'a ProgressFn<'a>>,
    cancel: Option<&'a CancelToken>,
}

impl<'a> SearchOptions<'a> {
    /// The defaults.
    pub fn new() -> Self {
        SearchOptions::default()
    }

    /// Threads that compute, 0 to 1024; 0, the default, is OpenMP's default.
    pub fn num_threads(self, num_threads: usize) -> Self {
        SearchOptions { num_threads, ..self }
    }

    /// How sure rows are left out without being scored, in standard deviations of what a row's sign
    /// bits say about its score: 0 to `f32::INFINITY`, which scores every row. The default, 2.25,
    /// loses at most .001 of recall@10 on real embeddings.
    pub fn exactness(self, exactness: f32) -> Self {
        SearchOptions { exactness: Some(exactness), ..self }
    }

    /// The ids that may be returned; by default all.
    pub fn filter(self, filter: Filter<'a>) -> Self {
        SearchOptions { filter: Some(filter), ..self }
    }

    /// Lists of an inverted file searched for each query; 0, the default, is the index's
    /// [`nprobe`](crate::Index::nprobe).
    pub fn nprobe(self, nprobe: usize) -> Self {
        SearchOptions { nprobe, ..self }
    }

    /// Nodes that a search of a graph keeps; 0, the default, is 16.
    pub fn ef_search(self, ef_search: usize) -> Self {
        SearchOptions { ef_search, ..self }
    }

    /// Rows that a refinement ("Polar2,RFlat") scores again for each query, as a multiple of k, 1 or
    /// more; 0, the default, is the index's own, 1 in a new one, which only puts the k in better
    /// order.
    pub fn k_factor(self, k_factor: f64) -> Self {
        SearchOptions { k_factor, ..self }
    }

    /// Told now and then, one call at a time but from any thread, the share that is done, 0 to 1.
    /// `ControlFlow::Break(())` stops the search, which returns
    /// [`ErrorKind::Cancelled`](crate::ErrorKind::Cancelled). A panic stops it, too, and goes on
    /// after it.
    pub fn progress(self, progress: &'a (dyn Fn(f64) -> ControlFlow<()> + Sync)) -> Self {
        SearchOptions { progress: Some(progress), ..self }
    }

    /// Stops the search when the token says so.
    pub fn cancel(self, token: &'a CancelToken) -> Self {
        SearchOptions { cancel: Some(token), ..self }
    }

    /// Makes a call with these options, and goes on with a panic of their closures.
    pub(crate) fn run(
        &self,
        call: impl FnOnce(*const sys::polar_search_options) -> sys::polar_status,
    ) -> Result<()> {
        let mut options: sys::polar_search_options = structs::defaults();
        options.num_threads = to_i32("num_threads", self.num_threads)?;
        options.exactness = self.exactness.unwrap_or(options.exactness);
        options.nprobe = to_i64("nprobe", self.nprobe)?;
        options.ef_search = to_i64("ef_search", self.ef_search)?;
        options.k_factor = self.k_factor;
        let mut callbacks =
            self.filter.map_or_else(Callbacks::default, |filter| filter.callbacks());
        callbacks.cancel = self.cancel;
        callbacks.progress = self.progress;
        let (function, user) = callbacks.progress();
        options.progress = function;
        options.progress_user = user;
        let filter = self.filter.map(|filter| filter.to_raw(&callbacks)).transpose()?;
        options.filter = filter.as_ref().map_or(std::ptr::null(), |filter| filter as _);
        let status = call(&options);
        callbacks.panic.resume();
        check(status)
    }
}

impl fmt::Debug for SearchOptions<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SearchOptions")
            .field("num_threads", &self.num_threads)
            .field("exactness", &self.exactness)
            .field("filter", &self.filter)
            .field("nprobe", &self.nprobe)
            .field("ef_search", &self.ef_search)
            .field("k_factor", &self.k_factor)
            .field("progress", &self.progress.is_some())
            .field("cancel", &self.cancel)
            .finish()
    }
}
