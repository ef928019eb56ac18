// SPDX-License-Identifier: MIT
// Vectors to codes that the caller keeps, and scores and searches of such codes. index.d.ts documents
// every member.
'use strict';

const { callAsync, callSync } = require('./calls.js');
const { ADOPT, Handle, nativeOf } = require('./handle.js');
const {
  asBytes,
  asInteger,
  asMetric,
  asNumber,
  asOptions,
  asSeed,
  asText,
  asThreads,
  asVectors,
  metricName,
} = require('./arguments.js');
const { runRangeSearch, runSearch } = require('./search.js');

const LARGEST = Number.MAX_SAFE_INTEGER;

/** A query prepared for one codec; made by it. */
class Query extends Handle {
  constructor(token, made) {
    if (token !== ADOPT) throw new TypeError('Query: is made by a Codec\'s prepareQuery');
    super(made);
  }
}

const adoptQuery = (made) => new Query(ADOPT, made);

class Codec extends Handle {
  #dim;
  #metric;
  #numThreads = 0;

  constructor(spec, dim, metric, options) {
    super(spec === ADOPT ? dim : createCodec(spec, dim, metric, asOptions(options)));
    if (spec !== ADOPT) this.#numThreads = asThreads(asOptions(options).numThreads);
    const info = this.#read('codecInfo');
    this.#dim = info.dim;
    this.#metric = metricName(info.metric);
  }

  #read(name, ...given) {
    return callSync(name, [nativeOf(this), ...given]);
  }

  // Options' threads, or the codec's.
  #threads(options) {
    return asThreads(asOptions(options).numThreads) || this.#numThreads;
  }

  get spec() {
    return this.#read('codecSpec');
  }

  get dim() {
    return this.#dim;
  }

  get metric() {
    return this.#metric;
  }

  get info() {
    const info = this.#read('codecInfo');
    return { ...info, metric: metricName(info.metric) };
  }

  get codeSize() {
    return this.info.codeBytes;
  }

  get isTrained() {
    return this.info.isTrained;
  }

  get centre() {
    return this.#read('codecCentre');
  }

  get plan() {
    return this.#read('codecPlan');
  }

  get memoryBytes() {
    return this.#read('codecMemoryBytes');
  }

  encodedBytes(n) {
    return this.#read('codecEncodedBytes', asInteger('n', n, 0, LARGEST));
  }

  #rows(run, name, x, options) {
    const rows = asVectors('x', x, this.#dim);
    return run(name, [nativeOf(this), rows, this.#threads(options)], options);
  }

  async train(x, options) {
    return this.#rows(callAsync, 'codecTrain', x, options);
  }

  trainSync(x, options) {
    return this.#rows(callSync, 'codecTrain', x, options);
  }

  async drift(x, options) {
    return this.#rows(callAsync, 'codecDrift', x, options);
  }

  driftSync(x, options) {
    return this.#rows(callSync, 'codecDrift', x, options);
  }

  async encode(x, options) {
    return this.#rows(callAsync, 'codecEncode', x, options);
  }

  encodeSync(x, options) {
    return this.#rows(callSync, 'codecEncode', x, options);
  }

  async decode(codes, options) {
    return this.#decode(callAsync, codes, options);
  }

  decodeSync(codes, options) {
    return this.#decode(callSync, codes, options);
  }

  #decode(run, codes, options) {
    const { n, unbiased } = asOptions(options);
    const given = [asBytes('codes', codes), asCount(n), unbiased ? 1 : 0, this.#threads(options)];
    return run('codecDecode', [nativeOf(this), ...given], options);
  }

  prepareQuery(query) {
    return adoptQuery(this.#read('queryPrepare', asVectors('query', query, this.#dim)));
  }

  prepareQueryFromCode(codes, row = 0, options = undefined) {
    const count = asCount(asOptions(options).n);
    const place = asInteger('row', row, 0, LARGEST);
    return adoptQuery(this.#read('queryPrepareFromCode', asBytes('codes', codes), count, place));
  }

  async score(query, codes, options) {
    return this.#score(callAsync, query, codes, options);
  }

  scoreSync(query, codes, options) {
    return this.#score(callSync, query, codes, options);
  }

  #score(run, query, codes, options) {
    const given = [asBytes('codes', codes), asCount(asOptions(options).n), this.#threads(options)];
    if (query instanceof Query) {
      return run('codecScore', [nativeOf(this), nativeOf(query), ...given], options);
    }
    const rows = asVectors('query', query, this.#dim);
    return run('codecScoreVectors', [nativeOf(this), rows, ...given], options);
  }

  async scoreCodes(a, b = a, options = undefined) {
    return this.#scoreCodes(callAsync, a, b, options);
  }

  scoreCodesSync(a, b = a, options = undefined) {
    return this.#scoreCodes(callSync, a, b, options);
  }

  #scoreCodes(run, a, b, options) {
    const { na, nb = b === a ? na : undefined } = asOptions(options);
    const first = [asBytes('a', a), asCount(na)];
    const second = [asBytes('b', b), asCount(nb)];
    const given = [nativeOf(this), ...first, ...second, this.#threads(options)];
    return run('codecScoreCodes', given, options);
  }

  async combine(weights, codes, options) {
    return this.#combine(callAsync, weights, codes, options);
  }

  combineSync(weights, codes, options) {
    return this.#combine(callSync, weights, codes, options);
  }

  #combine(run, weights, codes, options) {
    const given = [
      asVectors('weights', weights, Array.isArray(weights) ? weights[0]?.length : 1),
      asBytes('codes', codes),
      asCount(asOptions(options).n),
      this.#threads(options),
    ];
    return run('codecCombine', [nativeOf(this), ...given], options);
  }

  async search(queries, codes, k, options) {
    return this.#search(callAsync, queries, codes, k, options);
  }

  searchSync(queries, codes, k, options) {
    return this.#search(callSync, queries, codes, k, options);
  }

  #search(run, queries, codes, k, options) {
    const between = [asBytes('codes', codes), asCount(asOptions(options).n)];
    const name = 'codecSearch';
    const native = nativeOf(this);
    const threads = this.#numThreads;
    return runSearch(run, name, this.#dim, native, queries, between, k, options, threads);
  }

  async rangeSearch(queries, codes, radius, options) {
    return this.#rangeSearch(callAsync, queries, codes, radius, options);
  }

  rangeSearchSync(queries, codes, radius, options) {
    return this.#rangeSearch(callSync, queries, codes, radius, options);
  }

  #rangeSearch(run, queries, codes, radius, options) {
    const between = [asBytes('codes', codes), asCount(asOptions(options).n)];
    const name = 'codecRangeSearch';
    const native = nativeOf(this);
    const threads = this.#numThreads;
    return runRangeSearch(run, name, this.#dim, native, queries, between, radius, options, threads);
  }

  saveState() {
    return this.#read('codecSaveState');
  }

  static loadState(state) {
    return new Codec(ADOPT, callSync('codecLoadState', [asBytes('state', state)]));
  }

  checkSameState(other) {
    this.#read('codecCheckSameState', nativeOf(other, Codec));
  }

  [Symbol.for('nodejs.util.inspect.custom')]() {
    if (this.closed) return 'Codec (closed)';
    return `Codec ('${this.spec}', dim ${this.dim}, ${this.metric})`;
  }
}

/** Rows that codes have, where the caller says so; −1 else. */
function asCount(n) {
  return n === undefined ? -1 : asInteger('n', n, 0, LARGEST);
}

function createCodec(spec, dim, metric, { seed, learnCentre = true, centre, normUnit = 0 }) {
  const size = asInteger('dim', dim, 1, 65535);
  return callSync('codecCreate', [
    asText('spec', spec),
    size,
    asMetric(metric),
    asSeed(seed),
    learnCentre ? 1 : 0,
    centre === undefined ? undefined : asVectors('centre', centre, size),
    asNumber('normUnit', normUnit),
  ]);
}

/** A text that lists every spec's form, meaning and an example. */
function specHelp() {
  return callSync('specHelp', []);
}

module.exports = { Codec, Query, specHelp };
