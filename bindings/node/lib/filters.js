// SPDX-License-Identifier: MIT
// Filters, and the options of searches, as the addon takes them (src/search_options.c).
'use strict';

const { types } = require('util');
const native = require('./native.js');
const { Handle, nativeOf } = require('./handle.js');
const {
  asId,
  asIds,
  asInteger,
  asMask,
  asNumber,
  asOptions,
  asThreads,
  wrongType,
} = require('./arguments.js');
const { errors } = require('./errors.js');

const BITSET = 1;
const IDS = 2;
const RANGE = 3;
const CALLBACK = 4;
const PREPARED = 5;
const MASK = 101;
const NO_FILTER = [0, undefined, 0, 0];
const NONE = [];

const LARGEST = 2n ** 63n - 1n;

/** A filter that is made once for many searches. */
class PreparedFilter extends Handle {
  constructor(filter) {
    if (typeof filter === 'function' || filter instanceof PreparedFilter) {
      throw new errors.BadArgumentError('filter: a function, or a prepared filter, cannot be prepared');
    }
    super(native.filterPrepare(false, ...packFilter(filter)));
  }
}

/** [kind, data, a, b] */
function readFilter(filter) {
  if (filter === undefined) return NO_FILTER;
  if (typeof filter === 'function') return [CALLBACK, filter, 0, 0];
  if (filter instanceof PreparedFilter) return [PREPARED, nativeOf(filter), 0, 0];
  if (filter === null || typeof filter !== 'object') {
    throw wrongType('filter: a function, a PreparedFilter, or one of its forms is wanted');
  }
  if (filter.ids !== undefined) return [IDS, asIds('filter.ids', filter.ids), 0, 0];
  if (filter.mask !== undefined) return [MASK, asMask('filter.mask', filter.mask), 0, 0];
  if (filter.bits !== undefined) return readBits(filter);
  if (filter.first !== undefined || filter.end !== undefined) {
    const first = filter.first === undefined ? -LARGEST : asId('filter.first', filter.first);
    const end = filter.end === undefined ? LARGEST : asId('filter.end', filter.end);
    return [RANGE, undefined, first, end];
  }
  throw new errors.BadArgumentError('filter: has none of ids, mask, bits, first and end');
}

function readBits({ bits, length }) {
  if (!types.isBigUint64Array(bits)) throw wrongType('filter.bits: a BigUint64Array is wanted');
  const most = bits.length * 64;
  const count = length === undefined ? most : asInteger('filter.length', length, 0, most);
  return [BITSET, bits, count, 0];
}

function pack(options, filter) {
  const { exactness, nprobe, efSearch, kFactor } = options;
  return [
    asThreads(options.numThreads),
    exactness === undefined ? NaN : asExactness(exactness),
    nprobe === undefined ? 0 : asInteger('nprobe', nprobe, 0, Number.MAX_SAFE_INTEGER),
    efSearch === undefined ? 0 : asInteger('efSearch', efSearch, 0, 2 ** 31 - 1),
    kFactor === undefined ? 0 : asNumber('kFactor', kFactor),
    ...filter,
  ];
}

// NaN stands for the default in the addon.
function asExactness(value) {
  const exactness = asNumber('exactness', value);
  if (exactness >= 0) return exactness;
  throw new errors.BadArgumentError(`exactness: ${exactness} is not allowed; 0 to Infinity`);
}

/** A filter alone, for calls that take no other options. */
function packFilter(filter) {
  return pack({}, readFilter(filter));
}

/** What the addon takes for the options of a search, its last arguments; none where all are the default. */
function packSearch(options, numThreads = 0) {
  if (options === undefined) return numThreads === 0 ? NONE : pack({ numThreads }, NO_FILTER);
  let filter = asOptions(options).filter;
  if (typeof filter === 'function' && options.bigint) {
    const keep = filter;
    filter = (id) => keep(BigInt(id));
  }
  const packed = pack(options, readFilter(filter));
  if (packed[0] === 0) packed[0] = numThreads;
  return packed;
}

module.exports = { PreparedFilter, packFilter, packSearch };
