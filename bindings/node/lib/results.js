// SPDX-License-Identifier: MIT
// What searches found.
'use strict';

const { errors } = require('./errors.js');

function checkQuery(query, count) {
  if (!Number.isInteger(query) || query < 0 || query >= count) {
    throw new errors.BadArgumentError(`query: ${query} is not allowed; 0 to ${count - 1}`);
  }
}

/** The k nearest of each query, flat: those of query q are at q·k to q·k + k − 1. */
class SearchResult {
  constructor(scores, ids, k) {
    this.scores = scores;
    this.ids = ids;
    this.k = k;
  }

  get nq() {
    return this.ids.length / this.k;
  }

  /** Scores and ids of one query, without a copy. */
  query(query) {
    checkQuery(query, this.nq);
    const { k } = this;
    const begin = query * k;
    return new SearchResult(
      this.scores.subarray(begin, begin + k),
      this.ids.subarray(begin, begin + k),
      k
    );
  }

  *[Symbol.iterator]() {
    const { scores, ids, k } = this;
    for (let i = 0; i < ids.length; ++i) {
      // −1: there were fewer rows than k.
      if (ids[i] >= 0) yield { query: Math.floor(i / k), id: ids[i], score: scores[i] };
    }
  }
}

/** Rows within a radius: those of query q are at lims[q] to lims[q + 1] − 1. */
class RangeResult {
  constructor(lims, scores, ids) {
    this.lims = lims;
    this.scores = scores;
    this.ids = ids;
  }

  get nq() {
    return this.lims.length - 1;
  }

  query(query) {
    checkQuery(query, this.nq);
    const begin = this.lims[query];
    const end = this.lims[query + 1];
    return new RangeResult(
      Float64Array.of(0, end - begin),
      this.scores.subarray(begin, end),
      this.ids.subarray(begin, end)
    );
  }

  *[Symbol.iterator]() {
    const { lims, scores, ids } = this;
    for (let query = 0; query < this.nq; ++query) {
      for (let i = lims[query]; i < lims[query + 1]; ++i) {
        yield { query, id: ids[i], score: scores[i] };
      }
    }
  }
}

module.exports = { RangeResult, SearchResult };
