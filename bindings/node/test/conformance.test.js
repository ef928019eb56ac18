// SPDX-License-Identifier: MIT
// The vectors of tests/conformance, which readers in every language must agree with. Each search is made
// in both forms, at once and as a promise.
'use strict';

const assert = require('assert');
const fs = require('fs');
const path = require('path');
const { test } = require('node:test');
const { asFloat, fnv1a, folder, polarquant, read, rows } = require('./support.js');

const { CodeBlocks, Codec, Index, PolarError, UnsupportedError } = polarquant;
const METRICS = ['ip', 'l2', 'cosine'];

/** Of a score, times its size and 1. */
const BOUND = 1e-6;

function checkNumbers(expected, found) {
  assert.strictEqual(found.length, expected.length);
  expected.forEach((text, i) => {
    const wanted = Math.fround(asFloat(text));
    if (!Number.isFinite(wanted)) return assert.strictEqual(found[i], wanted);
    assert.ok(Math.abs(found[i] - wanted) <= BOUND * (1 + Math.abs(wanted)), `${found[i]}, not ${wanted}`);
  });
}

function asFilter(given) {
  if (given === undefined || given.kind === 'none') return undefined;
  if (given.kind === 'bitset') {
    const bits = BigUint64Array.from(given.words, (word) => BigInt(`0x${word.replace(/^0x/, '')}`));
    return { bits, length: given.num_bits };
  }
  if (given.kind === 'ids') return { ids: given.ids };
  if (given.kind === 'range') return { first: given.first, end: given.end };
  return (id) => id % given.multiples_of === 0;
}

function asOptions(given) {
  const options = { numThreads: given.num_threads, nprobe: given.nprobe, filter: asFilter(given.filter) };
  if (given.exactness !== undefined) options.exactness = asFloat(given.exactness);
  return options;
}

// Search functions: (sync or async form's name, queries, k or radius, options).
async function checkSearches(given, search, rangeSearch) {
  for (const wanted of given.searches) {
    const queries = rows(wanted.queries, given.dim);
    const options = asOptions(wanted.options);
    const found = [search('searchSync', queries, wanted.k, options)];
    if (typeof options.filter !== 'function') {
      found.push(await search('search', queries, wanted.k, options));
    }
    for (const { ids, scores } of found) {
      assert.deepStrictEqual(Array.from(ids), wanted.ids.flat());
      checkNumbers(wanted.scores.flat(), scores);
    }
  }
  for (const wanted of given.range_searches) {
    const queries = rows(wanted.queries, given.dim);
    const options = asOptions(wanted.options);
    const radius = asFloat(wanted.radius);
    const found = [rangeSearch('rangeSearchSync', queries, radius, options)];
    if (typeof options.filter !== 'function') {
      found.push(await rangeSearch('rangeSearch', queries, radius, options));
    }
    for (const { lims, ids, scores } of found) {
      assert.deepStrictEqual(Array.from(lims), wanted.lims);
      assert.deepStrictEqual(Array.from(ids), wanted.ids);
      checkNumbers(wanted.scores, scores);
    }
  }
}

function makeCodec(given) {
  if (given.state !== undefined) return Codec.loadState(Buffer.from(given.state, 'base64'));
  const { seed, centre, norm_unit: normUnit, learn_centre: learnCentre } = given.codec_options ?? {};
  const options = { seed, normUnit };
  if (learnCentre !== undefined) options.learnCentre = Boolean(learnCentre);
  if (centre !== undefined) options.centre = rows(centre, given.dim).slice(0, given.dim);
  const codec = new Codec(given.spec, given.dim, METRICS[given.metric] ?? String(given.metric), options);
  if (given.train !== undefined) codec.trainSync(rows(given.train, given.dim));
  return codec;
}

function doStep(index, step) {
  const x = step.rows && rows(step.rows, index.dim);
  switch (step.call) {
    case 'train':
      return index.trainSync(x);
    case 'train_with_centroids':
      return index.trainWithCentroidsSync(rows(step.centroids, index.dim), x);
    case 'add':
      return index.addSync(x);
    case 'add_with_ids':
      return index.addWithIdsSync(x, step.ids);
    case 'update':
      return index.updateSync(step.ids, x);
    case 'remove':
      return index.removeSync(step.ids);
    case 'remove_filtered':
      return index.removeFilteredSync(asFilter(step.filter));
    default:
      assert.strictEqual(step.call, 'set_nprobe');
      index.nprobe = step.nprobe;
      return undefined;
  }
}

function makeIndex(given) {
  const metric = METRICS[given.metric] ?? String(given.metric);
  const index = new Index(given.description, given.dim, metric);
  for (const step of given.steps ?? []) assert.strictEqual(doStep(index, step), step.removed);
  return index;
}

async function checkIndex(given, index) {
  assert.strictEqual(index.ntotal, given.ntotal);
  await checkSearches(
    given,
    (form, ...asked) => index[form](...asked),
    (form, ...asked) => index[form](...asked)
  );
  if (given.reconstruct) {
    checkNumbers(given.reconstruct.x, index.reconstruct(given.reconstruct.id));
  }
}

for (const given of read('codecs.json')) {
  test(`codec: ${given.name}`, async () => {
    const codec = makeCodec(given);
    const { n } = given.rows;
    const codes = codec.encodeSync(rows(given.rows, given.dim));
    assert.strictEqual(codec.codeSize, given.code_bytes);
    assert.strictEqual(fnv1a(codes), given.codes_fnv1a);
    assert.deepStrictEqual(await codec.encode(rows(given.rows, given.dim)), codes);
    if (given.first_code !== undefined) {
      const first = codes.subarray(0, codec.codeSize);
      assert.strictEqual(Buffer.from(first).toString('hex'), given.first_code);
    }
    if (given.state_fnv1a !== undefined) assert.strictEqual(fnv1a(codec.saveState()), given.state_fnv1a);
    checkNumbers(given.decoded, codec.decodeSync(codes, { n }).subarray(0, given.dim));
    const search = (form, queries, what, options) => codec[form](queries, codes, what, { ...options, n });
    await checkSearches(given, search, search);
    if (given.has_blocks) {
      const blocks = new CodeBlocks(codec, codes);
      const searchBlocks = (form, ...asked) => blocks[form](...asked);
      await checkSearches(given, searchBlocks, searchBlocks);
    } else {
      assert.throws(() => new CodeBlocks(codec), UnsupportedError);
    }
  });
}

for (const given of read('indexes.json')) {
  test(`index: ${given.name}`, () => checkIndex(given, makeIndex(given)));
}

for (const given of read('files.json')) {
  test(`file: ${given.name}`, async () => {
    const file = path.join(folder, given.file);
    const bytes = fs.readFileSync(file);
    assert.strictEqual(bytes.length, given.bytes);
    assert.strictEqual(fnv1a(bytes), given.fnv1a);
    const indexes = [await Index.load(file), Index.fromBytesSync(bytes)];
    if (given.can_map) indexes.push(Index.loadSync(file, { memoryMap: true }));
    for (const index of indexes) {
      assert.strictEqual(index.description, given.description);
      assert.strictEqual(index.dim, given.dim);
      assert.strictEqual(index.metric, METRICS[given.metric]);
      await checkIndex(given, index);
      index.close();
    }
  });
}

function callCodec(codec, call, given, x) {
  if (call === 'codec_train') return codec.trainSync(x);
  const codes = codec.encodeSync(x);
  const query = x.slice(0, codec.dim);
  const options = asOptions(given.options ?? {});
  if (call === 'codec_search') return codec.searchSync(query, codes, given.k, options);
  if (call === 'codec_range_search') {
    return codec.rangeSearchSync(query, codes, asFloat(given.radius), options);
  }
  if (call === 'blocks_append') return new CodeBlocks(codec, codes);
  return assert.strictEqual(call, 'codec_encode');
}

function callIndex(index, call, given) {
  const query = new Float32Array(index.dim);
  const options = asOptions(given.options ?? {});
  if (call === 'index_search') return index.searchSync(query, given.k, options);
  if (call === 'index_range_search') return index.rangeSearchSync(query, asFloat(given.radius), options);
  if (call === 'index_reconstruct') return index.reconstruct(given.id);
  return doStep(index, { ...given, call: call.replace('index_', '') });
}

/** What is to fail, after what is made before it. */
function wrongCall(given) {
  const asked = given.arguments;
  if (given.codec) {
    const codec = makeCodec(given.codec);
    if (given.codec.encode) codec.encodeSync(rows(given.codec.encode, codec.dim));
    return () => callCodec(codec, given.call, asked, rows(asked.rows, codec.dim));
  }
  if (given.index) {
    const index = makeIndex(given.index);
    return () => callIndex(index, given.call, asked);
  }
  return {
    codec_create: () => makeCodec(asked),
    codec_load_state: () => makeCodec(asked),
    index_create: () => makeIndex(asked),
    index_load: () => Index.loadSync(path.join(folder, asked.file)),
  }[given.call];
}

for (const given of read('errors.json')) {
  test(`error: ${given.name}`, () => {
    const call = wrongCall(given);
    assert.throws(call, (error) => {
      assert.ok(error instanceof PolarError, String(error));
      assert.strictEqual(error.status, given.status);
      // Names of arguments are those of JavaScript.
      const name = given.names.replace(/_([a-z])/g, (_, letter) => letter.toUpperCase());
      assert.ok(error.message.includes(name), error.message);
      return true;
    });
  });
}
