// SPDX-License-Identifier: MIT
// Searches, codes and scores on NVIDIA GPUs. index.d.ts documents every member.
'use strict';

const { callAsync, callSync } = require('./calls.js');
const { Codec } = require('./codec.js');
const { ADOPT, Handle, nativeOf } = require('./handle.js');
const { Index } = require('./index_class.js');
const {
  asBytes,
  asIds,
  asInteger,
  asOptions,
  asThreads,
  asVectors,
  show,
} = require('./arguments.js');
const { runSearch } = require('./search.js');
const { errors } = require('./errors.js');

const LARGEST = Number.MAX_SAFE_INTEGER;
const LAYOUTS = ['sharded', 'replicated'];

function devices() {
  const count = callSync('cudaDeviceCount', []);
  return Array.from({ length: count }, (_, device) => callSync('cudaDeviceInfo', [device]));
}

function asDevice(device = 0) {
  return asInteger('device', device, 0, 2 ** 31 - 1);
}

/** device, devices, layout, threads */
function asPlaces({ device, devices: several, layout = 'sharded', numThreads }) {
  const found = LAYOUTS.indexOf(layout);
  if (found < 0) {
    throw new errors.BadArgumentError(`layout: ${show(layout)} is not allowed; ${LAYOUTS.join(' or ')}`);
  }
  if (several !== undefined && device !== undefined) {
    throw new errors.BadArgumentError(`device: ${show(device)} is not allowed beside devices`);
  }
  const list = several === undefined ? [] : several;
  if (several !== undefined && list.length === 0) {
    throw new errors.BadArgumentError('devices: none is there; 1 or more are allowed');
  }
  return [asDevice(device), asIds('devices', list), found, asThreads(numThreads)];
}

class CudaIndex extends Handle {
  #dim;

  constructor(token, made, dim) {
    if (token !== ADOPT) throw new TypeError('CudaIndex: is made by fromIndex or fromCodes');
    super(made);
    this.#dim = dim;
  }

  static async fromIndex(index, options) {
    return fromIndex(callAsync, index, options);
  }

  static fromIndexSync(index, options) {
    return fromIndex(callSync, index, options);
  }

  static async fromCodes(codec, codes, options) {
    return fromCodes(callAsync, codec, codes, options);
  }

  static fromCodesSync(codec, codes, options) {
    return fromCodes(callSync, codec, codes, options);
  }

  get dim() {
    return this.#dim;
  }

  get ntotal() {
    return callSync('cudaIndexNtotal', [nativeOf(this)]);
  }

  get memoryBytes() {
    return callSync('cudaIndexMemoryBytes', [nativeOf(this)]);
  }

  async search(queries, k, options) {
    const native = nativeOf(this);
    return runSearch(callAsync, 'cudaIndexSearch', this.#dim, native, queries, [], k, options);
  }

  searchSync(queries, k, options) {
    const native = nativeOf(this);
    return runSearch(callSync, 'cudaIndexSearch', this.#dim, native, queries, [], k, options);
  }
}

function fromIndex(run, index, options) {
  const given = [nativeOf(index, Index), ...asPlaces(asOptions(options))];
  return run('cudaIndexFromIndex', given, undefined, (made) => new CudaIndex(ADOPT, made, index.dim));
}

function fromCodes(run, codec, codes, options) {
  const { n } = asOptions(options);
  const count = n === undefined ? -1 : asInteger('n', n, 0, LARGEST);
  const places = asPlaces(asOptions(options));
  const given = [nativeOf(codec, Codec), ...places, asBytes('codes', codes), count];
  return run('cudaIndexFromCodes', given, undefined, (made) => new CudaIndex(ADOPT, made, codec.dim));
}

class CudaEncoder extends Handle {
  #dim;
  #codeSize;

  constructor(codec, options) {
    const device = asDevice(asOptions(options).device);
    super(callSync('cudaEncoderCreate', [nativeOf(codec, Codec), device]));
    this.#dim = codec.dim;
    this.#codeSize = codec.codeSize;
  }

  get dim() {
    return this.#dim;
  }

  get codeSize() {
    return this.#codeSize;
  }

  async encode(x) {
    return this.#encode(callAsync, x);
  }

  encodeSync(x) {
    return this.#encode(callSync, x);
  }

  #encode(run, x) {
    const rows = asVectors('x', x, this.#dim);
    return run('cudaEncoderEncode', [nativeOf(this), rows, this.#codeSize]);
  }
}

class CudaCodec extends Handle {
  #info;

  constructor(codec, options) {
    const device = asDevice(asOptions(options).device);
    super(callSync('cudaCodecCreate', [nativeOf(codec, Codec), device]));
    this.#info = codec.info;
  }

  get dim() {
    return this.#info.dim;
  }

  async score(queries, codes, options) {
    return this.#heads(callAsync, 'cudaCodecScore', 'queries', queries, codes, options);
  }

  scoreSync(queries, codes, options) {
    return this.#heads(callSync, 'cudaCodecScore', 'queries', queries, codes, options);
  }

  async combine(weights, codes, options) {
    return this.#heads(callAsync, 'cudaCodecCombine', 'weights', weights, codes, options);
  }

  combineSync(weights, codes, options) {
    return this.#heads(callSync, 'cudaCodecCombine', 'weights', weights, codes, options);
  }

  // Rows of each head are counted where codes are one row's each.
  #heads(run, name, what, numbers, codes, options) {
    const { heads = 1, n } = asOptions(options);
    const count = asInteger('heads', heads, 1, 65535);
    const bytes = asBytes('codes', codes);
    const { codeBytes, groupRows } = this.#info;
    if (n === undefined && groupRows > 1) {
      throw new errors.BadArgumentError(`n: is needed where ${groupRows} rows share a code`);
    }
    const rows = asInteger('n', n === undefined ? bytes.length / codeBytes / count : n, 0, LARGEST);
    const length = what === 'weights' ? rows : this.dim;
    const given = [asVectors(what, numbers, length), count, bytes, rows];
    return run(name, [nativeOf(this), ...given]);
  }
}

module.exports = { CudaCodec, CudaEncoder, CudaIndex, devices };
