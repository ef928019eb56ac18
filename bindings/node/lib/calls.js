// SPDX-License-Identifier: MIT
// Calls of the addon, at once or as promises; with an AbortSignal and a function that hears of progress.
'use strict';

const native = require('./native.js');
const { errors } = require('./errors.js');
const { wrongType, show } = require('./arguments.js');

function checkProgress(progress) {
  if (progress !== undefined && typeof progress !== 'function') {
    throw wrongType(`progress: a function is wanted, not ${show(progress)}`);
  }
}

function checkSignal(signal) {
  if (signal === undefined) return;
  if (signal === null || typeof signal !== 'object' || typeof signal.aborted !== 'boolean') {
    throw wrongType(`signal: an AbortSignal is wanted, not ${show(signal)}`);
  }
}

const plainly = (value) => value;

/**
 * A synchronous call. name: of the addon's function; options: the caller's, of which progress and signal
 * are read; finish: makes the result of what the addon gives.
 */
function callSync(name, given, options = undefined, finish = plainly, hasFunction = false) {
  let mode = false;
  if (options !== undefined) {
    const { progress, signal } = options;
    checkProgress(progress);
    checkSignal(signal);
    if (signal !== undefined && signal.aborted) throw signal.reason;
    if (progress !== undefined || hasFunction) mode = native.control(false, progress);
  }
  return finish(native[name](mode, ...given));
}

/** The same on another thread: a promise of the result. */
async function callAsync(name, given, options = undefined, finish = plainly) {
  if (options !== undefined && (options.progress !== undefined || options.signal !== undefined)) {
    return callControlled(name, given, options, finish);
  }
  try {
    return finish(await native[name](true, ...given));
  } catch (error) {
    throw tracedError(error);
  }
}

// Errors are made on the event loop; their traces are to name the functions that await.
function tracedError(error) {
  if (error instanceof errors.PolarError) Error.captureStackTrace(error, tracedError);
  return error;
}

// Of each AbortSignal, the calls that it stops. One listener serves all: Node warns of more than ten.
const controlsOfSignals = new WeakMap();

function controlsOf(signal) {
  let controls = controlsOfSignals.get(signal);
  if (controls === undefined) {
    controls = new Set();
    controlsOfSignals.set(signal, controls);
    signal.addEventListener('abort', () => controls.forEach((control) => native.cancel(control)), { once: true });
  }
  return controls;
}

async function callControlled(name, given, { progress, signal }, finish) {
  checkProgress(progress);
  checkSignal(signal);
  if (signal !== undefined && signal.aborted) throw signal.reason;
  const control = native.control(true, progress);
  const controls = signal === undefined ? undefined : controlsOf(signal);
  controls?.add(control);
  try {
    return finish(await native[name](control, ...given));
  } catch (error) {
    if (signal !== undefined && signal.aborted && error instanceof errors.CancelledError) {
      throw signal.reason;
    }
    throw tracedError(error);
  } finally {
    controls?.delete(control);
  }
}

module.exports = { callSync, callAsync };
