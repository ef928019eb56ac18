// SPDX-License-Identifier: MIT
// The package, for require(); index.mjs is for import.
'use strict';

const native = require('./lib/native.js');
const { advise, adviseSync } = require('./lib/advice.js');
const { CodeBlocks } = require('./lib/blocks.js');
const { IndexBuilder, mergeFiles, mergeFilesSync } = require('./lib/builder.js');
const { Codec, Query, specHelp } = require('./lib/codec.js');
const cuda = require('./lib/cuda.js');
const { errors } = require('./lib/errors.js');
const { PreparedFilter } = require('./lib/filters.js');
const { Index } = require('./lib/index_class.js');
const { RangeResult, SearchResult } = require('./lib/results.js');
const { mergePartials } = require('./lib/search.js');

/** Of the C library that runs, as "0.1.0". */
const version = native.versionText(false);
/** The same as a number: major·10000 + minor·100 + patch. */
const versionNumber = native.version(false);

module.exports = {
  CodeBlocks,
  Codec,
  Index,
  IndexBuilder,
  PreparedFilter,
  Query,
  RangeResult,
  SearchResult,
  advise,
  adviseSync,
  cuda,
  mergeFiles,
  mergeFilesSync,
  mergePartials,
  specHelp,
  version,
  versionNumber,
  ...errors,
};
