// SPDX-License-Identifier: MIT
// Every form of a filter keeps the same rows.
'use strict';

const assert = require('assert');
const { test } = require('node:test');
const { numbers, polarquant } = require('./support.js');

const { Codec, Index, PreparedFilter } = polarquant;

const DIM = 40;
const ROWS = 500;
const x = numbers(1, ROWS * DIM);
const query = x.subarray(0, DIM);
const kept = Array.from({ length: ROWS }, (_, i) => i).filter((i) => i >= 100 && i < 140);

function bits() {
  const words = new BigUint64Array(8);
  for (const id of kept) words[id >> 6] |= 1n << BigInt(id & 63);
  return words;
}

const forms = {
  ids: { ids: kept },
  'ids in any order, twice': { ids: [...kept, ...kept].reverse() },
  'a set of ids': { ids: new Set(kept) },
  bigints: { ids: kept.map(BigInt) },
  'a BigInt64Array': { ids: BigInt64Array.from(kept, BigInt) },
  'an Int32Array': { ids: Int32Array.from(kept) },
  'a Uint32Array': { ids: Uint32Array.from(kept) },
  'a mask of booleans': { mask: Array.from({ length: ROWS }, (_, i) => kept.includes(i)) },
  'a mask of bytes': { mask: Uint8Array.from({ length: 140 }, (_, i) => (i >= 100 ? 255 : 0)) },
  bits: { bits: bits() },
  'bits, some of them': { bits: bits(), length: 140 },
  'a range': { first: 100, end: 140 },
  'a range of bigints': { first: 100n, end: 140n },
};

function makeIndex() {
  const index = new Index('Polar4', DIM, 'l2');
  index.trainSync(x);
  index.addSync(x);
  return index;
}

for (const [name, filter] of Object.entries(forms)) {
  test(`a filter: ${name}`, async () => {
    const index = makeIndex();
    const wanted = index.searchSync(query, 50, { filter: (id) => kept.includes(id) });
    assert.deepStrictEqual(Array.from(wanted.ids).filter((id) => id >= 0).sort(), kept);
    assert.deepStrictEqual(index.searchSync(query, 50, { filter }), wanted);
    assert.deepStrictEqual(await index.search(query, 50, { filter }), wanted);
    const prepared = new PreparedFilter(filter);
    for (let i = 0; i < 3; ++i) {
      assert.deepStrictEqual(await index.search(query, 50, { filter: prepared }), wanted);
    }
    assert.strictEqual(index.rangeSearchSync(query, 1e9, { filter: prepared, exactness: Infinity }).ids.length, 40);
    assert.strictEqual(index.removeFilteredSync(prepared), 40);
    prepared.close();
    assert.throws(() => index.searchSync(query, 5, { filter: prepared }), /PreparedFilter: is closed/);
  });
}

test('half of a range is open', () => {
  const index = makeIndex();
  const all = { exactness: Infinity };
  const count = (filter) => index.rangeSearchSync(query, 1e9, { ...all, filter }).ids.length;
  assert.strictEqual(count({ first: 400 }), 100);
  assert.strictEqual(count({ end: 30 }), 30);
});

test('a filter may be closed, or garbage, while a search uses it', async () => {
  const index = makeIndex();
  const filter = new PreparedFilter({ ids: kept });
  const search = index.search(query, 5, { filter });
  filter.close();
  assert.ok(kept.includes((await search).ids[0]));
});

test('a function hears ids of the kind that was asked for; what it throws comes through', () => {
  const index = makeIndex();
  const heard = new Set();
  index.searchSync(query, 3, { filter: (id) => heard.add(typeof id) });
  index.searchSync(query, 3, { bigint: true, filter: (id) => heard.add(typeof id) });
  assert.deepStrictEqual([...heard], ['number', 'bigint']);
  for (const thrown of [new RangeError('mine'), 'a text', undefined]) {
    const filter = () => {
      throw thrown;
    };
    let caught = 'nothing';
    try {
      index.searchSync(query, 3, { filter });
    } catch (error) {
      caught = error;
    }
    assert.strictEqual(caught, thrown);
  }
  const codec = new Codec('Polar4', DIM);
  const even = (id) => id % 2 === 0;
  const { ids } = codec.searchSync(query, codec.encodeSync(x), 9, { filter: even });
  assert.ok(ids.every(even));
});

test('functions are for synchronous searches alone', async () => {
  const index = makeIndex();
  const filter = () => true;
  await assert.rejects(index.search(query, 3, { filter }), { code: 'ERR_INVALID_ARG_TYPE' });
  assert.throws(() => index.removeFilteredSync(filter), { code: 'POLAR_BAD_ARGUMENT' });
  assert.throws(() => new PreparedFilter(filter), { code: 'POLAR_BAD_ARGUMENT' });
  assert.match(index.explain(1, 3, { filter }), /scan:/);
});

test('filters of no form are refused', () => {
  const index = makeIndex();
  const search = (filter) => () => index.searchSync(query, 3, { filter });
  for (const filter of [{}, { ids: [1.5] }, { bits: bits(), length: 513 }, { first: 0.5 }, { first: 2n ** 63n }]) {
    assert.throws(search(filter), { code: 'POLAR_BAD_ARGUMENT' });
  }
  for (const filter of [null, 5, 'all', { ids: 'x' }, { ids: ['1'] }, { mask: 3 }, { bits: [1n] }]) {
    assert.throws(search(filter), { name: 'TypeError', code: 'ERR_INVALID_ARG_TYPE' });
  }
});
