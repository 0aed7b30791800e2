// SPDX-License-Identifier: MIT
// Bundles the page: node build.mjs --out FOLDER [--documents ../docs] writes index.html, app.js, app.css and icon.svg.
import {copyFileSync, mkdirSync} from 'node:fs';
import {join, resolve} from 'node:path';
import {fileURLToPath} from 'node:url';
import {parseArgs} from 'node:util';
import {build} from 'esbuild';
import {documents} from './documents.mjs';
import {instruments} from './instruments.mjs';

const {values} = parseArgs({options: {out: {type: 'string', default: 'dist'}, documents: {type: 'string'}}});
const here = fileURLToPath(new URL('.', import.meta.url));

mkdirSync(values.out, {recursive: true});
await build({
  absWorkingDir: here,
  entryPoints: {app: 'src/app/main.tsx'},
  outdir: resolve(values.out),
  bundle: true,
  minify: true,
  charset: 'utf8',
  format: 'iife',
  // The report puts the script into a page: no </script> may end it early (esbuild escapes it).
  target: ['chrome100', 'firefox100', 'safari15.4'],
  jsx: 'automatic',
  jsxImportSource: 'preact',
  legalComments: 'inline',
  logLevel: 'warning',
  plugins: [instruments, documents(values.documents)],
});
for (const file of ['index.html', 'icon.svg']) {
  copyFileSync(join(here, 'static', file), join(values.out, file));
}
