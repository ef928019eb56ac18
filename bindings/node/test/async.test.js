// SPDX-License-Identifier: MIT
// Calls on other threads: many at once, stopped, followed, and objects closed meanwhile.
'use strict';

const assert = require('assert');
const { test } = require('node:test');
const { numbers, polarquant } = require('./support.js');

const { BadArgumentError, CancelledError, CodeBlocks, Codec, Index } = polarquant;

const DIM = 64;
const x = numbers(1, 3000 * DIM);
const row = (i) => x.subarray(i * DIM, (i + 1) * DIM);

function makeIndex(rows = 3000) {
  const index = new Index('Polar4', DIM, 'l2');
  index.trainSync(x);
  index.addSync(x.subarray(0, rows * DIM));
  return index;
}

/** Rows, and a codec that takes long for them: some seconds, unless it is stopped. */
const long = {
  x: Float32Array.from({ length: 5000 * 768 }, (_, i) => Math.sin(i * i)),
  make: () => new Codec('Polar4-pca', 768, 'ip', { numThreads: 1 }),
};

test('many searches run at once and find what each alone finds', async () => {
  const index = makeIndex();
  const queries = Array.from({ length: 200 }, (_, i) => row(13 * i));
  const found = await Promise.all(queries.map((query) => index.search(query, 5)));
  found.forEach((result, i) => assert.deepStrictEqual(result, index.searchSync(queries[i], 5)));
});

test('searches and changes run beside one another', async () => {
  const index = makeIndex(1000);
  const calls = [];
  for (let i = 1000; i < 1200; ++i) {
    calls.push(index.add(row(i)));
    calls.push(index.search(row(i - 500), 3).then(({ ids }) => assert.strictEqual(ids[0], i - 500)));
    if (i % 10 === 0) calls.push(index.remove([i - 900]));
  }
  // Rows are numbered anew meanwhile, so that which rows are found is not asked of these.
  await Promise.allSettled(calls);
  assert.strictEqual(index.ntotal, 1180);
});

test('two indexes are merged both ways at once', async () => {
  const a = makeIndex();
  const b = a.cloneSync();
  for (let i = 0; i < 20; ++i) await Promise.all([a.mergeFrom(b), b.mergeFrom(a)]);
  assert.strictEqual(a.ntotal + b.ntotal, 6000);
});

test('an index that is closed while searches run lets them end', async () => {
  const index = makeIndex();
  const searches = Array.from({ length: 50 }, (_, i) => index.search(row(i), 2));
  index.close();
  index.close();
  assert.strictEqual(index.closed, true);
  const found = await Promise.all(searches);
  found.forEach(({ ids }, i) => assert.strictEqual(ids[0], i));
  await assert.rejects(index.search(row(0), 1), /Index: is closed/);
});

test('codecs train while others wait, and searches of blocks while these grow', async () => {
  const codec = new Codec('PolarPair4x4', DIM, 'ip');
  const train = codec.train(x);
  const encode = codec.encode(row(0));
  await train;
  assert.strictEqual((await encode).length, codec.codeSize);
  const flat = new Codec('Polar4', DIM, 'l2');
  const codes = flat.encodeSync(x);
  const blocks = new CodeBlocks(flat);
  const calls = [];
  for (let i = 0; i < 100; ++i) {
    blocks.append(codes);
    calls.push(blocks.search(row(i), 1));
  }
  assert.strictEqual(blocks.length, 300000);
  (await Promise.all(calls)).forEach(({ ids }, i) => assert.strictEqual(ids[0] % 3000, i));
});

test('typed arrays are kept while a call needs them', async () => {
  const index = makeIndex();
  const calls = [];
  for (let i = 0; i < 300; ++i) calls.push(index.search(row(i).slice(), 1));
  if (global.gc) global.gc();
  const garbage = Array.from({ length: 300 }, () => new Float32Array(DIM).fill(1));
  (await Promise.all(calls)).forEach(({ ids }, i) => assert.strictEqual(ids[0], i));
  assert.strictEqual(garbage.length, 300);
});

test('a resizable buffer is copied, so that it may shrink', async () => {
  const buffer = new ArrayBuffer(DIM * 4, { maxByteLength: 1 << 20 });
  const query = new Float32Array(buffer);
  query.set(row(7));
  const search = makeIndex().search(query, 1);
  if (buffer.resizable) buffer.resize(0);
  assert.strictEqual((await search).ids[0], 7);
});

test('an AbortSignal stops a call that runs, and the codec is as before', async () => {
  const codec = long.make();
  const controller = new AbortController();
  const begin = Date.now();
  const train = codec.train(long.x, { signal: controller.signal });
  setTimeout(() => controller.abort(), 50);
  await assert.rejects(train, { name: 'AbortError' });
  assert.ok(Date.now() - begin < 5000);
  assert.strictEqual(codec.isTrained, false);
});

test('an AbortSignal\'s reason is what the promise is rejected with', async () => {
  const reason = new Error('no longer wanted');
  const controller = new AbortController();
  const index = makeIndex();
  const calls = [];
  for (let i = 0; i < 20; ++i) calls.push(index.search(row(i), 1, { signal: controller.signal }));
  controller.abort(reason);
  for (const { status, reason: found } of await Promise.allSettled(calls)) {
    // Some may have ended before.
    if (status === 'rejected') assert.strictEqual(found, reason);
  }
  await assert.rejects(index.search(row(0), 1, { signal: controller.signal }), reason);
  assert.throws(() => index.searchSync(row(0), 1, { signal: controller.signal }), reason);
  const { signal } = new AbortController();
  assert.strictEqual((await index.search(row(3), 1, { signal })).ids[0], 3);
});

test('one AbortSignal stops many calls, and Node does not warn of listeners', async () => {
  const warnings = [];
  const warn = (warning) => warnings.push(warning.name);
  process.on('warning', warn);
  const controller = new AbortController();
  const codecs = Array.from({ length: 20 }, long.make);
  const calls = codecs.map((codec) => codec.train(long.x, { signal: controller.signal }));
  setTimeout(() => controller.abort(), 50);
  for (const { reason } of await Promise.allSettled(calls)) assert.strictEqual(reason?.name, 'AbortError');
  process.off('warning', warn);
  assert.deepStrictEqual(warnings, []);
});

test('a call that waits for a thread is stopped at once', async () => {
  const codecs = Array.from({ length: 8 }, long.make);
  const controllers = codecs.map(() => new AbortController());
  const ended = [];
  const calls = codecs.map((codec, i) =>
    codec
      .train(long.x, { signal: controllers[i].signal })
      .catch((error) => assert.strictEqual(error.name, 'AbortError'))
      .finally(() => ended.push(i))
  );
  controllers[7].abort();
  await calls[7];
  assert.deepStrictEqual(ended, [7]);
  controllers.forEach((controller) => controller.abort());
  await Promise.all(calls);
});

test('progress is heard, on the event loop and inside a synchronous call', async () => {
  const shares = [];
  const index = new Index('Polar4', DIM, 'l2');
  const progress = (done) => void shares.push(done);
  await index.add(numbers(3, 60000 * DIM), { progress });
  assert.ok(shares.length > 0 && shares.every((done) => done >= 0 && done <= 1), String(shares));
  shares.length = 0;
  index.addSync(numbers(3, 30000 * DIM), { progress });
  assert.ok(shares.length > 0);
  assert.deepStrictEqual(shares, [...shares].sort((a, b) => a - b));
});

test('progress that says false stops the call; what it throws comes through', async () => {
  const codec = long.make();
  await assert.rejects(codec.train(long.x, { progress: () => false }), CancelledError);
  assert.throws(() => codec.trainSync(long.x, { progress: () => false }), CancelledError);
  const progress = () => {
    throw new RangeError('mine');
  };
  await assert.rejects(codec.train(long.x, { progress }), RangeError);
  assert.throws(() => codec.trainSync(long.x, { progress }), RangeError);
  assert.strictEqual(codec.isTrained, false);
});

test('a callback may read the object of its call, but not change it', () => {
  const index = makeIndex();
  const seen = [];
  const filter = (id) => {
    if (seen.length === 0) {
      seen.push(index.ntotal, index.searchSync(row(5), 1).ids[0]);
      assert.throws(() => index.addSync(row(0)), BadArgumentError);
    }
    return id === 9;
  };
  assert.strictEqual(index.searchSync(row(0), 1, { filter }).ids[0], 9);
  assert.deepStrictEqual(seen, [3000, 5]);
  const codec = new Codec('Polar4', DIM);
  const codes = codec.encodeSync(x);
  const blocks = new CodeBlocks(codec, codes);
  let isFirst = true;
  const change = () => {
    if (!isFirst) return true;
    isFirst = false;
    assert.throws(() => codec.trainSync(x), /cannot change/);
    assert.throws(() => blocks.append(codes), /cannot change/);
    blocks.searchSync(row(0), 1);
    codec.close();
    index.close();
    return true;
  };
  blocks.searchSync(row(0), 1, { filter: change });
  index.close();
});

test('an index that is closed inside its own call lets it end', () => {
  const index = makeIndex();
  const found = index.searchSync(row(0), 1, { filter: () => index.close() ?? true });
  assert.strictEqual(found.ids[0], 0);
  assert.throws(() => index.ntotal, /is closed/);
});

test('the trace of an error names who awaits', async () => {
  async function addTooFew(options) {
    await new Index('Polar4', DIM).add(new Float32Array(3), options);
  }
  for (const options of [undefined, { signal: new AbortController().signal }]) {
    const error = await addTooFew(options).catch((thrown) => thrown);
    assert.match(error.stack, /BadArgumentError: x: 3 numbers[^]*addTooFew/);
  }
});
