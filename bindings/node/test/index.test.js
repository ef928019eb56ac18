// SPDX-License-Identifier: MIT
// What an index does, in both forms of its calls.
'use strict';

const assert = require('assert');
const fs = require('fs');
const path = require('path');
const { test } = require('node:test');
const { pathToFileURL } = require('url');
const { inspect } = require('util');
const { inFolder, numbers, polarquant } = require('./support.js');

const { Index, NotFoundError, StateMismatchError, UnsupportedError } = polarquant;

const DIM = 48;
const row = (x, i) => x.subarray(i * DIM, (i + 1) * DIM);

test('rows are numbered, found and rebuilt', async () => {
  const x = numbers(1, 300 * DIM);
  const index = new Index('Polar4', DIM, 'l2');
  await index.train(x);
  await index.add(x.subarray(0, 200 * DIM));
  index.addSync(x.subarray(200 * DIM));
  assert.strictEqual(index.ntotal, 300);
  const found = await index.search(row(x, 250), 2);
  assert.ok(found.ids instanceof Float64Array && found.scores instanceof Float32Array);
  assert.strictEqual(found.ids[0], 250);
  assert.deepStrictEqual(found, index.searchSync(row(x, 250), 2));
  const rebuilt = index.reconstruct(250);
  const error = rebuilt.reduce((sum, y, j) => sum + (y - row(x, 250)[j]) ** 2, 0);
  assert.ok(error / DIM < 0.05, String(error));
  assert.throws(() => index.reconstruct(300), NotFoundError);
});

test('several queries are searched together, and results are cut by query', () => {
  const x = numbers(2, 100 * DIM);
  const index = new Index('Polar8', DIM, 'cosine');
  index.addSync(x);
  const found = index.searchSync(x.subarray(0, 5 * DIM), 3);
  assert.deepStrictEqual([found.nq, found.k, found.ids.length], [5, 3, 15]);
  for (let q = 0; q < 5; ++q) {
    assert.strictEqual(found.query(q).ids[0], q);
    assert.deepStrictEqual(found.query(q).ids, index.searchSync(row(x, q), 3).ids);
  }
  const matches = [...found];
  assert.strictEqual(matches.length, 15);
  assert.deepStrictEqual(Object.keys(matches[4]), ['query', 'id', 'score']);
  assert.strictEqual(matches[4].query, 1);
  assert.throws(() => found.query(5), /query: 5/);
});

test('where there are fewer rows than k, ids are -1 and iteration passes over them', () => {
  const index = new Index('Polar4', DIM, 'ip');
  index.addSync(numbers(3, 2 * DIM));
  const { ids, scores } = index.searchSync(numbers(4, DIM), 4);
  assert.deepStrictEqual(Array.from(ids).slice(2), [-1, -1]);
  assert.deepStrictEqual(Array.from(scores).slice(2), [-Infinity, -Infinity]);
  assert.strictEqual([...index.searchSync(numbers(4, DIM), 4)].length, 2);
});

test('vectors come as arrays of numbers and of vectors, too', () => {
  const x = numbers(5, 3 * DIM);
  const index = new Index('Polar8', DIM, 'l2');
  index.addSync([row(x, 0), Array.from(row(x, 1))]);
  index.addSync(Array.from(row(x, 2)));
  index.addSync(Float64Array.from(row(x, 0)));
  assert.strictEqual(index.ntotal, 4);
  const wanted = index.searchSync(row(x, 1), 1);
  assert.deepStrictEqual(index.searchSync(Array.from(row(x, 1)), 1), wanted);
  assert.deepStrictEqual(index.searchSync([row(x, 1)], 1), wanted);
  assert.strictEqual(wanted.ids[0], 1);
});

test('ids of the caller\'s: added, updated, upserted, removed', async () => {
  const x = numbers(6, 50 * DIM);
  const ids = Array.from({ length: 50 }, (_, i) => 1000 + 3 * i);
  const index = new Index('Polar4', DIM, 'cosine');
  await index.addWithIds(x, ids);
  assert.strictEqual(index.searchSync(row(x, 7), 1).ids[0], 1021);
  const fresh = numbers(7, 2 * DIM);
  await index.update([1000, 1003], fresh);
  assert.strictEqual(index.searchSync(row(fresh, 1), 1).ids[0], 1003);
  await index.upsert([1003, 9], fresh);
  assert.strictEqual(index.ntotal, 51);
  assert.strictEqual(index.searchSync(row(fresh, 1), 1).ids[0], 9);
  await assert.rejects(index.update([12345], row(x, 0)), NotFoundError);
  assert.strictEqual(await index.remove([9, 10, 1000]), 2);
  assert.strictEqual(index.removeSync(new Set([1003, 1006])), 2);
  assert.strictEqual(await index.removeFiltered({ first: 1100, end: 2000 }), 16);
  assert.strictEqual(index.removeFilteredSync({ ids: BigInt64Array.of(1009n) }), 1);
  assert.strictEqual(index.ntotal, 30);
});

test('ids beyond 2^53 are bigints', async () => {
  const x = numbers(8, 2 * DIM);
  const large = 2n ** 60n + 1n;
  const index = new Index('Polar4', DIM, 'ip');
  index.addWithIdsSync(x, [large, 5n]);
  const { ids } = await index.search(row(x, 0), 1, { bigint: true });
  assert.deepStrictEqual(ids, BigInt64Array.of(large));
  assert.throws(() => index.searchSync(row(x, 0), 1), /ids: 1152921504606846977 .* bigint: true/);
  assert.throws(() => index.rangeSearchSync(row(x, 0), -1e9), /bigint: true/);
  const range = index.rangeSearchSync(row(x, 0), -1e9, { bigint: true });
  assert.deepStrictEqual(Array.from(range.ids).sort(), [large, 5n].sort());
  assert.strictEqual(index.reconstruct(large).length, DIM);
  assert.strictEqual([...index.searchSync(row(x, 0), 1, { bigint: true })][0].id, large);
  assert.strictEqual(index.removeSync([large]), 1);
});

test('range searches find all, however many', async () => {
  const x = numbers(9, 2000 * DIM);
  const index = new Index('Polar4', DIM, 'l2');
  index.trainSync(x);
  index.addSync(x);
  const all = await index.rangeSearch(x.subarray(0, 2 * DIM), 1e9, { exactness: Infinity });
  assert.deepStrictEqual(Array.from(all.lims), [0, 2000, 4000]);
  assert.strictEqual(all.query(1).ids.length, 2000);
  assert.strictEqual(all.query(1).ids[0], 1);
  assert.strictEqual([...all.query(1)].length, 2000);
  const none = index.rangeSearchSync(row(x, 0), -1);
  assert.deepStrictEqual([none.nq, none.ids.length, [...none]], [1, 0, []]);
});

test('inverted files: lists, nprobe, centroids', async () => {
  const x = numbers(10, 400 * DIM);
  const index = new Index('IVF8,Polar4', DIM, 'l2');
  assert.strictEqual(index.isTrained, false);
  await index.trainWithCentroids(x.subarray(0, 8 * DIM), x);
  assert.deepStrictEqual([index.isTrained, index.nlist, index.nprobe], [true, 8, 1]);
  const ids = Float64Array.from({ length: 400 }, (_, i) => i);
  await index.addToLists(x, ids, ids.map((i) => i % 8));
  assert.strictEqual(index.searchSync(row(x, 3), 1, { nprobe: 8 }).ids[0], 3);
  index.nprobe = 8;
  assert.strictEqual(index.nprobe, 8);
  assert.strictEqual((await index.search(row(x, 3), 1)).ids[0], 3);
  const flat = new Index('Polar4', DIM);
  assert.deepStrictEqual([flat.nlist, flat.nprobe, flat.metric], [0, 0, 'ip']);
  assert.throws(() => {
    flat.nprobe = 2;
  }, UnsupportedError);
  flat.addSync(x);
  assert.throws(() => flat.searchSync(row(x, 0), 1, { nprobe: 2 }), UnsupportedError);
});

test('refinements and graphs take their options', () => {
  const x = numbers(11, 300 * DIM);
  const refined = new Index('Polar2,RFlat', DIM, 'l2');
  refined.trainSync(x);
  refined.addSync(x);
  assert.strictEqual(refined.searchSync(row(x, 5), 1, { kFactor: 10 }).ids[0], 5);
  const graph = new Index('HNSW16,Polar8', DIM, 'l2');
  graph.trainSync(x);
  graph.addSync(x);
  assert.strictEqual(graph.searchSync(row(x, 5), 1, { efSearch: 64 }).ids[0], 5);
});

test('an index tells what it is and what a search would do', () => {
  const index = new Index('Polar4', DIM, 'cosine');
  index.addSync(numbers(12, 10 * DIM));
  assert.deepStrictEqual([index.description, index.dim, index.metric], ['Polar4', DIM, 'cosine']);
  assert.ok(index.codeSize >= DIM / 2 && index.memoryBytes > 0);
  assert.match(index.explain(1, 5), /scan:/);
  assert.match(index.explain(2, 5, { filter: { ids: [1, 2] } }), /scan:/);
  assert.strictEqual(inspect(index), "Index ('Polar4', dim 48, cosine, 10 rows)");
  index.close();
  assert.strictEqual(inspect(index), 'Index (closed)');
});

test('clones and merges', async () => {
  const x = numbers(13, 2000 * DIM);
  const index = new Index('Polar4', DIM, 'l2');
  index.trainSync(x);
  const other = await index.clone();
  index.addSync(x.subarray(0, 1000 * DIM));
  other.addSync(x.subarray(1000 * DIM));
  await index.mergeFrom(other);
  assert.deepStrictEqual([index.ntotal, other.ntotal], [2000, 0]);
  assert.strictEqual(index.searchSync(row(x, 1500), 1).ids[0], 1500);
  const apart = new Index('Polar4', DIM, 'l2');
  apart.trainSync(numbers(14, 1200 * DIM).map((y) => y + 3));
  apart.addSync(x);
  await assert.rejects(index.mergeFrom(apart), StateMismatchError);
  assert.throws(() => index.mergeFromSync(index), /other: is the index itself/);
  assert.strictEqual(index.cloneSync().ntotal, 2000);
});

test('files and bytes: saved, loaded, mapped, verified', () =>
  inFolder(async (folder) => {
    const x = numbers(15, 1500 * DIM);
    const index = new Index('Polar4', DIM, 'cosine');
    index.addSync(x);
    const wanted = index.searchSync(row(x, 11), 4);
    const file = path.join(folder, 'größe.polar');
    await index.save(file, { verify: true });
    const bytes = await index.toBytes();
    assert.deepStrictEqual(Buffer.from(bytes), fs.readFileSync(file));
    const mapped = await Index.load(pathToFileURL(file), { memoryMap: true });
    await mapped.verify();
    mapped.verifySync();
    const read = [Index.loadSync(file), await Index.fromBytes(bytes), mapped];
    for (const loaded of read) {
      assert.deepStrictEqual(loaded.searchSync(row(x, 11), 4), wanted);
      assert.deepStrictEqual([loaded.metric, loaded.dim, loaded.ntotal], ['cosine', DIM, 1500]);
    }
    assert.throws(() => mapped.addSync(row(x, 0)), UnsupportedError);
    bytes[bytes.length >> 1] ^= 1;
    await assert.rejects(Index.fromBytes(bytes), { code: 'POLAR_CORRUPT_DATA' });
    await assert.rejects(Index.load(path.join(folder, 'none')), { code: 'POLAR_IO', status: 90 });
    await assert.rejects(index.save(path.join(folder, 'no', 'folder')), { code: 'POLAR_IO' });
    index.saveSync(file);
  }));
