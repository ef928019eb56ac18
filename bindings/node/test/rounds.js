// SPDX-License-Identifier: MIT
// Makes, uses and closes everything, again and again, at once and on other threads; for valgrind and the
// thread sanitizer. usage: rounds.js COUNT
'use strict';

const assert = require('assert');
const path = require('path');
const { inFolder, polarquant } = require('./support.js');

const { CodeBlocks, Codec, Index, IndexBuilder, PreparedFilter, advise, mergeFiles, mergePartials } = polarquant;

const DIM = 16;
const x = Float32Array.from({ length: 30 * DIM }, (_, i) => Math.sin(i * i));
const query = x.slice(0, DIM);

async function round() {
  const index = new Index('Polar4', DIM, 'l2');
  index.addSync(x.subarray(0, 10 * DIM));
  const filter = new PreparedFilter({ ids: [4, 2, 2] });
  const { signal } = new AbortController();
  const calls = [
    index.add(x, { progress: () => {} }),
    index.search(query, 2, { filter }),
    index.search([query, query], 2, { signal, filter: { mask: [true, true] } }),
    index.rangeSearch(query, 1e9),
    index.remove([1]),
    index.search(new Float32Array(3), 1).catch((error) => assert.strictEqual(error.status, 10)),
  ];
  index.searchSync(query, 3, { filter: (id) => id % 2 === 0 });
  await Promise.all(calls);
  const copy = Index.fromBytesSync(await index.toBytes());
  copy.mergeFromSync(await index.clone());
  const last = copy.search(query, 1);
  for (const object of [index, copy, filter]) object.close();
  await last;
  const codec = new Codec('Polar2', DIM);
  // Either may be first.
  const train = codec.train(x).catch((error) => assert.strictEqual(error.status, 50));
  const codes = await codec.encode(x);
  await train;
  const blocks = new CodeBlocks(codec, codes);
  const search = blocks.search(query, 1);
  blocks.append(codes);
  await Promise.all([search, codec.score(codec.prepareQuery(query), codes), codec.decode(codes)]);
  for (const object of [blocks, codec]) object.close();
  assert.throws(() => codec.info, /is closed/);
}

/** A file built in parts, and another merged of it. */
async function build(folder) {
  const file = path.join(folder, 'built');
  const index = new Index('Polar4', DIM, 'l2');
  await assert.rejects(IndexBuilder.create(file, index), { status: 30 });
  index.trainSync(x);
  const builder = await IndexBuilder.create(file, index);
  const calls = [builder.add(x), builder.writePart(), builder.add(query, { progress: () => {} })];
  calls.push(builder.addWithIds(query, [3]).catch((error) => assert.strictEqual(error.status, 10)));
  await Promise.all(calls);
  const finish = builder.finish();
  builder.close();
  await finish;
  await mergeFiles([file, file], path.join(folder, 'merged'));
  const shards = await Index.openShards([file, path.join(folder, 'merged')]);
  assert.strictEqual(shards.ntotal, 93);
  const partials = [shards.searchPartialSync(0, query, 3), await shards.searchPartial(93, query, 3)];
  assert.strictEqual(mergePartials(partials, 1, 3).nq, 1);
  assert.throws(() => mergePartials([partials[0], new Uint8Array(9)], 1, 3), { status: 70 });
  await assert.rejects(Index.openShards([file, 'none']), { status: 90 });
  for (const object of [index, shards]) object.close();
}

(async () => {
  const count = Number(process.argv[2]);
  for (let i = 0; i < count; ++i) await round();
  for (let i = 0; i < count / 10; ++i) await inFolder(build);
  await assert.rejects(advise(x, DIM), { status: 10 });
  // What is garbage now would seem to be lost.
  for (let i = 0; i < 5 && globalThis.gc; ++i) {
    globalThis.gc();
    await new Promise(setImmediate);
  }
  console.log(`${count} rounds`);
})();
