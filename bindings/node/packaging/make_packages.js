// SPDX-License-Identifier: MIT
// Makes the packages for platforms, @polarquant/linux-x64 and so on, which npm installs beside the main one
// where they fit. Each has an addon and the library that it was built with (make POLARQUANT_BUNDLE=1).
//
// usage: make_packages.js OUT --templates         all of them, without addons
//        make_packages.js OUT --addon FILE [--library FILE] [--platform NAME]
//                                                 the one for a platform, by default this one
'use strict';

const fs = require('fs');
const path = require('path');

const main = require('../package.json');
const names = Object.keys(main.optionalDependencies).map((name) => name.replace('@polarquant/', ''));

/** package.json of the package for a platform. */
function describe(platform) {
  const [os, cpu, libc = 'glibc'] = platform.split('-');
  const { version, license, repository, homepage, engines } = main;
  return {
    name: `@polarquant/${platform}`,
    version,
    description: `The addon of polarquant for ${os} on ${cpu}`,
    license,
    repository,
    homepage,
    main: 'polarquant.node',
    files: ['polarquant.node', '*polarquant*.so*', '*polarquant*.dylib', '*polarquant*.dll'],
    os: [os],
    cpu: [cpu],
    // npm takes the one for the C library that is there.
    ...(os === 'linux' && { libc: [libc] }),
    engines,
    preferUnplugged: true,
  };
}

function write(out, platform) {
  const folder = path.join(out, '@polarquant', platform);
  fs.mkdirSync(folder, { recursive: true });
  const text = JSON.stringify(describe(platform), null, 2);
  fs.writeFileSync(path.join(folder, 'package.json'), `${text}\n`);
  const what = `The addon of [polarquant](${main.homepage}) for ${platform}. Install \`polarquant\`.`;
  fs.writeFileSync(path.join(folder, 'README.md'), `# @polarquant/${platform}\n\n${what}\n`);
  fs.copyFileSync(path.join(__dirname, '..', 'LICENSE'), path.join(folder, 'LICENSE'));
  return folder;
}

function run([out, ...rest]) {
  const option = (name) => (rest.includes(name) ? rest[rest.indexOf(name) + 1] : undefined);
  if (out === undefined || (!rest.includes('--templates') && option('--addon') === undefined)) {
    process.stderr.write('usage: make_packages.js OUT --templates\n');
    process.stderr.write('       make_packages.js OUT --addon FILE [--library FILE] [--platform NAME]\n');
    process.exit(2);
  }
  if (rest.includes('--templates')) {
    for (const name of names) write(out, name);
    return;
  }
  const platform = option('--platform') ?? `${process.platform}-${process.arch}`;
  const folder = write(out, platform);
  fs.copyFileSync(option('--addon'), path.join(folder, 'polarquant.node'));
  const library = option('--library');
  // Under the name that the addon asks for.
  if (library !== undefined) fs.copyFileSync(fs.realpathSync(library), path.join(folder, path.basename(library)));
}

run(process.argv.slice(2));
