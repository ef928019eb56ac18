// SPDX-License-Identifier: MIT
// Arguments of callers in the forms that the addon takes. Typed arrays of the right kind pass as they are.
'use strict';

const { fileURLToPath } = require('url');
// Typed arrays may come from other realms, as those of vm and of test runners; instanceof would not know them.
const { types } = require('util');
const { errors } = require('./errors.js');

const METRICS = ['ip', 'l2', 'cosine'];

function wrongType(text) {
  const error = new TypeError(text);
  error.code = 'ERR_INVALID_ARG_TYPE';
  return error;
}

/** A value for messages, short. */
function show(value) {
  const text = typeof value === 'string' ? JSON.stringify(value) : String(value);
  return text.length > 60 ? `${text.slice(0, 57)}...` : text;
}

/** An integer in a range, as a number. */
function asInteger(name, value, least, most) {
  if (typeof value === 'bigint' && value >= least && value <= most) return Number(value);
  if (typeof value !== 'number') {
    if (typeof value !== 'bigint') throw wrongType(`${name}: a number is wanted, not ${show(value)}`);
  } else if (Number.isInteger(value) && value >= least && value <= most) {
    return value;
  }
  throw new errors.BadArgumentError(`${name}: ${value} is not allowed; an integer, ${least} to ${most}`);
}

/** A number as it is; the library judges it. */
function asNumber(name, value) {
  if (typeof value !== 'number') throw wrongType(`${name}: a number is wanted, not ${show(value)}`);
  return value;
}

/** An id: an integer that a number or a bigint holds. */
function asId(name, value) {
  if (typeof value === 'number' && Number.isSafeInteger(value)) return value;
  if (typeof value === 'bigint') {
    if (BigInt.asIntN(64, value) === value) return value;
  } else if (typeof value !== 'number') {
    throw wrongType(`${name}: a number or bigint is wanted, not ${show(value)}`);
  }
  throw new errors.BadArgumentError(`${name}: ${value} is not allowed; an integer, in 64 bits`);
}

/** A seed, 0 to 2^64 − 1. */
function asSeed(value) {
  if (value === undefined) return 1;
  if (typeof value === 'bigint' && BigInt.asUintN(64, value) === value) return value;
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return value;
  if (typeof value !== 'number' && typeof value !== 'bigint') {
    throw wrongType(`seed: a number or bigint is wanted, not ${show(value)}`);
  }
  throw new errors.BadArgumentError(`seed: ${value} is not allowed; an integer, 0 to 2^64 - 1`);
}

function asText(name, value) {
  if (typeof value === 'string') return value;
  throw wrongType(`${name}: a string is wanted, not ${show(value)}`);
}

/** A path: a string, or a URL of a file. */
function asPath(value) {
  if (value !== null && typeof value === 'object' && value.protocol === 'file:') return fileURLToPath(value);
  return asText('path', value);
}

/** Paths, one or more. */
function asPaths(value) {
  if (!Array.isArray(value)) throw wrongType(`paths: an array of paths is wanted, not ${show(value)}`);
  return value.map(asPath);
}

function asMetric(value) {
  if (value === undefined) return 0;
  const found = METRICS.indexOf(value);
  if (found >= 0) return found;
  throw new errors.BadArgumentError(`metric: ${show(value)} is not allowed; 'ip', 'l2' or 'cosine'`);
}

function metricName(number) {
  return METRICS[number];
}

/** Memory that may shrink while another thread reads it is copied. */
function settled(array) {
  return array.buffer.resizable === true ? array.slice() : array;
}

function fromNumbers(name, numbers) {
  for (const x of numbers) {
    if (typeof x !== 'number') throw wrongType(`${name}: numbers are wanted, not ${show(x)}`);
  }
  return Float32Array.from(numbers);
}

function fromLists(name, rows, dim) {
  const out = new Float32Array(rows.length * dim);
  for (let i = 0; i < rows.length; ++i) {
    const row = rows[i];
    if (row === null || typeof row !== 'object' || row.length !== dim) {
      throw new errors.BadArgumentError(
        `${name}[${i}]: ${show(row?.length ?? row)} numbers are not allowed; ${dim}, the dimensions`
      );
    }
    out.set(row, i * dim);
  }
  return out;
}

/** Vectors: a Float32Array where it lies; lists of numbers, and lists of vectors, copied. */
function asVectors(name, value, dim) {
  if (types.isFloat32Array(value)) return settled(value);
  if (Array.isArray(value)) {
    return typeof value[0] === 'object' ? fromLists(name, value, dim) : fromNumbers(name, value);
  }
  if (types.isFloat64Array(value)) return Float32Array.from(value);
  throw wrongType(`${name}: a Float32Array, or an array of numbers or vectors, is wanted`);
}

/** Codes and other bytes: a Uint8Array or Buffer where it lies, or an ArrayBuffer. */
function asBytes(name, value) {
  if (types.isUint8Array(value)) return settled(value);
  if (types.isAnyArrayBuffer(value)) return settled(new Uint8Array(value));
  throw wrongType(`${name}: a Uint8Array is wanted, not ${show(value)}`);
}

/** Ids: typed arrays as they are; lists and sets of numbers or bigints as one. */
function asIds(name, value) {
  if (
    types.isBigInt64Array(value) ||
    types.isFloat64Array(value) ||
    types.isInt32Array(value) ||
    types.isUint32Array(value)
  ) {
    return settled(value);
  }
  if (!Array.isArray(value) && !types.isSet(value)) {
    throw wrongType(`${name}: an array or Set of ids is wanted, not ${show(value)}`);
  }
  const list = Array.isArray(value) ? value : [...value];
  if (!list.some((id) => typeof id === 'bigint')) {
    for (const id of list) {
      if (typeof id !== 'number') throw wrongType(`${name}: ids are wanted, not ${show(id)}`);
    }
    return Float64Array.from(list);
  }
  return BigInt64Array.from(list, (id) => BigInt(asId(name, id)));
}

/** Which rows, a truth value each, as bytes. */
function asMask(name, value) {
  if (types.isUint8Array(value)) return settled(value);
  if (Array.isArray(value)) return Uint8Array.from(value, (kept) => (kept ? 1 : 0));
  throw wrongType(`${name}: an array of booleans, or a Uint8Array, is wanted`);
}

/** Options of a caller's: undefined, or an object. */
function asOptions(value) {
  if (value === undefined) return {};
  if (value === null || typeof value !== 'object') {
    throw wrongType(`options: an object is wanted, not ${show(value)}`);
  }
  return value;
}

function asThreads(value) {
  return value === undefined ? 0 : asInteger('numThreads', value, 0, 1024);
}

/** An array for results; lack of memory is an error of the library's. */
function makeArray(kind, length) {
  try {
    return new kind(length);
  } catch (error) {
    throw new errors.OutOfMemoryError(`result: ${length} elements are more than memory holds`);
  }
}

module.exports = {
  asBytes,
  asId,
  asIds,
  asInteger,
  asMask,
  asMetric,
  asNumber,
  asOptions,
  asPath,
  asPaths,
  asSeed,
  asText,
  asThreads,
  asVectors,
  makeArray,
  metricName,
  show,
  wrongType,
};
