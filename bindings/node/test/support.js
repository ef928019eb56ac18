// SPDX-License-Identifier: MIT
// What tests share: the package, made rows, and the vectors of tests/conformance.
'use strict';

const fs = require('fs');
const os = require('os');
const path = require('path');

const polarquant = require('..');

const folder = path.join(__dirname, '..', '..', '..', 'tests', 'conformance');
const mask = (1n << 64n) - 1n;

/** float32 numbers of about the normal distribution: splitmix64's words, four 16-bit parts added. */
function numbers(seed, count) {
  const out = new Float32Array(count);
  let state = BigInt(seed);
  for (let i = 0; i < count; ++i) {
    state = (state + 0x9e3779b97f4a7c15n) & mask;
    let z = state;
    z = ((z ^ (z >> 30n)) * 0xbf58476d1ce4e5b9n) & mask;
    z = ((z ^ (z >> 27n)) * 0x94d049bb133111ebn) & mask;
    z ^= z >> 31n;
    const parts = (z & 0xffffn) + ((z >> 16n) & 0xffffn) + ((z >> 32n) & 0xffffn) + (z >> 48n);
    out[i] = (Number(parts) - 2 * 0xffff) / 65536;
  }
  return out;
}

/** (n, dim) of a case's {"seed", "n", "shift", "set"}. */
function rows(made, dim) {
  const x = numbers(made.seed, made.n * dim);
  const shift = Math.fround(made.shift ?? 0);
  for (let i = 0; i < x.length; ++i) x[i] = Math.fround(x[i] + shift);
  if (made.set) {
    const [row, column, value] = made.set;
    x[row * dim + column] = asFloat(value);
  }
  return x;
}

function fnv1a(bytes) {
  let value = 0xcbf29ce484222325n;
  for (const byte of bytes) value = ((value ^ BigInt(byte)) * 0x100000001b3n) & mask;
  return value.toString(16).padStart(16, '0');
}

/** A number, or a text: hexadecimal ("0x1.8p+3"), "inf", "-inf" or "nan". */
function asFloat(value) {
  if (typeof value === 'number') return value;
  const named = { inf: Infinity, '-inf': -Infinity, nan: NaN }[value];
  if (named !== undefined) return named;
  const [, sign, whole, fraction = '', exponent] = /^(-?)0x([0-9a-f]+)\.?([0-9a-f]*)p([+-]\d+)$/.exec(value);
  const digits = parseInt(whole + fraction, 16);
  return (sign ? -1 : 1) * digits * 2 ** (Number(exponent) - 4 * fraction.length);
}

function read(name) {
  const cases = JSON.parse(fs.readFileSync(path.join(folder, name), 'utf8'));
  if (cases.format !== 1) throw new Error(`${name}: format ${cases.format}`);
  return cases.cases;
}

/** Runs with a folder that is removed afterwards. */
async function inFolder(body) {
  const made = fs.mkdtempSync(path.join(os.tmpdir(), 'polarquant-'));
  try {
    return await body(made);
  } finally {
    fs.rmSync(made, { recursive: true, force: true });
  }
}

module.exports = { asFloat, fnv1a, folder, inFolder, numbers, polarquant, read, rows };
