// SPDX-License-Identifier: MIT
// Advice which code to take.
import { Metric, Vectors, WorkOptions } from './values.js';

/** What `advise` is asked. */
export interface AdviceOptions extends WorkOptions {
  /** `'ip'` by default. */
  metric?: Metric;
  /** (nq, dim), 10 or more, where they are of another kind than the rows; else a tenth of these is held out. */
  queries?: Vectors;
  /** Neighbours searched for; 10 by default. */
  k?: number;
  /** Recall@k that is asked for, 0 to 1; 0, the default, asks for nothing. */
  wantedRecall?: number;
  /** Bytes a vector that are allowed; 0, the default, asks for nothing. */
  allowedBytes?: number;
  /** Specs to measure; by default those that a user would choose among. */
  specs?: readonly string[];
  /** Rows searched at most; 20,000 by default. */
  maxRows?: number;
  /** Queries at most; 1,000 by default. */
  maxQueries?: number;
  /** Rows there will be; 0, the default: the sample is all. */
  totalRows?: number;
  /** Draws the parts of the sample, and rotations; 1 by default. */
  seed?: number | bigint;
}

/** One code on the sample. */
export interface AdviceRow {
  spec: string;
  /** Why it was not measured, and then the numbers are 0; "" else. */
  problem: string;
  /** Whether `train` must come before `encode`. */
  needsTraining: boolean;
  bytesPerVector: number;
  /** Recall@k over the rows searched, 0 to 1. */
  recall: number;
  /** Half of its 95 % interval. */
  recallMargin: number;
  /** Recall@k when only a quarter of the rows is searched. */
  quarterRecall: number;
  /** Recall@k over `totalRows`. */
  expectedRecall: number;
  /** Mean ‖x̂ − x‖² / ‖x − c‖² of rows not trained on. */
  error: number;
  /** Recall less that of the untrained code; 0 unless "-pca". */
  gain: number;
  /** Half of the 95 % interval of the gain. */
  gainMargin: number;
  /** Memory of rotation and tables, once for all vectors. */
  codecBytes: number;
  /** False for a "-pca" code that gains no more than noise. */
  pays: boolean;
  /** Whether this is the code to take. */
  isRecommended: boolean;
}

/** What `advise` found. */
export interface Advice {
  /** The codes measured, by rising bytes for the default ones. */
  rows: AdviceRow[];
  /** The code to take; null when no code is what was asked for. */
  recommended: AdviceRow | null;
  /** Why, in a sentence or two. */
  reason: string;
  /** Whether the queries are rows of the sample. */
  heldOutQueries: boolean;
  /** Queries searched for. */
  queries: number;
  /** Rows searched. */
  baseRows: number;
  /** Rows trained on. */
  trainRows: number;
}

/** Measures codes on rows x, (n, dim), and recommends one. Takes a minute for 384 dimensions on two cores by the
 * defaults; about 22·k rows are needed. */
export function advise(x: Vectors, dim: number, options?: AdviceOptions & { signal?: AbortSignal }): Promise<Advice>;
/** `advise` on this thread. */
export function adviseSync(x: Vectors, dim: number, options?: AdviceOptions): Advice;
