// SPDX-License-Identifier: MIT
// What a search costs here beside the same search by the C functions: microseconds a call, medians of
// rounds that take turns, on one thread.
// usage: overhead.mjs SEARCH_CALLS [--check]: the program that `make OUT/search_calls` builds; --check
// ends with an error above 5 us for a synchronous call or 40 us for one that is awaited.
// Where Node's own calls on its pool take longer than 40 us, as on a busy machine, those are what an awaited
// call is held to.
import { execFileSync } from 'node:child_process';
import { access } from 'node:fs/promises';

// Read when the addon is loaded; the C program has it too.
process.env.OMP_NUM_THREADS = '1';
const { Index } = await import('polarquant');

const CALLS = 2000;
const ROUNDS = 11;
const K = 3;

const median = (list) => list.sort((a, b) => a - b)[list.length >> 1];

function makeRows(rows, dim) {
  return Float32Array.from({ length: rows * dim }, (_, at) =>
    Math.sin((Math.floor(at / dim) + 1) * ((at % dim) + 1))
  );
}

function measureC(program, rows, dim) {
  return Number(execFileSync(program, [rows, dim, K, 3].map(String)).toString());
}

async function measure(program, rows, dim) {
  const x = makeRows(rows, dim);
  const index = new Index('Polar4', dim, 'cosine');
  index.trainSync(x);
  index.addSync(x);
  const query = x.slice(0, dim);
  const c = [];
  const sync = [];
  const awaited = [];
  const pool = [];
  for (let round = 0; round < ROUNDS; ++round) {
    c.push(measureC(program, rows, dim));
    let begin = process.hrtime.bigint();
    for (let i = 0; i < CALLS; ++i) index.searchSync(query, K);
    sync.push(Number(process.hrtime.bigint() - begin) / CALLS);
    begin = process.hrtime.bigint();
    for (let i = 0; i < CALLS; ++i) await index.search(query, K);
    awaited.push(Number(process.hrtime.bigint() - begin) / CALLS);
    begin = process.hrtime.bigint();
    for (let i = 0; i < CALLS / 4; ++i) await access('.');
    pool.push(Number(process.hrtime.bigint() - begin) / (CALLS / 4));
  }
  index.close();
  return { c: median(c), sync: median(sync), awaited: median(awaited), pool: median(pool) };
}

let worst = { sync: 0, awaited: 0, pool: 0 };
console.log('rows    dim     C us   sync us  over C   awaited us  over C   fs.access us');
for (const [rows, dim] of [
  [10, 64],
  [1000, 64],
  [1000, 384],
]) {
  const found = await measure(process.argv[2], rows, dim);
  const { c } = found;
  const over = { sync: (found.sync - c) / 1000, awaited: (found.awaited - c) / 1000 };
  const cells = [c / 1000, found.sync / 1000, over.sync, found.awaited / 1000, over.awaited, found.pool / 1000];
  console.log(
    `${String(rows).padEnd(8)}${String(dim).padEnd(4)}${cells.map((x) => x.toFixed(2).padStart(9)).join('')}`
  );
  worst = {
    sync: Math.max(worst.sync, over.sync),
    awaited: Math.max(worst.awaited, over.awaited),
    pool: Math.max(worst.pool, found.pool / 1000),
  };
}
if (process.argv.includes('--check') && (worst.sync > 5 || worst.awaited > Math.max(40, worst.pool))) {
  console.error(`overhead: ${worst.sync.toFixed(2)} us sync, ${worst.awaited.toFixed(2)} us awaited`);
  process.exitCode = 1;
}
