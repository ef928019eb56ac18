// SPDX-License-Identifier: MIT
//! Several index files: merged into one, and searched as one.

use super::Index;
use crate::handle::Handle;
use crate::paths::{to_path, PathList};
use crate::{Result, WorkOptions};
use polarquant_sys as sys;
use std::path::Path;

/// Merges the index files at these paths, one or more, into one at `out`, which may be one of them,
/// but on Windows (Io there, and nothing changes): the bytes, after equal training, that one
/// index has which was given all rows in this order.
///
/// Ids of the caller's stay and must differ: BadArgument names one that comes twice. Other rows are
/// numbered on. Codes must be made alike: StateMismatch names the file and the part that differs;
/// train once and give all shards that state ([`Index::try_clone`]). For the kinds that
/// [`IndexBuilder`](crate::IndexBuilder) takes; Unsupported for others. `out` appears whole or not at
/// all. Files are mapped and read through: memory does not grow with the rows.
///
/// ```
/// use polarquant::{merge_files, Index, Metric};
///
/// let rows: Vec<f32> = (0..100 * 64).map(|i| ((i * i) as f32).sin()).collect();
/// # let folder = std::env::temp_dir().join(format!("merge-{}", std::process::id()));
/// # std::fs::create_dir_all(&folder).unwrap();
/// let mut trained = Index::new("Polar4", 64, Metric::L2)?;
/// trained.train(&rows)?;
/// let paths = [folder.join("0.polar"), folder.join("1.polar")];
/// for (path, part) in paths.iter().zip(rows.chunks(50 * 64)) {
///     let mut shard = trained.try_clone()?;
///     shard.add(part)?;
///     shard.save(path)?;
/// }
/// assert_eq!(Index::open_shards(&paths)?.ntotal(), 100);
/// merge_files(&paths, folder.join("all.polar"))?;
/// # std::fs::remove_dir_all(&folder).unwrap();
/// # Ok::<(), polarquant::Error>(())
/// ```
pub fn merge_files(paths: &[impl AsRef<Path>], out: impl AsRef<Path>) -> Result<()> {
    merge_files_using(paths, out, &WorkOptions::new())
}

/// The same with options, of which the number of threads is not used.
pub fn merge_files_using(
    paths: &[impl AsRef<Path>],
    out: impl AsRef<Path>,
    options: &WorkOptions<'_>,
) -> Result<()> {
    let list = PathList::new(paths)?;
    let out = to_path(out.as_ref())?;
    let n = list.count()?;
    // SAFETY: the paths live as long as the call, and there are n of them.
    options.run(|raw| unsafe { sys::polar_merge_files(n, list.as_ptr(), out.as_ptr(), raw) })
}

impl Index {
    /// The index files at these paths, one or more, as one index, with the answers, to the bit, of
    /// the file that [`merge_files`] makes of them.
    ///
    /// They are mapped, and must stay as [`LoadOptions::memory_map`](crate::LoadOptions::memory_map)
    /// says; the index cannot be changed, but saved and cloned. Rows are verified when they are first
    /// used; ids that two files have are found by [`verify`](Index::verify), and by saving. Errors as
    /// those of [`merge_files`]; besides, flat codes of the published codecs are not searched.
    pub fn open_shards(paths: &[impl AsRef<Path>]) -> Result<Index> {
        let list = PathList::new(paths)?;
        let n = list.count()?;
        // SAFETY: the paths live as long as the call, and there are n of them.
        let make = |out: *mut _| unsafe { sys::polar_index_open_shards(n, list.as_ptr(), out) };
        Index::from_handle(Handle::create(make)?)
    }

    /// An index without rows, in memory, that codes as the one in the file at `path` does: for shards
    /// whose rows mix with the file's, whose rows are not read. Of the kinds that
    /// [`IndexBuilder`](crate::IndexBuilder) takes; Unsupported for others.
    pub fn load_empty(path: impl AsRef<Path>) -> Result<Index> {
        let path = to_path(path.as_ref())?;
        // SAFETY: the path lives as long as the call.
        let make = |out: *mut _| unsafe { sys::polar_index_load_empty(path.as_ptr(), out) };
        Index::from_handle(Handle::create(make)?)
    }
}
