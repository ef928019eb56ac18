// SPDX-License-Identifier: MIT
//! How a call works that trains, encodes, adds, scores or the like.

use crate::callbacks::{Callbacks, ProgressFn};
use crate::cancel::CancelToken;
use crate::error::{check, Result};
use crate::sizes::to_i32;
use crate::structs;
use polarquant_sys as sys;
use std::fmt;
use std::ops::ControlFlow;

/// How a call works that trains, encodes, adds, scores or the like.
///
/// ```
/// use polarquant::{Index, Metric, WorkOptions};
/// use std::ops::ControlFlow;
///
/// let mut index = Index::new("Polar2", 64, Metric::L2)?;
/// let told = |done: f64| {
///     println!("{:.0} %", 100.0 * done);
///     ControlFlow::Continue(())
/// };
/// let options = WorkOptions::new().num_threads(2).progress(&told);
/// index.add_using(&vec![0.5; 64 * 100], &options)?;
/// # Ok::<(), polarquant::Error>(())
/// ```
#[derive(Clone, Copy, Default)]
pub struct WorkOptions<'a> {
    num_threads: usize,
    progress: Option<&'a ProgressFn<'a>>,
    cancel: Option<&'a CancelToken>,
}

impl<'a> WorkOptions<'a> {
    /// The defaults.
    pub fn new() -> Self {
        WorkOptions::default()
    }

    /// Threads that compute, 0 to 1024; 0, the default, is OpenMP's default.
    pub fn num_threads(self, num_threads: usize) -> Self {
        WorkOptions { num_threads, ..self }
    }

    /// Told now and then, by the calling thread, the share of the work that is done, 0 to 1, as far
    /// as that is known. `ControlFlow::Break(())` stops the call, which returns
    /// [`ErrorKind::Cancelled`](crate::ErrorKind::Cancelled) and leaves everything as it was. A
    /// panic stops the call, too, and goes on after it.
    pub fn progress(self, progress: &'a (dyn Fn(f64) -> ControlFlow<()> + Sync)) -> Self {
        WorkOptions { progress: Some(progress), ..self }
    }

    /// Stops the call when the token says so.
    pub fn cancel(self, token: &'a CancelToken) -> Self {
        WorkOptions { cancel: Some(token), ..self }
    }

    /// Makes a call with these options, and goes on with a panic of their closure.
    pub(crate) fn run(
        &self,
        call: impl FnOnce(*const sys::polar_work_options) -> sys::polar_status,
    ) -> Result<()> {
        let mut options: sys::polar_work_options = structs::defaults();
        options.num_threads = to_i32("num_threads", self.num_threads)?;
        let callbacks =
            Callbacks { progress: self.progress, cancel: self.cancel, ..Callbacks::default() };
        let (function, user) = callbacks.progress();
        options.progress = function;
        options.progress_user = user;
        let status = call(&options);
        callbacks.panic.resume();
        check(status)
    }
}

impl fmt::Debug for WorkOptions<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WorkOptions")
            .field("num_threads", &self.num_threads)
            .field("progress", &self.progress.is_some())
            .field("cancel", &self.cancel)
            .finish()
    }
}
