// SPDX-License-Identifier: MIT
//! Indexes to and from files, readers and writers.

use super::Index;
use crate::error::check;
use crate::handle::Handle;
use crate::paths::to_path;
use crate::streams::{ReadStream, WriteStream};
use crate::structs;
use crate::Result;
use polarquant_sys as sys;
use std::io::{Read, Write};
use std::path::Path;

/// How an index is saved.
#[derive(Clone, Copy, Debug, Default)]
pub struct SaveOptions {
    verify: bool,
}

impl SaveOptions {
    /// The defaults.
    pub fn new() -> Self {
        SaveOptions::default()
    }

    /// Whether the whole file is read back before it takes its name, and refused with CorruptData
    /// unless it makes an index of as many rows. The index is in memory twice meanwhile.
    pub fn verify(self, verify: bool) -> Self {
        SaveOptions { verify }
    }

    fn to_raw(self) -> sys::polar_save_options {
        let mut raw: sys::polar_save_options = structs::defaults();
        raw.verify = i32::from(self.verify);
        raw
    }
}

/// How an index is loaded.
#[derive(Clone, Copy, Debug, Default)]
pub struct LoadOptions {
    memory_map: bool,
    trust_faiss: bool,
}

impl LoadOptions {
    /// The defaults.
    pub fn new() -> Self {
        LoadOptions::default()
    }

    /// Whether rows of our specs, flat and in inverted files, stay in the file, which is mapped to
    /// memory. Such an index cannot be changed; rows are verified when they are first used. The file
    /// may be removed or replaced meanwhile; writing to it, or cutting it short, ends the process.
    /// Not for [`Index::read_from`].
    pub fn memory_map(self, memory_map: bool) -> Self {
        LoadOptions { memory_map, ..self }
    }

    /// Has FAISS's reader read what is FAISS's own ("IVF1024,Flat", "HNSW32,Flat", "PQ16"), which is
    /// refused else.
    ///
    /// # Safety
    ///
    /// FAISS's reader checks little: the file must come from whom you trust. Another one can end the
    /// process, or worse.
    pub unsafe fn trust_faiss(self) -> Self {
        LoadOptions { trust_faiss: true, ..self }
    }

    fn to_raw(self) -> sys::polar_load_options {
        let mut raw: sys::polar_load_options = structs::defaults();
        raw.memory_map = i32::from(self.memory_map);
        raw.trust_faiss = i32::from(self.trust_faiss);
        raw
    }
}

impl Index {
    /// Writes rows, ids, what was trained and parameters to a file, which appears whole or not at
    /// all.
    ///
    /// Io where the system refuses; the old file is then as it was, unless the error says that the
    /// new one is in place. Unsupported for an index that FAISS cannot write.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        self.save_using(path, &SaveOptions::new())
    }

    /// The same with options.
    pub fn save_using(&self, path: impl AsRef<Path>, options: &SaveOptions) -> Result<()> {
        let path = to_path(path.as_ref())?;
        let raw = options.to_raw();
        // SAFETY: path and options live as long as the call.
        check(unsafe { sys::polar_index_save(self.raw(), path.as_ptr(), &raw) })
    }

    /// The same bytes to a writer, front to back. An error of the writer is the
    /// [`source`](std::error::Error::source) of the one that is returned; a panic goes on.
    pub fn write_to(&self, writer: &mut impl Write) -> Result<()> {
        let mut stream = WriteStream::new(writer);
        // SAFETY: the stream lives as long as the call.
        let status = unsafe {
            let (function, user) = stream.as_callback();
            sys::polar_index_save_to(self.raw(), function, user, std::ptr::null())
        };
        stream.finish(check(status))
    }

    /// The index of a file of [`save`](Index::save), on any machine. Nothing in the file is trusted:
    /// whatever it says, it gives an index that works or an error.
    ///
    /// CorruptData, NewerFormat, Unsupported, Io.
    pub fn load(path: impl AsRef<Path>) -> Result<Index> {
        Index::load_using(path, &LoadOptions::new())
    }

    /// The same, with rows that stay in the file: [`LoadOptions::memory_map`].
    pub fn map(path: impl AsRef<Path>) -> Result<Index> {
        Index::load_using(path, &LoadOptions::new().memory_map(true))
    }

    /// The same with options.
    pub fn load_using(path: impl AsRef<Path>, options: &LoadOptions) -> Result<Index> {
        let path = to_path(path.as_ref())?;
        let raw = options.to_raw();
        // SAFETY: path and options live as long as the call.
        let make = |out: *mut _| unsafe { sys::polar_index_load(path.as_ptr(), &raw, out) };
        Index::from_handle(Handle::create(make)?)
    }

    /// The index that [`write_to`](Index::write_to) wrote; no byte after it is read.
    pub fn read_from(reader: &mut impl Read) -> Result<Index> {
        Index::read_from_using(reader, &LoadOptions::new())
    }

    /// The same with options.
    pub fn read_from_using(reader: &mut impl Read, options: &LoadOptions) -> Result<Index> {
        let raw = options.to_raw();
        let mut stream = ReadStream::new(reader);
        // SAFETY: stream and options live as long as the call.
        let made = Handle::create(|out| unsafe {
            let (function, user) = stream.as_callback();
            sys::polar_index_load_from(function, user, &raw, out)
        });
        stream.finish(made).and_then(Index::from_handle)
    }
}
