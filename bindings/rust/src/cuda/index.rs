// SPDX-License-Identifier: MIT
//! Codes in the memory of devices, searched there.

use super::{CudaOptions, Stream};
use crate::error::check;
use crate::handle::Handle;
use crate::search::{self, Queries};
use crate::sizes::{to_i64, to_usize};
use crate::{Codec, Index, Matches, Result, SearchOptions};
use polarquant_sys as sys;
use std::fmt;
use std::ptr;

/// Codes in the memory of one device or several, searched there: the CPU's rows and scores, to the bit.
/// Immutable; any number of threads may search it at the same time.
pub struct CudaIndex {
    handle: Handle<sys::polar_cuda_index>,
    dim: usize,
}

impl CudaIndex {
    /// A copy of an index that is one of "Polar0.5" to "Polar8" or a residual code, alone or in an
    /// inverted file ("IVF1024,Polar4"). The index may change, or go, afterwards.
    ///
    /// Unsupported for others; OutOfMemory, Cuda.
    pub fn from_index(index: &Index, options: &CudaOptions) -> Result<CudaIndex> {
        let raw = options.to_raw()?;
        // SAFETY: index and options live as long as the call.
        let handle = Handle::create(|out| unsafe {
            sys::polar_cuda_index_from_index(index.raw(), &raw, out)
        })?;
        Ok(CudaIndex { handle, dim: index.dim() })
    }

    /// A copy of n codes of the caller's; rows have their positions as ids.
    pub fn from_codes(
        codec: &Codec,
        n: usize,
        codes: &[u8],
        options: &CudaOptions,
    ) -> Result<CudaIndex> {
        let raw = options.to_raw()?;
        let n = to_i64("n", n)?;
        let (bytes, length) = (codes.as_ptr(), codes.len());
        // SAFETY: the library checks the length of codes.
        let handle = Handle::create(|out| unsafe {
            sys::polar_cuda_index_from_codes(codec.raw(), n, bytes, length, &raw, out)
        })?;
        Ok(CudaIndex { handle, dim: codec.dim() })
    }

    /// Dimensions of a vector.
    pub fn dim(&self) -> usize {
        self.dim
    }

    /// Rows held.
    pub fn ntotal(&self) -> usize {
        // SAFETY: the index lives as long as the call, here and below.
        to_usize(unsafe { sys::polar_cuda_index_ntotal(self.handle.shared()) })
    }

    /// Bytes of all devices' memory: codes, tables, and what searches keep to work in.
    pub fn memory_bytes(&self) -> Result<usize> {
        let mut bytes = 0;
        check(unsafe { sys::polar_cuda_index_memory_bytes(self.handle.shared(), &mut bytes) })?;
        Ok(bytes)
    }

    /// The k nearest rows of each of the queries, (nq, dim), as [`Index::search`].
    pub fn search(&self, queries: &[f32], k: usize) -> Result<Matches> {
        self.search_using(queries, k, &SearchOptions::new())
    }

    /// The same with options. Progress is not told, and a cancel token not asked.
    pub fn search_using(
        &self,
        queries: &[f32],
        k: usize,
        options: &SearchOptions<'_>,
    ) -> Result<Matches> {
        // SAFETY: the default stream is one of every device.
        unsafe { self.search_on(queries, k, options, ptr::null_mut()) }
    }

    /// The same on a stream, which is waited for.
    ///
    /// # Safety
    ///
    /// `stream` is null, or a stream of the index's device; null for an index on several devices.
    pub unsafe fn search_on(
        &self,
        queries: &[f32],
        k: usize,
        options: &SearchOptions<'_>,
        stream: Stream,
    ) -> Result<Matches> {
        let queries = Queries::new(queries, self.dim)?;
        let index = self.handle.shared();
        search::search(queries, k, options, |options, k, scores, ids| {
            let (nq, numbers) = (queries.count, queries.numbers);
            sys::polar_cuda_index_search(index, nq, numbers, k, options, stream, scores, ids)
        })
    }
}

impl fmt::Debug for CudaIndex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CudaIndex").field("dim", &self.dim).field("ntotal", &self.ntotal()).finish()
    }
}
