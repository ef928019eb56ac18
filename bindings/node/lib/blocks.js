// SPDX-License-Identifier: MIT
// Codes in blocks of 64 rows, which searches read fastest. index.d.ts documents every member.
'use strict';

const { callAsync, callSync } = require('./calls.js');
const { Codec } = require('./codec.js');
const { Handle, nativeOf } = require('./handle.js');
const { asBytes, asInteger, asMask } = require('./arguments.js');
const { runRangeSearch, runSearch } = require('./search.js');

const LARGEST = Number.MAX_SAFE_INTEGER;

class CodeBlocks extends Handle {
  #codec;

  constructor(codec, codes) {
    super(callSync('blocksCreate', [nativeOf(codec, Codec)]));
    this.#codec = codec;
    if (codes !== undefined) this.append(codes);
  }

  #call(name, ...given) {
    return callSync(name, [nativeOf(this), ...given]);
  }

  get codec() {
    return this.#codec;
  }

  get length() {
    return this.#call('blocksRows');
  }

  get memoryBytes() {
    return this.#call('blocksBytes');
  }

  append(codes) {
    this.#call('blocksAppend', asBytes('codes', codes));
  }

  get(first = 0, count = undefined) {
    const begin = asInteger('first', first, 0, LARGEST);
    return this.#call('blocksGet', begin, count === undefined ? -1 : asInteger('count', count, 0, LARGEST));
  }

  overwrite(row, code) {
    this.#call('blocksOverwrite', asInteger('row', row, -LARGEST, LARGEST), asBytes('code', code));
  }

  remove(removed) {
    return this.#call('blocksRemove', asMask('removed', removed));
  }

  swapRemove(row) {
    this.#call('blocksSwapRemove', asInteger('row', row, -LARGEST, LARGEST));
  }

  async search(queries, k, options) {
    const native = nativeOf(this);
    return runSearch(callAsync, 'blocksSearch', this.#codec.dim, native, queries, [], k, options);
  }

  searchSync(queries, k, options) {
    const native = nativeOf(this);
    return runSearch(callSync, 'blocksSearch', this.#codec.dim, native, queries, [], k, options);
  }

  async rangeSearch(queries, radius, options) {
    return this.#rangeSearch(callAsync, queries, radius, options);
  }

  rangeSearchSync(queries, radius, options) {
    return this.#rangeSearch(callSync, queries, radius, options);
  }

  #rangeSearch(run, queries, radius, options) {
    const native = nativeOf(this);
    return runRangeSearch(run, 'blocksRangeSearch', this.#codec.dim, native, queries, [], radius, options);
  }

  [Symbol.for('nodejs.util.inspect.custom')]() {
    if (this.closed) return 'CodeBlocks (closed)';
    return `CodeBlocks ('${this.#codec.spec}', ${this.length} rows)`;
  }
}

module.exports = { CodeBlocks };
