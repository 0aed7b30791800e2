// SPDX-License-Identifier: MIT
// Tries the page in a real browser: bundles tests/browser/main.ts for Node.js and runs it.
// node browser.mjs --flightdeck BINARY [--chromium BINARY] [--update] [--page FOLDER] [--only WORDS] [--gallery FOLDER]
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
    update: {type: 'boolean', default: false},
    page: {type: 'string'},
    only: {type: 'string'},
    gallery: {type: 'string'},
  },
});
if (!values.flightdeck) throw new Error('browser.mjs: name the binary: --flightdeck build/flightdeck');

const here = fileURLToPath(new URL('.', import.meta.url));
// Beside the packages, so that the bundle finds playwright-core, which cannot be bundled.
const cache = join(here, 'node_modules', '.cache');
mkdirSync(cache, {recursive: true});
const out = mkdtempSync(join(cache, 'browser-'));
try {
  await build({
    absWorkingDir: here,
    entryPoints: [`tests/browser/${values.gallery ? 'gallery' : 'main'}.ts`],
    outfile: join(out, 'main.mjs'),
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node18',
    external: ['playwright-core'],
    sourcemap: 'inline',
    logLevel: 'warning',
  });
  const pattern = values.only ? [`--test-name-pattern=${values.only}`] : [];
  const {status} = spawnSync(process.execPath, ['--enable-source-maps', ...pattern, join(out, 'main.mjs')], {
    stdio: 'inherit',
    env: {
      ...process.env,
      FLIGHTDECK_WEB: here,
      FLIGHTDECK_BINARY: resolve(values.flightdeck),
      FLIGHTDECK_CHROMIUM: values.chromium,
      FLIGHTDECK_UPDATE: values.update ? '1' : '',
      FLIGHTDECK_PAGE: values.page ? resolve(values.page) : '',
      FLIGHTDECK_GALLERY: values.gallery ? resolve(values.gallery) : '',
    },
  });
  process.exitCode = status ?? 1;
} finally {
  rmSync(out, {recursive: true, force: true});
}
