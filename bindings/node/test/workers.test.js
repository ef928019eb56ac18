// SPDX-License-Identifier: MIT
// The addon in worker_threads, and processes and workers that end while calls run.
'use strict';

const assert = require('assert');
const { spawn } = require('child_process');
const path = require('path');
const { test } = require('node:test');
const { Worker } = require('worker_threads');

const entry = JSON.stringify(path.join(__dirname, '..', 'index.js'));

const prelude = `
  const { Codec, Index } = require(${entry});
  const dim = 64;
  const rows = (n, seed) => Float32Array.from({ length: n * dim }, (_, i) => Math.sin((i + 1) * (seed + 1)));
`;

/** A worker that runs code; its first message. */
function run(code, workerData) {
  const worker = new Worker(`const { parentPort, workerData } = require('worker_threads');${prelude}${code}`, {
    eval: true,
    workerData,
  });
  const message = new Promise((resolve, reject) => {
    worker.once('message', resolve);
    worker.once('error', reject);
  });
  const exit = new Promise((resolve) => worker.once('exit', resolve));
  return { worker, message, exit };
}

/** Status and milliseconds of a process that runs code, with so many threads in its pool. */
function runProcess(code, threads = 4) {
  const begin = Date.now();
  const env = { ...process.env, UV_THREADPOOL_SIZE: String(threads) };
  const child = spawn(process.execPath, ['-e', prelude + code], { stdio: ['ignore', 'pipe', 'inherit'], env });
  let said = '';
  child.stdout.on('data', (data) => (said += data));
  return new Promise((resolve) =>
    child.once('exit', (code, signal) => resolve({ code, signal, said, took: Date.now() - begin }))
  );
}

test('workers have indexes of their own, all at once', async () => {
  const code = `(async () => {
    const index = new Index('Polar8', dim, 'l2');
    const x = rows(300, workerData);
    await index.add(x);
    const ids = [];
    for (let i = 0; i < 300; i += 7) {
      ids.push((await index.search(x.slice(i * dim, (i + 1) * dim), 1)).ids[0] - i);
      ids.push(index.searchSync(x.slice(i * dim, (i + 1) * dim), 1).ids[0] - i);
    }
    let code;
    try { index.reconstruct(1e6); } catch (error) { code = error.code; }
    parentPort.postMessage({ ids: ids.every((id) => id === 0), code });
  })();`;
  const workers = Array.from({ length: 4 }, (_, i) => run(code, i));
  for (const { message, exit } of workers) {
    assert.deepStrictEqual(await message, { ids: true, code: 'POLAR_NOT_FOUND' });
    assert.strictEqual(await exit, 0);
  }
});

test('one mapped file serves all workers', async () => {
  const { inFolder, polarquant, numbers } = require('./support.js');
  await inFolder(async (folder) => {
    const file = path.join(folder, 'shared.polar');
    const x = numbers(1, 500 * 64);
    const index = new polarquant.Index('Polar4', 64);
    index.trainSync(x);
    index.addSync(x);
    index.saveSync(file);
    const code = `
      const index = Index.loadSync(workerData.file, { memoryMap: true });
      parentPort.postMessage(Array.from(index.searchSync(workerData.query, 3).ids));`;
    const query = x.slice(0, 64);
    const wanted = Array.from(index.searchSync(query, 3).ids);
    const workers = Array.from({ length: 3 }, () => run(code, { file, query }));
    for (const { message, exit } of workers) {
      assert.deepStrictEqual(await message, wanted);
      await exit;
    }
  });
});

test('a worker that is ended while calls run ends', async () => {
  const code = `
    const index = new Index('Polar4', dim, 'l2');
    const x = rows(3000, 1);
    index.addSync(x);
    const codec = new Codec('Polar4-pca', 512, 'ip', { numThreads: 1 });
    codec.train(new Float32Array(2500 * 512).map((_, i) => Math.sin(i * i)), { progress() {} });
    for (let i = 0; i < 12; ++i) index.search(x, 2);
    parentPort.postMessage('begun');`;
  for (let i = 0; i < 3; ++i) {
    const { worker, message } = run(code, 0);
    assert.strictEqual(await message, 'begun');
    await worker.terminate();
  }
});

test('a process that exits while a long call runs ends soon', async () => {
  const { code, signal, took } = await runProcess(`
    const codec = new Codec('Polar4-pca', 768, 'ip', { numThreads: 1 });
    codec.train(new Float32Array(4000 * 768).map((_, i) => Math.sin(i * i)));
    const index = new Index('Polar4', dim);
    index.add(rows(5000, 1));
    setTimeout(() => process.exit(7), 100);`);
  assert.deepStrictEqual([code, signal], [7, null]);
  assert.ok(took < 10000, `${took} ms`);
});

test('a process ends by itself when its calls have ended, whatever it forgot to close', async () => {
  const ended = await runProcess(`
    const index = new Index('Polar4', dim);
    index.addSync(rows(100, 1));
    index.search(rows(1, 1), 1, { progress() {}, signal: new AbortController().signal })
      .then(({ ids }) => console.log(ids.length));
    globalThis.kept = index;`);
  assert.deepStrictEqual([ended.code, ended.signal, ended.said.trim()], [0, null, '1']);
});

for (const threads of [1, 8]) {
  test(`${threads} threads search one index, and indexes of their own, that are closed meanwhile`, async () => {
    const ended = await runProcess(
      `(async () => {
        const x = rows(2000, 1);
        const shared = new Index('Polar4', dim, 'l2');
        shared.trainSync(x);
        shared.addSync(x);
        const own = await Promise.all(Array.from({ length: 8 }, () => shared.clone()));
        const calls = [];
        for (let i = 0; i < 400; ++i) {
          const query = x.subarray((i % 2000) * dim, ((i % 2000) + 1) * dim);
          calls.push(shared.search(query, 2), own[i % 8].search(query, 2));
          if (i % 50 === 0) calls.push(own[(i / 50) % 8].add(rows(20, i)), shared.add(rows(3, i)));
        }
        for (const index of [shared, ...own]) index.close();
        await Promise.all(calls);
        console.log(calls.length);
      })();`,
      threads
    );
    assert.deepStrictEqual([ended.code, ended.signal, ended.said.trim()], [0, null, '816']);
  });
}
