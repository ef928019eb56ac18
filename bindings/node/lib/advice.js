// SPDX-License-Identifier: MIT
// Which code to take for vectors like a sample. index.d.ts documents it.
'use strict';

const { callAsync, callSync } = require('./calls.js');
const {
  asInteger,
  asMetric,
  asNumber,
  asOptions,
  asSeed,
  asText,
  asThreads,
  asVectors,
  wrongType,
} = require('./arguments.js');

const MOST = 2 ** 40;

async function advise(x, dim, options) {
  return run(callAsync, x, dim, asOptions(options));
}

function adviseSync(x, dim, options) {
  return run(callSync, x, dim, asOptions(options));
}

function run(call, x, dim, options) {
  const { k, maxRows, maxQueries, totalRows = 0, wantedRecall = 0, allowedBytes = 0 } = options;
  const size = asInteger('dim', dim, 1, 65535);
  const { queries, specs } = options;
  if (specs !== undefined && !Array.isArray(specs)) throw wrongType('specs: an array is wanted');
  const given = [
    size,
    asMetric(options.metric),
    asVectors('x', x, size),
    queries === undefined ? undefined : asVectors('queries', queries, size),
    asThreads(options.numThreads),
    k === undefined ? 0 : asInteger('k', k, 1, MOST),
    asNumber('wantedRecall', wantedRecall),
    asNumber('allowedBytes', allowedBytes),
    maxRows === undefined ? 0 : asInteger('maxRows', maxRows, 10, MOST),
    maxQueries === undefined ? 0 : asInteger('maxQueries', maxQueries, 10, MOST),
    asInteger('totalRows', totalRows, 0, MOST),
    specs === undefined ? undefined : specs.map((spec) => asText('specs', spec)),
    asSeed(options.seed),
  ];
  return call('advise', given, options);
}

module.exports = { advise, adviseSync };
