// SPDX-License-Identifier: MIT
// Parts of an index that are searched apart answer, together, as one index.
'use strict';

const assert = require('assert');
const { test } = require('node:test');
const { numbers, polarquant } = require('./support.js');

const { Index, PreparedFilter, mergePartials } = polarquant;
const { BadArgumentError, CorruptDataError, NotTrainedError, StateMismatchError, UnsupportedError } = polarquant;

const DIM = 32;
const ROWS = 3000;
const NQ = 9;
// Rows before which parts end; one part is empty.
const ENDS = [700, 1900, 1900, ROWS];
const queries = numbers(2, NQ * DIM);
// Each row is there twice, for ties.
const half = numbers(1, (ROWS / 2) * DIM);
const x = Float32Array.from({ length: ROWS * DIM }, (_, at) => half[at % half.length]);
const ownIds = Float64Array.from({ length: ROWS }, (_, row) => (row * 7919) % 1000003);
const positions = Float64Array.from({ length: ROWS }, (_, row) => row);

/** An index and its parts, each with the rows before it. */
function inParts(description, metric, ids) {
  const trained = new Index(description, DIM, metric);
  trained.trainSync(x.subarray(0, 2000 * DIM));
  const withRows = (first, end) => {
    const index = trained.cloneSync();
    const rows = x.subarray(first * DIM, end * DIM);
    if (ids === undefined) index.addSync(rows);
    else index.addWithIdsSync(rows, ids.subarray(first, end));
    return index;
  };
  const parts = ENDS.map((end, number) => {
    const firstRow = number === 0 ? 0 : ENDS[number - 1];
    return { firstRow, part: withRows(firstRow, end) };
  });
  return { whole: withRows(0, ROWS), parts };
}

async function checkSame({ whole, parts }, options) {
  for (const k of [1, 10, 4000]) {
    const expected = whole.searchSync(queries, k, options);
    const sync = parts.map(({ firstRow, part }) => part.searchPartialSync(firstRow, queries, k, options));
    assert.deepStrictEqual(mergePartials(sync, NQ, k, options), expected);
    if (typeof options?.filter === 'function') continue;
    const searches = parts.map(({ firstRow, part }) => part.searchPartial(firstRow, queries, k, options));
    assert.deepStrictEqual(mergePartials(await Promise.all(searches), NQ, k, options), expected);
  }
}

for (const [description, metric, nprobe] of [['Polar4', 'ip', 0], ['IVF16,Polar2', 'l2', 5], ['Polar2', 'cosine', 0]]) {
  for (const ids of [undefined, ownIds]) {
    test(`parts of ${description} answer as one index, ${ids ? 'ids of its own' : 'positions'}`, async () => {
      const made = inParts(description, metric, ids);
      await checkSame(made, { nprobe });
      await checkSame(made, { nprobe, exactness: Infinity, numThreads: 2, bigint: true });
      if (nprobe > 0) return;
      await checkSame(made, undefined);
      const some = (ids ?? positions).filter((_, row) => row % 7 === 5);
      const prepared = new PreparedFilter({ ids: some });
      for (const filter of [{ ids: some }, { first: 600, end: 2500 }, prepared, (id) => id % 4 === 1]) {
        await checkSame(made, { filter });
      }
    });
  }
}

test('what partial searches refuse', async () => {
  const { whole, parts } = inParts('IVF16,Polar4', 'l2', undefined);
  const { part } = parts[0];
  const filtered = part.searchPartial(0, queries, 3, { filter: { ids: [1, 2] } });
  await assert.rejects(filtered, { name: 'UnsupportedError', message: /options\.filter/ });
  assert.throws(() => part.searchPartialSync(0, queries, 0), BadArgumentError);
  assert.throws(() => part.searchPartialSync(-1, queries, 3), { name: 'BadArgumentError', message: /firstRow: -1/ });
  assert.throws(() => part.searchPartialSync('0', queries, 3), TypeError);
  assert.throws(() => part.searchPartialSync(0, queries.subarray(1), 3), BadArgumentError);
  assert.throws(() => part.searchPartialSync(0, new Float32Array(DIM).fill(NaN), 3), {
    name: 'BadArgumentError',
    message: /queries/,
  });
  const untrained = new Index('IVF16,Polar4', DIM, 'l2');
  assert.throws(() => untrained.searchPartialSync(0, queries, 3), NotTrainedError);
  const refined = new Index('Polar2,Refine(Polar8)', DIM, 'l2');
  refined.addSync(x.subarray(0, 100 * DIM));
  assert.throws(() => refined.searchPartialSync(0, queries, 3), UnsupportedError);
  const reason = new Error('not wanted any more');
  const aborted = AbortSignal.abort(reason);
  await assert.rejects(whole.searchPartial(0, queries, 3, { signal: aborted }), reason);
  const none = mergePartials([whole.searchPartialSync(0, [], 3)], 0, 3);
  assert.strictEqual(none.nq, 0);
  const throwing = () => {
    throw reason;
  };
  const flat = inParts('Polar4', 'l2', undefined).whole;
  assert.throws(() => flat.searchPartialSync(0, queries, 3, { filter: throwing }), reason);
  part.close();
  assert.throws(() => part.searchPartialSync(0, queries, 3), /is closed/);
});

test('hostile bytes are an error', () => {
  const good = inParts('Polar4', 'l2', undefined).parts[0].part.searchPartialSync(0, queries, 3);
  for (const length of [0, 1, 11, 40, good.length - 1]) {
    const merge = () => mergePartials([good, good.subarray(0, length)], NQ, 3);
    assert.throws(merge, { name: 'CorruptDataError', message: /partials\[1\]/ });
  }
  assert.throws(() => mergePartials([new Uint8Array()], NQ, 3), CorruptDataError);
  assert.throws(() => mergePartials([Buffer.concat([good, Buffer.alloc(1)])], NQ, 3), CorruptDataError);
  // Whatever byte is another one: an answer or an error of the library's.
  for (let at = 0; at < good.length; ++at) {
    const other = Uint8Array.from(good);
    other[at] ^= 0x81;
    try {
      mergePartials([good, other], NQ, 3, { bigint: true });
    } catch (error) {
      assert.ok(error instanceof polarquant.PolarError, error);
    }
  }
  const cosine = inParts('Polar4', 'cosine', undefined).parts[0].part.searchPartialSync(0, queries, 3);
  assert.throws(() => mergePartials([good, cosine], NQ, 3), StateMismatchError);
  assert.throws(() => mergePartials([good], NQ - 1, 3), { name: 'BadArgumentError', message: /for 9 queries/ });
  for (const [partials, nq, k] of [[[good], NQ, 4], [[good], NQ, 0], [[good], -1, 3], [[], NQ, 3]]) {
    assert.throws(() => mergePartials(partials, nq, k), BadArgumentError);
  }
  for (const partials of [good, undefined, [good, 'bytes']]) {
    assert.throws(() => mergePartials(partials, NQ, 3), { code: 'ERR_INVALID_ARG_TYPE' });
  }
  assert.throws(() => mergePartials([good], NQ, Number.MAX_SAFE_INTEGER), { name: 'OutOfMemoryError' });
});

test('rows are added beside partial searches', async () => {
  const index = new Index('Polar4', DIM, 'l2');
  index.trainSync(x);
  index.addSync(x.subarray(0, 10 * DIM));
  const query = x.subarray(0, DIM);
  for (let first = 0; first < ROWS; first += 100) {
    const adding = index.add(x.subarray(first * DIM, (first + 100) * DIM));
    const partial = await index.searchPartial(0, query, ROWS);
    assert.strictEqual(mergePartials([partial], 1, ROWS).ids[0], 0);
    await adding;
  }
});
