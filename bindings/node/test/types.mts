// SPDX-License-Identifier: MIT
// Compiled, never run: what the types allow, and what they must not.
import polarquant, {
  Codec,
  CodeBlocks,
  Index,
  IndexBuilder,
  Match,
  NotFoundError,
  PolarError,
  PreparedFilter,
  SearchOptions,
  SearchResult,
  advise,
  cuda,
  mergeFiles,
  mergePartials,
} from 'polarquant';

const index = new Index('Polar4', 8, 'cosine');
const x = new Float32Array(8);
const { signal } = new AbortController();
const done: Promise<void> = index.add(x, { progress: (share: number) => share < 1, signal });
const found: SearchResult = index.searchSync(x, 3, { filter: (id: number) => id > 3, nprobe: 2 });
const big: SearchResult<BigInt64Array> = await index.search([[1, 2], [3, 4]], 3, { bigint: true });
const ids: Float64Array = found.ids;
const options: SearchOptions = { nprobe: 3 };
const either: Float64Array | BigInt64Array = index.searchSync(x, 3, options).ids;
const plain: Float64Array = index.searchSync(x, 3, { bigint: false, nprobe: 2 }).ids;
for (const { id, score } of found) {
  const sum: number = id + score;
}
for (const match of big) {
  const id: bigint = match.id;
}
const one: Match = [...found][0];
const filter = new PreparedFilter({ first: 1n, end: 3 });
index.nprobe = 3;
const loaded: Index = await Index.load(new URL('file:///x'), { memoryMap: true });
const codec = Codec.loadState(new Uint8Array(3));
const codes: Uint8Array = await codec.encode(x);
const blocks = new CodeBlocks(codec, codes);
const scores: Float32Array = codec.scoreSync(codec.prepareQuery(x), codes);
const advice = await advise(x, 8, { wantedRecall: 0.9 });
const spec: string | undefined = advice.recommended?.spec;
const devices: cuda.Device[] = polarquant.cuda.devices();
const error: PolarError = new NotFoundError('x');
const code: string = error.code;
const builder: IndexBuilder = await IndexBuilder.create('x', index, { memoryBytes: 1 << 30, replace: true });
const written: Promise<void> = builder.finish({ signal });
const merged: Promise<void> = mergeFiles(['x', new URL('file:///y')], 'z', { progress: (share) => share < 1 });
const shards: Index = Index.openShardsSync(['x', 'y']);
const partial: Uint8Array = index.searchPartialSync(0, x, 3, { filter: (id: number) => id > 3, nprobe: 2 });
const sent: Promise<Uint8Array> = shards.searchPartial(100, x, 3, { signal });
const answer: SearchResult<BigInt64Array> = mergePartials([partial, await sent], 1, 3, { bigint: true });
filter.close();
blocks[Symbol.dispose]();

// @ts-expect-error: no such metric
new Index('Polar4', 8, 'euclid');
// @ts-expect-error: made by codecs
new polarquant.Query();
// @ts-expect-error: made by create and resume
new IndexBuilder();
// @ts-expect-error: functions are for synchronous searches
index.search(x, 3, { filter: (id: number) => true });
// @ts-expect-error: integers are not vectors
index.addSync(new Int32Array(8));
// @ts-expect-error: not to be set
index.ntotal = 3;
// @ts-expect-error: ids may be bigints
const unsure: Float64Array = index.searchSync(x, 3, options).ids;
// @ts-expect-error: ids are bigints
const wrong: Float64Array = big.ids;
export { answer, code, devices, done, either, ids, loaded, merged, one, plain, scores, shards, spec, unsure, written, wrong };
