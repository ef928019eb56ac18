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
const NAMES = {
  num_threads: 'numThreads',
  ef_search: 'efSearch',
  k_factor: 'kFactor',
  learn_centre: 'learnCentre',
  norm_unit: 'normUnit',
  wanted_recall: 'wantedRecall',
  allowed_bytes: 'allowedBytes',
  max_rows: 'maxRows',
  max_queries: 'maxQueries',
  total_rows: 'totalRows',
  memory_map: 'memoryMap',
  trust_faiss: 'trustFaiss',
};

/** The error for a status of the C library; called by the addon. */
function makeError(status, text) {
  const message = text.replace(/\b[a-z]+_[a-z]+\b/g, (name) => NAMES[name] ?? name);
  const kind = classes.get(status);
  return kind ? new kind(message) : new PolarError(`status ${status}: ${message}`, status);
}

module.exports = { errors, makeError };
