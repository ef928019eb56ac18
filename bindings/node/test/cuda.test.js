// SPDX-License-Identifier: MIT
// GPUs where there are any; else what is missing is said.
'use strict';

const assert = require('assert');
const { execFileSync } = require('child_process');
const path = require('path');
const { test } = require('node:test');
const { numbers, polarquant } = require('./support.js');

const { Codec, CudaError, Index, PolarError, UnsupportedError, cuda } = polarquant;
const { CudaCodec, CudaEncoder, CudaIndex } = cuda;

const DIM = 128;
const x = numbers(1, 700 * DIM);
const query = x.subarray(5 * DIM, 6 * DIM);

const index = new Index('Polar4', DIM, 'cosine');
index.trainSync(x);
index.addSync(x);
const codec = new Codec('Polar4', DIM, 'ip');
const codes = codec.encodeSync(x);

function hasDevices() {
  try {
    return cuda.devices().length > 0;
  } catch (error) {
    assert.ok(error instanceof PolarError);
    return false;
  }
}

const has = hasDevices();

test('without a device every call says what is missing', { skip: has }, async () => {
  const isMissing = (error) => {
    assert.ok(error instanceof UnsupportedError || error instanceof CudaError, String(error));
    assert.ok(error.message.length > 10);
    return true;
  };
  assert.throws(() => cuda.devices(), isMissing);
  assert.throws(() => CudaIndex.fromIndexSync(index), isMissing);
  await assert.rejects(CudaIndex.fromIndex(index, { devices: [0, 0], layout: 'replicated' }), isMissing);
  assert.throws(() => CudaIndex.fromCodesSync(codec, codes), isMissing);
  await assert.rejects(CudaIndex.fromCodes(codec, codes, { numThreads: 1 }), isMissing);
  assert.throws(() => new CudaEncoder(codec), isMissing);
  assert.throws(() => new CudaCodec(codec, { device: 0 }), isMissing);
});

test('wrong arguments are refused with and without a device', () => {
  const bad = { code: 'POLAR_BAD_ARGUMENT' };
  assert.throws(() => CudaIndex.fromIndexSync(index, { layout: 'split' }), bad);
  assert.throws(() => CudaIndex.fromIndexSync(index, { device: -1 }), bad);
  assert.throws(() => CudaIndex.fromIndexSync(index, { devices: [] }), bad);
  assert.throws(() => CudaIndex.fromIndexSync(index, { device: 0, devices: [0] }), bad);
  assert.throws(() => CudaIndex.fromIndexSync(codec), TypeError);
  assert.throws(() => new CudaEncoder(index), TypeError);
});

test('a device finds the rows and scores of the CPU', { skip: !has }, async () => {
  const [device] = cuda.devices();
  assert.ok(device.name.length > 0 && device.totalBytes > 0 && device.computeMajor > 0);
  const copy = await CudaIndex.fromIndex(index);
  assert.deepStrictEqual([copy.dim, copy.ntotal], [DIM, 700]);
  assert.ok(copy.memoryBytes > 0);
  assert.deepStrictEqual(copy.searchSync(query, 5), index.searchSync(query, 5));
  const filter = { first: 100, end: 300 };
  assert.deepStrictEqual(await copy.search(query, 5, { filter }), index.searchSync(query, 5, { filter }));
  const coded = CudaIndex.fromCodesSync(codec, codes, { devices: [0, 0] });
  assert.deepStrictEqual(coded.searchSync(query, 5), codec.searchSync(query, codes, 5));
  coded.close();
  assert.throws(() => coded.ntotal, /CudaIndex: is closed/);
});

test('a device codes, scores and combines', { skip: !has }, async () => {
  const encoder = new CudaEncoder(codec);
  assert.deepStrictEqual([encoder.dim, encoder.codeSize], [DIM, codec.codeSize]);
  assert.deepStrictEqual(encoder.encodeSync(x), codes);
  assert.deepStrictEqual(await encoder.encode(x), codes);
  const device = new CudaCodec(codec);
  const near = (found, wanted) => {
    assert.strictEqual(found.length, wanted.length);
    found.forEach((y, i) => assert.ok(Math.abs(y - wanted[i]) <= 1e-3 * (1 + Math.abs(wanted[i]))));
  };
  near(device.scoreSync(query, codes), codec.scoreSync(query, codes));
  const half = codes.subarray(0, codes.length / 2);
  const twice = await device.score([query, query], codes, { heads: 2 });
  near(twice.subarray(0, 350), codec.scoreSync(query, half));
  const weights = numbers(2, 700);
  near(await device.combine(weights, codes), codec.combineSync(weights, codes));
  assert.strictEqual(device.combineSync(weights, codes, { heads: 2 }).length, 2 * DIM);
});

// The library's tests have one that stands where that for GPUs would; its scores are no codes'.
const plain = process.env.POLARQUANT_PLAIN_DEVICES;

test('indexes are copied to devices and searched there', { skip: !plain }, () => {
  const code = `
    const { Index, cuda } = require(${JSON.stringify(path.join(__dirname, '..'))});
    const x = Float32Array.from({ length: 500 * 64 }, (_, i) => Math.sin(i * i));
    const index = new Index('Polar4', 64);
    index.addWithIdsSync(x, Float64Array.from({ length: 500 }, (_, i) => 1000 + i));
    const copies = [{ device: 2 }, { devices: [0, 1, 2] }, { devices: [1, 1], layout: 'replicated' }]
      .map((places) => cuda.CudaIndex.fromIndexSync(index, places));
    index.close();
    const wanted = copies[0].searchSync(x.subarray(0, 128), 3);
    (async () => {
      for (const copy of copies) {
        const found = await copy.search(x.subarray(0, 128), 3, { bigint: true });
        if (Array.from(found.ids, Number).join() !== Array.from(wanted.ids).join()) throw new Error('ids');
        const filter = { ids: [1005, 1006] };
        const kept = (await copy.search(x.subarray(0, 64), 3, { filter })).ids;
        if (Array.from(kept).sort().join() !== '-1,1005,1006') throw new Error(String(kept));
        if (copy.ntotal !== 500 || copy.dim !== 64 || !(copy.memoryBytes > 0)) throw new Error('members');
        copy.close();
      }
      console.log(cuda.devices().length);
    })();`;
  const env = { ...process.env, POLARQUANT_CUDA_LIBRARY: plain };
  assert.strictEqual(execFileSync(process.execPath, ['-e', code], { env }).toString(), '3\n');
});
