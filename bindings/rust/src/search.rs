// SPDX-License-Identifier: MIT
//! What searches of indexes, codes and blocks share: sizes checked, results allocated.

use crate::error::Result;
use crate::matches::{Matches, RangeMatches};
use crate::search_options::SearchOptions;
use crate::sizes::{check_length, count_rows, product, to_i64, zeros};
use polarquant_sys as sys;

/// Rows of a range search that there is memory for at once: for each query, and at most.
const FIRST_ROWS: usize = 64;
const MOST_FIRST_ROWS: usize = 1 << 16;

/// Queries, (nq, dim), as the library takes them.
#[derive(Clone, Copy)]
pub(crate) struct Queries {
    pub(crate) count: i64,
    pub(crate) numbers: *const f32,
}

impl Queries {
    pub(crate) fn new(queries: &[f32], dim: usize) -> Result<Queries> {
        let count = to_i64("queries", count_rows("queries", queries.len(), dim)?)?;
        Ok(Queries { count, numbers: queries.as_ptr() })
    }
}

/// A search into memory of the caller's, (nq, k) each; `call` takes (options, k, scores, ids).
pub(crate) fn search_into(
    queries: Queries,
    k: usize,
    options: &SearchOptions<'_>,
    scores: &mut [f32],
    ids: &mut [i64],
    call: impl FnOnce(*const sys::polar_search_options, i64, *mut f32, *mut i64) -> sys::polar_status,
) -> Result<()> {
    let wanted = product("k", queries.count as usize, k)?;
    check_length("scores", scores.len(), wanted)?;
    check_length("ids", ids.len(), wanted)?;
    let count = to_i64("k", k)?;
    options.run(|raw| call(raw, count, scores.as_mut_ptr(), ids.as_mut_ptr()))
}

/// A search into memory of its own.
pub(crate) fn search(
    queries: Queries,
    k: usize,
    options: &SearchOptions<'_>,
    call: impl FnOnce(*const sys::polar_search_options, i64, *mut f32, *mut i64) -> sys::polar_status,
) -> Result<Matches> {
    let wanted = product("k", queries.count as usize, k)?;
    let mut scores = zeros(wanted)?;
    let mut ids = zeros(wanted)?;
    search_into(queries, k, options, &mut scores, &mut ids, call)?;
    Ok(Matches::new(k, ids, scores))
}

/// A range search; `call` takes (options, capacity, lims, scores, ids), and is made again with more
/// memory where the first rows found do not fit.
pub(crate) fn range_search(
    queries: Queries,
    options: &SearchOptions<'_>,
    mut call: impl FnMut(
        *const sys::polar_search_options,
        i64,
        *mut i64,
        *mut f32,
        *mut i64,
    ) -> sys::polar_status,
) -> Result<RangeMatches> {
    let count = queries.count as usize;
    let mut lims = zeros::<i64>(count + 1)?;
    let mut capacity = count.saturating_mul(FIRST_ROWS).min(MOST_FIRST_ROWS);
    loop {
        let mut scores = zeros::<f32>(capacity)?;
        let mut ids = zeros::<i64>(capacity)?;
        let capacity_given = to_i64("queries", capacity)?;
        options.run(|raw| {
            call(raw, capacity_given, lims.as_mut_ptr(), scores.as_mut_ptr(), ids.as_mut_ptr())
        })?;
        let found = lims[count] as usize;
        // Another thread may have added rows meanwhile, so that it may be more again.
        if found <= capacity {
            scores.truncate(found);
            ids.truncate(found);
            return Ok(RangeMatches::new(lims, ids, scores));
        }
        capacity = found;
    }
}
