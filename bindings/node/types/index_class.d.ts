// SPDX-License-Identifier: MIT
// Indexes.
import {
  AsyncFilter,
  AsyncSearchOptions,
  IdsOf,
  RangeResult,
  SearchOptions,
  SearchResult,
} from './search.js';
import { AsyncWorkOptions, Bytes, Handle, Ids, Metric, Vectors, WorkOptions } from './values.js';

/**
 * Vectors stored as codes, searched by the k nearest.
 *
 * Searches run beside a call that changes an index of one of our specs, alone or as an inverted file's; changes
 * run one at a time.
 */
export class Index extends Handle {
  /**
   * @param description One of our specs, alone ("Polar4") or in a FAISS factory string ("IVF1024,Polar4",
   *   "PCA128,Polar4", "Polar2,RFlat"), or any FAISS string.
   * @param dim Dimensions of a vector, 1 to 65535.
   * @param metric `'ip'` by default.
   * @throws BadArgumentError for a description or size that is not allowed.
   */
  constructor(description: string, dim: number, metric?: Metric);

  /** The factory string it was made from. */
  readonly description: string;
  /** Dimensions of a vector. */
  readonly dim: number;
  readonly metric: Metric;
  /** Rows held. */
  readonly ntotal: number;
  /** Whether rows can be added; false when `train` must come first. */
  readonly isTrained: boolean;
  /** Lists of an inverted file; 0 for an index that is none. */
  readonly nlist: number;
  /** Lists of an inverted file that a search looks through where it names no number: 1 in a new index, 0 in one
   * that is none. Files keep it. Setting throws `BadArgumentError` below 1, `UnsupportedError` where there are
   * no lists. */
  nprobe: number;
  /** Bytes of one row's code, without ids; throws `UnsupportedError` where rows share codes. */
  readonly codeSize: number;
  /** Memory held: codes, ids, what was trained; not what lies in a mapped file. */
  readonly memoryBytes: number;

  /**
   * Learns what the index needs from rows x, (n, dim), forgetting what it learned before. Optional for most of
   * our specs; an inverted file needs a row for each list, better 39.
   * @throws StateMismatchError once it holds rows, but for those that are still kept as floats (see `add`).
   */
  train(x: Vectors, options?: AsyncWorkOptions): Promise<void>;
  /** `train` on this thread. */
  trainSync(x: Vectors, options?: WorkOptions): void;
  /** `train` with lists that were made elsewhere: centroids, (nlist, dim), become the lists', and the code is
   * trained on x. For inverted files of our specs alone; `UnsupportedError` for others. */
  trainWithCentroids(centroids: Vectors, x: Vectors, options?: AsyncWorkOptions): Promise<void>;
  /** `trainWithCentroids` on this thread. */
  trainWithCentroidsSync(centroids: Vectors, x: Vectors, options?: WorkOptions): void;

  /**
   * Adds rows x, (n, dim), with ids ntotal, ntotal + 1, … An index of one of our specs that was not trained
   * keeps its rows as floats, and searches them exactly, until they are 1,000; from these it then learns.
   * @throws NotTrainedError; BadArgumentError in an index of rows with ids of the caller's.
   */
  add(x: Vectors, options?: AsyncWorkOptions): Promise<void>;
  /** `add` on this thread. */
  addSync(x: Vectors, options?: WorkOptions): void;
  /**
   * Adds rows x, (n, dim), with ids of the caller's, (n), of 0 or more, that are not in the index.
   * @throws NotTrainedError; BadArgumentError for an id that is held, and in an index of rows without ids;
   *   UnsupportedError for a FAISS index that takes none: ",IDMap2" after its description gives it ids.
   */
  addWithIds(x: Vectors, ids: Ids, options?: AsyncWorkOptions): Promise<void>;
  /** `addWithIds` on this thread. */
  addWithIdsSync(x: Vectors, ids: Ids, options?: WorkOptions): void;
  /** `addWithIds` into lists of the caller's choice, (n), each 0 to nlist − 1. For the indexes of
   * `trainWithCentroids`. */
  addToLists(x: Vectors, ids: Ids, lists: Ids, options?: AsyncWorkOptions): Promise<void>;
  /** `addToLists` on this thread. */
  addToListsSync(x: Vectors, ids: Ids, lists: Ids, options?: WorkOptions): void;

  /** Codes x, (n, dim), in the place of the rows with these ids, (n).
   * @throws NotFoundError; UnsupportedError unless the index is one of our specs or an inverted file of one. */
  update(ids: Ids, x: Vectors, options?: AsyncWorkOptions): Promise<void>;
  /** `update` on this thread. */
  updateSync(ids: Ids, x: Vectors, options?: WorkOptions): void;
  /** `update`, but rows whose ids are not in the index are added. */
  upsert(ids: Ids, x: Vectors, options?: AsyncWorkOptions): Promise<void>;
  /** `upsert` on this thread. */
  upsertSync(ids: Ids, x: Vectors, options?: WorkOptions): void;
  /** Removes rows by id and gives their number; ids that are not held are passed over. Rows without ids of the
   * caller's are numbered anew, from 0. `UnsupportedError` where the index cannot. */
  remove(ids: Ids): Promise<number>;
  /** `remove` on this thread. */
  removeSync(ids: Ids): number;
  /** Removes the rows that a search with this filter would find among. */
  removeFiltered(filter: AsyncFilter): Promise<number>;
  /** `removeFiltered` on this thread. */
  removeFilteredSync(filter: AsyncFilter): number;
  /** Moves all rows of `other` after those held; `other` is empty afterwards and stays usable. Ids of the
   * caller's must differ; other rows are numbered on.
   * @throws StateMismatchError when their codes do not mix; UnsupportedError for graphs. */
  mergeFrom(other: Index, options?: AsyncWorkOptions): Promise<void>;
  /** `mergeFrom` on this thread. */
  mergeFromSync(other: Index, options?: WorkOptions): void;

  /**
   * The k nearest rows of each query, (nq, dim), best first.
   * @throws NotTrainedError; BadArgumentError; UnsupportedError for an option that the index has no use for.
   */
  search<Options extends AsyncSearchOptions = {}>(
    queries: Vectors,
    k: number,
    options?: Options
  ): Promise<SearchResult<IdsOf<Options>>>;
  /** `search` on this thread. */
  searchSync<Options extends SearchOptions = {}>(
    queries: Vectors,
    k: number,
    options?: Options
  ): SearchResult<IdsOf<Options>>;
  /** All rows within a radius of each query: score > radius, for `'l2'` squared distance < radius.
   * `UnsupportedError` for graphs and refinements. */
  rangeSearch<Options extends AsyncSearchOptions = {}>(
    queries: Vectors,
    radius: number,
    options?: Options
  ): Promise<RangeResult<IdsOf<Options>>>;
  /** `rangeSearch` on this thread. */
  rangeSearchSync<Options extends SearchOptions = {}>(
    queries: Vectors,
    radius: number,
    options?: Options
  ): RangeResult<IdsOf<Options>>;
  /**
   * What `mergePartials` needs of this part of an index for the k nearest rows of each query, (nq, dim): bytes, to be
   * sent to whoever merges them. firstRow: how many rows the parts before this one have. Ids that are positions, and a
   * filter over them, are those of the whole.
   * @throws as `search`; UnsupportedError for refinements and graphs, and for a filter over an inverted file, whose
   *   lists are chosen by what the filter keeps of all parts: search these by `search`, and take the best of all.
   */
  searchPartial(
    firstRow: number,
    queries: Vectors,
    k: number,
    options?: AsyncSearchOptions
  ): Promise<Uint8Array>;
  /** `searchPartial` on this thread. */
  searchPartialSync(firstRow: number, queries: Vectors, k: number, options?: SearchOptions): Uint8Array;
  /** What a search of nq queries, 1 by default, for k rows, 10 by default, would do: lines for people, whose
   * words may change. Nothing is searched. */
  explain(nq?: number, k?: number, options?: SearchOptions): string;
  /** The stored form of the row with this id, (dim); normalized for `'cosine'`.
   * @throws NotFoundError; UnsupportedError for an index that keeps no way back from id to row. */
  reconstruct(id: number | bigint): Float32Array;

  /** An index like this one, in memory, which can be changed. */
  clone(): Promise<Index>;
  /** `clone` on this thread. */
  cloneSync(): Index;
  /** Writes rows, ids and what was trained to a file, which appears whole or not at all. `verify`: it is read
   * back before it takes its name.
   * @throws InputOutputError; UnsupportedError for an index that FAISS cannot write. */
  save(path: string | URL, options?: { verify?: boolean }): Promise<void>;
  /** `save` on this thread. */
  saveSync(path: string | URL, options?: { verify?: boolean }): void;
  /** The bytes of such a file. */
  toBytes(): Promise<Uint8Array>;
  /** `toBytes` on this thread. */
  toBytesSync(): Uint8Array;
  /**
   * The index of a file of `save`, on any machine; damaged files are refused.
   * @throws CorruptDataError; NewerFormatError; UnsupportedError; InputOutputError.
   */
  static load(path: string | URL, options?: LoadOptions): Promise<Index>;
  /** `load` on this thread. */
  static loadSync(path: string | URL, options?: LoadOptions): Index;
  /** An index without rows, in memory, that codes as the one in this file does: for shards whose rows mix with
   * the file's, which are not read. Of the kinds that `IndexBuilder` takes.
   * @throws UnsupportedError for others; CorruptDataError; InputOutputError. */
  static loadEmpty(path: string | URL): Promise<Index>;
  /** `loadEmpty` on this thread. */
  static loadEmptySync(path: string | URL): Index;
  /**
   * Index files, one or more, as one index, with the answers, to the bit, of the file that `mergeFiles` makes of
   * them. They are mapped, and must stay as `memoryMap` says; the index cannot be changed, but saved and cloned.
   * Rows are verified when they are first used; ids that two files have are found by `verify`, and by `save`. Flat
   * codes of the published codecs are not searched.
   * @throws StateMismatchError names the file and what differs; UnsupportedError; InputOutputError.
   */
  static openShards(paths: ReadonlyArray<string | URL>): Promise<Index>;
  /** `openShards` on this thread. */
  static openShardsSync(paths: ReadonlyArray<string | URL>): Index;
  /** The index of bytes of `toBytes`. */
  static fromBytes(bytes: Bytes, options?: { trustFaiss?: boolean }): Promise<Index>;
  /** `fromBytes` on this thread. */
  static fromBytesSync(bytes: Bytes, options?: { trustFaiss?: boolean }): Index;
  /** Reads all that a mapped index has in its file; `CorruptDataError` if it is damaged. */
  verify(): Promise<void>;
  /** `verify` on this thread. */
  verifySync(): void;
}

/** How `Index.load` reads a file. */
export interface LoadOptions {
  /** Rows stay in the file, which is mapped to memory; the index cannot be changed. The file may be removed or
   * replaced, but not written to or made shorter, which ends the process. */
  memoryMap?: boolean;
  /** FAISS's own inverted files, graphs and product quantizers are read too, unchecked: for files from whom you
   * trust, since others can end the process, or worse. */
  trustFaiss?: boolean;
}
