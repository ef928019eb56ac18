// SPDX-License-Identifier: MIT
// Arguments of all calls, and what all objects have.

declare global {
  // As newer libraries of TypeScript have it.
  interface SymbolConstructor {
    readonly dispose: unique symbol;
  }
}

/** How nearness is measured: inner product, squared distance, or cosine, which normalizes rows and queries.
 * Larger scores are nearer, but for `'l2'`, where smaller ones are. */
export type Metric = 'ip' | 'l2' | 'cosine';

/** Vectors, (n, dim): read where they lie as a `Float32Array`, copied from the other forms. */
export type Vectors = Float32Array | Float64Array | readonly number[] | ReadonlyArray<ArrayLike<number>>;

/** Codes and other bytes; a `Buffer` is one. */
export type Bytes = Uint8Array | ArrayBuffer;

/** Ids, integers: numbers up to 2^53 − 1, and bigints up to 2^63 − 1. A `BigInt64Array` is read where it
 * lies. */
export type Ids =
  | BigInt64Array
  | Float64Array
  | Int32Array
  | Uint32Array
  | readonly number[]
  | readonly bigint[]
  | ReadonlySet<number>
  | ReadonlySet<bigint>;

/** Options of calls that compute. */
export interface WorkOptions {
  /** Threads to work with, 0 to 1024; 0, the default, is OpenMP's default. */
  numThreads?: number;
  /**
   * Hears now and then the share of the work that is done, 0 to 1; `false` stops the call, which fails with
   * `CancelledError` and leaves everything as it was, and so does what it throws. In a synchronous call it
   * runs inside the call, where nothing can change the object; in an asynchronous one on the event loop.
   */
  progress?: (done: number) => unknown;
}

/** Options of asynchronous calls that compute. */
export interface AsyncWorkOptions extends WorkOptions {
  /** Stops the call, within a second for most; its promise is then rejected with the signal's reason. */
  signal?: AbortSignal;
}

/** What objects have that hold memory of the library's. It is given back by `close`, else when the object is
 * garbage: a loop that never awaits should close. */
export class Handle {
  protected constructor();
  /** Whether `close` was called. */
  readonly closed: boolean;
  /**
   * Gives the memory back; calls that were begun end first. May be called again. Later calls of other members
   * throw `BadArgumentError`.
   */
  close(): void;
  /** `close`, for `using`; missing where the engine has no `Symbol.dispose`. */
  [Symbol.dispose](): void;
}
