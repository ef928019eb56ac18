// SPDX-License-Identifier: MIT
// What calls throw: a class for each status of the C library.
'use strict';

class PolarError extends Error {
  constructor(message, status = -1, code = 'POLAR_UNKNOWN') {
    super(message);
    this.status = status;
    this.code = code;
  }
}
Object.defineProperty(PolarError.prototype, 'name', {
  value: 'PolarError',
  configurable: true,
  writable: true,
});

const classes = new Map();

function define(name, status, code) {
  const made = {
    [name]: class extends PolarError {
      constructor(message) {
        super(message, status, code);
      }
    },
  }[name];
  Object.defineProperty(made.prototype, 'name', {
    value: name,
    configurable: true,
    writable: true,
  });
  classes.set(status, made);
  return made;
}

const errors = {
  PolarError,
  BadArgumentError: define('BadArgumentError', 10, 'POLAR_BAD_ARGUMENT'),
  UnsupportedError: define('UnsupportedError', 20, 'POLAR_UNSUPPORTED'),
  NotTrainedError: define('NotTrainedError', 30, 'POLAR_NOT_TRAINED'),
  NotFoundError: define('NotFoundError', 40, 'POLAR_NOT_FOUND'),
  StateMismatchError: define('StateMismatchError', 50, 'POLAR_STATE_MISMATCH'),
  OutOfMemoryError: define('OutOfMemoryError', 60, 'POLAR_OUT_OF_MEMORY'),
  CorruptDataError: define('CorruptDataError', 70, 'POLAR_CORRUPT_DATA'),
  NewerFormatError: define('NewerFormatError', 80, 'POLAR_NEWER_FORMAT'),
  InputOutputError: define('InputOutputError', 90, 'POLAR_IO'),
  CudaError: define('CudaError', 100, 'POLAR_CUDA'),
  CancelledError: define('CancelledError', 110, 'POLAR_CANCELLED'),
  InternalError: define('InternalError', 120, 'POLAR_INTERNAL'),
};

// Arguments that the C library's texts name, as they are called here.
const NAMES =
  /\b(num|ef|k|learn|norm|wanted|allowed|max|total|memory|trust)_(threads|search|factor|centre|unit|recall|bytes|rows|queries|map|faiss)\b/g;

/** The error for a status of the C library; called by the addon. */
function makeError(status, text) {
  const message = text.replace(NAMES, (_, first, second) => first + second[0].toUpperCase() + second.slice(1));
  const kind = classes.get(status);
  return kind ? new kind(message) : new PolarError(`status ${status}: ${message}`, status);
}

module.exports = { errors, makeError };
