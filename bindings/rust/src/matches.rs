// SPDX-License-Identifier: MIT
//! What searches find.

use std::iter::Zip;
use std::slice;

/// A row that a search found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Match {
    /// Of the row: the caller's, or its position.
    pub id: i64,
    /// By the metric; a squared distance for [`Metric::L2`](crate::Metric::L2).
    pub score: f32,
}

/// The k nearest rows of each query, best first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Matches {
    k: usize,
    ids: Vec<i64>,
    scores: Vec<f32>,
}

impl Matches {
    pub(crate) fn new(k: usize, ids: Vec<i64>, scores: Vec<f32>) -> Matches {
        Matches { k, ids, scores }
    }

    /// Rows asked for, for each query.
    pub fn k(&self) -> usize {
        self.k
    }

    /// Queries that were searched for.
    pub fn num_queries(&self) -> usize {
        self.ids.len().checked_div(self.k).unwrap_or(0)
    }

    /// Ids, (queries, k); −1 where there were fewer rows than k.
    pub fn ids(&self) -> &[i64] {
        &self.ids
    }

    /// Scores, (queries, k); −∞, or for L2 +∞, where there were fewer rows than k.
    pub fn scores(&self) -> &[f32] {
        &self.scores
    }

    /// The rows that were found for one query, best first; at most k.
    ///
    /// # Panics
    ///
    /// When `query` is not below [`num_queries`](Matches::num_queries).
    pub fn query(&self, query: usize) -> Found<'_> {
        assert!(query < self.num_queries(), "query {} of {}", query, self.num_queries());
        let range = query * self.k..(query + 1) * self.k;
        found(&self.ids[range.clone()], &self.scores[range])
    }

    /// The rows that were found for all queries, one query after the other.
    pub fn iter(&self) -> Found<'_> {
        found(&self.ids, &self.scores)
    }

    /// Ids and scores, (queries, k) each.
    pub fn into_parts(self) -> (Vec<i64>, Vec<f32>) {
        (self.ids, self.scores)
    }
}

/// The rows that were found for all queries.
impl<'a> IntoIterator for &'a Matches {
    type Item = Match;
    type IntoIter = Found<'a>;

    fn into_iter(self) -> Found<'a> {
        self.iter()
    }
}

/// All rows within a radius of each query, best first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RangeMatches {
    lims: Vec<i64>,
    ids: Vec<i64>,
    scores: Vec<f32>,
}

impl RangeMatches {
    pub(crate) fn new(lims: Vec<i64>, ids: Vec<i64>, scores: Vec<f32>) -> RangeMatches {
        RangeMatches { lims, ids, scores }
    }

    /// Queries that were searched for.
    pub fn num_queries(&self) -> usize {
        self.lims.len().saturating_sub(1)
    }

    /// (queries + 1): those of query q stand from `lims[q]` to before `lims[q + 1]`.
    pub fn lims(&self) -> &[i64] {
        &self.lims
    }

    /// Ids of all queries together.
    pub fn ids(&self) -> &[i64] {
        &self.ids
    }

    /// Scores of all queries together.
    pub fn scores(&self) -> &[f32] {
        &self.scores
    }

    /// The rows that were found for one query, best first.
    ///
    /// # Panics
    ///
    /// When `query` is not below [`num_queries`](RangeMatches::num_queries).
    pub fn query(&self, query: usize) -> Found<'_> {
        assert!(query < self.num_queries(), "query {} of {}", query, self.num_queries());
        let range = self.lims[query] as usize..self.lims[query + 1] as usize;
        found(&self.ids[range.clone()], &self.scores[range])
    }

    /// The rows that were found for all queries, one query after the other.
    pub fn iter(&self) -> Found<'_> {
        found(&self.ids, &self.scores)
    }

    /// Limits, ids and scores.
    pub fn into_parts(self) -> (Vec<i64>, Vec<i64>, Vec<f32>) {
        (self.lims, self.ids, self.scores)
    }
}

fn found<'a>(ids: &'a [i64], scores: &'a [f32]) -> Found<'a> {
    Found { pairs: ids.iter().zip(scores) }
}

/// Rows that a search found, without the places where there were fewer than k.
#[derive(Clone, Debug)]
pub struct Found<'a> {
    pairs: Zip<slice::Iter<'a, i64>, slice::Iter<'a, f32>>,
}

impl Iterator for Found<'_> {
    type Item = Match;

    fn next(&mut self) -> Option<Match> {
        let (&id, &score) = self.pairs.find(|pair| *pair.0 >= 0)?;
        Some(Match { id, score })
    }
}

/// The rows that were found for all queries.
impl<'a> IntoIterator for &'a RangeMatches {
    type Item = Match;
    type IntoIter = Found<'a>;

    fn into_iter(self) -> Found<'a> {
        self.iter()
    }
}
