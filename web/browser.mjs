// SPDX-License-Identifier: MIT
// Tries the page in a real browser: bundles tests/browser/use.ts and looks.ts for Node.js and runs them.
// node browser.mjs --flightdeck BINARY [--chromium BINARY] [--part use|looks] [--update] [--page FOLDER] [--only WORDS]
//   [--gallery FOLDER]
// --part runs one of the two alone, so that both can run side by side;
// --update takes the screenshots as the new references; --page shows a page that build.mjs wrote
// there instead of the one in the binary; --only runs the tests whose names hold the words;
// --gallery writes pictures of every view there instead, in both themes and at three widths.
import {spawnSync} from 'node:child_process';
import {mkdirSync, mkdtempSync, rmSync} from 'node:fs';
import {join, resolve} from 'node:path';
import {fileURLToPath} from 'node:url';
import {parseArgs} from 'node:util';
import {build} from 'esbuild';

const {values} = parseArgs({
  options: {
    flightdeck: {type: 'string'},
    chromium: {type: 'string', default: '/usr/bin/chromium'},
    part: {type: 'string'},
    update: {type: 'boolean', default: false},
    page: {type: 'string'},
    only: {type: 'string'},
    gallery: {type: 'string'},
  },
});
const PARTS = ['use', 'looks'];
if (values.part && !PARTS.includes(values.part)) throw new Error(`browser.mjs: --part is ${values.part}, not ${PARTS.join(' or ')}`);
const parts = values.gallery ? ['gallery'] : values.part ? [values.part] : PARTS;
if (!values.flightdeck) throw new Error('browser.mjs: name the binary: --flightdeck build/flightdeck');

const here = fileURLToPath(new URL('.', import.meta.url));
// Beside the packages, so that the bundle finds playwright-core, which cannot be bundled.
const cache = join(here, 'node_modules', '.cache');
mkdirSync(cache, {recursive: true});
const out = mkdtempSync(join(cache, 'browser-'));
try {
  await build({
    absWorkingDir: here,
    entryPoints: parts.map((part) => `tests/browser/${part}.ts`),
    outdir: out,
    outExtension: {'.js': '.mjs'},
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node18',
    external: ['playwright-core'],
    sourcemap: 'inline',
    logLevel: 'warning',
  });
  const reporter = `--test-reporter=${join(here, 'failures.mjs')}`;
  const pattern = values.only ? [`--test-name-pattern=${values.only}`] : [];
  const env = {
    ...process.env,
    FLIGHTDECK_WEB: here,
    FLIGHTDECK_BINARY: resolve(values.flightdeck),
    FLIGHTDECK_CHROMIUM: values.chromium,
    FLIGHTDECK_UPDATE: values.update ? '1' : '',
    FLIGHTDECK_PAGE: values.page ? resolve(values.page) : '',
    FLIGHTDECK_GALLERY: values.gallery ? resolve(values.gallery) : '',
  };
  for (const part of parts) {
    const {status} = spawnSync(process.execPath, ['--enable-source-maps', reporter, ...pattern, join(out, `${part}.mjs`)], {stdio: 'inherit', env});
    process.exitCode ||= status ?? 1;
  }
} finally {
  rmSync(out, {recursive: true, force: true});
}
