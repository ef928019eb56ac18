// SPDX-License-Identifier: MIT
/**
 * Polar codes for embedding vectors, searched without decoding.
 *
 * Vectors are rows of `dim` numbers, one after the other in a `Float32Array`, which is read where it lies;
 * arrays of numbers, and of vectors, are copied to one. Numbers that are not finite are refused. After an
 * error nothing has changed.
 *
 * Calls that may take long have two forms: `searchSync` runs on the calling thread, `search` runs on a thread
 * of Node's pool (`UV_THREADPOOL_SIZE`, 4 by default) and returns a promise. Until that settles, the typed
 * arrays that were given must not be written to, transferred or detached: they are read where they lie, so
 * changes may or may not be seen, and a detached array's memory may be gone. Arrays over a resizable
 * `ArrayBuffer` are copied, and so is what is no typed array.
 *
 * Any number of calls may be under way on one object; where they must, they wait for one another. So a
 * synchronous call, getters among them, may wait for an asynchronous one that changes the object. `close`
 * lets calls that were begun end as they would have.
 *
 * Each `worker_threads` thread has objects of its own; an object cannot be sent to another thread.
 */

export * from './types/advice.js';
export * from './types/blocks.js';
export * from './types/builder.js';
export * from './types/codec.js';
export * from './types/errors.js';
export * from './types/index_class.js';
export * from './types/search.js';
export {
  AsyncWorkOptions,
  Bytes,
  Ids,
  Metric,
  Vectors,
  WorkOptions,
} from './types/values.js';

/** Work on NVIDIA GPUs. Without the library for them, or a device, every call throws `UnsupportedError` that
 * says which is missing; what the CUDA runtime reports is a `CudaError`. All arrays are in host memory. */
export * as cuda from './types/cuda.js';

/** A text that lists every spec's form, meaning and an example. */
export function specHelp(): string;
/** Of the C library that runs, as "0.1.0". */
export const version: string;
/** The same as a number: major·10000 + minor·100 + patch. */
export const versionNumber: number;
