// SPDX-License-Identifier: MIT
// Codecs, queries, blocks and advice.
'use strict';

const assert = require('assert');
const { test } = require('node:test');
const { inspect } = require('util');
const { numbers, polarquant } = require('./support.js');

const { CodeBlocks, Codec, NotFoundError, Query, StateMismatchError, UnsupportedError } = polarquant;
const { NotTrainedError, advise, adviseSync, specHelp } = polarquant;

const DIM = 96;
const row = (x, i) => x.subarray(i * DIM, (i + 1) * DIM);
const dot = (a, b) => a.reduce((sum, y, j) => sum + y * b[j], 0);

test('a codec tells what it is', () => {
  const codec = new Codec('Polar4', DIM, 'l2', { seed: 2n ** 63n, numThreads: 1 });
  const { info } = codec;
  assert.deepStrictEqual([codec.spec, codec.dim, codec.metric], ['Polar4', DIM, 'l2']);
  assert.deepStrictEqual([info.seed, info.metric, info.groupRows], [2n ** 63n, 'l2', 1]);
  assert.strictEqual(info.codeBytes, codec.codeSize);
  assert.strictEqual(codec.encodedBytes(3), 3 * codec.codeSize);
  assert.ok(codec.isTrained && codec.memoryBytes > 0);
  assert.deepStrictEqual(codec.centre, new Float32Array(DIM));
  assert.strictEqual(inspect(codec), "Codec ('Polar4', dim 96, l2)");
  assert.throws(() => codec.plan, UnsupportedError);
  assert.match(specHelp(), /Polar4/);
});

test('rows are coded, decoded and scored', async () => {
  const x = numbers(1, 60 * DIM);
  const codec = new Codec('Polar8', DIM, 'ip');
  await codec.train(x);
  const codes = await codec.encode(x);
  assert.ok(codes instanceof Uint8Array);
  assert.deepStrictEqual(codec.encodeSync(x), codes);
  const decoded = await codec.decode(codes);
  const unbiased = codec.decodeSync(codes, { unbiased: true });
  assert.strictEqual(decoded.length, x.length);
  assert.notDeepStrictEqual(unbiased, decoded);
  decoded.forEach((y, i) => assert.ok(Math.abs(y - x[i]) < 0.1));
  const query = codec.prepareQuery(row(x, 3));
  const scores = await codec.score(query, codes);
  assert.strictEqual(scores.length, 60);
  scores.forEach((score, i) => assert.ok(Math.abs(score - dot(row(x, 3), row(x, i))) < 1));
  assert.deepStrictEqual(codec.scoreSync(row(x, 3), codes), scores);
  const two = codec.scoreSync(x.subarray(3 * DIM, 5 * DIM), codes);
  assert.deepStrictEqual(two.slice(0, 60), scores);
  assert.strictEqual(two.length, 120);
  const coded = codec.prepareQueryFromCode(codes, 3);
  assert.ok(coded instanceof Query);
  const likewise = codec.scoreSync(coded, codes);
  const between = await codec.scoreCodes(codes.subarray(0, 2 * codec.codeSize), codes);
  assert.strictEqual(between.length, 120);
  assert.strictEqual(codec.scoreCodesSync(codes).length, 3600);
  likewise.forEach((score, i) => assert.ok(Math.abs(score - scores[i]) < 1));
  const weights = new Float32Array(60);
  weights[4] = 2;
  const sum = await codec.combine(weights, codes);
  sum.forEach((y, j) => assert.ok(Math.abs(y - 2 * row(decoded, 4)[j]) < 1e-3));
  const [found] = codec.searchSync(row(x, 3), codes, 1);
  assert.strictEqual(found.id, scores.indexOf(Math.max(...scores)));
});

test('large results are plain buffers, which can be transferred', async () => {
  const x = Float32Array.from({ length: 3000 * DIM }, (_, i) => Math.sin(i * i));
  const codec = new Codec('Polar8', DIM, 'ip');
  const codes = await codec.encode(x);
  const results = [codes.slice(), codec.decodeSync(codes), await codec.decode(codes)];
  results.push(codec.scoreSync(row(x, 0), codes), await codec.score([row(x, 0), row(x, 1)], codes));
  results.push(await codec.scoreCodes(codes.subarray(0, 20 * codec.codeSize), codes));
  assert.deepStrictEqual(results[1], results[2]);
  assert.deepStrictEqual(results[4].slice(0, 3000), codec.scoreSync(codec.prepareQuery(row(x, 0)), codes));
  for (const result of results) {
    const { length } = result;
    assert.strictEqual(structuredClone(result, { transfer: [result.buffer] }).length, length);
    assert.strictEqual(result.length, 0);
  }
});

test('groups of rows share a code', () => {
  const x = numbers(2, 300 * DIM);
  const codec = new Codec('PolarPair4x4g128', DIM, 'ip');
  codec.trainSync(x);
  const codes = codec.encodeSync(x);
  assert.strictEqual(codes.length, codec.encodedBytes(300));
  assert.throws(() => codec.decodeSync(codes), /n: is needed/);
  assert.strictEqual(codec.decodeSync(codes, { n: 300 }).length, x.length);
  assert.strictEqual(codec.scoreCodesSync(codes, codes, { na: 300, nb: 300 }).length, 90000);
  assert.strictEqual(codec.searchSync(row(x, 200), codes, 1, { n: 300 }).ids.length, 1);
});

test('states are saved, loaded and compared', () => {
  const x = numbers(3, 50 * DIM);
  const codec = new Codec('Polar2', DIM, 'cosine');
  codec.trainSync(x);
  const copy = Codec.loadState(codec.saveState());
  assert.deepStrictEqual(copy.encodeSync(x), codec.encodeSync(x));
  copy.checkSameState(codec);
  assert.strictEqual(copy.info.stateId, codec.info.stateId);
  const other = new Codec('Polar2', DIM, 'cosine', { seed: 7, learnCentre: false });
  assert.throws(() => codec.checkSameState(other), StateMismatchError);
  assert.throws(() => codec.trainSync(x), StateMismatchError);
  const query = other.prepareQuery(row(x, 0));
  assert.throws(() => codec.scoreSync(query, codec.encodeSync(x)), StateMismatchError);
  const centred = new Codec('Polar2', DIM, 'ip', { centre: row(x, 0), normUnit: 2 });
  assert.deepStrictEqual(centred.centre, row(x, 0).slice());
  assert.strictEqual(centred.info.normUnit, 2);
});

test('trained codes have a plan and a drift', async () => {
  const x = numbers(4, 1500 * 64).map((y, i) => y * (i % 64 < 8 ? 6 : 1));
  const codec = new Codec('Polar2-pca', 64, 'ip');
  assert.throws(() => codec.encodeSync(x), NotTrainedError);
  assert.throws(() => codec.plan, NotTrainedError);
  await codec.train(x);
  const { plan } = codec;
  assert.strictEqual(plan.segments.reduce((sum, { dim }) => sum + dim, 0), 64);
  assert.ok(plan.error > 0 && plan.error < 1);
  const drift = await codec.drift(x);
  assert.ok(drift > 0.5 && drift < 1.5);
  assert.strictEqual(codec.driftSync(x), drift);
});

test('blocks hold codes, change and are searched', async () => {
  const x = numbers(5, 200 * DIM);
  const codec = new Codec('Polar4', DIM, 'l2');
  const codes = codec.encodeSync(x);
  const size = codec.codeSize;
  const code = (i) => codes.slice(i * size, (i + 1) * size);
  const blocks = new CodeBlocks(codec, codes.subarray(0, 150 * size));
  blocks.append(codes.subarray(150 * size));
  assert.strictEqual(blocks.length, 200);
  assert.ok(blocks.memoryBytes >= codes.length && blocks.codec === codec);
  assert.deepStrictEqual(blocks.get(), codes);
  assert.deepStrictEqual(blocks.get(199, 1), code(199));
  assert.deepStrictEqual(await blocks.search(row(x, 77), 3), codec.searchSync(row(x, 77), codes, 3));
  const range = await blocks.rangeSearch(row(x, 77), 50);
  assert.deepStrictEqual(range, codec.rangeSearchSync(row(x, 77), codes, 50));
  blocks.overwrite(0, code(5));
  assert.deepStrictEqual(blocks.get(0, 1), code(5));
  blocks.swapRemove(0);
  assert.deepStrictEqual(blocks.get(0, 1), code(199));
  assert.strictEqual(blocks.remove(Array.from({ length: 199 }, (_, i) => i < 9)), 9);
  assert.deepStrictEqual(blocks.get(0, 1), code(9));
  assert.throws(() => blocks.swapRemove(190), NotFoundError);
  assert.throws(() => blocks.overwrite(-1, code(0)), NotFoundError);
  assert.throws(() => blocks.remove([true]), /removed: 1 elements/);
  assert.throws(() => blocks.get(100, 100), /first: 100/);
  assert.throws(() => blocks.append(new Uint8Array(3)), /codes: 3 bytes/);
  assert.strictEqual(inspect(blocks), "CodeBlocks ('Polar4', 190 rows)");
  // The blocks keep what they need of their codec.
  codec.close();
  assert.strictEqual(blocks.searchSync(row(x, 9), 1).ids[0], 0);
  blocks.close();
  assert.throws(() => blocks.length, /CodeBlocks: is closed/);
  const empty = new CodeBlocks(new Codec('Polar4', DIM));
  assert.deepStrictEqual(Array.from(empty.searchSync(row(x, 0), 2).ids), [-1, -1]);
});

test('advice is measured on a sample', async () => {
  const x = numbers(6, 1200 * 32);
  const specs = ['Polar2', 'Polar4'];
  const options = { metric: 'cosine', specs, wantedRecall: 0.5, seed: 3, numThreads: 1 };
  let heard = 0;
  const advice = await advise(x, 32, { ...options, progress: () => void ++heard });
  assert.deepStrictEqual(advice.rows.map(({ spec }) => spec), specs);
  assert.strictEqual(advice.recommended, advice.rows.find(({ isRecommended }) => isRecommended));
  assert.ok(advice.reason.length > 10 && advice.heldOutQueries === true && advice.queries >= 10);
  assert.ok(advice.rows[1].recall > advice.rows[0].recall);
  assert.deepStrictEqual(adviseSync(x, 32, options), advice);
  const queries = numbers(7, 20 * 32);
  const asked = adviseSync(x, 32, { ...options, queries, k: 5, maxRows: 300, allowedBytes: 1 });
  assert.deepStrictEqual([asked.recommended, asked.queries], [null, 20]);
  await assert.rejects(advise(x.subarray(0, 320), 32), { code: 'POLAR_BAD_ARGUMENT' });
});
