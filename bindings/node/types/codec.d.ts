// SPDX-License-Identifier: MIT
// Codecs, and queries for their codes.
import { AsyncCodeSearchOptions, CodeSearchOptions, IdsOf, RangeResult, SearchResult } from './search.js';
import { AsyncWorkOptions, Bytes, Handle, Metric, Vectors, WorkOptions } from './values.js';

/** How a `Codec` is made. */
export interface CodecOptions {
  /** Of the random rotation, 0 to 2^64 − 1; 1 by default. */
  seed?: number | bigint;
  /** (dim); learned by `train`, else 0. */
  centre?: Vectors;
  /** Whether `train` may set the centre; true by default. */
  learnCentre?: boolean;
  /** Typical distance of a row from the centre, 2^-40 to 2^40; 0, the default: learned, 1 before. */
  normUnit?: number;
  /** Threads of its calls, where these name none. */
  numThreads?: number;
}

/** What a codec is, at one moment. */
export interface CodecInfo {
  dim: number;
  metric: Metric;
  /** False only while `encode` must wait for `train`. */
  isTrained: boolean;
  /** Of centre and unit: 0 as created, 2 trained; 1, of earlier versions, from an index's first rows. */
  stateOrigin: number;
  /** Rows that share a code; 1 for all but "PolarPair…g128". */
  groupRows: number;
  seed: bigint;
  /** Bytes of one code, of groupRows rows, factors included. */
  codeBytes: number;
  /** Of these, the factors. */
  factorBytes: number;
  /** Bytes of a row of the unfinished last group; 0 when groupRows is 1. */
  tailRowBytes: number;
  /** 8·codeBytes / (groupRows·dim). */
  bitsPerDim: number;
  /** Error per dimension on the unit Gaussian; 0 where not defined. */
  mse: number;
  centreNorm: number;
  /** Power of two near the typical distance of a row from the centre. */
  normUnit: number;
  /** Equal exactly for codecs whose codes mix. */
  stateId: bigint;
}

/** Rotated coordinates of a trained code that have one rate. */
export interface Segment {
  /** Its first coordinate. */
  first: number;
  /** Coordinates. */
  dim: number;
  /** Bits a dimension; 0 where nothing is stored. */
  bits: number;
  /** Standard deviation of its coordinates. */
  scale: number;
}

/** What a "…-pca" codec learned. */
export interface Plan {
  /** False: training gained too little on rows that were held out, so that codes are the untrained codec's. */
  hasBasis: boolean;
  /** Mean ‖x̂ − x‖² / ‖x − c‖² on rows that were held out. */
  error: number;
  /** The same of the untrained codec. */
  untrainedError: number;
  /** By falling variance. */
  segments: Segment[];
}

/** Options of calls that read codes. */
export interface CodesOptions extends WorkOptions {
  /** Rows that the codes have; needed for "PolarPair…g128" alone. */
  n?: number;
}

/** Options of asynchronous calls that read codes. */
export interface AsyncCodesOptions extends AsyncWorkOptions {
  /** Rows that the codes have; needed for "PolarPair…g128" alone. */
  n?: number;
}

/**
 * Turns vectors into codes, and scores and searches codes. It holds no vectors: codes are plain bytes, the same
 * on every machine, codeSize of them a row, to be copied and joined by row. `train` waits for other calls, and
 * these for it.
 */
export class Codec extends Handle {
  /**
   * @param spec Of the code, as "Polar2" or "Polar4+2-dense"; `specHelp()` lists all.
   * @param dim Dimensions of a vector, 1 to 65535.
   * @param metric `'ip'` by default.
   * @throws BadArgumentError for a name, size or number that is not allowed.
   */
  constructor(spec: string, dim: number, metric?: Metric, options?: CodecOptions);

  /** Its name, in canonical form. */
  readonly spec: string;
  /** Dimensions of a vector. */
  readonly dim: number;
  readonly metric: Metric;
  /** Bytes of one code. */
  readonly codeSize: number;
  /** False only while `encode` must wait for `train`. */
  readonly isTrained: boolean;
  /** All that there is to know, at this moment. */
  readonly info: CodecInfo;
  /** A copy of the centre, (dim); zeros when there is none. */
  readonly centre: Float32Array;
  /** What a "…-pca" codec learned; throws `UnsupportedError` for others, `NotTrainedError` before. */
  readonly plan: Plan;
  /** Memory held: rotation, tables, centre. */
  readonly memoryBytes: number;

  /** Learns centre, unit and, where the codec has them, codebooks from rows x, (n, dim). Optional for most;
   * needed by "PolarPair…", "PolarTree…-online" and "…-pca".
   * @throws StateMismatchError once this codec has encoded anything. */
  train(x: Vectors, options?: AsyncWorkOptions): Promise<void>;
  /** `train` on this thread. */
  trainSync(x: Vectors, options?: WorkOptions): void;
  /** How well a "…-pca" codec fits rows x: near 1 as well as when it was trained; above 1.2 or so it is time to
   * train a new one. */
  drift(x: Vectors, options?: AsyncWorkOptions): Promise<number>;
  /** `drift` on this thread. */
  driftSync(x: Vectors, options?: WorkOptions): number;
  /** Bytes of n encoded rows. */
  encodedBytes(n: number): number;
  /** Codes of rows x, (n, dim). A row that is not finite, or too long, is refused by its number. */
  encode(x: Vectors, options?: AsyncWorkOptions): Promise<Uint8Array>;
  /** `encode` on this thread. */
  encodeSync(x: Vectors, options?: WorkOptions): Uint8Array;
  /** Vectors of codes, (n, dim): those of least error, or with `unbiased` those whose inner products are
   * unbiased. */
  decode(codes: Bytes, options?: AsyncCodesOptions & { unbiased?: boolean }): Promise<Float32Array>;
  /** `decode` on this thread. */
  decodeSync(codes: Bytes, options?: CodesOptions & { unbiased?: boolean }): Float32Array;

  /** A query, (dim), to be scored many times. */
  prepareQuery(query: Vectors): Query;
  /** The query that is the vector of one row of codes, by default the first. */
  prepareQueryFromCode(codes: Bytes, row?: number, options?: { n?: number }): Query;
  /** Scores of every coded row: (n) for a `Query`, (nq, n) for vectors. Estimates, so that an `'l2'` one can be
   * slightly below 0. @throws StateMismatchError for a query of another codec. */
  score(query: Query | Vectors, codes: Bytes, options?: AsyncCodesOptions): Promise<Float32Array>;
  /** `score` on this thread. */
  scoreSync(query: Query | Vectors, codes: Bytes, options?: CodesOptions): Float32Array;
  /** Scores between every row of a and every row of b, by default a: (na, nb). */
  scoreCodes(
    a: Bytes,
    b?: Bytes,
    options?: AsyncWorkOptions & { na?: number; nb?: number }
  ): Promise<Float32Array>;
  /** `scoreCodes` on this thread. */
  scoreCodesSync(a: Bytes, b?: Bytes, options?: WorkOptions & { na?: number; nb?: number }): Float32Array;
  /** Sums of coded rows by weights, (nw, n): (nw, dim), without decoding them all. */
  combine(weights: Vectors, codes: Bytes, options?: AsyncCodesOptions): Promise<Float32Array>;
  /** `combine` on this thread. */
  combineSync(weights: Vectors, codes: Bytes, options?: CodesOptions): Float32Array;

  /** The k best of coded rows for each query, (nq, dim); ids are row positions. */
  search<Options extends AsyncCodeSearchOptions & { n?: number } = {}>(
    queries: Vectors,
    codes: Bytes,
    k: number,
    options?: Options
  ): Promise<SearchResult<IdsOf<Options>>>;
  /** `search` on this thread. */
  searchSync<Options extends CodeSearchOptions & { n?: number } = {}>(
    queries: Vectors,
    codes: Bytes,
    k: number,
    options?: Options
  ): SearchResult<IdsOf<Options>>;
  /** All coded rows within a radius of each query; ids are row positions. */
  rangeSearch<Options extends AsyncCodeSearchOptions & { n?: number } = {}>(
    queries: Vectors,
    codes: Bytes,
    radius: number,
    options?: Options
  ): Promise<RangeResult<IdsOf<Options>>>;
  /** `rangeSearch` on this thread. */
  rangeSearchSync<Options extends CodeSearchOptions & { n?: number } = {}>(
    queries: Vectors,
    codes: Bytes,
    radius: number,
    options?: Options
  ): RangeResult<IdsOf<Options>>;

  /** Everything that decides the bytes of codes. Keep it: codes cannot be read without. */
  saveState(): Uint8Array;
  /** The codec of a saved state. @throws CorruptDataError; NewerFormatError. */
  static loadState(state: Bytes): Codec;
  /** Throws `StateMismatchError`, which names what differs, unless their codes mix. */
  checkSameState(other: Codec): void;
}

/** A query prepared for one codec, by `Codec.prepareQuery`: rotated and centred once. Immutable. */
export class Query extends Handle {
  private constructor();
}
