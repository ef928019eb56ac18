// SPDX-License-Identifier: MIT
// Index files built in parts, merged, and searched together.
'use strict';

const assert = require('assert');
const fs = require('fs');
const path = require('path');
const { pathToFileURL } = require('url');
const { inspect } = require('util');
const { test } = require('node:test');
const { inFolder, numbers, polarquant } = require('./support.js');

const { Index, IndexBuilder, mergeFiles, mergeFilesSync } = polarquant;
const { BadArgumentError, CancelledError, InputOutputError, NotFoundError, NotTrainedError } = polarquant;
const { StateMismatchError, UnsupportedError } = polarquant;

const DIM = 32;
const ROWS = 3000;
// Rows that make more than one part of the least size.
const MANY_ROWS = 40000;
const LEAST_MEMORY = 1 << 20;
const x = numbers(1, MANY_ROWS * DIM);
const rows = (first, end) => x.subarray(first * DIM, end * DIM);
const idsOf = (first, end) => Float64Array.from({ length: end - first }, (_, i) => (((first + i) * 7919) % 1000003) + 5);

function trained(description = 'IVF7,Polar4') {
  const index = new Index(description, DIM, 'l2');
  index.trainSync(rows(0, 2000));
  return index;
}

/** The bytes of the file of one index of the first rows. */
function bytesOfOneIndex(index, count, withIds) {
  const whole = index.cloneSync();
  if (withIds) whole.addWithIdsSync(rows(0, count), idsOf(0, count));
  else whole.addSync(rows(0, count));
  return Buffer.from(whole.toBytesSync());
}

/** Files of the rows up to each of these ends. */
function saveShards(index, folder, ends) {
  let first = 0;
  return ends.map((end, number) => {
    const shard = index.cloneSync();
    shard.addWithIdsSync(rows(first, end), idsOf(first, end));
    first = end;
    const file = path.join(folder, `shard${number}`);
    shard.saveSync(file);
    return file;
  });
}

for (const [description, withIds] of [['Polar8', false], ['Polar8', true], ['IVF7,Polar4', true]]) {
  test(`a file of ${description} built in parts is that of one index, ids ${withIds}`, () =>
    inFolder(async (folder) => {
      const file = path.join(folder, 'built');
      const index = trained(description);
      const builder = await IndexBuilder.create(file, index, { memoryBytes: LEAST_MEMORY });
      assert.deepStrictEqual([builder.dim, builder.ntotal, builder.written], [DIM, 0, 0]);
      let first = 0;
      for (const end of [1, 1, 5000, MANY_ROWS]) {
        if (withIds) await builder.addWithIds(rows(first, end), idsOf(first, end));
        else await builder.add(rows(first, end));
        assert.strictEqual(builder.ntotal, end);
        if (end === 5000) {
          await builder.writePart();
          assert.strictEqual(builder.written, end);
        }
        first = end;
      }
      if (description === 'Polar8') assert.ok(builder.written > 5000 && builder.written < MANY_ROWS, builder.written);
      await builder.finish();
      assert.ok(fs.readFileSync(file).equals(bytesOfOneIndex(index, MANY_ROWS, withIds)));
      assert.strictEqual(fs.existsSync(`${file}.parts`), false);
      const finished = { name: 'StateMismatchError', message: /finished/ };
      await assert.rejects(builder.add(rows(0, 1)), finished);
      await assert.rejects(builder.writePart(), finished);
      assert.throws(() => builder.finishSync(), finished);
      builder.close();
      builder.close();
      assert.strictEqual(builder.closed, true);
      assert.match(inspect(builder), /closed/);
      assert.throws(() => builder.addSync(rows(0, 1)), /IndexBuilder: is closed/);
      assert.throws(() => builder.ntotal, BadArgumentError);
      await assert.rejects(builder.finish(), BadArgumentError);
    }));
}

test('a build goes on after its last part', () =>
  inFolder((folder) => {
    const file = pathToFileURL(path.join(folder, 'built'));
    const index = trained();
    let builder = IndexBuilder.createSync(file, index);
    builder.addSync(rows(0, 1000));
    builder.writePartSync();
    builder.addSync(rows(1000, 1500));
    assert.match(inspect(builder), /1500 rows, 1000/);
    assert.throws(() => IndexBuilder.resumeSync(file), { name: 'InputOutputError', message: /in use/ });
    builder.close(); // 500 rows are lost

    assert.throws(() => IndexBuilder.createSync(file, index), { name: 'BadArgumentError', message: /replace/ });
    builder = IndexBuilder.resumeSync(file, { memoryBytes: LEAST_MEMORY });
    assert.deepStrictEqual([builder.ntotal, builder.written, builder.dim], [1000, 1000, DIM]);
    builder.addSync(rows(1000, ROWS));
    builder.finishSync();
    assert.ok(fs.readFileSync(file).equals(bytesOfOneIndex(index, ROWS, false)));
    assert.throws(() => IndexBuilder.resumeSync(file), NotFoundError);

    builder.close();
    builder = IndexBuilder.createSync(file, index);
    builder.addSync(rows(0, 50));
    builder.writePartSync();
    builder.close();
    builder = IndexBuilder.createSync(file, index, { replace: true });
    builder.addSync(rows(0, 7));
    builder.finishSync();
    assert.strictEqual(Index.loadSync(file).ntotal, 7);
    builder.close();
  }));

for (const description of ['Polar4', 'IVF7,Polar4']) {
  test(`merged files of ${description}, and shards, are one index`, () =>
    inFolder(async (folder) => {
      const index = trained(description);
      const paths = saveShards(index, folder, [1000, ROWS]);
      const file = path.join(folder, 'merged');
      await mergeFiles([pathToFileURL(paths[0]), paths[1]], file);
      const bytes = bytesOfOneIndex(index, ROWS, true);
      assert.ok(fs.readFileSync(file).equals(bytes));
      const merged = await Index.load(file);
      const shards = await Index.openShards(paths);
      assert.deepStrictEqual([shards.ntotal, shards.dim, shards.description], [ROWS, DIM, description]);
      for (const exactness of [2, Infinity]) {
        const found = await shards.search(rows(500, 570), 10, { exactness });
        assert.deepStrictEqual(found, merged.searchSync(rows(500, 570), 10, { exactness }));
      }
      await shards.verify();
      assert.ok(bytes.equals(shards.toBytesSync()));
      assert.throws(() => shards.addWithIdsSync(rows(0, 1), [7]), { name: 'UnsupportedError', message: /memory-mapped/ });

      const some = index.cloneSync();
      some.addSync(rows(0, 100));
      some.saveSync(path.join(folder, 'some'));
      const like = await Index.loadEmpty(path.join(folder, 'some'));
      assert.deepStrictEqual([like.ntotal, like.isTrained], [0, true]);
      assert.ok(bytes.equals(bytesOfOneIndex(like, ROWS, true)));
      for (const one of [merged, shards, some, like]) one.close();
    }));
}

test('files that do not fit are named', () =>
  inFolder(async (folder) => {
    const out = path.join(folder, 'out');
    const paths = saveShards(trained(), folder, [1000, 2000]);
    await assert.rejects(mergeFiles([], out), { name: 'BadArgumentError', message: /n: 0/ });
    await assert.rejects(Index.openShards([]), BadArgumentError);
    assert.throws(() => mergeFilesSync(['a\0b'], out), { name: 'BadArgumentError', message: /NUL/ });
    assert.throws(() => mergeFilesSync(paths, 'a\0b'), BadArgumentError);
    assert.throws(() => mergeFilesSync([paths[0], ...paths], out), { name: 'BadArgumentError', message: /there twice/ });
    const twice = Index.openShardsSync([paths[0], ...paths]);
    assert.throws(() => twice.verifySync(), { message: /there twice/ });
    const other = path.join(folder, 'other');
    assert.throws(() => Index.openShardsSync([paths[0], other]), { name: 'InputOutputError', message: /other/ });
    trained('IVF7,Polar2').saveSync(other);
    const differs = { name: 'StateMismatchError', message: /other/, code: 'POLAR_STATE_MISMATCH' };
    assert.throws(() => mergeFilesSync([...paths, other], out), differs);
    await assert.rejects(Index.openShards([...paths, other]), differs);
    assert.throws(() => Index.loadEmptySync(path.join(folder, 'none')), InputOutputError);
    trained('HNSW8,Polar4').saveSync(other);
    assert.throws(() => Index.loadEmptySync(other), { name: 'UnsupportedError', message: /HNSW8,Polar4/ });
    for (const wrong of [undefined, null, 'a', [3], [undefined], {}]) {
      const type = { name: 'TypeError', code: 'ERR_INVALID_ARG_TYPE' };
      await assert.rejects(mergeFiles(wrong, out), type);
      await assert.rejects(Index.openShards(wrong), type);
    }
    assert.strictEqual(fs.existsSync(out), false);
  }));

test('what a builder refuses', () =>
  inFolder(async (folder) => {
    const file = path.join(folder, 'built');
    const begin = (index, options) => IndexBuilder.createSync(file, index, options);
    assert.throws(() => new IndexBuilder(), TypeError);
    assert.throws(() => begin(new Index('Polar4', DIM)), NotTrainedError);
    assert.throws(() => begin(new Index('HNSW8,Polar4', DIM)), UnsupportedError);
    assert.throws(() => begin({}), TypeError);
    const index = trained('Polar4');
    for (const memoryBytes of [LEAST_MEMORY - 1, -1, 0, 1.5, NaN]) {
      assert.throws(() => begin(index, { memoryBytes }), { name: 'BadArgumentError', message: /memoryBytes/ });
    }
    assert.throws(() => begin(index, { memoryBytes: 'much' }), TypeError);
    const builder = begin(index, { memoryBytes: BigInt(LEAST_MEMORY) });
    index.addSync(rows(0, 5));
    await assert.rejects(IndexBuilder.create(`${file}2`, index), StateMismatchError);
    index.close(); // the builder has a copy
    assert.throws(() => begin(index), BadArgumentError);
    assert.throws(() => builder.addSync(x.subarray(0, DIM + 1)), BadArgumentError);
    assert.throws(() => builder.addWithIdsSync(rows(0, 1), [1, 2]), { message: /ids/ });
    assert.throws(() => builder.addSync('rows'), TypeError);
    builder.addWithIdsSync([Array.from(rows(0, 1)), Array.from(rows(1, 2))], [1n, 2n]);
    assert.throws(() => builder.addSync(rows(0, 1)), { name: 'BadArgumentError', message: /ids/ });
    assert.throws(() => builder.addWithIdsSync(rows(0, 1), [2]), { message: /ids must differ/ });
    assert.throws(() => builder.addWithIdsSync(new Float32Array(DIM).fill(NaN), [3]), { message: /row 0/ });
    builder.writePartSync();
    await builder.addWithIds(rows(0, 1), [2]);
    // An id of another part is found in the end, and the parts stay.
    await assert.rejects(builder.finish(), { message: /id 2 is there twice/ });
    await assert.rejects(builder.finish(), { message: /id 2 is there twice/ });
    assert.strictEqual(builder.ntotal, 3);
    assert.strictEqual(fs.existsSync(file), false);
    builder.close();
  }));

test('building is told of and stopped', () =>
  inFolder(async (folder) => {
    const file = path.join(folder, 'built');
    const builder = IndexBuilder.createSync(file, trained('Polar4'));
    const controller = new AbortController();
    const adding = builder.add(x, { numThreads: 1, signal: controller.signal });
    controller.abort(new Error('enough'));
    await assert.rejects(adding, /enough/);
    await builder.add(rows(builder.ntotal, MANY_ROWS));
    assert.strictEqual(builder.ntotal, MANY_ROWS);
    assert.throws(() => builder.finishSync({ progress: () => false }), CancelledError);
    const inside = () => {
      assert.strictEqual(builder.ntotal, MANY_ROWS); // does not wait
      builder.addSync(rows(0, 1));
    };
    assert.throws(() => builder.finishSync({ progress: inside }), /callback inside a call/);
    assert.strictEqual(fs.existsSync(file), false);
    const told = [];
    builder.finishSync({ progress: (done) => told.push(done) });
    assert.strictEqual(told[told.length - 1], 1);
    assert.deepStrictEqual(told, [...told].sort((a, b) => a - b));
    const merged = path.join(folder, 'merged');
    assert.throws(() => mergeFilesSync([file], merged, { progress: () => false }), CancelledError);
    await assert.rejects(mergeFiles([file], merged, { signal: controller.signal }), /enough/);
    assert.strictEqual(fs.existsSync(merged), false);
    await mergeFiles([file], merged, { progress: () => true });
    assert.strictEqual(Index.loadSync(merged, { memoryMap: true }).ntotal, MANY_ROWS);
    builder.close();
  }));

test('calls on one builder take turns, and one that is closed meanwhile ends them', () =>
  inFolder(async (folder) => {
    const file = path.join(folder, 'built');
    const builder = IndexBuilder.createSync(file, trained('Polar4'));
    const calls = Array.from({ length: 50 }, (_, i) => builder.add(rows(10 * i, 10 * i + 10)));
    builder.addSync(rows(0, 10));
    calls.push(...Array.from({ length: 10 }, () => builder.writePart()));
    await Promise.all(calls);
    // In whichever order: rows may have come after the last part.
    assert.strictEqual(builder.ntotal, 510);
    await builder.writePart();
    assert.strictEqual(builder.written, 510);
    const finishing = builder.finish();
    builder.close();
    await finishing;
    assert.strictEqual(Index.loadSync(file).ntotal, 510);
  }));
