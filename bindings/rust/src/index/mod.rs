// SPDX-License-Identifier: MIT
//! Vectors stored as codes, searched by the k nearest.

mod changes;
mod files;
mod partials;
mod read;
mod search;
mod shards;
mod shared;

pub use files::{LoadOptions, SaveOptions};
pub use partials::merge_partials;
pub use read::IndexInfo;
pub use shards::{merge_files, merge_files_using};
pub use shared::SharedIndex;

use crate::handle::Handle;
use crate::sizes::{count_rows, to_i32, to_i64, to_text};
use crate::{Metric, Result};
use polarquant_sys as sys;
use std::fmt;

/// Vectors stored as codes, searched by the k nearest.
///
/// Vectors are `f32` slices, row-major, (n, dim), of finite numbers; another length is BadArgument.
/// They are never copied on their way to the C library. After an error nothing has changed.
///
/// Calls with `&self` may run in many threads at the same time. Changes take `&mut self`;
/// [`SharedIndex`] has them with `&self`, for indexes that are searched while they change.
///
/// ```
/// use polarquant::{Index, Metric};
///
/// let rows: Vec<f32> = (0..100 * 64).map(|i| ((i * i) as f32).sin()).collect();
/// let mut index = Index::new("Polar4", 64, Metric::Cosine)?;
/// index.add(&rows)?;
/// for found in &index.search(&rows[..64], 3)? {
///     println!("{} {:.3}", found.id, found.score);
/// }
/// # Ok::<(), polarquant::Error>(())
/// ```
///
/// An index cannot be dropped while it is searched:
///
/// ```compile_fail,E0505
/// use polarquant::{Index, Metric};
///
/// let index = Index::new("Polar4", 64, Metric::Cosine)?;
/// std::thread::scope(|scope| {
///     scope.spawn(|| index.search(&[0.0; 64], 1));
///     drop(index);
/// });
/// # Ok::<(), polarquant::Error>(())
/// ```
pub struct Index {
    handle: Handle<sys::polar_index>,
    dim: usize,
    metric: Metric,
}

impl Index {
    /// An index without rows.
    ///
    /// description: one of our specs, alone ("Polar2") or in a FAISS factory string
    /// ("IVF1024,Polar4", "PCA128,Polar4", "Polar2,RFlat"), or any FAISS string. dim: 1 to 65535.
    /// BadArgument for what is not allowed; Unsupported in a library without FAISS.
    pub fn new(description: &str, dim: usize, metric: Metric) -> Result<Index> {
        let text = to_text("description", description)?;
        let size = to_i32("dim", dim)?;
        // SAFETY: the text lives as long as the call.
        let handle = Handle::create(|out| unsafe {
            sys::polar_index_create(text.as_ptr(), size, metric.number(), out)
        })?;
        Ok(Index { handle, dim, metric })
    }

    fn from_handle(handle: Handle<sys::polar_index>) -> Result<Index> {
        let info = read::read_info(handle.shared())?;
        Ok(Index { handle, dim: info.dim, metric: info.metric })
    }

    pub(crate) fn raw(&self) -> *const sys::polar_index {
        self.handle.shared()
    }

    /// Dimensions of a vector.
    pub fn dim(&self) -> usize {
        self.dim
    }

    /// How nearness is measured.
    pub fn metric(&self) -> Metric {
        self.metric
    }

    fn rows(&self, name: &str, x: &[f32]) -> Result<i64> {
        to_i64(name, count_rows(name, x.len(), self.dim)?)
    }
}

impl fmt::Debug for Index {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Index")
            .field("description", &self.description())
            .field("dim", &self.dim)
            .field("metric", &self.metric)
            .field("ntotal", &self.ntotal())
            .finish()
    }
}
