// SPDX-License-Identifier: MIT
// Finds and loads the addon: the file named by POLARQUANT_NODE_ADDON, one built in this folder, or the
// optional package for this platform.
'use strict';

const path = require('path');
const { makeError } = require('./errors.js');

const platform = `${process.platform}-${process.arch}`;

/** Where the addon may be, best first. */
const places = [
  path.join(__dirname, '..', 'build', 'polarquant.node'),
  `@polarquant/${platform}`,
  // npm installs the one for the C library that is there, old releases of it both.
  ...(process.platform === 'linux' ? [`@polarquant/${platform}-musl`] : []),
];

function load() {
  const named = process.env.POLARQUANT_NODE_ADDON;
  if (named) return require(path.resolve(named));
  let found;
  for (const place of places) {
    try {
      return require(place);
    } catch (error) {
      // One that is there but cannot be loaded says why, if no other can.
      if (error.code !== 'MODULE_NOT_FOUND') found = found ?? error;
    }
  }
  if (found) throw found;
  const error = new Error(
    `polarquant: there is no addon for ${platform}; looked for ${places.join(', ')}. Install without ` +
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
