// SPDX-License-Identifier: MIT
// Stores 1000 vectors, searches them, removes one, saves the index and loads it.
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Index } from 'polarquant';

const rows = 1000;
const dim = 64;
const x = Float32Array.from({ length: rows * dim }, (_, at) =>
  Math.sin((Math.floor(at / dim) + 1) * ((at % dim) + 1))
);
const ids = Array.from({ length: rows }, (_, i) => 100 + i);
const query = x.subarray(42 * dim, 43 * dim);

const index = new Index('Polar4', dim, 'cosine');
await index.addWithIds(x, ids);
for (const { id, score } of await index.search(query, 3)) console.log(id, score.toFixed(3));

await index.remove([142]);
for (const { id, score } of await index.search(query, 1)) console.log(id, score.toFixed(3));

const path = join(process.argv[2] ?? tmpdir(), 'first.polar');
await index.save(path);
const loaded = await Index.load(path);
console.log('rows', loaded.ntotal);
