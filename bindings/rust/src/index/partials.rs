// SPDX-License-Identifier: MIT
//! The answer of one index from parts of it that are searched apart, in processes of any kind.

use super::Index;
use crate::error::{check, ErrorKind};
use crate::search::Queries;
use crate::sizes::{product, to_i64, zeros};
use crate::{Matches, Result, SearchOptions};
use polarquant_sys as sys;

impl Index {
    /// What [`merge_partials`] needs of this part of an index for the k rows nearest to each of the
    /// queries, (nq, dim): bytes, to be sent to whoever merges them.
    ///
    /// first_row: how many rows the parts before this one have. Ids that are positions are those of
    /// the whole. Errors as those of [`search`](Index::search); besides, Unsupported for refinements
    /// and graphs.
    pub fn search_partial(&self, first_row: usize, queries: &[f32], k: usize) -> Result<Vec<u8>> {
        self.search_partial_using(first_row, queries, k, &SearchOptions::new())
    }

    /// The same with options, of which a filter is over ids of the whole. Unsupported for a filter
    /// over an inverted file, whose lists are chosen by what the filter keeps of all parts: search
    /// these by [`search_using`](Index::search_using), and take the best of all.
    pub fn search_partial_using(
        &self,
        first_row: usize,
        queries: &[f32],
        k: usize,
        options: &SearchOptions<'_>,
    ) -> Result<Vec<u8>> {
        let queries = Queries::new(queries, self.dim())?;
        let (first_row, k) = (to_i64("first_row", first_row)?, to_i64("k", k)?);
        let mut capacity = self.partial_bytes(queries.count, k)?;
        loop {
            let mut partial = zeros::<u8>(capacity)?;
            let (index, mut written) = (self.raw(), 0);
            // SAFETY: there is memory for `capacity` bytes, and the queries live as long as the call.
            let searched = options.run(|options| unsafe {
                sys::polar_index_search_partial(
                    index,
                    first_row,
                    queries.count,
                    queries.numbers,
                    k,
                    options,
                    capacity,
                    partial.as_mut_ptr(),
                    &mut written,
                )
            });
            match searched {
                Ok(()) => {
                    partial.truncate(written);
                    partial.shrink_to_fit();
                    return Ok(partial);
                }
                // Another thread may have added rows meanwhile, for which there was no memory.
                Err(error) if error.kind() == ErrorKind::BadArgument => {
                    let needed = self.partial_bytes(queries.count, k)?;
                    if needed <= capacity {
                        return Err(error);
                    }
                    capacity = needed;
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// The most that a partial result can have.
    fn partial_bytes(&self, nq: i64, k: i64) -> Result<usize> {
        let mut bytes = 0;
        // SAFETY: the index lives as long as the call.
        check(unsafe { sys::polar_index_partial_bytes(self.raw(), nq, k, &mut bytes) })?;
        Ok(bytes)
    }
}

/// The answer of the whole, to the bit that of one index with all rows, from what
/// [`Index::search_partial`] found in its parts for the same queries and k.
///
/// partials: one or more, in the order of the parts' rows. BadArgument for those of another number of
/// queries or k, StateMismatch for those of indexes of different kinds, CorruptData for other bytes.
///
/// ```
/// use polarquant::{merge_partials, Index, Metric};
///
/// let rows: Vec<f32> = (0..100 * 64).map(|i| ((i * i) as f32).sin()).collect();
/// let mut whole = Index::new("Polar4", 64, Metric::L2)?;
/// whole.train(&rows)?;
/// // Each in a process of its own.
/// let (mut first, mut second) = (whole.try_clone()?, whole.try_clone()?);
/// first.add(&rows[..60 * 64])?;
/// second.add(&rows[60 * 64..])?;
/// let queries = &rows[..3 * 64];
/// let partials = [first.search_partial(0, queries, 5)?, second.search_partial(60, queries, 5)?];
///
/// whole.add(&rows)?;
/// assert_eq!(merge_partials(&partials, 3, 5)?, whole.search(queries, 5)?);
/// # Ok::<(), polarquant::Error>(())
/// ```
pub fn merge_partials(
    partials: &[impl AsRef<[u8]>],
    num_queries: usize,
    k: usize,
) -> Result<Matches> {
    let wanted = product("k", num_queries, k)?;
    let data: Vec<_> = partials.iter().map(|partial| partial.as_ref().as_ptr()).collect();
    let bytes: Vec<_> = partials.iter().map(|partial| partial.as_ref().len()).collect();
    let (mut scores, mut ids) = (zeros(wanted)?, zeros(wanted)?);
    // SAFETY: the partials live as long as the call, and there is memory for (nq, k) results.
    check(unsafe {
        sys::polar_merge_partials(
            to_i64("partials", partials.len())?,
            data.as_ptr(),
            bytes.as_ptr(),
            to_i64("num_queries", num_queries)?,
            to_i64("k", k)?,
            scores.as_mut_ptr(),
            ids.as_mut_ptr(),
        )
    })?;
    Ok(Matches::new(k, ids, scores))
}
