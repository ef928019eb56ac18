// SPDX-License-Identifier: MIT
// Index files of more rows than memory holds: built in parts, and merged. index.d.ts documents every member.
'use strict';

const { callAsync, callSync } = require('./calls.js');
const { ADOPT, Handle, nativeOf } = require('./handle.js');
const { Index } = require('./index_class.js');
const { asIds, asInteger, asOptions, asPath, asPaths, asThreads, asVectors } = require('./arguments.js');

const LEAST_MEMORY = 1 << 20;
const LARGEST = Number.MAX_SAFE_INTEGER;

class IndexBuilder extends Handle {
  #dim;

  constructor(token, made) {
    if (token !== ADOPT) throw new TypeError('IndexBuilder: is made by create or resume');
    super(made);
    this.#dim = this.#read('builderDim');
  }

  #read(name) {
    return callSync(name, [nativeOf(this)]);
  }

  static async create(path, index, options) {
    return create(callAsync, path, index, options);
  }

  static createSync(path, index, options) {
    return create(callSync, path, index, options);
  }

  static async resume(path, options) {
    return resume(callAsync, path, options);
  }

  static resumeSync(path, options) {
    return resume(callSync, path, options);
  }

  get dim() {
    return this.#dim;
  }

  get ntotal() {
    return this.#read('builderNtotal');
  }

  get written() {
    return this.#read('builderWritten');
  }

  // A call that works, after its arguments.
  #work(run, name, given, options) {
    const threads = asThreads(asOptions(options).numThreads);
    return run(name, [nativeOf(this), ...given, threads], options);
  }

  async add(x, options) {
    return this.#work(callAsync, 'builderAdd', [asVectors('x', x, this.#dim)], options);
  }

  addSync(x, options) {
    return this.#work(callSync, 'builderAdd', [asVectors('x', x, this.#dim)], options);
  }

  async addWithIds(x, ids, options) {
    const given = [asVectors('x', x, this.#dim), asIds('ids', ids)];
    return this.#work(callAsync, 'builderAddWithIds', given, options);
  }

  addWithIdsSync(x, ids, options) {
    const given = [asVectors('x', x, this.#dim), asIds('ids', ids)];
    return this.#work(callSync, 'builderAddWithIds', given, options);
  }

  async writePart() {
    return callAsync('builderWritePart', [nativeOf(this)]);
  }

  writePartSync() {
    return callSync('builderWritePart', [nativeOf(this)]);
  }

  async finish(options) {
    return this.#work(callAsync, 'builderFinish', [], options);
  }

  finishSync(options) {
    return this.#work(callSync, 'builderFinish', [], options);
  }

  [Symbol.for('nodejs.util.inspect.custom')]() {
    if (this.closed) return 'IndexBuilder (closed)';
    return `IndexBuilder (dim ${this.dim}, ${this.ntotal} rows, ${this.written} of them in parts)`;
  }
}

const adopt = (made) => new IndexBuilder(ADOPT, made);

/** 0 for the default. */
const asMemory = (bytes) => (bytes === undefined ? 0 : asInteger('memoryBytes', bytes, LEAST_MEMORY, LARGEST));

function create(run, path, index, options) {
  const { memoryBytes, replace } = asOptions(options);
  const given = [nativeOf(index, Index), asPath(path), asMemory(memoryBytes), replace ? 1 : 0];
  return run('builderCreate', given, undefined, adopt);
}

function resume(run, path, options) {
  return run('builderResume', [asPath(path), asMemory(asOptions(options).memoryBytes)], undefined, adopt);
}

async function mergeFiles(paths, out, options) {
  return merge(callAsync, paths, out, options);
}

function mergeFilesSync(paths, out, options) {
  return merge(callSync, paths, out, options);
}

function merge(run, paths, out, options) {
  return run('mergeFiles', [asPaths(paths), asPath(out), asThreads(asOptions(options).numThreads)], options);
}

module.exports = { IndexBuilder, mergeFiles, mergeFilesSync };
