// SPDX-License-Identifier: MIT
// Searches by k and by radius: the same for all that can be searched. Parts of an index that are searched apart.
'use strict';

const { asBytes, asInteger, asNumber, asOptions, asVectors, makeArray, show, wrongType } = require('./arguments.js');
const { callSync } = require('./calls.js');
const { packSearch } = require('./filters.js');
const { RangeResult, SearchResult } = require('./results.js');

const MOST = Number.MAX_SAFE_INTEGER;

/**
 * run: callSync or callAsync; before: the addon's arguments before the queries; between: those between
 * queries and k; numThreads: where the options say nothing.
 */
function runSearch(run, name, dim, before, queries, between, k, options, numThreads) {
  const rows = asVectors('queries', queries, dim);
  const count = asInteger('k', k, 1, MOST);
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

/** What a part of an index finds, as bytes. */
function runPartialSearch(run, dim, native, firstRow, queries, k, options) {
  const rows = asVectors('queries', queries, dim);
  const given = [asInteger('firstRow', firstRow, 0, MOST), rows, asInteger('k', k, 1, MOST), ...packSearch(options)];
  return run('indexSearchPartial', [native, ...given], options, undefined, hasFunction(options));
}

/** The answer of parts of an index; options: `bigint`. */
function mergePartials(partials, nq, k, options) {
  if (!Array.isArray(partials)) throw wrongType(`partials: an array of them is wanted, not ${show(partials)}`);
  const all = partials.map((partial, number) => asBytes(`partials[${number}]`, partial));
  const sizes = Float64Array.from(all, (partial) => partial.length);
  const queries = asInteger('nq', nq, 0, MOST);
  const count = asInteger('k', k, 1, MOST);
  const isBig = asOptions(options).bigint === true;
  const scores = makeArray(Float32Array, queries * count);
  const ids = makeArray(isBig ? BigInt64Array : Float64Array, queries * count);
  callSync('mergePartials', [Buffer.concat(all), sizes, queries, count, scores, ids]);
  return new SearchResult(scores, ids, count);
}

function hasFunction(options) {
  return options !== undefined && typeof asOptions(options).filter === 'function';
}

module.exports = { mergePartials, runPartialSearch, runRangeSearch, runSearch };
