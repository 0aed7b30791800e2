// SPDX-License-Identifier: MIT
// Measures how a long run opens in a browser: time from navigation to drawn charts, memory of the
// page. node measure_large.mjs --flightdeck build/flightdeck --recorder build/bench/record_long
// [--steps 1000000] [--folder FOLDER_OF_A_RUN] [--times 3]
import {execFileSync, spawn} from 'node:child_process';
import {mkdtempSync, readFileSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {createInterface} from 'node:readline';
import {parseArgs} from 'node:util';
import {chromium} from 'playwright-core';

const {values} = parseArgs({
  options: {
    flightdeck: {type: 'string'},
    recorder: {type: 'string'},
    steps: {type: 'string', default: '1000000'},
    folder: {type: 'string'},
    times: {type: 'string', default: '3'},
    chromium: {type: 'string', default: '/usr/bin/chromium'},
  },
});
if (!values.flightdeck || !(values.recorder || values.folder)) {
  throw new Error('measure_large.mjs: give --flightdeck BINARY, and --recorder BINARY or --folder RUN');
}

const scratch = mkdtempSync(join(tmpdir(), 'flightdeck-large-'));
const run = values.folder ?? join(scratch, 'long');
if (!values.folder) execFileSync(values.recorder, [run, values.steps], {stdio: 'inherit'});

const MB = 1e6;
const round = (number) => Math.round(10 * number) / 10;

/** Private and resident memory of the process that shows a page, in MB. */
function memory(process) {
  const text = readFileSync(`/proc/${process}/smaps_rollup`, 'utf8');
  const of = (name) => 1024 * Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(text)[1]);
  return {resident: round(of('Rss') / MB), private: round((of('Private_Dirty') + of('Private_Clean')) / MB)};
}

/** In the page: whether all panels in sight have something drawn on them. */
function isDrawn() {
  const inSight = [...document.querySelectorAll('[data-panel]')].filter((panel) => panel.getBoundingClientRect().top < innerHeight);
  return inSight.length > 0 && inSight.every((panel) => (panel.querySelector('canvas')?.width ?? 0) > 0 && !panel.querySelector('.skeleton'));
}

async function open(browser, address) {
  const context = await browser.newContext({viewport: {width: 1440, height: 900}});
  const page = await context.newPage();
  const session = await context.newCDPSession(page);
  await session.send('Performance.enable');
  const begin = performance.now();
  await page.goto(address, {waitUntil: 'commit'});
  await page.waitForFunction(isDrawn, undefined, {polling: 'raf', timeout: 60_000});
  const inSight = performance.now() - begin;
  await page.waitForFunction(() => document.querySelector('[data-panel]') && !document.querySelector('.skeleton'), undefined, {polling: 'raf', timeout: 60_000});
  const all = performance.now() - begin;
  // Every panel once in sight, as a reader would see them.
  for (const panel of await page.locator('[data-panel]').all()) await panel.scrollIntoViewIfNeeded();
  await page.waitForTimeout(1000);
  const charts = await page.locator('[data-panel] canvas').count();
  const {metrics} = await session.send('Performance.getMetrics');
  const heap = metrics.find(({name}) => name === 'JSHeapUsedSize').value;
  const browserSession = await browser.newBrowserCDPSession();
  const {processInfo} = await browserSession.send('SystemInfo.getProcessInfo');
  const largest = processInfo.filter(({type}) => type === 'renderer').map(({id}) => memory(id)).sort((a, b) => b.private - a.private)[0];
  await context.close();
  return {charts_in_sight_ms: Math.round(inSight), all_series_ms: Math.round(all), charts, heap_mb: round(heap / MB), renderer_mb: largest};
}

const server = spawn(values.flightdeck, ['serve', run, '--json'], {stdio: ['ignore', 'pipe', 'inherit']});
const browser = await chromium.launch({executablePath: values.chromium, args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run',
  '--disable-background-networking', '--disable-component-update', '--disable-sync']});
try {
  const line = await new Promise((resolve) => createInterface({input: server.stdout}).once('line', resolve));
  const {address} = JSON.parse(line);
  const {runs} = await (await fetch(`${address}api/v1/runs`)).json();
  for (let i = 0; i < Number(values.times); ++i) {
    console.log(JSON.stringify(await open(browser, `${address}#/run/${encodeURIComponent(runs[0].id)}/cockpit`)));
  }
} finally {
  await browser.close();
  server.kill();
  rmSync(scratch, {recursive: true, force: true});
}
