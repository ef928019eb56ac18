// SPDX-License-Identifier: MIT
// Index files of more rows than memory holds: built in parts, and merged.
import { Index } from './index_class.js';
import { AsyncWorkOptions, Handle, Ids, Vectors, WorkOptions } from './values.js';

/** How an `IndexBuilder` works. */
export interface BuilderOptions {
  /** Memory for the rows of a part, 1 MiB or more; 1 GiB by default. What was trained and the rows of a call come
   * on top; leave as much again to the process. */
  memoryBytes?: number;
  /** Of `create`: the parts of an earlier build are removed, which are refused else. */
  replace?: boolean;
}

/**
 * An index file made from rows that come in any number of calls, of more than memory holds.
 *
 * Rows are coded in an index in memory; when it has taken `memoryBytes`, it is written as a part to the folder
 * "PATH.parts" and emptied. `finish` merges the parts: the file has the bytes that one index of all rows would be
 * saved as. A build that ended before that, by `close`, an error or a kill, goes on by `resume`, after the rows of
 * whole parts. Calls that change a builder run one at a time, in the order in which they come to a thread.
 */
export class IndexBuilder extends Handle {
  private constructor();

  /**
   * Begins the file at `path`, with rows coded as `index` codes them: a trained one without rows, of which a copy is
   * kept. One of our specs, alone ("Polar4") or in an inverted file ("IVF1024,Polar4"), also after vector transforms,
   * in id maps and in refinements by our specs. A file at `path` stays as it is until the new one is whole.
   * @throws NotTrainedError, also where training is optional, since parts would learn from different rows;
   *   UnsupportedError for graphs and FAISS's kinds; StateMismatchError for an index with rows; BadArgumentError where
   *   the folder has parts of an earlier build; InputOutputError while another builder has the folder.
   */
  static create(path: string | URL, index: Index, options?: BuilderOptions): Promise<IndexBuilder>;
  /** `create` on this thread. */
  static createSync(path: string | URL, index: Index, options?: BuilderOptions): IndexBuilder;
  /**
   * Goes on with the build whose parts lie beside `path`, after the rows that `ntotal` then tells.
   * @throws NotFoundError where there is none; CorruptDataError names a part that is missing, damaged, or of another
   *   build.
   */
  static resume(path: string | URL, options?: { memoryBytes?: number }): Promise<IndexBuilder>;
  /** `resume` on this thread. */
  static resumeSync(path: string | URL, options?: { memoryBytes?: number }): IndexBuilder;

  /** Dimensions of a vector. */
  readonly dim: number;
  /** Rows that were added, those of an earlier process's parts too, as the last change left them. */
  readonly ntotal: number;
  /** The rows of them that lie in whole parts: these stay when the process ends now. */
  readonly written: number;

  /** Adds rows x, (n, dim), with ids ntotal, ntotal + 1, … After an error, or a stop, `ntotal` says how many of them
   * are in. */
  add(x: Vectors, options?: AsyncWorkOptions): Promise<void>;
  /** `add` on this thread. */
  addSync(x: Vectors, options?: WorkOptions): void;
  /** Adds rows x, (n, dim), with ids, (n), of 0 or more. One that comes twice is found here within a part, and else by
   * `finish`: `BadArgumentError`. A builder takes rows with ids or without, not both. */
  addWithIds(x: Vectors, ids: Ids, options?: AsyncWorkOptions): Promise<void>;
  /** `addWithIds` on this thread. */
  addWithIdsSync(x: Vectors, ids: Ids, options?: WorkOptions): void;
  /** Writes the rows in memory as a part, as before a stop that is to lose none. */
  writePart(): Promise<void>;
  /** `writePart` on this thread. */
  writePartSync(): void;
  /** Writes the index file and removes the folder of parts; later changes throw `StateMismatchError`. After an error,
   * or a stop, the parts are there still, and it can be called again. */
  finish(options?: AsyncWorkOptions): Promise<void>;
  /** `finish` on this thread. */
  finishSync(options?: WorkOptions): void;
}

/**
 * Merges index files, one or more, into one at `out`, which may be one of them, but on Windows (InputOutputError there,
 * and nothing changes): the bytes, after equal training, that one index has which was given all rows in this order. For
 * the kinds that `IndexBuilder` takes. Ids of the caller's stay and must differ; other rows are numbered on. Files are
 * mapped and read through: memory does not grow with the rows. `out` appears whole or not at all; `numThreads` is not used.
 * @throws StateMismatchError names the file and what differs: train once and give all shards that state (`clone`);
 *   BadArgumentError names an id that comes twice; UnsupportedError; InputOutputError.
 */
export function mergeFiles(
  paths: ReadonlyArray<string | URL>,
  out: string | URL,
  options?: AsyncWorkOptions
): Promise<void>;
/** `mergeFiles` on this thread. */
export function mergeFilesSync(
  paths: ReadonlyArray<string | URL>,
  out: string | URL,
  options?: WorkOptions
): void;
