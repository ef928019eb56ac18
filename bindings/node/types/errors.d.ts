// SPDX-License-Identifier: MIT
// What calls throw.

/** A call of the library that failed. Arguments of wrong types are `TypeError`s instead, with the code
 * `'ERR_INVALID_ARG_TYPE'`. The message names the argument, its value and what is allowed. */
export class PolarError extends Error {
  constructor(message: string, status?: number, code?: string);
  /** The cause, as `'POLAR_BAD_ARGUMENT'`. */
  readonly code: string;
  /** The C library's number for the cause. */
  readonly status: number;
}
/** An argument is outside what is allowed, or the object is closed. */
export class BadArgumentError extends PolarError {
  constructor(message: string);
  readonly code: 'POLAR_BAD_ARGUMENT';
}
/** This build, or this codec or index, cannot do it. */
export class UnsupportedError extends PolarError {
  constructor(message: string);
  readonly code: 'POLAR_UNSUPPORTED';
}
/** `train` must come first. */
export class NotTrainedError extends PolarError {
  constructor(message: string);
  readonly code: 'POLAR_NOT_TRAINED';
}
/** No row has this id. */
export class NotFoundError extends PolarError {
  constructor(message: string);
  readonly code: 'POLAR_NOT_FOUND';
}
/** Codes, queries or codecs of different states met, or training came after the first rows. */
export class StateMismatchError extends PolarError {
  constructor(message: string);
  readonly code: 'POLAR_STATE_MISMATCH';
}
/** An allocation failed. */
export class OutOfMemoryError extends PolarError {
  constructor(message: string);
  readonly code: 'POLAR_OUT_OF_MEMORY';
}
/** Stored bytes are damaged, or not polarquant's. */
export class CorruptDataError extends PolarError {
  constructor(message: string);
  readonly code: 'POLAR_CORRUPT_DATA';
}
/** Stored bytes are of a newer format than this library reads. */
export class NewerFormatError extends PolarError {
  constructor(message: string);
  readonly code: 'POLAR_NEWER_FORMAT';
}
/** Reading or writing failed. */
export class InputOutputError extends PolarError {
  constructor(message: string);
  readonly code: 'POLAR_IO';
}
/** A CUDA call failed. */
export class CudaError extends PolarError {
  constructor(message: string);
  readonly code: 'POLAR_CUDA';
}
/** A progress function said false. */
export class CancelledError extends PolarError {
  constructor(message: string);
  readonly code: 'POLAR_CANCELLED';
}
/** A bug in the library; please report it. */
export class InternalError extends PolarError {
  constructor(message: string);
  readonly code: 'POLAR_INTERNAL';
}
