// SPDX-License-Identifier: MIT
//! Closures that the C library calls. A panic in one ends its work, and goes on after the call: it
//! must not cross C.

use crate::cancel::CancelToken;
use polarquant_sys as sys;
use std::any::Any;
use std::ops::ControlFlow;
use std::os::raw::c_void;
use std::panic::{catch_unwind, resume_unwind, AssertUnwindSafe};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Mutex;

/// The first panic of the closures of one call.
#[derive(Default)]
pub(crate) struct Panic {
    is_caught: AtomicBool,
    payload: Mutex<Option<Box<dyn Any + Send>>>,
}

impl Panic {
    pub(crate) fn is_caught(&self) -> bool {
        self.is_caught.load(Ordering::Relaxed)
    }

    /// What `call` returns; `otherwise` when it panics, or another one did.
    pub(crate) fn catch<T>(&self, otherwise: T, call: impl FnOnce() -> T) -> T {
        if self.is_caught() {
            return otherwise;
        }
        match catch_unwind(AssertUnwindSafe(call)) {
            Ok(value) => value,
            Err(payload) => {
                self.keep(payload);
                otherwise
            }
        }
    }

    fn keep(&self, payload: Box<dyn Any + Send>) {
        self.is_caught.store(true, Ordering::Relaxed);
        let mut kept = self.payload.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        if kept.is_none() {
            *kept = Some(payload);
        } else {
            // A drop that panics would cross C.
            std::mem::forget(payload);
        }
    }

    /// Goes on with the panic, if there was one.
    pub(crate) fn resume(self) {
        let kept = self.payload.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner());
        if let Some(payload) = kept {
            resume_unwind(payload);
        }
    }
}

/// A closure that is told the share of the work that is done, called from any thread.
pub(crate) type ProgressFn<'a> = dyn Fn(f64) -> ControlFlow<()> + Sync + 'a;
/// A closure that says whether an id is kept, called from any thread, several at once.
pub(crate) type KeepFn<'a> = dyn Fn(i64) -> bool + Sync + 'a;

/// What one call of the library calls back. The library has its address until the call returns.
#[derive(Default)]
pub(crate) struct Callbacks<'a> {
    pub(crate) progress: Option<&'a ProgressFn<'a>>,
    pub(crate) cancel: Option<&'a CancelToken>,
    pub(crate) keep: Option<&'a KeepFn<'a>>,
    pub(crate) panic: Panic,
}

impl Callbacks<'_> {
    /// The function and its argument; none where nobody wants to be told.
    pub(crate) fn progress(&self) -> (sys::polar_progress_fn, *mut c_void) {
        // A filter that panicked has its search stopped by this, too.
        if self.progress.is_none() && self.cancel.is_none() && self.keep.is_none() {
            return (None, std::ptr::null_mut());
        }
        (Some(tell_progress), self.address())
    }

    pub(crate) fn keep(&self) -> sys::polar_id_callback {
        sys::polar_id_callback { keep: Some(ask_keep), user: self.address() }
    }

    fn address(&self) -> *mut c_void {
        self as *const Self as *mut c_void
    }

    fn is_stopped(&self, done: f64) -> bool {
        if self.cancel.map_or(false, CancelToken::is_cancelled) {
            return true;
        }
        self.progress.map_or(false, |progress| progress(done).is_break())
    }
}

unsafe extern "C" fn tell_progress(user: *mut c_void, done: f64) -> i32 {
    // SAFETY: `user` is what Callbacks::address gave for a call that has not returned.
    let callbacks = &*(user as *const Callbacks<'_>);
    i32::from(callbacks.panic.catch(true, || callbacks.is_stopped(done)))
}

unsafe extern "C" fn ask_keep(user: *mut c_void, id: i64) -> i32 {
    // SAFETY: as in tell_progress.
    let callbacks = &*(user as *const Callbacks<'_>);
    let is_kept = || callbacks.keep.map_or(false, |keep| keep(id));
    i32::from(callbacks.panic.catch(false, is_kept))
}
