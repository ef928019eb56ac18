// SPDX-License-Identifier: MIT
//! Codes in blocks of 64 rows: what searches read fastest, for programs that keep their own ids.

use crate::aligned::AlignedBytes;
use crate::error::check;
use crate::search::{self, Queries};
use crate::sizes::{check_length, not_allowed, product, to_i64, to_usize, zeros};
use crate::{Codec, Matches, RangeMatches, Result, SearchOptions};
use polarquant_sys as sys;
use std::fmt;
use std::sync::Arc;

/// Coded rows in memory, in blocks of 64, searched by position; codes go in and come out unchanged.
///
/// For codecs of "Polar0.5" to "Polar8" and residual codes. Calls with `&self` may run in many
/// threads at the same time; changes need the blocks alone.
///
/// ```
/// use polarquant::{Codec, CodeBlocks, Metric};
/// use std::sync::Arc;
///
/// let rows: Vec<f32> = (0..100 * 64).map(|i| ((i * i) as f32).sin()).collect();
/// let codec = Arc::new(Codec::new("Polar4", 64, Metric::InnerProduct)?);
/// let mut blocks = CodeBlocks::new(&codec)?;
/// blocks.append(100, &codec.encode(&rows)?)?;
/// assert_eq!(blocks.search(&rows[..64], 3)?.ids()[0], 0);
/// # Ok::<(), polarquant::Error>(())
/// ```
pub struct CodeBlocks {
    /// Shared, so that it is neither trained nor freed while there are blocks.
    codec: Arc<Codec>,
    memory: AlignedBytes,
    rows: i64,
}

impl CodeBlocks {
    /// Blocks without rows. Unsupported for codecs whose codes are not kept in blocks.
    pub fn new(codec: &Arc<Codec>) -> Result<CodeBlocks> {
        let memory = AlignedBytes::zeros(bytes_for(codec, 0)?)?;
        Ok(CodeBlocks { codec: Arc::clone(codec), memory, rows: 0 })
    }

    /// Whose codes they are.
    pub fn codec(&self) -> &Arc<Codec> {
        &self.codec
    }

    /// Rows held.
    pub fn len(&self) -> usize {
        to_usize(self.rows)
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// Bytes of memory, with those for further rows.
    pub fn memory_bytes(&self) -> usize {
        self.memory.len()
    }

    /// Adds n coded rows after those held.
    pub fn append(&mut self, n: usize, codes: &[u8]) -> Result<()> {
        self.codec.check_codes("codes", n, codes)?;
        self.reserve(n)?;
        let n = to_i64("n", n)?;
        let (bytes, length) = (codes.as_ptr(), codes.len());
        // SAFETY: there is memory for the rows together.
        self.change(|codec, blocks| unsafe {
            sys::polar_blocks_append(codec, blocks, n, bytes, length)
        })
    }

    /// The codes of `count` rows from row `first` on, as they were given.
    pub fn get(&self, first: usize, count: usize) -> Result<Vec<u8>> {
        // Memory is taken for rows that there are.
        if first > self.len() || count > self.len() - first {
            let rows = format_args!("{} rows from {}", count, first).to_string();
            return Err(not_allowed("count", rows, format_args!("of {} rows", self.len())));
        }
        let mut codes = zeros(self.codec.encoded_bytes(count)?)?;
        let (first, count) = (to_i64("first", first)?, to_i64("count", count)?);
        let blocks = self.raw();
        let (out, length) = (codes.as_mut_ptr(), codes.len());
        // SAFETY: the blocks are only read; codes have their length.
        check(unsafe {
            sys::polar_blocks_get(self.codec.raw(), &blocks, first, count, out, length)
        })?;
        Ok(codes)
    }

    /// Puts one code in the place of row `row`.
    pub fn overwrite(&mut self, row: usize, code: &[u8]) -> Result<()> {
        let row = to_i64("row", row)?;
        let (bytes, length) = (code.as_ptr(), code.len());
        // SAFETY: the library checks the row and the length.
        self.change(|codec, blocks| unsafe {
            sys::polar_blocks_overwrite(codec, blocks, row, bytes, length)
        })
    }

    /// Takes out the rows whose bit is 1: bit row % 64 of word row / 64 of ⌈rows / 64⌉ words. The
    /// others keep their order.
    pub fn remove(&mut self, removed: &[u64]) -> Result<()> {
        let words = self.len() / 64 + usize::from(self.len() % 64 != 0);
        check_length("removed", removed.len(), words)?;
        let bits = removed.as_ptr();
        // SAFETY: there is a bit for each row.
        self.change(|codec, blocks| unsafe { sys::polar_blocks_remove(codec, blocks, bits) })
    }

    /// Takes out one row; the last one takes its place.
    pub fn swap_remove(&mut self, row: usize) -> Result<()> {
        let row = to_i64("row", row)?;
        // SAFETY: the library checks the row.
        self.change(|codec, blocks| unsafe { sys::polar_blocks_swap_remove(codec, blocks, row) })
    }

    /// The k best rows for each of the queries, (nq, dim), as [`Codec::search`].
    pub fn search(&self, queries: &[f32], k: usize) -> Result<Matches> {
        self.search_using(queries, k, &SearchOptions::new())
    }

    /// The same with options.
    pub fn search_using(
        &self,
        queries: &[f32],
        k: usize,
        options: &SearchOptions<'_>,
    ) -> Result<Matches> {
        let queries = Queries::new(queries, self.codec.dim())?;
        let (codec, blocks) = (self.codec.raw(), self.raw());
        // SAFETY: `search` gives memory for (nq, k) results; the blocks are only read.
        search::search(queries, k, options, |options, k, scores, ids| unsafe {
            let (nq, numbers) = (queries.count, queries.numbers);
            sys::polar_blocks_search(codec, &blocks, nq, numbers, k, options, scores, ids)
        })
    }

    /// All rows within a radius of each of the queries, (nq, dim), as [`Codec::range_search`].
    pub fn range_search(&self, queries: &[f32], radius: f32) -> Result<RangeMatches> {
        self.range_search_using(queries, radius, &SearchOptions::new())
    }

    /// The same with options.
    pub fn range_search_using(
        &self,
        queries: &[f32],
        radius: f32,
        options: &SearchOptions<'_>,
    ) -> Result<RangeMatches> {
        let queries = Queries::new(queries, self.codec.dim())?;
        let (codec, blocks) = (self.codec.raw(), self.raw());
        let (nq, numbers) = (queries.count, queries.numbers);
        // SAFETY: `range_search` gives memory for nq + 1 limits and `capacity` results.
        search::range_search(queries, options, |options, capacity, lims, scores, ids| unsafe {
            sys::polar_blocks_range_search(
                codec, &blocks, nq, numbers, radius, options, capacity, lims, scores, ids,
            )
        })
    }

    /// As the library reads them.
    fn raw(&self) -> sys::polar_blocks {
        let data = self.memory.as_ptr() as *mut u8;
        sys::polar_blocks { rows: self.rows, data, bytes: self.memory.len() }
    }

    fn change(
        &mut self,
        call: impl FnOnce(*const sys::polar_codec, *mut sys::polar_blocks) -> sys::polar_status,
    ) -> Result<()> {
        let (data, bytes) = (self.memory.as_mut_ptr(), self.memory.len());
        let mut blocks = sys::polar_blocks { rows: self.rows, data, bytes };
        let status = call(self.codec.raw(), &mut blocks);
        self.rows = blocks.rows;
        check(status)
    }

    /// Memory for n further rows: half as much again as before, at least.
    fn reserve(&mut self, n: usize) -> Result<()> {
        let rows = self.len().checked_add(n).ok_or_else(|| not_allowed("n", n, "fewer rows"))?;
        let needed = bytes_for(&self.codec, rows)?;
        if needed > self.memory.len() {
            let grown = self.memory.len() + self.memory.len() / 2;
            // What blocks of the rows held take, so that none is copied that holds nothing.
            let used = bytes_for(&self.codec, self.len())?;
            self.memory.grow(used, needed.max(grown))?;
        }
        Ok(())
    }
}

/// What blocks of so many rows take.
fn bytes_for(codec: &Codec, rows: usize) -> Result<usize> {
    let mut bytes = 0;
    // No size overflows where that of the codes does not.
    product("n", rows, codec.code_bytes())?;
    let rows = to_i64("n", rows)?;
    // SAFETY: writes one number.
    check(unsafe { sys::polar_blocks_bytes(codec.raw(), rows, &mut bytes) })?;
    Ok(bytes)
}

impl fmt::Debug for CodeBlocks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CodeBlocks").field("codec", &self.codec).field("rows", &self.rows).finish()
    }
}
