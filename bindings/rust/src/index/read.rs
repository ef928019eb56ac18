// SPDX-License-Identifier: MIT
//! What there is to know about an index.

use crate::error::{check, read_text};
use crate::handle::Handle;
use crate::sizes::{check_length, product, to_usize, zeros};
use crate::structs;
use crate::{Index, Metric, Result};
use polarquant_sys as sys;

/// What there is to know about an index, at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct IndexInfo {
    /// Dimensions of a vector.
    pub dim: usize,
    /// How nearness is measured.
    pub metric: Metric,
    /// Whether rows can be added; false when `train` must come first.
    pub is_trained: bool,
    /// Rows held.
    pub ntotal: usize,
}

impl Index {
    /// What there is to know, at this moment.
    pub fn info(&self) -> IndexInfo {
        read_info(self.raw()).expect("an index tells what it is")
    }

    /// The factory string it was made from.
    pub fn description(&self) -> String {
        // SAFETY: the buffer has room for `cap` bytes.
        read_text(|buffer, cap| unsafe { sys::polar_index_description(self.raw(), buffer, cap) })
    }

    /// Rows held.
    pub fn ntotal(&self) -> usize {
        // SAFETY: the index lives as long as the call, here and below.
        to_usize(unsafe { sys::polar_index_ntotal(self.raw()) })
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.ntotal() == 0
    }

    /// Whether rows can be added; false when `train` must come first.
    pub fn is_trained(&self) -> bool {
        unsafe { sys::polar_index_is_trained(self.raw()) != 0 }
    }

    /// Lists of an inverted file; 0 for an index that is none.
    pub fn nlist(&self) -> usize {
        to_usize(unsafe { sys::polar_index_nlist(self.raw()) })
    }

    /// Lists that a search looks through for each query where its options name no number, 1 in a new
    /// index; 0 for an index that is no inverted file.
    pub fn nprobe(&self) -> usize {
        to_usize(unsafe { sys::polar_index_nprobe(self.raw()) })
    }

    /// Bytes of one row's code, without ids and graph links. Unsupported where rows share codes or
    /// FAISS does not tell.
    pub fn code_size(&self) -> Result<usize> {
        let mut bytes = 0;
        check(unsafe { sys::polar_index_code_size(self.raw(), &mut bytes) })?;
        Ok(bytes)
    }

    /// Memory held: codes, ids, what was trained; not what lies in a mapped file.
    pub fn memory_bytes(&self) -> Result<usize> {
        let mut bytes = 0;
        check(unsafe { sys::polar_index_memory_bytes(self.raw(), &mut bytes) })?;
        Ok(bytes)
    }

    /// The stored form of the row with this id, (dim); normalized for cosine. NotFound for no such
    /// row; Unsupported for an index that keeps no way back from id to row.
    pub fn reconstruct(&self, id: i64) -> Result<Vec<f32>> {
        let mut x = zeros(self.dim())?;
        self.reconstruct_into(id, &mut x)?;
        Ok(x)
    }

    /// The same into memory of the caller's, (dim).
    pub fn reconstruct_into(&self, id: i64, x: &mut [f32]) -> Result<()> {
        check_length("x", x.len(), self.dim())?;
        check(unsafe { sys::polar_index_reconstruct(self.raw(), id, x.as_mut_ptr()) })
    }

    /// The stored forms of the rows with these ids, (ids, dim).
    pub fn reconstruct_batch(&self, ids: &[i64]) -> Result<Vec<f32>> {
        let mut x = zeros(product("ids", ids.len(), self.dim())?)?;
        for (row, &id) in x.chunks_exact_mut(self.dim()).zip(ids) {
            self.reconstruct_into(id, row)?;
        }
        Ok(x)
    }

    /// An index like this one, in memory, which can be changed.
    pub fn try_clone(&self) -> Result<Index> {
        Index::from_handle(Handle::create(|out| unsafe {
            sys::polar_index_clone(self.raw(), out)
        })?)
    }
}

pub(super) fn read_info(index: *const sys::polar_index) -> Result<IndexInfo> {
    // SAFETY: the function fills the info up to its size.
    let raw: sys::polar_index_info =
        structs::read(|info| unsafe { sys::polar_index_get_info(index, info) })?;
    Ok(IndexInfo {
        dim: to_usize(raw.dim.into()),
        metric: Metric::from_number(raw.metric),
        is_trained: raw.is_trained != 0,
        ntotal: to_usize(raw.ntotal),
    })
}
