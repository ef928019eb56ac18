// SPDX-License-Identifier: MIT
// Codes in blocks.
import { Codec } from './codec.js';
import { AsyncCodeSearchOptions, CodeSearchOptions, IdsOf, RangeResult, SearchResult } from './search.js';
import { Bytes, Handle, Vectors } from './values.js';

/** Coded rows in memory, in blocks of 64, which searches read fastest; by position. Codes go in and come out
 * unchanged. Changes wait for searches that run. */
export class CodeBlocks extends Handle {
  /** @param codec Of "Polar0.5" to "Polar8" or a residual code; `UnsupportedError` for others.
   * @param codes Rows to begin with. */
  constructor(codec: Codec, codes?: Bytes);
  readonly codec: Codec;
  /** Rows. */
  readonly length: number;
  /** Memory held, with that for further rows. */
  readonly memoryBytes: number;
  /** Adds coded rows after those held. */
  append(codes: Bytes): void;
  /** The codes of `count` rows from `first` on; by default all. */
  get(first?: number, count?: number): Uint8Array;
  /** Puts one code in the place of a row. @throws NotFoundError. */
  overwrite(row: number, code: Bytes): void;
  /** Takes out rows: a truth value for each row held. The others keep their order. Gives how many went. */
  remove(removed: readonly boolean[] | Uint8Array): number;
  /** Takes out one row; the last one takes its place. @throws NotFoundError. */
  swapRemove(row: number): void;
  /** As `Codec.search`. */
  search<Options extends AsyncCodeSearchOptions = {}>(
    queries: Vectors,
    k: number,
    options?: Options
  ): Promise<SearchResult<IdsOf<Options>>>;
  /** `search` on this thread. */
  searchSync<Options extends CodeSearchOptions = {}>(
    queries: Vectors,
    k: number,
    options?: Options
  ): SearchResult<IdsOf<Options>>;
  /** As `Codec.rangeSearch`. */
  rangeSearch<Options extends AsyncCodeSearchOptions = {}>(
    queries: Vectors,
    radius: number,
    options?: Options
  ): Promise<RangeResult<IdsOf<Options>>>;
  /** `rangeSearch` on this thread. */
  rangeSearchSync<Options extends CodeSearchOptions = {}>(
    queries: Vectors,
    radius: number,
    options?: Options
  ): RangeResult<IdsOf<Options>>;
}
