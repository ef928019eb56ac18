// SPDX-License-Identifier: MIT
// The package as users get it: its entries, its types, its files, and the functions it reaches.
'use strict';

const assert = require('assert');
const { execFileSync, spawnSync } = require('child_process');
const fs = require('fs');
const path = require('path');
const { test } = require('node:test');
const { inFolder, polarquant } = require('./support.js');

const root = path.join(__dirname, '..');
const repository = path.join(root, '..', '..');
const read = (...parts) => fs.readFileSync(path.join(root, ...parts), 'utf8');
const has = (program) => spawnSync(program, ['--version']).status === 0;

test('require and import have the same names', async () => {
  assert.strictEqual(require('polarquant'), polarquant);
  const imported = await import('polarquant');
  const names = Object.keys(imported).filter((name) => name !== 'default');
  assert.deepStrictEqual(names.sort(), Object.keys(polarquant).sort());
  assert.strictEqual(imported.default, polarquant);
});

test('the version is the package\'s', () => {
  const { version } = JSON.parse(read('package.json'));
  assert.strictEqual(polarquant.version, version);
  const [major, minor, patch] = version.split('.').map(Number);
  assert.strictEqual(polarquant.versionNumber, major * 10000 + minor * 100 + patch);
});

/** Names of classes and of their members, by the declarations of types. */
function declared() {
  const classes = new Map();
  const names = new Set();
  const files = ['index.d.ts', ...fs.readdirSync(path.join(root, 'types')).map((file) => `types/${file}`)];
  for (const file of files) {
    const text = read(file).replace(/\/\*[^]*?\*\/|\/\/.*/g, '');
    const isCuda = file.endsWith('cuda.d.ts');
    for (const [, kind, name] of text.matchAll(/^export (?:abstract )?(class|function|const) (\w+)/gm)) {
      names.add(isCuda ? `cuda.${name}` : name);
      if (kind !== 'class') continue;
      const begin = text.search(new RegExp(`^export class ${name}\\b`, 'm'));
      const body = text.slice(begin, text.indexOf('\n}', begin));
      const found = [...body.matchAll(/^  (?:static )?(?:readonly )?(\w+)(?:<.*)?(?:\(|:|$)/gm)];
      const members = new Set(found.map((match) => match[1]));
      for (const word of ['private', 'protected', 'constructor']) members.delete(word);
      classes.set(name, members);
    }
  }
  return { classes, names };
}

test('types declare what there is', () => {
  const { classes, names } = declared();
  const there = [
    ...Object.keys(polarquant).filter((name) => name !== 'cuda'),
    ...Object.keys(polarquant.cuda).map((name) => `cuda.${name}`),
  ];
  assert.deepStrictEqual([...names].filter((name) => name !== 'Handle').sort(), there.sort());
  for (const [name, members] of classes) {
    const made = polarquant[name] ?? polarquant.cuda[name];
    if (made === undefined || name.endsWith('Error') || name.endsWith('Result')) continue;
    const found = [
      ...Object.getOwnPropertyNames(made.prototype),
      ...Object.getOwnPropertyNames(made).filter((key) => typeof made[key] === 'function'),
    ].filter((key) => key !== 'constructor');
    assert.deepStrictEqual([...members].sort(), [...new Set(found)].sort(), name);
  }
});

// Members that say what they are.
const OBVIOUS =
  'constructor code dim metric scores ids k id score spec seed name multiprocessors totalBytes freeBytes ' +
  'computeMinor centreNorm bytesPerVector filter exactness nprobe numThreads bigint codec';

test('what users see has comments', () => {
  const obvious = new Set(OBVIOUS.split(' '));
  const files = fs.readdirSync(path.join(root, 'types')).map((name) => `types/${name}`);
  for (const file of ['index.d.ts', ...files]) {
    const lines = read(file).split('\n');
    lines.forEach((line, i) => {
      const member = /^  (?:static |readonly )*(\w+)\??(?:<.*)?[(:].*[;({<]$/.exec(line);
      const isExport = /^export (class|function|const|interface|type) /.test(line);
      if (!isExport && (member === null || obvious.has(member[1]))) return;
      assert.ok(lines[i - 1].endsWith('*/'), `${file}:${i + 1}: ${line}`);
    });
  }
});

test('tsc takes the types, and a program that uses them', { skip: !has('tsc') }, () => {
  const options = ['--strict', '--noEmit', '--target', 'es2022', '--lib', 'es2022,dom'];
  options.push('--module', 'node16', '--moduleResolution', 'node16');
  const { status, stdout } = spawnSync('tsc', [...options, 'test/types.mts', 'test/types.cts'], {
    cwd: root,
    encoding: 'utf8',
  });
  assert.strictEqual(status, 0, stdout);
});

test('the README\'s example is the file, and prints what it should', () =>
  inFolder((folder) => {
    const [, shown] = /```js\n([^]*?)```/.exec(read('README.md'));
    const example = read('examples', 'first_search.mjs');
    assert.strictEqual(shown, example.replace(/^(\/\/.*\n)+/, ''));
    const said = execFileSync(process.execPath, [path.join(root, 'examples', 'first_search.mjs'), folder]);
    const lines = said.toString().trim().split('\n');
    assert.strictEqual(lines.length, 5);
    lines.slice(0, 4).forEach((line) => assert.match(line, /^1?\d{2,3} [01]\.\d{3}$/));
    assert.match(lines[0], /^142 1\.00/);
    assert.strictEqual(lines[4], 'rows 999');
  }));

test('every function of the library is reached, or is said not to be', () => {
  const list = path.join(repository, 'tests', 'capi', 'polarquant_symbols.txt');
  const symbols = fs.readFileSync(list, 'utf8').trim().split('\n');
  const sources = fs.readdirSync(path.join(root, 'src')).map((file) => read('src', file));
  // The header's own polar_…_init functions call those that the library has.
  const calls = sources.join('\n').match(/\bpolar_\w+(?=\()/g);
  const called = new Set(calls.map((name) => name.replace(/_init$/, '_init_sized')));
  const excused = read('not_reached.txt').trim().split('\n').filter(Boolean);
  const named = new Set(excused.map((line) => /^(polar_\w+): ./.exec(line)[1]));
  assert.deepStrictEqual(symbols.filter((name) => !called.has(name) && !named.has(name)), []);
  assert.deepStrictEqual([...named].filter((name) => called.has(name) || !symbols.includes(name)), []);
});

test('what the addon takes from Node is in the list for Windows', () => {
  const sources = fs.readdirSync(path.join(root, 'src')).filter((file) => file.endsWith('.c'));
  const used = new Set(sources.map((file) => read('src', file)).join('\n').match(/\bnapi_\w+(?=\()/g));
  const listed = read('src', 'node_api.def').match(/^napi_\w+$/gm);
  assert.deepStrictEqual(listed, [...used].sort());
});

test('npm packs what is needed and nothing else', { skip: !has('npm') }, () => {
  const said = execFileSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts', '--offline'], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const [{ files, name }] = JSON.parse(said);
  assert.strictEqual(name, 'polarquant');
  const packed = files.map((file) => file.path);
  const entries = ['index.js', 'index.mjs', 'index.d.ts', 'index.d.mts', 'package.json'];
  const others = ['lib/native.js', 'types/codec.d.ts', 'src/addon.c', 'Makefile', 'README.md', 'LICENSE'];
  for (const wanted of [...entries, ...others]) assert.ok(packed.includes(wanted), wanted);
  assert.deepStrictEqual(packed.filter((file) => /^(test|bench|build|examples|packaging)\//.test(file)), []);
});

test('packages for platforms are made, and one is found by the main one', () =>
  inFolder((folder) => {
    const script = path.join(root, 'packaging', 'make_packages.js');
    const addon = process.env.POLARQUANT_NODE_ADDON;
    execFileSync(process.execPath, [script, folder, '--templates']);
    const { optionalDependencies, version } = JSON.parse(read('package.json'));
    const made = fs.readdirSync(path.join(folder, '@polarquant'));
    assert.deepStrictEqual(made.map((name) => `@polarquant/${name}`).sort(), Object.keys(optionalDependencies).sort());
    for (const name of made) {
      const template = JSON.parse(fs.readFileSync(path.join(folder, '@polarquant', name, 'package.json')));
      assert.strictEqual(template.version, version);
      assert.strictEqual(optionalDependencies[`@polarquant/${name}`], version);
        assert.deepStrictEqual([template.os.length, template.cpu.length], [1, 1]);
    }
    // As npm would install both: the main package finds the addon, and that its library, in the other.
    const modules = path.join(folder, 'node_modules');
    const bundle = process.env.POLARQUANT_BUNDLE_FOLDER;
    const given = bundle
      ? ['--addon', path.join(bundle, 'polarquant.node'), '--library', path.join(bundle, 'libpolarquant.so.0')]
      : ['--addon', process.env.POLARQUANT_NODE_ADDON];
    execFileSync(process.execPath, [script, modules, ...given]);
    const main = path.join(modules, 'polarquant');
    for (const part of ['index.js', 'package.json', 'lib']) {
      fs.cpSync(path.join(root, part), path.join(main, part), { recursive: true });
    }
    const code = `
      const p = require("polarquant");
      const maps = require("fs").readFileSync("/proc/self/maps", "utf8");
      console.log(p.version, new p.Index("Polar4", 8).ntotal, /\\S*libpolarquant\\.\\S*/.exec(maps)[0]);`;
    const env = { ...process.env };
    delete env.POLARQUANT_NODE_ADDON;
    const said = execFileSync(process.execPath, ['-e', code], { cwd: folder, env }).toString().trim().split(' ');
    assert.deepStrictEqual(said.slice(0, 2), [version, '0']);
    const [platform] = fs.readdirSync(path.join(modules, '@polarquant'));
    if (bundle) assert.strictEqual(path.dirname(said[2]), path.join(fs.realpathSync(modules), '@polarquant', platform));
    if (has('npm')) {
      const args = ['pack', '--dry-run', '--json', '--offline'];
      const cwd = path.join(modules, '@polarquant', platform);
      const [{ files }] = JSON.parse(execFileSync('npm', args, { cwd, stdio: ['ignore', 'pipe', 'ignore'] }));
      const wanted = ['LICENSE', 'README.md', 'package.json', 'polarquant.node'];
      if (bundle) wanted.push('libpolarquant.so.0');
      assert.deepStrictEqual(files.map((file) => file.path).sort(), wanted.sort());
    }
    fs.rmSync(path.join(modules, '@polarquant'), { recursive: true });
    const missing = spawnSync(process.execPath, ['-e', code], { cwd: folder, env, encoding: 'utf8' });
    assert.match(missing.stderr, /there is no addon for \S+; looked for .*@polarquant\//);
  }));
