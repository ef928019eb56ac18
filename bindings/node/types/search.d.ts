// SPDX-License-Identifier: MIT
// Filters, options of searches, and what searches find.
import { Bytes, Handle, Ids } from './values.js';

/**
 * Which rows a search may return, by id; rows that are left out cost next to nothing.
 *
 * - `ids`: these, in any order;
 * - `mask`: those whose element is true, or not 0; ids from its length on are left out;
 * - `bits`: those whose bit is 1, bit id % 64 of element id / 64, of `length` bits, by default all;
 * - `first`, `end`: those from first to before end; either may be missing.
 */
export type FilterForm =
  | { ids: Ids }
  | { mask: readonly boolean[] | Uint8Array }
  | { bits: BigUint64Array; length?: number }
  | { first: number | bigint; end?: number | bigint }
  | { first?: number | bigint; end: number | bigint };

/** What asynchronous searches take as a filter. */
export type AsyncFilter = FilterForm | PreparedFilter;

/**
 * What synchronous searches take as a filter: also a function that is asked row by row, on one thread, which
 * is slow. It hears ids as numbers; as bigints with `bigint`, and beyond 2^53 − 1.
 */
export type Filter = AsyncFilter | ((id: any) => unknown);

/** Options of searches that do not depend on the index. */
export interface BaseSearchOptions {
  /** Threads to work with, 0 to 1024; 0, the default, is OpenMP's default. */
  numThreads?: number;
  /** How surely rows are left out without being scored, in standard deviations: 0 to Infinity, which scores
   * every row; 2.25 by default. */
  exactness?: number;
  /** Ids come as a `BigInt64Array`. Without it an id beyond 2^53 − 1 is a `BadArgumentError`. */
  bigint?: boolean;
  /** As of `WorkOptions`; in synchronous calls it hears only what the calling thread is told. */
  progress?: (done: number) => unknown;
}

/** Options of synchronous searches of codes and blocks. */
export interface CodeSearchOptions extends BaseSearchOptions {
  filter?: Filter;
}

/** Options of asynchronous searches of codes and blocks. */
export interface AsyncCodeSearchOptions extends BaseSearchOptions {
  filter?: AsyncFilter;
  /** Stops the search; its promise is then rejected with the signal's reason. */
  signal?: AbortSignal;
}

/** Options for indexes of some kinds; `UnsupportedError` for others. */
export interface IndexOnlyOptions {
  /** Lists of an inverted file searched for each query; 0, the default, is the index's `nprobe`. */
  nprobe?: number;
  /** Nodes that a search of a graph keeps; 0, the default, is FAISS's, 16. */
  efSearch?: number;
  /** Rows that a refinement scores again for each query, as a multiple of k, 1 or more; 0, the default, is the
   * index's own, 1 in a new one. */
  kFactor?: number;
}

/** Options of `Index.searchSync` and the like. */
export interface SearchOptions extends CodeSearchOptions, IndexOnlyOptions {}

/** Options of `Index.search` and the like. */
export interface AsyncSearchOptions extends AsyncCodeSearchOptions, IndexOnlyOptions {}

/** Ids of results: a `BigInt64Array` where the search was asked for one. */
export type IdsOf<Options> = 'bigint' extends keyof Options
  ? Options['bigint'] extends true
    ? BigInt64Array
    : Options['bigint'] extends false | undefined
    ? Float64Array
    : Float64Array | BigInt64Array
  : Float64Array;

/** A row that a search found. */
export interface Match<Id = number> {
  /** Which query found it, from 0. */
  query: number;
  id: Id;
  score: number;
}

type IdIn<Array> = Array extends BigInt64Array ? bigint : number;

/**
 * The k nearest rows of each query, best first. Arrays are flat, (nq, k): what query q found is at q·k to
 * q·k + k − 1. Where there were fewer rows than k, ids are −1 and scores −Infinity (`'l2'`: Infinity); to
 * iterate passes over these.
 */
export class SearchResult<IdArray extends Float64Array | BigInt64Array = Float64Array> {
  private constructor();
  readonly scores: Float32Array;
  readonly ids: IdArray;
  readonly k: number;
  /** Queries. */
  readonly nq: number;
  /** What one query found, 0 to nq − 1; a view, not a copy. */
  query(query: number): SearchResult<IdArray>;
  [Symbol.iterator](): IterableIterator<Match<IdIn<IdArray>>>;
}

/**
 * The answer of the whole, to the bit that of one index with all rows, from what `Index.searchPartial` found in its
 * parts for the same nq queries and k. partials: one or more, in the order of the parts' rows.
 * @throws BadArgumentError for partials of another nq or k; StateMismatchError for those of indexes of different kinds;
 *   CorruptDataError for other bytes.
 */
export function mergePartials<Options extends { bigint?: boolean } = {}>(
  partials: ReadonlyArray<Bytes>,
  nq: number,
  k: number,
  options?: Options
): SearchResult<IdsOf<Options>>;

/** All rows within a radius: those of query q are at lims[q] to lims[q + 1] − 1. */
export class RangeResult<IdArray extends Float64Array | BigInt64Array = Float64Array> {
  private constructor();
  /** (nq + 1) integers. */
  readonly lims: Float64Array;
  readonly scores: Float32Array;
  readonly ids: IdArray;
  /** Queries. */
  readonly nq: number;
  /** What one query found, 0 to nq − 1; a view, not a copy. */
  query(query: number): RangeResult<IdArray>;
  [Symbol.iterator](): IterableIterator<Match<IdIn<IdArray>>>;
}

/** A filter that is made once for many searches of any indexes: it has copies of its ids or bits, and keeps
 * what searches found, which rows of an index it leaves. */
export class PreparedFilter extends Handle {
  constructor(filter: FilterForm);
}
