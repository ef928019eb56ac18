// SPDX-License-Identifier: MIT
//! Calls stopped from another thread.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;

/// Stops calls from another thread. Clones stop the same calls.
///
/// A stopped call returns [`ErrorKind::Cancelled`](crate::ErrorKind::Cancelled), as soon as the
/// library asks; so does one that begins afterwards.
///
/// ```
/// use polarquant::{CancelToken, Codec, ErrorKind, Metric, WorkOptions};
///
/// let codec = Codec::new("Polar2", 64, Metric::L2)?;
/// let token = CancelToken::new();
/// token.cancel();
/// let options = WorkOptions::new().cancel(&token);
/// let error = codec.encode_using(&vec![0.5; 64 * 10_000], &options).unwrap_err();
/// assert_eq!(error.kind(), ErrorKind::Cancelled);
/// # Ok::<(), polarquant::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct CancelToken {
    is_cancelled: Arc<AtomicBool>,
}

impl CancelToken {
    /// A token that stops nothing yet.
    pub fn new() -> CancelToken {
        CancelToken::default()
    }

    /// Stops the calls that have this token.
    pub fn cancel(&self) {
        self.is_cancelled.store(true, Ordering::Relaxed);
    }

    /// Whether [`cancel`](CancelToken::cancel) was called.
    pub fn is_cancelled(&self) -> bool {
        self.is_cancelled.load(Ordering::Relaxed)
    }
}
