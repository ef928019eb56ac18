// SPDX-License-Identifier: MIT
//! Scores over codes that the caller keeps.

use crate::error::Error;
use crate::handle::Handle;
use crate::search::{self, Queries};
use crate::sizes::{check_length, count_rows, product, to_i64, zeros};
use crate::{Codec, Matches, Query, RangeMatches, Result, SearchOptions, WorkOptions};
use polarquant_sys as sys;

impl Codec {
    /// A query, (dim), to be scored many times. BadArgument for numbers that are not finite.
    pub fn prepare_query(&self, q: &[f32]) -> Result<Query> {
        check_length("q", q.len(), self.dim())?;
        // SAFETY: q has dim numbers.
        let make = |out: *mut _| unsafe { sys::polar_query_prepare(self.raw(), q.as_ptr(), out) };
        Ok(Query::new(Handle::create(make)?))
    }

    /// The query that is the vector of row `row`, 0 to n − 1, of n coded rows.
    pub fn prepare_query_from_code(&self, n: usize, codes: &[u8], row: usize) -> Result<Query> {
        let (n, row) = (to_i64("n", n)?, to_i64("row", row)?);
        let (bytes, length) = (codes.as_ptr(), codes.len());
        // SAFETY: the library checks the length of codes.
        let handle = Handle::create(|out| unsafe {
            sys::polar_query_prepare_from_code(self.raw(), n, bytes, length, row, out)
        })?;
        Ok(Query::new(handle))
    }

    /// Scores of n coded rows, (n): estimates of ⟨q, x⟩, of the cosine, or of ‖q − x‖², which can be
    /// slightly below 0. StateMismatch for a query of another codec's state.
    pub fn score(&self, query: &Query, n: usize, codes: &[u8]) -> Result<Vec<f32>> {
        self.check_codes("codes", n, codes)?;
        let mut scores = zeros(n)?;
        self.score_into(query, n, codes, &WorkOptions::new(), &mut scores)?;
        Ok(scores)
    }

    /// The same into memory of the caller's, (n), with options.
    pub fn score_into(
        &self,
        query: &Query,
        n: usize,
        codes: &[u8],
        options: &WorkOptions<'_>,
        scores: &mut [f32],
    ) -> Result<()> {
        check_length("scores", scores.len(), n)?;
        let n = to_i64("n", n)?;
        let (bytes, length) = (codes.as_ptr(), codes.len());
        // SAFETY: there is memory for n scores; the library checks the length of codes.
        options.run(|raw| unsafe {
            let out = scores.as_mut_ptr();
            sys::polar_codec_score(self.raw(), query.raw(), n, bytes, length, raw, out)
        })
    }

    /// Scores between every row of a and every row of b, (na, nb), from codes alone.
    pub fn score_codes(&self, na: usize, a: &[u8], nb: usize, b: &[u8]) -> Result<Vec<f32>> {
        self.score_codes_using(na, a, nb, b, &WorkOptions::new())
    }

    /// The same with options.
    pub fn score_codes_using(
        &self,
        na: usize,
        a: &[u8],
        nb: usize,
        b: &[u8],
        options: &WorkOptions<'_>,
    ) -> Result<Vec<f32>> {
        self.check_codes("a", na, a)?;
        self.check_codes("b", nb, b)?;
        let mut scores = zeros(product("na", na, nb)?)?;
        let (na, nb) = (to_i64("na", na)?, to_i64("nb", nb)?);
        // SAFETY: there is memory for na · nb scores.
        options.run(|raw| unsafe {
            sys::polar_codec_score_codes(
                self.raw(),
                na,
                a.as_ptr(),
                a.len(),
                nb,
                b.as_ptr(),
                b.len(),
                raw,
                scores.as_mut_ptr(),
            )
        })?;
        Ok(scores)
    }

    /// Weighted sums of n coded rows, (nw, dim), for weights, (nw, n), finite: Σᵢ weights[w, i] · x̂ᵢ,
    /// x̂ the reconstruction of least error. n: 1 or more.
    pub fn combine(&self, n: usize, codes: &[u8], weights: &[f32]) -> Result<Vec<f32>> {
        self.combine_using(n, codes, weights, &WorkOptions::new())
    }

    /// The same with options.
    pub fn combine_using(
        &self,
        n: usize,
        codes: &[u8],
        weights: &[f32],
        options: &WorkOptions<'_>,
    ) -> Result<Vec<f32>> {
        if n == 0 {
            return Err(Error::bad_argument("n: 0 is not allowed; 1 or more"));
        }
        self.check_codes("codes", n, codes)?;
        let nw = count_rows("weights", weights.len(), n)?;
        let mut sums = zeros(product("weights", nw, self.dim())?)?;
        let (n, nw) = (to_i64("n", n)?, to_i64("weights", nw)?);
        let (bytes, length) = (codes.as_ptr(), codes.len());
        // SAFETY: there are nw · n weights, and memory for nw · dim sums.
        options.run(|raw| unsafe {
            let (given, out) = (weights.as_ptr(), sums.as_mut_ptr());
            sys::polar_codec_combine(self.raw(), n, bytes, length, nw, given, raw, out)
        })?;
        Ok(sums)
    }

    /// The k best of n coded rows for each of the queries, (nq, dim); ids are row positions, ties are
    /// in their order. k ≥ 1.
    pub fn search(&self, queries: &[f32], n: usize, codes: &[u8], k: usize) -> Result<Matches> {
        self.search_using(queries, n, codes, k, &SearchOptions::new())
    }

    /// The same with options.
    pub fn search_using(
        &self,
        queries: &[f32],
        n: usize,
        codes: &[u8],
        k: usize,
        options: &SearchOptions<'_>,
    ) -> Result<Matches> {
        let queries = Queries::new(queries, self.dim())?;
        let n = to_i64("n", n)?;
        let codec = self.raw();
        let (bytes, length) = (codes.as_ptr(), codes.len());
        // SAFETY: `search` gives memory for (nq, k) results; the library checks the length of codes.
        search::search(queries, k, options, |options, k, scores, ids| unsafe {
            let (nq, numbers) = (queries.count, queries.numbers);
            sys::polar_codec_search(codec, nq, numbers, n, bytes, length, k, options, scores, ids)
        })
    }

    /// All of n coded rows within a radius of each of the queries, (nq, dim): score > radius, for L2
    /// squared distance < radius.
    pub fn range_search(
        &self,
        queries: &[f32],
        n: usize,
        codes: &[u8],
        radius: f32,
    ) -> Result<RangeMatches> {
        self.range_search_using(queries, n, codes, radius, &SearchOptions::new())
    }

    /// The same with options. At finite exactness a few rows near the radius are left out.
    pub fn range_search_using(
        &self,
        queries: &[f32],
        n: usize,
        codes: &[u8],
        radius: f32,
        options: &SearchOptions<'_>,
    ) -> Result<RangeMatches> {
        let queries = Queries::new(queries, self.dim())?;
        let n = to_i64("n", n)?;
        let (bytes, length) = (codes.as_ptr(), codes.len());
        // SAFETY: `range_search` gives memory for nq + 1 limits and `capacity` results.
        search::range_search(queries, options, |options, capacity, lims, scores, ids| unsafe {
            sys::polar_codec_range_search(
                self.raw(),
                queries.count,
                queries.numbers,
                n,
                bytes,
                length,
                radius,
                options,
                capacity,
                lims,
                scores,
                ids,
            )
        })
    }
}
