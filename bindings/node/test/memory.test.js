// SPDX-License-Identifier: MIT
// Memory is given back: by close, and without it when objects are garbage. Rounds are many with
// POLARQUANT_ROUNDS.
'use strict';

const assert = require('assert');
const { test } = require('node:test');
const { setImmediate: turn } = require('timers/promises');
const v8 = require('v8');
const vm = require('vm');
const { numbers, polarquant } = require('./support.js');

const { CodeBlocks, Codec, Index, PreparedFilter } = polarquant;

v8.setFlagsFromString('--expose-gc');
const gc = vm.runInNewContext('gc');

const ROUNDS = Number(process.env.POLARQUANT_ROUNDS ?? 4000);
const DIM = 16;
const x = numbers(1, 20 * DIM);
const query = x.subarray(0, DIM);

async function settle() {
  for (let i = 0; i < 5; ++i) {
    gc();
    await turn();
  }
}

const MOST = 2 << 20;
const TRIES = 5;

/**
 * Runs rounds until the process grows by less than MOST bytes in ROUNDS of them. A leak of 512 bytes a round
 * shows in every try; that V8 or malloc take a larger piece of memory, 8 to 10 MB, shows in one or two.
 */
async function check(round) {
  const grown = [];
  for (let i = 0; i <= TRIES; ++i) {
    const before = process.memoryUsage().rss;
    for (let j = 0; j < ROUNDS; ++j) await round(j);
    await settle();
    const bytes = process.memoryUsage().rss - before;
    // The first rounds warm up.
    if (i === 0) continue;
    if (bytes < MOST) return;
    grown.push(bytes);
  }
  assert.fail(`${grown.join(', ')} bytes in ${ROUNDS} rounds each`);
}

test('indexes that are closed', () =>
  check((i) => {
    const index = new Index('Polar4', DIM);
    index.addSync(x);
    index.searchSync(query, 3, i % 2 ? { filter: { ids: [3, 1] } } : undefined);
    index.close();
  }));

test('indexes that are garbage', () =>
  check(async (i) => {
    const index = new Index('Polar4', DIM);
    index.addSync(x);
    index.searchSync(query, 3);
    if (i % 200 === 0) await settle();
  }));

test('asynchronous calls, with signals and progress', () =>
  check(async (i) => {
    const index = new Index('Polar4', DIM);
    await index.add(x, { progress: () => {} });
    const { signal } = new AbortController();
    await index.search(query, 3, i % 2 ? { signal } : undefined);
    index.close();
  }));

test('codecs, queries, blocks, filters and errors', () =>
  check(async (i) => {
    const codec = new Codec('Polar4', DIM);
    const codes = codec.encodeSync(x);
    const blocks = new CodeBlocks(codec, codes);
    const filter = new PreparedFilter({ ids: [1, 2] });
    const prepared = codec.prepareQuery(query);
    codec.scoreSync(prepared, codes);
    blocks.searchSync(query, 2, { filter });
    blocks.rangeSearchSync(query, 0);
    assert.throws(() => blocks.append(new Uint8Array(1)));
    await assert.rejects(codec.encode(new Float32Array(1)));
    if (i % 3) for (const object of [codec, blocks, filter, prepared]) object.close();
    if (i % 200 === 0) await settle();
  }));

test('large results', () => {
  const codec = new Codec('Polar4', DIM);
  const codes = codec.encodeSync(numbers(2, 2000 * DIM));
  return check(async (i) => {
    if (i % 20 === 0) codec.decodeSync(codes);
    if (i % 400 === 0) await settle();
  });
});
