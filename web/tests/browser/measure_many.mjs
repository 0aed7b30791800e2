// SPDX-License-Identifier: MIT
// Measures how the page bears many runs: time to the first view, and of each action until the page is
// drawn and calm again. node measure_many.mjs --flightdeck build/flightdeck --folder FOLDER_OF_RUNS
// [--page FOLDER] [--times 3]. make_many_runs.py makes such a folder.
import {spawn} from 'node:child_process';
import {readFileSync} from 'node:fs';
import {loadavg} from 'node:os';
import {join} from 'node:path';
import {createInterface} from 'node:readline';
import {parseArgs} from 'node:util';
import {chromium} from 'playwright-core';

const {values} = parseArgs({
  options: {
    flightdeck: {type: 'string'},
    folder: {type: 'string'},
    page: {type: 'string'},
    times: {type: 'string', default: '3'},
    chromium: {type: 'string', default: '/usr/bin/chromium'},
  },
});
if (!values.flightdeck || !values.folder) throw new Error('measure_many.mjs: give --flightdeck BINARY and --folder FOLDER');

/**
 * In the page: milliseconds from the action until it is seen (the second frame begins when the first is
 * painted), and until no frame is late any more: runs that were asked for have arrived and are drawn.
 */
async function timed(act) {
  const LATE = 25;
  const frame = () => new Promise((resolve) => requestAnimationFrame(() => resolve(performance.now())));
  await frame();
  const start = await frame();
  await act();
  await frame();
  let last = await frame();
  const seen = last - start;
  let [settled, calm] = [seen, 0];
  while (calm < 6) {
    const now = await frame();
    const isLate = now - last > LATE;
    if (isLate) settled = now - start;
    calm = isLate ? 0 : calm + 1;
    last = now;
  }
  return {seen: Math.round(seen), calm: Math.round(settled)};
}

/** In the page: actions by name. */
const ACTIONS = `({
  'type a filter': () => input('input[type=search]:not(.runs)', 'adam learning_rate>0.001'),
  'clear the filter': () => input('input[type=search]:not(.runs)', ''),
  'sort by loss': () => [...document.querySelectorAll('thead button')].find((b) => b.title === 'sort by loss').click(),
  'next page of the table': () => button('next').click(),
  'choose one more run': () => document.querySelector('tbody input[type=checkbox]:not(:checked)').click(),
  'smoothing': () => input('.overlay input[type=range]', '0.6'),
  'no smoothing': () => input('.overlay input[type=range]', '0'),
  'over seconds': () => choose('[aria-label="Horizontal axis"]', 'seconds'),
  'over steps': () => choose('[aria-label="Horizontal axis"]', 'step'),
  'switch a line off': () => document.querySelector('.shared-legend button').click(),
  'switch it on': () => document.querySelector('.shared-legend button').click(),
  'make a panel wider': () => key('.grip', 'ArrowRight'),
  'move a panel': () => key('.handle', 'ArrowRight'),
  'group by optimizer': () => choose('.overlay .toolbar select', 'config:optimizer'),
  'distributions': () => way('Distributions'),
  'scatter of all runs': () => way('Scatter'),
  'another number': () => choose('.toolbar.inner select', 'config:seed'),
  'parallel coordinates of all runs': () => way('Parallel coordinates'),
  'brush by numbers': () => input('[aria-label="Most learning_rate"]', '0.01', 'change'),
  'settings': () => way('Settings'),
  'curves': () => way('Curves'),
  'choose all runs': () => document.querySelector('thead input[type=checkbox]').click(),
  'choose none': () => button('Choose none').click(),
})`;

/** In the page: what the actions are made of. */
const HELP = `
  const button = (text) => [...document.querySelectorAll('button')].find((each) => each.textContent === text);
  const way = (text) => [...document.querySelectorAll('.segments label')].find((each) => each.textContent === text).querySelector('input').click();
  const input = (selector, value, kind = 'input') => {
    const element = document.querySelector(selector);
    element.value = value;
    element.dispatchEvent(new Event(kind, {bubbles: true}));
  };
  const choose = (selector, value) => input(selector, value, 'change');
  const key = (selector, name) => document.querySelector(selector).dispatchEvent(new KeyboardEvent('keydown', {key: name, bubbles: true}));
`;

function isDrawn() {
  const inSight = [...document.querySelectorAll('[data-panel]')].filter((panel) => panel.getBoundingClientRect().top < innerHeight);
  return document.querySelectorAll('tbody tr').length > 0 && inSight.length > 0 &&
    inSight.every((panel) => (panel.querySelector('canvas')?.width ?? 0) > 0);
}

async function measure(browser, address) {
  const context = await browser.newContext({viewport: {width: 1280, height: 900}});
  if (values.page) {
    for (const file of ['app.js', 'app.css']) {
      await context.route((url) => url.pathname === `/${file}`, (route) => route.fulfill({body: readFileSync(join(values.page, file)),
        contentType: file.endsWith('js') ? 'text/javascript' : 'text/css'}));
    }
  }
  const page = await context.newPage();
  const begin = performance.now();
  await page.goto(address, {waitUntil: 'commit'});
  await page.waitForFunction(isDrawn, undefined, {polling: 'raf', timeout: 60_000});
  const result = {first_view_ms: Math.round(performance.now() - begin)};
  // As a reader would: what was asked for has arrived.
  const arrived = () => page.waitForFunction(() => !document.querySelector('.overlay progress'), undefined, {timeout: 120_000});
  await arrived();
  const names = await page.evaluate(`${HELP} Object.keys(${ACTIONS})`);
  for (const name of names) {
    result[name] = await page.evaluate(`${HELP} (${timed.toString()})((${ACTIONS})[${JSON.stringify(name)}])`);
    await arrived();
    await page.waitForTimeout(400);
  }
  await context.close();
  return result;
}

const server = spawn(values.flightdeck, ['serve', values.folder, '--json'], {stdio: ['ignore', 'pipe', 'inherit']});
const browser = await chromium.launch({executablePath: values.chromium, args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run',
  '--disable-background-networking', '--disable-component-update', '--disable-sync']});
try {
  const line = await new Promise((resolve) => createInterface({input: server.stdout}).once('line', resolve));
  const {address} = JSON.parse(line);
  const count = async () => (await (await fetch(new URL('api/v1/runs', address))).json()).runs.length;
  // Until the server has looked at all of them: on a busy machine its first answer has fewer.
  let [runs, before] = [await count(), -1];
  while (runs !== before) {
    await new Promise((resolve) => setTimeout(resolve, 3000));
    [before, runs] = [runs, await count()];
  }
  console.log(JSON.stringify({runs, load: loadavg()[0]}));
  const all = [];
  for (let i = 0; i < Number(values.times); ++i) all.push(await measure(browser, address));
  const told = (value) => (typeof value === 'number' ? `${value}` : `${value.seen} (calm ${value.calm})`);
  for (const name of Object.keys(all[0])) console.log(`${name}: ${all.map((each) => told(each[name])).join(', ')} ms`);
  console.log(JSON.stringify({load: loadavg()[0]}));
} finally {
  await browser.close();
  server.kill();
}
