// SPDX-License-Identifier: MIT
// Random calls on a few objects, many under way at once, with objects closed, dropped, and calls stopped
// meanwhile. Every call ends, with a result or an error of the library's.
// usage: random_calls.js SEED SECONDS
'use strict';

const assert = require('assert');
const { CodeBlocks, Codec, Index, PolarError, PreparedFilter } = require('..');

const DIM = 24;
const ROWS = 400;
const MOST_INDEXES = 8;
const FLAT = ['Polar4', 'Polar2', 'IDMap2,Polar4', 'PCA8,Polar4'];
const DESCRIPTIONS = [...FLAT, 'IVF4,Polar4', 'Polar2,RFlat', 'HNSW8,Polar4'];

const x = Float32Array.from({ length: ROWS * DIM }, (_, i) => Math.sin(i * i));

let state = Number(process.argv[2] ?? 1);
/** 0 to 1, of a generator of Lehmer's, so that a seed's calls are the same. */
function random() {
  state = (state * 48271 + 11) % 2147483647;
  return state / 2147483647;
}
const integer = (end) => Math.floor(random() * end);
const chance = (share) => random() < share;
const pick = (list) => list[integer(list.length)];

/** Rows where they lie, or a copy that nothing but the call knows. */
function rows(n) {
  const begin = integer(ROWS - n);
  const part = x.subarray(begin * DIM, (begin + n) * DIM);
  return chance(0.5) ? part : part.slice();
}

const indexes = [];
function makeIndex() {
  if (indexes.length === MOST_INDEXES) indexes.splice(integer(MOST_INDEXES), 1);
  const index = new Index(pick(DESCRIPTIONS), DIM, pick(['ip', 'l2', 'cosine']));
  indexes.push(index);
  return index;
}
const anIndex = () => (indexes.length === 0 || chance(0.05) ? makeIndex() : pick(indexes));

function filter() {
  const prepared = new PreparedFilter({ first: integer(9) });
  if (chance(0.5)) setImmediate(() => prepared.close());
  return pick([
    { ids: Array.from({ length: integer(50) }, () => integer(500)) },
    { mask: new Uint8Array(integer(500)).fill(1) },
    { bits: new BigUint64Array(integer(9)).fill(0x5555n) },
    { first: integer(100), end: integer(500) },
    prepared,
    undefined,
  ]);
}

function controls() {
  const options = {};
  if (chance(0.2)) options.progress = () => chance(0.9);
  if (chance(0.2)) {
    const controller = new AbortController();
    options.signal = controller.signal;
    if (chance(0.5)) setTimeout(() => controller.abort(), integer(3));
    else if (chance(0.3)) controller.abort();
  }
  return options;
}

const searchOptions = () => ({
  ...controls(),
  ...(chance(0.4) && { filter: filter() }),
  ...(chance(0.1) && { nprobe: integer(5) }),
  ...(chance(0.2) && { bigint: true }),
  ...(chance(0.1) && { exactness: Infinity }),
});

const codec = new Codec('Polar4', DIM);
const codes = codec.encodeSync(x);
let blocks = new CodeBlocks(codec, codes);

function searchInside(index) {
  const kept = () => {
    if (chance(0.002)) index.close();
    if (chance(0.01)) index.search(rows(1), 2).catch(() => {});
    if (chance(0.002)) throw new RangeError('mine');
    return chance(0.5);
  };
  index.searchSync(rows(1), 3, { filter: kept });
}

function appendToBlocks() {
  blocks.append(codes.subarray(0, 3 * codec.codeSize));
  if (blocks.length < 2000) return;
  blocks.close();
  blocks = new CodeBlocks(codec, codes);
}

async function trainAndEncode() {
  const made = new Codec('Polar2', DIM);
  const calls = [made.train(rows(30)), made.encode(rows(3))];
  if (chance(0.5)) made.close();
  await Promise.allSettled(calls);
}

const CALLS = [
  () => makeIndex().train(rows(200), controls()),
  () => anIndex().add(rows(1 + integer(40)), controls()),
  () => anIndex().addWithIds(rows(5), Array.from({ length: 5 }, () => integer(1000))),
  () => anIndex().search(rows(1 + integer(3)), 1 + integer(9), searchOptions()),
  () => anIndex().search(rows(1), 3, searchOptions()),
  () => anIndex().rangeSearch(rows(1), random() * 30, searchOptions()),
  () => anIndex().remove([integer(500), integer(500)]),
  () => anIndex().removeFiltered({ first: integer(300), end: integer(400) }),
  () => anIndex().update([integer(100)], rows(1), controls()),
  () => anIndex().upsert([integer(100)], rows(1), controls()),
  async () => {
    const [into, from] = [anIndex(), anIndex()];
    if (into.isTrained && from.isTrained) await into.mergeFrom(from);
  },
  async () => (await anIndex().clone()).close(),
  async () => (await Index.fromBytes(await anIndex().toBytes())).close(),
  () => anIndex().close(),
  () => searchInside(anIndex()),
  () => anIndex().explain() + anIndex().ntotal + anIndex().memoryBytes,
  () => anIndex().reconstruct(integer(300)),
  () => appendToBlocks(),
  () => blocks.search(rows(2), 3, { filter: filter(), ...controls() }),
  () => blocks.rangeSearch(rows(1), 0),
  () => blocks.swapRemove(integer(blocks.length + 3)),
  async () => codec.decode(await codec.encode(rows(10), controls())),
  () => codec.score(codec.prepareQuery(rows(1)), codes),
  () => trainAndEncode(),
];

async function call() {
  try {
    await pick(CALLS)();
  } catch (error) {
    assert.ok(error instanceof PolarError || error.name === 'AbortError' || error.message === 'mine', error.stack);
  }
}

(async () => {
  const end = Date.now() + 1000 * Number(process.argv[3] ?? 5);
  const underWay = new Set();
  let count = 0;
  while (Date.now() < end) {
    const made = call();
    underWay.add(made);
    made.finally(() => underWay.delete(made));
    if (underWay.size > 40) await Promise.race(underWay);
    if (++count % 50 === 0) await new Promise(setImmediate);
    if (count % 500 === 0 && globalThis.gc) globalThis.gc();
  }
  await Promise.all(underWay);
  console.log(`${count} calls`);
})();
