// SPDX-License-Identifier: MIT
// Vectors stored as codes, searched by the k nearest. index.d.ts documents every member.
'use strict';

const { callAsync, callSync } = require('./calls.js');
const { ADOPT, Handle, nativeOf } = require('./handle.js');
const {
  asBytes,
  asId,
  asIds,
  asInteger,
  asMetric,
  asOptions,
  asPath,
  asPaths,
  asText,
  asThreads,
  asVectors,
  makeArray,
  metricName,
} = require('./arguments.js');
const { packFilter, packSearch } = require('./filters.js');
const { runPartialSearch, runRangeSearch, runSearch } = require('./search.js');
const { errors } = require('./errors.js');

const LARGEST = Number.MAX_SAFE_INTEGER;

const threadsIn = (options) => asThreads(asOptions(options).numThreads);

class Index extends Handle {
  #dim;
  #metric;

  constructor(description, dim, metric) {
    if (description === ADOPT) {
      super(dim);
    } else {
      const size = asInteger('dim', dim, 1, 65535);
      super(callSync('indexCreate', [asText('description', description), size, asMetric(metric)]));
    }
    const info = this.#read('indexInfo');
    this.#dim = info.dim;
    this.#metric = metricName(info.metric);
  }

  #read(name) {
    return callSync(name, [nativeOf(this)]);
  }

  get description() {
    return this.#read('indexDescription');
  }

  get dim() {
    return this.#dim;
  }

  get metric() {
    return this.#metric;
  }

  get ntotal() {
    return this.#read('indexNtotal');
  }

  get isTrained() {
    return this.#read('indexIsTrained');
  }

  get nlist() {
    return this.#read('indexNlist');
  }

  get nprobe() {
    return this.#read('indexNprobe');
  }

  set nprobe(nprobe) {
    callSync('indexSetNprobe', [nativeOf(this), asInteger('nprobe', nprobe, -LARGEST, LARGEST)]);
  }

  get codeSize() {
    return this.#read('indexCodeSize');
  }

  get memoryBytes() {
    return this.#read('indexMemoryBytes');
  }

  // A call that works on rows, (n, dim), after other arguments.
  #work(run, name, given, options) {
    return run(name, [nativeOf(this), ...given, threadsIn(options)], options);
  }

  async train(x, options) {
    return this.#work(callAsync, 'indexTrain', [asVectors('x', x, this.#dim)], options);
  }

  trainSync(x, options) {
    return this.#work(callSync, 'indexTrain', [asVectors('x', x, this.#dim)], options);
  }

  async trainWithCentroids(centroids, x, options) {
    return this.#trainWithCentroids(callAsync, centroids, x, options);
  }

  trainWithCentroidsSync(centroids, x, options) {
    return this.#trainWithCentroids(callSync, centroids, x, options);
  }

  #trainWithCentroids(run, centroids, x, options) {
    const lists = asVectors('centroids', centroids, this.#dim);
    const given = [lists, asVectors('x', x, this.#dim)];
    return this.#work(run, 'indexTrainWithCentroids', given, options);
  }

  async add(x, options) {
    return this.#work(callAsync, 'indexAdd', [asVectors('x', x, this.#dim)], options);
  }

  addSync(x, options) {
    return this.#work(callSync, 'indexAdd', [asVectors('x', x, this.#dim)], options);
  }

  async addWithIds(x, ids, options) {
    const given = [asVectors('x', x, this.#dim), asIds('ids', ids)];
    return this.#work(callAsync, 'indexAddWithIds', given, options);
  }

  addWithIdsSync(x, ids, options) {
    const given = [asVectors('x', x, this.#dim), asIds('ids', ids)];
    return this.#work(callSync, 'indexAddWithIds', given, options);
  }

  async addToLists(x, ids, lists, options) {
    const given = [asVectors('x', x, this.#dim), asIds('ids', ids), asIds('lists', lists)];
    return this.#work(callAsync, 'indexAddToLists', given, options);
  }

  addToListsSync(x, ids, lists, options) {
    const given = [asVectors('x', x, this.#dim), asIds('ids', ids), asIds('lists', lists)];
    return this.#work(callSync, 'indexAddToLists', given, options);
  }

  async update(ids, x, options) {
    const given = [asIds('ids', ids), asVectors('x', x, this.#dim)];
    return this.#work(callAsync, 'indexUpdate', given, options);
  }

  updateSync(ids, x, options) {
    const given = [asIds('ids', ids), asVectors('x', x, this.#dim)];
    return this.#work(callSync, 'indexUpdate', given, options);
  }

  async upsert(ids, x, options) {
    const given = [asIds('ids', ids), asVectors('x', x, this.#dim)];
    return this.#work(callAsync, 'indexUpsert', given, options);
  }

  upsertSync(ids, x, options) {
    const given = [asIds('ids', ids), asVectors('x', x, this.#dim)];
    return this.#work(callSync, 'indexUpsert', given, options);
  }

  async remove(ids) {
    return callAsync('indexRemove', [nativeOf(this), asIds('ids', ids)]);
  }

  removeSync(ids) {
    return callSync('indexRemove', [nativeOf(this), asIds('ids', ids)]);
  }

  async removeFiltered(filter) {
    return this.#removeFiltered(callAsync, filter);
  }

  removeFilteredSync(filter) {
    return this.#removeFiltered(callSync, filter);
  }

  #removeFiltered(run, filter) {
    if (typeof filter === 'function') {
      // One that throws would leave a part of the rows removed.
      throw new errors.BadArgumentError('filter: a function cannot say which rows are removed');
    }
    return run('indexRemoveFiltered', [nativeOf(this), ...packFilter(filter)]);
  }

  async mergeFrom(other, options) {
    return this.#mergeFrom(callAsync, other, options);
  }

  mergeFromSync(other, options) {
    return this.#mergeFrom(callSync, other, options);
  }

  #mergeFrom(run, other, options) {
    if (other === this) {
      throw new errors.BadArgumentError('other: is the index itself; another one is allowed');
    }
    return this.#work(run, 'indexMerge', [nativeOf(other, Index)], options);
  }

  async search(queries, k, options) {
    const native = nativeOf(this);
    return runSearch(callAsync, 'indexSearch', this.#dim, native, queries, [], k, options);
  }

  searchSync(queries, k, options) {
    const native = nativeOf(this);
    return runSearch(callSync, 'indexSearch', this.#dim, native, queries, [], k, options);
  }

  async rangeSearch(queries, radius, options) {
    const native = nativeOf(this);
    return runRangeSearch(callAsync, 'indexRangeSearch', this.#dim, native, queries, [], radius, options);
  }

  rangeSearchSync(queries, radius, options) {
    const native = nativeOf(this);
    return runRangeSearch(callSync, 'indexRangeSearch', this.#dim, native, queries, [], radius, options);
  }

  async searchPartial(firstRow, queries, k, options) {
    return runPartialSearch(callAsync, this.#dim, nativeOf(this), firstRow, queries, k, options);
  }

  searchPartialSync(firstRow, queries, k, options) {
    return runPartialSearch(callSync, this.#dim, nativeOf(this), firstRow, queries, k, options);
  }

  explain(nq = 1, k = 10, options = undefined) {
    const numbers = [asInteger('nq', nq, 1, 2 ** 40), asInteger('k', k, 1, LARGEST)];
    const hasFunction = options !== undefined && typeof options.filter === 'function';
    const given = [nativeOf(this), ...numbers, ...packSearch(options)];
    return callSync('indexExplain', given, hasFunction ? {} : undefined, undefined, hasFunction);
  }

  reconstruct(id) {
    return callSync('indexReconstruct', [nativeOf(this), asId('id', id)]);
  }

  async clone() {
    return callAsync('indexClone', [nativeOf(this)], undefined, adopt);
  }

  cloneSync() {
    return callSync('indexClone', [nativeOf(this)], undefined, adopt);
  }

  async save(path, options) {
    return this.#save(callAsync, path, options);
  }

  saveSync(path, options) {
    return this.#save(callSync, path, options);
  }

  #save(run, path, options) {
    const { verify } = asOptions(options);
    return run('indexSave', [nativeOf(this), asPath(path), verify ? 1 : 0]);
  }

  // Once to count them, and once to have them; again where the index changed meanwhile.
  async toBytes() {
    let bytes = new Uint8Array();
    for (;;) {
      const size = await callAsync('indexSaveToBytes', [nativeOf(this), bytes]);
      if (size === bytes.length) return bytes;
      bytes = makeArray(Uint8Array, size);
    }
  }

  toBytesSync() {
    const size = callSync('indexSaveToBytes', [nativeOf(this), new Uint8Array()]);
    const bytes = makeArray(Uint8Array, size);
    callSync('indexSaveToBytes', [nativeOf(this), bytes]);
    return bytes;
  }

  static async load(path, options) {
    return load(callAsync, path, options);
  }

  static loadSync(path, options) {
    return load(callSync, path, options);
  }

  static async fromBytes(bytes, options) {
    return fromBytes(callAsync, bytes, options);
  }

  static fromBytesSync(bytes, options) {
    return fromBytes(callSync, bytes, options);
  }

  static async loadEmpty(path) {
    return callAsync('indexLoadEmpty', [asPath(path)], undefined, adopt);
  }

  static loadEmptySync(path) {
    return callSync('indexLoadEmpty', [asPath(path)], undefined, adopt);
  }

  static async openShards(paths) {
    return callAsync('indexOpenShards', [asPaths(paths)], undefined, adopt);
  }

  static openShardsSync(paths) {
    return callSync('indexOpenShards', [asPaths(paths)], undefined, adopt);
  }

  async verify() {
    return callAsync('indexVerify', [nativeOf(this)]);
  }

  verifySync() {
    return callSync('indexVerify', [nativeOf(this)]);
  }

  [Symbol.for('nodejs.util.inspect.custom')]() {
    if (this.closed) return 'Index (closed)';
    return `Index ('${this.description}', dim ${this.dim}, ${this.metric}, ${this.ntotal} rows)`;
  }
}

const adopt = (made) => new Index(ADOPT, made);

function load(run, path, options) {
  const { memoryMap, trustFaiss } = asOptions(options);
  const given = [asPath(path), memoryMap ? 1 : 0, trustFaiss ? 1 : 0];
  return run('indexLoad', given, undefined, adopt);
}

function fromBytes(run, bytes, options) {
  const { trustFaiss } = asOptions(options);
  return run('indexLoadFromBytes', [asBytes('bytes', bytes), trustFaiss ? 1 : 0], undefined, adopt);
}

module.exports = { Index };
