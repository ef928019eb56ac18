// SPDX-License-Identifier: MIT
//! The rows nearest to queries.

use crate::error::{check, Error};
use crate::search::{self, Queries};
use crate::sizes::to_i64;
use crate::{Index, Matches, RangeMatches, Result, SearchOptions};
use polarquant_sys as sys;
use std::os::raw::c_char;

impl Index {
    /// The k nearest rows of each of the queries, (nq, dim), best first. k ≥ 1; where there are fewer
    /// rows, there are fewer matches.
    ///
    /// NotTrained before `train`, where the index needs it; BadArgument for queries that are not
    /// finite.
    pub fn search(&self, queries: &[f32], k: usize) -> Result<Matches> {
        self.search_using(queries, k, &SearchOptions::new())
    }

    /// The same with options. Unsupported for one that the index has no use for.
    pub fn search_using(
        &self,
        queries: &[f32],
        k: usize,
        options: &SearchOptions<'_>,
    ) -> Result<Matches> {
        let queries = Queries::new(queries, self.dim())?;
        let index = self.raw();
        // SAFETY: `search` gives memory for (nq, k) results.
        search::search(queries, k, options, |options, k, scores, ids| unsafe {
            sys::polar_index_search(index, queries.count, queries.numbers, k, options, scores, ids)
        })
    }

    /// The same into memory of the caller's: scores and ids, (nq, k) each. Where there are fewer rows
    /// than k: id −1 with score −∞ (L2: +∞). After an error they hold nothing of use.
    pub fn search_into(
        &self,
        queries: &[f32],
        k: usize,
        options: &SearchOptions<'_>,
        scores: &mut [f32],
        ids: &mut [i64],
    ) -> Result<()> {
        let queries = Queries::new(queries, self.dim())?;
        let index = self.raw();
        // SAFETY: `search_into` checks that there is memory for (nq, k) results.
        search::search_into(queries, k, options, scores, ids, |options, k, s, i| unsafe {
            sys::polar_index_search(index, queries.count, queries.numbers, k, options, s, i)
        })
    }

    /// All rows within a radius of each of the queries, (nq, dim): score > radius, for L2 squared
    /// distance < radius. Unsupported for FAISS's graphs, and its scalar and product
    /// quantizers.
    pub fn range_search(&self, queries: &[f32], radius: f32) -> Result<RangeMatches> {
        self.range_search_using(queries, radius, &SearchOptions::new())
    }

    /// The same with options. At finite exactness a few rows near the radius are left out.
    ///
    /// Searches again where more rows are found than there was memory for at once.
    pub fn range_search_using(
        &self,
        queries: &[f32],
        radius: f32,
        options: &SearchOptions<'_>,
    ) -> Result<RangeMatches> {
        let queries = Queries::new(queries, self.dim())?;
        let (nq, numbers) = (queries.count, queries.numbers);
        let index = self.raw();
        // SAFETY: `range_search` gives memory for nq + 1 limits and `capacity` results.
        search::range_search(queries, options, |options, capacity, lims, scores, ids| unsafe {
            sys::polar_index_range_search(
                index, nq, numbers, radius, options, capacity, lims, scores, ids,
            )
        })
    }

    /// What a search for so many queries together would do: how it scans, rows, stages, and about how
    /// many bytes it reads. Nothing is searched. Lines for people; their words may change.
    ///
    /// nq: 1 to 2^40. k ≥ 1. Errors as those of the search.
    pub fn explain(&self, nq: usize, k: usize, options: &SearchOptions<'_>) -> Result<String> {
        let (nq, k) = (to_i64("nq", nq)?, to_i64("k", k)?);
        let mut text = vec![0u8; 4096];
        loop {
            let mut needed = 0;
            // SAFETY: there is memory for the text's length.
            options.run(|options| unsafe {
                let (buffer, cap) = (text.as_mut_ptr().cast::<c_char>(), text.len());
                sys::polar_index_explain(self.raw(), nq, k, options, buffer, cap, &mut needed)
            })?;
            if needed < text.len() {
                text.truncate(needed);
                return String::from_utf8(text)
                    .map_err(|_| Error::bad_argument("explain: the text is not UTF-8"));
            }
            text.resize(needed + 1, 0);
        }
    }

    /// Reads all that a mapped index has in its file: CorruptData unless it is what was saved. At once
    /// for other indexes, which were verified when they were loaded.
    pub fn verify(&self) -> Result<()> {
        // SAFETY: the index lives as long as the call.
        check(unsafe { sys::polar_index_verify(self.raw()) })
    }
}
