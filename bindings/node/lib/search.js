// SPDX-License-Identifier: MIT
// Searches by k and by radius: the same for all that can be searched.
'use strict';

const { asInteger, asNumber, asOptions, asVectors, makeArray } = require('./arguments.js');
const { packSearch } = require('./filters.js');
const { RangeResult, SearchResult } = require('./results.js');

/**
 * run: callSync or callAsync; before: the addon's arguments before the queries; between: those between
 * queries and k; numThreads: where the options say nothing.
 */
function runSearch(run, name, dim, before, queries, between, k, options, numThreads) {
  const rows = asVectors('queries', queries, dim);
  const count = asInteger('k', k, 1, Number.MAX_SAFE_INTEGER);
  const packed = packSearch(options, numThreads);
  const results = Math.floor(rows.length / dim) * count;
  const isBig = options !== undefined && options.bigint === true;
  const scores = makeArray(Float32Array, results);
  const ids = makeArray(isBig ? BigInt64Array : Float64Array, results);
  const given = [before, rows, ...between, count, scores, ids, ...packed];
  const finish = () => new SearchResult(scores, ids, count);
  return run(name, given, options, finish, hasFunction(options));
}

function runRangeSearch(run, name, dim, before, queries, between, radius, options, numThreads) {
  const rows = asVectors('queries', queries, dim);
  const packed = packSearch(options, numThreads);
  const isBig = options !== undefined && options.bigint === true;
  const given = [before, rows, ...between, asNumber('radius', radius), isBig ? 1 : 0, ...packed];
  const finish = ({ lims, scores, ids }) => new RangeResult(lims, scores, ids);
  return run(name, given, options, finish, hasFunction(options));
}

function hasFunction(options) {
  return options !== undefined && typeof asOptions(options).filter === 'function';
}

module.exports = { runRangeSearch, runSearch };
