// SPDX-License-Identifier: MIT
// Finds and loads the addon: the file named by POLARQUANT_NODE_ADDON, one built in this folder, or the
// optional package for this platform.
'use strict';

const path = require('path');
const { makeError } = require('./errors.js');

/** "linux-x64", "linux-arm64-musl", "darwin-arm64", …: the name of a platform's package. */
function platformName() {
  const name = `${process.platform}-${process.arch}`;
  if (process.platform !== 'linux') return name;
  const { glibcVersionRuntime } = process.report.getReport().header;
  return glibcVersionRuntime ? name : `${name}-musl`;
}

function load() {
  const named = process.env.POLARQUANT_NODE_ADDON;
  if (named) return require(path.resolve(named));
  const tried = [];
  const places = [path.join(__dirname, '..', 'build', 'polarquant.node')];
  try {
    return require(places[0]);
  } catch (error) {
    if (error.code !== 'MODULE_NOT_FOUND') throw error;
    tried.push(places[0]);
  }
  const packageName = `@polarquant/${platformName()}`;
  try {
    return require(packageName);
  } catch (error) {
    if (error.code !== 'MODULE_NOT_FOUND') throw error;
    tried.push(`the package ${packageName}`);
  }
  const error = new Error(
    `polarquant: there is no addon for this platform; looked for ${tried.join(' and ')}. Install without ` +
      '--omit=optional, or run make in the package\'s folder where polarquant is installed'
  );
  error.code = 'MODULE_NOT_FOUND';
  throw error;
}

const native = load();
native.setMakeError(makeError);
// A process that ends waits for threads of the pool, so long calls are told to stop.
process.on('exit', native.endAll);

module.exports = native;
