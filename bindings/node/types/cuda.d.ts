// SPDX-License-Identifier: MIT
import { Codec } from './codec.js';
import { Index } from './index_class.js';
import { AsyncFilter, Filter, IdsOf, SearchResult } from './search.js';
import { Bytes, Handle, Vectors } from './values.js';

/** A device of this machine. */
export interface Device {
  name: string;
  /** Compute capability, as 9 of 9.0. */
  computeMajor: number;
  computeMinor: number;
  multiprocessors: number;
  totalBytes: number;
  freeBytes: number;
}
/** The devices; a device's number is its place. */
export function devices(): Device[];

/** Where an index is copied to. */
export interface Places {
  /** A device's number; 0 by default. */
  device?: number;
  /** In its place the numbers of several, at most 64. */
  devices?: readonly number[];
  /** What each of several has: a part of the rows, the default, or all of them. */
  layout?: 'sharded' | 'replicated';
  /** Threads of the host. */
  numThreads?: number;
}
/** Options of asynchronous searches on devices. */
export interface AsyncSearchOptions {
  filter?: AsyncFilter;
  exactness?: number;
  nprobe?: number;
  numThreads?: number;
  bigint?: boolean;
  /** Heard before the search begins; one that runs is not stopped. */
  signal?: AbortSignal;
}
/** Options of synchronous searches on devices. */
export interface SearchOptions {
  filter?: Filter;
  exactness?: number;
  nprobe?: number;
  numThreads?: number;
  bigint?: boolean;
}

/** Codes in the memory of one device or several, searched there: the CPU's rows and scores, to the bit. */
export class CudaIndex extends Handle {
  private constructor();
  /** A copy of an index of "Polar0.5" to "Polar8" or a residual code, alone or in an inverted file. */
  static fromIndex(index: Index, options?: Places): Promise<CudaIndex>;
  /** `fromIndex` on this thread. */
  static fromIndexSync(index: Index, options?: Places): CudaIndex;
  /** A copy of codes of the caller's; rows have their positions as ids. */
  static fromCodes(codec: Codec, codes: Bytes, options?: Places & { n?: number }): Promise<CudaIndex>;
  /** `fromCodes` on this thread. */
  static fromCodesSync(codec: Codec, codes: Bytes, options?: Places & { n?: number }): CudaIndex;
  readonly dim: number;
  /** Rows held. */
  readonly ntotal: number;
  /** Bytes of the devices' memory. */
  readonly memoryBytes: number;
  /** As `Index.search`. */
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
}

/** What encoding needs of a trained codec, in a device's memory. */
export class CudaEncoder extends Handle {
  constructor(codec: Codec, options?: { device?: number });
  readonly dim: number;
  /** Bytes of one code. */
  readonly codeSize: number;
  /** Codes of rows x, (n, dim): the bytes of `Codec.encode`. */
  encode(x: Vectors): Promise<Uint8Array>;
  /** `encode` on this thread. */
  encodeSync(x: Vectors): Uint8Array;
}

/** Options of calls that read the codes of several heads. */
export interface HeadsOptions {
  /** Heads, whose codes come one after the other; 1 by default. */
  heads?: number;
  /** Rows of each head; needed for "PolarPair…g128" alone. */
  n?: number;
}
/** What decoding needs of a trained codec, in a device's memory: scores and sums of rows by heads, as
 * attention has its keys and values. */
export class CudaCodec extends Handle {
  constructor(codec: Codec, options?: { device?: number });
  readonly dim: number;
  /** `Codec.score` of the rows of each head for the queries, (heads, nq, dim), of that head: (heads, nq, n). */
  score(queries: Vectors, codes: Bytes, options?: HeadsOptions): Promise<Float32Array>;
  /** `score` on this thread. */
  scoreSync(queries: Vectors, codes: Bytes, options?: HeadsOptions): Float32Array;
  /** `Codec.combine` of the rows of each head by the weights, (heads, nw, n), of that head: (heads, nw, dim). */
  combine(weights: Vectors, codes: Bytes, options?: HeadsOptions): Promise<Float32Array>;
  /** `combine` on this thread. */
  combineSync(weights: Vectors, codes: Bytes, options?: HeadsOptions): Float32Array;
}
