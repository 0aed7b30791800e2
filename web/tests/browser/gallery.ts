// SPDX-License-Identifier: MIT
// Every view in both themes at three widths as pictures to look at, with labels that lie upon each
// other as failures, and a contact sheet of all for each theme. browser.mjs --gallery FOLDER runs it.
import assert from 'node:assert';
import {existsSync, mkdirSync, readFileSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {after, before} from 'node:test';
import {pathToFileURL} from 'node:url';
import type {Page} from 'playwright-core';
import {pageTest} from './harness/browser';
import {type Pictured, writeSheet} from './harness/contact_sheet';
import {flightdeck, flightdeckIn, Server} from './harness/flightdeck';
import {overlaps, rememberLabels, sidewaysRoom} from './harness/labels';
import {eventually, loaded} from './harness/panels';
import {pictureAnd} from './harness/pictures';
import {settings} from './harness/settings';

const WIDTHS = [390, 1280, 2560] as const;
const SMALL = ['--synthetic', '--limit', '512', '--batch-size', '32', '--threads', '1'];
const EXTRA = ['sample_outliers', 'update_ratio', 'dead_units', 'saturated_units', 'grad_noise_scale', 'grad_cosine', 'ggn_spectrum',
  'cabs', 'early_stopping', 'mean_gsnr', 'hess_min_ev', 'parameters', 'time'].flatMap((name) => ['--quantity', name]);
/** The runs that are shown, and how they are made. */
const RUNS: Record<string, readonly string[]> = {
  economy: ['mnist_mlp', ...SMALL, '--steps', '300', '--preset', 'economy'],
  business: ['mnist_mlp', ...SMALL, '--steps', '200', '--preset', 'business', '--group', 'parameter', '--schedule', 'cosine'],
  full: ['mnist_mlp', ...SMALL, '--steps', '160', '--track', 'every 4', '--preset', 'full', '--group', 'parameter', ...EXTRA],
  diverged: ['mnist_mlp', ...SMALL, '--steps', '200', '--lr', '100', '--interval', '1', '--preset', 'economy', '--keep-going'],
  ...Object.fromEntries([1, 2, 3].map((seed) => [`study/adam/seed-${seed}`,
    ['mnist_mlp', ...SMALL, '--steps', '96', '--preset', 'economy', '--optimizer', 'adam', '--lr', '0.001', '--seed', String(seed)]])),
  penalty: ['cifar10_3c3d', '--synthetic', '--limit', '32', '--batch-size', '8', '--threads', '1', '--steps', '8', '--interval', '1'],
};

/** What is analyzed: three optimizers, tuned over a few rates. */
const STUDY = ['mnist_logreg', '--synthetic', '--limit', '256', '--batch-size', '32', '--epochs', '2', '--threads', '1', '--seeds', '3',
  '--optimizer', 'sgd', '--optimizer', 'momentum', '--optimizer', 'adam', '--grid', 'learning_rate=0.003:0.3:4'];

/** Kept beside the pictures: what is there is shown as it is. */
const folder = join(settings.gallery, 'runs');
const study = join(settings.gallery, 'study');
let server: Server;
before(async () => {
  mkdirSync(folder, {recursive: true});
  for (const [name, words] of Object.entries(RUNS)) {
    if (existsSync(join(folder, name))) continue;
    // A run that diverges says so by its status.
    await flightdeckIn(folder, 'run', ...words, '--json', '--out', name).catch(() => undefined);
  }
  if (!existsSync(study)) await flightdeck('tune', ...STUDY, '--json', '--out', study);
  await flightdeck('analyze', study, '--format', 'html', '--quiet', '-o', join(study, 'analysis'));
  await flightdeck('report', join(folder, 'full'), '-o', join(folder, 'report.html'));
  server = await Server.start(folder);
});
after(() => server.kill());

async function open(page: Page, run: string, view: string): Promise<void> {
  await page.goto(run === '' ? server.address : `${server.address}#/run/${run}/${view}`);
  if (view === 'run') await page.getByRole('rowheader', {name: /loss/i}).first().waitFor();
  else if (view === 'diagnosis') await page.locator('.verdict').waitFor();
  else await loaded(page);
}

async function openLayer(page: Page): Promise<void> {
  await open(page, 'full', 'layers');
  await page.locator('.tile').first().click();
  await eventually('its panels are drawn', async () => await page.locator('.layer-detail canvas').count() > 3);
}

async function openReport(page: Page): Promise<void> {
  await page.goto(pathToFileURL(join(folder, 'report.html')).href);
  await loaded(page);
}

async function compare(page: Page, query: string): Promise<void> {
  await page.goto(`${server.address}#/?${query}`);
  await page.locator('.overlay canvas, .overlay td').first().waitFor();
  await eventually('all runs are read', async () => await page.locator('.overlay progress, .skeleton, .pulse').count() === 0);
}

const WAYS = {compare: 'view=curves', compare_groups: 'view=curves&runs=all&group=config%3Aoptimizer', compare_distributions: 'view=distributions',
  compare_scatter: 'view=scatter', compare_parallel: 'view=parallel', compare_settings: 'view=settings&run=economy&run=diverged'};

const VIEWS: Record<string, (page: Page) => Promise<void>> = {
  ...Object.fromEntries(Object.entries(WAYS).map(([name, query]) => [name, (page: Page) => compare(page, query)])),
  ...Object.fromEntries(Object.keys(RUNS).filter((run) => !run.includes('/')).map((run) => [`cockpit_${run}`, (page: Page) => open(page, run, 'cockpit')])),
  layers: (page) => open(page, 'full', 'layers'),
  layer: openLayer,
  diagnosis: (page) => open(page, 'diverged', 'diagnosis'),
  run: (page) => open(page, 'full', 'run'),
  run_diverged: (page) => open(page, 'diverged', 'run'),
  report: openReport,
  analysis: async (page) => { await page.goto(pathToFileURL(join(study, 'analysis', 'index.html')).href); },
};

const fileOf = (name: string, width: number, theme: string) => join(settings.gallery, `${name}_${width}_${theme}.png`);

for (const [name, show] of Object.entries(VIEWS)) {
  for (const width of WIDTHS) {
    for (const colorScheme of ['light', 'dark'] as const) {
      pageTest(`no labels of ${name} overlap at ${width} in ${colorScheme}`, async (page) => {
        await show(page);
        const taken = await pictureAnd(page, 'DejaVu Sans', () => overlaps(page));
        writeFileSync(fileOf(name, width, colorScheme), taken.bytes);
        assert.deepStrictEqual(taken.seen, []);
        assert.strictEqual(await sidewaysRoom(page), 0);
      }, {width, height: 900, context: {colorScheme}, prepare: rememberLabels});
    }
  }
}

for (const theme of ['light', 'dark'] as const) {
  pageTest(`the contact sheet in ${theme} holds every view`, async (page) => {
    const pictures: Pictured[] = Object.keys(VIEWS).flatMap((name) => WIDTHS.map((width) => ({name, width, bytes: readFileSync(fileOf(name, width, theme))})));
    writeFileSync(join(settings.gallery, `gallery_${theme}.jpg`), await writeSheet(page, pictures, WIDTHS));
  });
}
