// SPDX-License-Identifier: MIT
// Runs the unit tests: bundles each tests/*_test.ts for Node.js and hands them to its test runner.
// node test.mjs [FILE...]
import {spawnSync} from 'node:child_process';
import {mkdtempSync, readdirSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join, basename} from 'node:path';
import {fileURLToPath} from 'node:url';
import {build} from 'esbuild';
import {documents} from './documents.mjs';
import {instruments} from './instruments.mjs';

const here = fileURLToPath(new URL('.', import.meta.url));
const named = process.argv.slice(2);
const files = readdirSync(join(here, 'tests'))
  .filter((name) => /_test\.tsx?$/.test(name))
  .filter((name) => named.length === 0 || named.some((word) => name.includes(basename(word))));
if (files.length === 0) throw new Error(`test.mjs: no file of tests/ is named like ${named.join(', ')}`);

const out = mkdtempSync(join(tmpdir(), 'flightdeck-web-'));
try {
  await build({
    absWorkingDir: here,
    entryPoints: files.map((name) => join('tests', name)),
    outdir: out,
    outExtension: {'.js': '.mjs'},
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node18',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    sourcemap: 'inline',
    loader: {'.css': 'empty'},
    logLevel: 'warning',
    plugins: [instruments, documents()],
  });
  const built = readdirSync(out).filter((name) => name.endsWith('.mjs')).map((name) => join(out, name));
  const result = spawnSync(process.execPath, ['--enable-source-maps', `--test-reporter=${join(here, 'failures.mjs')}`, '--test', ...built], {
    stdio: 'inherit',
    env: {...process.env, FLIGHTDECK_WEB: here},
  });
  process.exitCode = result.status ?? 1;
} finally {
  rmSync(out, {recursive: true, force: true});
}
