// SPDX-License-Identifier: MIT
// Wrong calls are errors of JavaScript's, never a crash.
'use strict';

const assert = require('assert');
const { test } = require('node:test');
const { numbers, polarquant } = require('./support.js');

const { CodeBlocks, Codec, Index, PolarError, PreparedFilter, Query, cuda } = polarquant;

const DIM = 32;
const x = numbers(1, 100 * DIM);
const query = x.subarray(0, DIM);
const bad = { name: 'BadArgumentError', code: 'POLAR_BAD_ARGUMENT', status: 10 };
const wrongType = { name: 'TypeError', code: 'ERR_INVALID_ARG_TYPE' };

function makeIndex() {
  const index = new Index('Polar4', DIM);
  index.addSync(x);
  return index;
}

test('every member of a closed object throws, but close', async () => {
  const codec = new Codec('Polar4', DIM);
  const codes = codec.encodeSync(x);
  const made = {
    index: makeIndex(),
    blocks: new CodeBlocks(new Codec('Polar4', DIM), codes),
    query: codec.prepareQuery(query),
    filter: new PreparedFilter({ ids: [1] }),
    codec,
  };
  const arguments_ = { 'codec.search': [query, codes, 1], 'codec.score': [query, codes] };
  for (const [name, object] of Object.entries(made)) {
    object.close();
    object.close();
    assert.strictEqual(object.closed, true);
    const prototype = Object.getPrototypeOf(object);
    for (const key of Object.getOwnPropertyNames(prototype)) {
      if (['constructor', 'dim', 'metric', 'codec', 'closed', 'close'].includes(key)) continue;
      const { get } = Object.getOwnPropertyDescriptor(prototype, key);
      const given = arguments_[`${name}.${key}`] ?? [query, query, 1];
      const call = async () => (get ? object[key] : object[key](...given));
      await assert.rejects(call(), Error, `${name}.${key}`);
    }
  }
  const { closed } = new Index('Polar4', DIM);
  assert.strictEqual(closed, false);
});

test('using closes, where the engine has Symbol.dispose', { skip: typeof Symbol.dispose !== 'symbol' }, () => {
  const index = makeIndex();
  index[Symbol.dispose]();
  assert.strictEqual(index.closed, true);
});

test('wrong lengths', async () => {
  const index = makeIndex();
  assert.throws(() => index.addSync(new Float32Array(DIM + 1)), bad);
  assert.throws(() => index.searchSync(new Float32Array(DIM - 1), 1), bad);
  assert.throws(() => index.searchSync([query, query.slice(1)], 1), /queries\[1\]: 31 numbers/);
  await assert.rejects(index.search(new Float32Array(1), 1), bad);
  assert.throws(() => index.addWithIdsSync(x, [1, 2]), bad);
  assert.throws(() => index.updateSync([1], x), bad);
  const codec = new Codec('Polar4', DIM);
  const codes = codec.encodeSync(x);
  assert.throws(() => codec.decodeSync(codes.subarray(1)), bad);
  assert.throws(() => codec.decodeSync(codes, { n: 99 }), bad);
  assert.throws(() => codec.prepareQuery(x), bad);
  assert.throws(() => codec.prepareQueryFromCode(codes, 100), bad);
  assert.throws(() => codec.combineSync(new Float32Array(99), codes), bad);
  assert.throws(() => new Codec('Polar4', DIM, 'ip', { centre: x }), bad);
  assert.throws(() => codec.decodeSync(codes, { n: Number.MAX_SAFE_INTEGER }), PolarError);
  assert.strictEqual(index.searchSync([], 3).ids.length, 0);
  assert.strictEqual(index.rangeSearchSync([], 3).nq, 0);
  index.addSync([]);
  assert.strictEqual(codec.encodeSync(new Float32Array()).length, 0);
  assert.strictEqual(codec.decodeSync(new Uint8Array()).length, 0);
});

test('numbers that are not finite', () => {
  const index = makeIndex();
  for (const value of [NaN, Infinity, -Infinity]) {
    const row = query.slice();
    row[3] = value;
    assert.throws(() => index.addSync(row), bad);
    assert.throws(() => index.searchSync(row, 1), bad);
    assert.throws(() => new Codec('Polar4', DIM).encodeSync(row), bad);
  }
  assert.throws(() => index.rangeSearchSync(query, NaN), bad);
  assert.throws(() => index.searchSync(query, 1, { exactness: NaN }), bad);
  assert.throws(() => index.searchSync(query, 1, { exactness: -1 }), bad);
});

test('integers beyond what is allowed', () => {
  const index = makeIndex();
  for (const k of [0, -1, 1.5, NaN, Infinity, 2 ** 53, 2n ** 64n]) {
    assert.throws(() => index.searchSync(query, k), bad, String(k));
  }
  for (const k of [2 ** 40, 2 ** 52]) {
    assert.throws(() => index.searchSync(query, k), { code: 'POLAR_OUT_OF_MEMORY' }, String(k));
  }
  assert.strictEqual(index.searchSync(query, 3n).k, 3);
  for (const dim of [0, -1, 65536, 2 ** 32 + DIM, 0.5]) {
    assert.throws(() => new Index('Polar4', dim), bad);
    assert.throws(() => new Codec('Polar4', dim), bad);
  }
  assert.throws(() => new Codec('Polar4', DIM, 'ip', { seed: -1 }), bad);
  assert.throws(() => new Codec('Polar4', DIM, 'ip', { seed: 2n ** 64n }), bad);
  assert.throws(() => index.addSync(x, { numThreads: 1025 }), bad);
  assert.throws(() => index.reconstruct(0.5), bad);
  assert.throws(() => index.reconstruct(2n ** 63n), bad);
  assert.throws(() => index.removeSync([0.5]), bad);
  assert.throws(() => index.removeSync([2 ** 53]), bad);
  assert.throws(() => index.removeSync([1n, 2n ** 63n]), bad);
});

test('values of wrong types', async () => {
  const index = makeIndex();
  assert.throws(() => new Index(5, DIM), wrongType);
  assert.throws(() => new Index('Polar4', '32'), wrongType);
  assert.throws(() => new Index('Polar4', DIM, 'euclid'), bad);
  assert.throws(() => new Index('Pol\0ar4', DIM), bad);
  assert.throws(() => Index('Polar4', DIM), TypeError);
  for (const vectors of [undefined, null, 5, 'x', {}, new Int32Array(DIM), ['a'], new DataView(new ArrayBuffer(9))]) {
    assert.throws(() => index.searchSync(vectors, 1), Error);
    await assert.rejects(index.search(vectors, 1), Error);
    assert.throws(() => index.addSync(vectors), wrongType);
  }
  assert.throws(() => index.searchSync(query, '3'), wrongType);
  assert.throws(() => index.searchSync(query, 3, 5), wrongType);
  assert.throws(() => index.searchSync(query, 3, null), wrongType);
  assert.throws(() => index.searchSync(query, 3, { progress: 5 }), wrongType);
  await assert.rejects(index.search(query, 3, { signal: {} }), wrongType);
  assert.throws(() => index.addWithIdsSync(query, 7), wrongType);
  assert.throws(() => index.addWithIdsSync(query, ['7']), wrongType);
  assert.throws(() => index.mergeFromSync({}), wrongType);
  assert.throws(() => index.mergeFromSync(new Codec('Polar4', DIM)), wrongType);
  assert.throws(() => index.saveSync(5), wrongType);
  assert.throws(() => Codec.loadState('text'), wrongType);
  assert.throws(() => new CodeBlocks(index), wrongType);
  assert.throws(() => new Query(), TypeError);
  assert.throws(() => new cuda.CudaIndex(), TypeError);
  for (const getter of ['ntotal', 'description', 'memoryBytes']) {
    assert.throws(() => Reflect.get(Index.prototype, getter, {}), TypeError);
  }
  assert.throws(() => Index.prototype.searchSync.call({}, query, 1), TypeError);
  assert.throws(() => Index.prototype.searchSync.call(new Codec('Polar4', DIM), query, 1), TypeError);
});

test('arrays that lie are read by their true lengths', () => {
  class Liar extends Float32Array {
    get length() {
      return 1 << 30;
    }
  }
  const index = makeIndex();
  assert.throws(() => index.searchSync(new Liar(DIM), 1), PolarError);
  class Short extends Float32Array {
    get length() {
      return 0;
    }
  }
  assert.throws(() => index.searchSync(new Short(DIM), 1), bad);
  const detached = new Float32Array(DIM);
  structuredClone(detached.buffer, { transfer: [detached.buffer] });
  assert.strictEqual(index.searchSync(detached, 1).ids.length, 0);
  index.addSync(detached);
  assert.strictEqual(index.ntotal, 100);
  const shared = new Float32Array(new SharedArrayBuffer(DIM * 4));
  shared.set(query);
  assert.deepStrictEqual(index.searchSync(shared, 2), index.searchSync(query, 2));
});

test('arrays of other realms are taken', () => {
  const vm = require('vm');
  const foreign = vm.runInNewContext('({ x: new Float32Array(32), list: [new Float32Array(32)], ids: new Set([3]) })');
  const index = makeIndex();
  assert.strictEqual(index.searchSync(foreign.x, 2).k, 2);
  assert.strictEqual(index.searchSync(foreign.list, 2, { filter: { ids: foreign.ids } }).ids[0], 3);
});

test('what is loaded may be anything', async () => {
  const bytes = makeIndex().toBytesSync();
  for (let length = 0; length < bytes.length; length += 97) {
    assert.throws(() => Index.fromBytesSync(bytes.subarray(0, length)), PolarError);
  }
  for (let at = 0; at < bytes.length; at += 61) {
    const damaged = bytes.slice();
    damaged[at] ^= 0x55;
    await assert.rejects(Index.fromBytes(damaged), PolarError);
  }
  const state = new Codec('Polar4', DIM).saveState();
  for (let length = 0; length < state.length; ++length) {
    assert.throws(() => Codec.loadState(state.subarray(0, length)), PolarError);
  }
});
