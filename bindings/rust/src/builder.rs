// SPDX-License-Identifier: MIT
//! Index files of more rows than memory holds: built in parts.

use crate::error::{check, Result};
use crate::handle::Handle;
use crate::paths::to_path;
use crate::sizes::{check_length, count_rows, to_i64, to_usize};
use crate::structs;
use crate::{Index, WorkOptions};
use polarquant_sys as sys;
use std::fmt;
use std::path::Path;

/// How an [`IndexBuilder`] works.
#[derive(Clone, Copy, Debug, Default)]
pub struct BuilderOptions {
    memory_bytes: Option<usize>,
    replace: bool,
}

impl BuilderOptions {
    /// The defaults.
    pub fn new() -> Self {
        BuilderOptions::default()
    }

    /// Memory for rows of a part, 1 MiB or more; by default 1 GiB. What was trained, and the floats
    /// of a call, come on top; leave as much again to the process.
    pub fn memory_bytes(self, memory_bytes: usize) -> Self {
        BuilderOptions { memory_bytes: Some(memory_bytes), ..self }
    }

    /// Whether [`IndexBuilder::create_using`] removes the parts of an earlier build, which it refuses
    /// else.
    pub fn replace(self, replace: bool) -> Self {
        BuilderOptions { replace, ..self }
    }

    fn to_raw(self) -> Result<sys::polar_builder_options> {
        let mut raw: sys::polar_builder_options = structs::defaults();
        raw.replace = i32::from(self.replace);
        if let Some(bytes) = self.memory_bytes {
            raw.memory_bytes = to_i64("memory_bytes", bytes)?;
        }
        Ok(raw)
    }
}

/// An index file made from rows that come in any number of calls, of more than memory holds.
///
/// Rows are coded in an index in memory; when it has taken
/// [`memory_bytes`](BuilderOptions::memory_bytes), it is written as a part to the folder "PATH.parts"
/// and emptied. [`finish`](IndexBuilder::finish) merges the parts: the file has the bytes that one
/// index of all rows would be saved as. A build that ended before that, by a drop, an error or a kill,
/// goes on by [`resume`](IndexBuilder::resume), after the rows of whole parts.
///
/// For our specs, alone ("Polar4") and in inverted files ("IVF1024,Polar4"), also after vector
/// transforms, in id maps and in refinements by our specs ("Polar2,Refine(Polar8)"). One builder a
/// time has a folder.
///
/// ```
/// use polarquant::{Index, IndexBuilder, Metric};
///
/// let rows: Vec<f32> = (0..2000 * 64).map(|i| (i as f32 * 0.7).sin()).collect();
/// # let path = std::env::temp_dir().join(format!("builder-{}.polar", std::process::id()));
/// let mut index = Index::new("IVF16,Polar4", 64, Metric::L2)?;
/// index.train(&rows)?;
/// let mut builder = IndexBuilder::create(&index, &path)?;
/// for batch in rows.chunks(500 * 64) {
///     builder.add(batch)?;
/// }
/// builder.finish()?;
/// assert_eq!(Index::map(&path)?.ntotal(), 2000);
/// # std::fs::remove_file(&path).unwrap();
/// # Ok::<(), polarquant::Error>(())
/// ```
///
/// Calls that change it take `&mut self`: one thread at a time uses a builder, whichever that is.
pub struct IndexBuilder {
    handle: Handle<sys::polar_builder>,
    dim: usize,
}

impl IndexBuilder {
    /// Begins the file at `path` with rows coded as `index` codes them: a trained one without rows,
    /// of which a copy is kept. An index file at `path` stays as it is until the new one is whole.
    ///
    /// NotTrained for one that was not trained, also where training is optional, since parts would
    /// learn from different rows. StateMismatch for one that holds rows. BadArgument where the folder
    /// has parts of an earlier build. Io while another builder, of another process too, has the
    /// folder. Unsupported for graphs and FAISS's kinds.
    pub fn create(index: &Index, path: impl AsRef<Path>) -> Result<IndexBuilder> {
        IndexBuilder::create_using(index, path, &BuilderOptions::new())
    }

    /// The same with options.
    pub fn create_using(
        index: &Index,
        path: impl AsRef<Path>,
        options: &BuilderOptions,
    ) -> Result<IndexBuilder> {
        let path = to_path(path.as_ref())?;
        let raw = options.to_raw()?;
        // SAFETY: index, path and options live as long as the call.
        IndexBuilder::make(|out| unsafe {
            sys::polar_builder_create(index.raw(), path.as_ptr(), &raw, out)
        })
    }

    /// Goes on with the build whose parts lie beside `path`, after the rows of whole parts:
    /// [`ntotal`](IndexBuilder::ntotal) says how many need not come again.
    ///
    /// NotFound where there is no such build; CorruptData names a part that is missing, damaged where
    /// it is looked at, or of another build.
    pub fn resume(path: impl AsRef<Path>) -> Result<IndexBuilder> {
        IndexBuilder::resume_using(path, &BuilderOptions::new())
    }

    /// The same with options.
    pub fn resume_using(path: impl AsRef<Path>, options: &BuilderOptions) -> Result<IndexBuilder> {
        let path = to_path(path.as_ref())?;
        let raw = options.to_raw()?;
        // SAFETY: path and options live as long as the call.
        IndexBuilder::make(|out| unsafe { sys::polar_builder_resume(path.as_ptr(), &raw, out) })
    }

    fn make(
        create: impl FnOnce(*mut *mut sys::polar_builder) -> sys::polar_status,
    ) -> Result<IndexBuilder> {
        let handle = Handle::create(create)?;
        // SAFETY: the builder lives as long as the call.
        let dim = unsafe { sys::polar_builder_dim(handle.shared()) };
        Ok(IndexBuilder { handle, dim: to_usize(dim.into()) })
    }

    /// Dimensions of a vector.
    pub fn dim(&self) -> usize {
        self.dim
    }

    /// Rows that were added, those of an earlier process's parts too.
    pub fn ntotal(&self) -> usize {
        // SAFETY: the builder lives as long as the call, and nothing changes it meanwhile.
        to_usize(unsafe { sys::polar_builder_ntotal(self.handle.shared()) })
    }

    /// The rows of them that lie in whole parts: these stay when the process ends now.
    pub fn written(&self) -> usize {
        // SAFETY: as above.
        to_usize(unsafe { sys::polar_builder_written(self.handle.shared()) })
    }

    /// Adds rows x, (n, dim), with ids ntotal, ntotal + 1, … After an error, in writing a part too,
    /// [`ntotal`](IndexBuilder::ntotal) says how many of them are in.
    pub fn add(&mut self, x: &[f32]) -> Result<()> {
        self.add_using(x, &WorkOptions::new())
    }

    /// The same with options.
    pub fn add_using(&mut self, x: &[f32], options: &WorkOptions<'_>) -> Result<()> {
        let n = to_i64("x", count_rows("x", x.len(), self.dim)?)?;
        let builder = self.handle.sole();
        // SAFETY: x has n rows, and lives as long as the call.
        options.run(|raw| unsafe { sys::polar_builder_add(builder, n, x.as_ptr(), raw) })
    }

    /// Adds rows x, (n, dim), with ids, (n), each 0 or more. An id that comes twice is found here
    /// within a part, and else by [`finish`](IndexBuilder::finish): BadArgument. A builder takes rows
    /// with ids or without, not both.
    pub fn add_with_ids(&mut self, x: &[f32], ids: &[i64]) -> Result<()> {
        self.add_with_ids_using(x, ids, &WorkOptions::new())
    }

    /// The same with options.
    pub fn add_with_ids_using(
        &mut self,
        x: &[f32],
        ids: &[i64],
        options: &WorkOptions<'_>,
    ) -> Result<()> {
        let rows = count_rows("x", x.len(), self.dim)?;
        check_length("ids", ids.len(), rows)?;
        let n = to_i64("x", rows)?;
        let builder = self.handle.sole();
        // SAFETY: there are n rows and n ids, which live as long as the call.
        options.run(|raw| unsafe {
            sys::polar_builder_add_with_ids(builder, n, x.as_ptr(), ids.as_ptr(), raw)
        })
    }

    /// Writes the rows in memory as a part, as before a stop that is to lose none.
    pub fn write_part(&mut self) -> Result<()> {
        // SAFETY: the builder lives as long as the call, which has sole use of it.
        check(unsafe { sys::polar_builder_write_part(self.handle.sole()) })
    }

    /// Writes the index file, as [`merge_files`](crate::merge_files) does, and removes the folder of
    /// parts. Every later change is StateMismatch. After an error, or a stop by the options, the parts
    /// are there still, and it can be called again.
    pub fn finish(&mut self) -> Result<()> {
        self.finish_using(&WorkOptions::new())
    }

    /// The same with options.
    pub fn finish_using(&mut self, options: &WorkOptions<'_>) -> Result<()> {
        let builder = self.handle.sole();
        // SAFETY: the builder lives as long as the call, which has sole use of it.
        options.run(|raw| unsafe { sys::polar_builder_finish(builder, raw) })
    }
}

impl fmt::Debug for IndexBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("IndexBuilder")
            .field("dim", &self.dim)
            .field("ntotal", &self.ntotal())
            .field("written", &self.written())
            .finish()
    }
}
