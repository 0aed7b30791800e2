// SPDX-License-Identifier: MIT
// The cockpit's charts: exact values, axes, smoothing, zoom; and the theme.
import assert from 'node:assert';
import {pageTest} from '../harness/browser';
import {fixtureFolder, openFixture, SGD} from '../harness/fixture';
import {exported} from '../harness/flightdeck';
import {colours, drag, eventually, hover, menu, panel, pixels} from '../harness/panels';

const PANELS = ['Alpha', 'Distances', 'Gradient norm', 'Gradient tests', 'Gradient entries', 'Gradient and parameter entries',
  'Extreme eigenvalues', 'Trace of the Hessian', 'Takeuchi criterion', 'Losses', 'Accuracies'];

pageTest('the cockpit draws every instrument of the papers, and all others that have values', async (page) => {
  await openFixture(page, SGD);
  for (const title of PANELS) assert.strictEqual(await panel(page, title).count(), 1, title);
  const all = page.locator('[data-panel]');
  assert.ok(await all.count() > 20);
  for (const each of await all.all()) {
    await each.scrollIntoViewIfNeeded();
    const canvas = each.locator('canvas').first();
    await canvas.waitFor();
    await eventually(`${await each.getAttribute('aria-label')} is drawn`, async () => await colours(canvas) > 3);
  }
});

pageTest('hovering shows the values that flightdeck export writes, smoothed or not', async (page) => {
  const columns = {'Gradient norm': ['gradient norm', 'grad_norm'], 'Trace of the Hessian': ['trace', 'hess_trace'],
    Losses: ['mini-batch', 'loss']} as const;
  await openFixture(page, SGD);
  for (const [title, [line, column]] of Object.entries(columns)) {
    const exact = await exported(fixtureFolder(), SGD, column);
    for (const part of [0, 0.4, 0.7]) {
      const {step, values} = await hover(page, panel(page, title), part);
      if (exact.has(step)) assert.strictEqual(values[line], exact.get(step), `${title} at step ${step}`);
    }
  }
  const norm = panel(page, 'Gradient norm');
  const before = {seen: await hover(page, norm, 0.5), pixels: await pixels(norm)};
  await page.getByRole('slider', {name: 'Smoothing'}).fill('0.9');
  await eventually('the line is smoothed', async () => await pixels(norm) !== before.pixels);
  assert.deepStrictEqual(await hover(page, norm, 0.5), before.seen);
  assert.ok('gradient norm' in before.seen.values);
});

pageTest('both axes of a chart are linear or logarithmic, one for all or one by one', async (page) => {
  await openFixture(page, SGD);
  const norm = panel(page, 'Gradient norm');
  const linear = (await hover(page, norm, 0.5)).step;
  await page.getByRole('checkbox', {name: 'Log steps'}).check();
  await eventually('half of a logarithmic axis is few steps', async () => (await hover(page, norm, 0.5)).step < linear / 2);
  assert.ok((await hover(page, panel(page, 'Distances'), 0.5)).step < linear / 2);

  const choices = await menu(norm, 'Gradient norm');
  const logY = choices.getByRole('button', {name: 'Log y'});
  const isLog = await logY.getAttribute('aria-pressed') === 'true';
  const before = await pixels(norm);
  await logY.click();
  await eventually('the axis changes', async () => await pixels(norm) !== before);
  assert.strictEqual(await logY.getAttribute('aria-pressed'), String(!isLog));
  await choices.getByRole('button', {name: 'Log x'}).click();
  await page.keyboard.press('Escape');
  await choices.waitFor({state: 'detached'});
  await eventually('its own axis of steps is linear', async () => (await hover(page, norm, 0.5)).step === linear);
  assert.ok((await hover(page, panel(page, 'Distances'), 0.5)).step < linear / 2);
});

pageTest('a zoom holds for all charts, and ends by button, key and double click', async (page) => {
  await openFixture(page, SGD);
  const [norm, distances] = [panel(page, 'Gradient norm'), panel(page, 'Distances')];
  const all = page.getByRole('button', {name: /^Steps \d+–\d+/});
  const ends: (() => Promise<unknown>)[] = [
    () => all.click(),
    () => page.keyboard.press('0'),
    () => distances.locator('.u-over').dblclick(),
  ];
  for (const end of ends) {
    await drag(page, norm, 0.4, 0.7);
    const [, first, last] = (/(\d+)–(\d+)/.exec(await all.innerText()) ?? []).map(Number) as [number, number, number];
    assert.ok(first > 10 && last < 60, `zoomed to ${first}–${last}`);
    for (const part of [0, 1]) {
      const {step} = await hover(page, distances, part);
      assert.ok(step >= first - 4 && step <= last + 4, `step ${step} is shown`);
    }
    await end();
    await all.waitFor({state: 'detached'});
    await eventually('all steps are shown', async () => (await hover(page, distances, 0)).step === 0);
  }
});

pageTest('a line is hidden and shown by its legend', async (page) => {
  await openFixture(page, SGD);
  const distances = panel(page, 'Distances');
  const before = await pixels(distances);
  const item = distances.getByRole('button', {name: /^update size/});
  await item.click();
  assert.strictEqual(await item.getAttribute('aria-pressed'), 'false');
  await eventually('the line is gone', async () => await pixels(distances) !== before);
});

pageTest('dark mode is switched by a button and kept from visit to visit', async (page) => {
  await openFixture(page, SGD);
  const theme = () => page.evaluate(() => [document.documentElement.dataset['theme'], getComputedStyle(document.body).backgroundColor]);
  const [light, brightness] = await theme();
  assert.strictEqual(light, 'light');
  const norm = panel(page, 'Gradient norm');
  const before = await pixels(norm);
  await page.getByRole('button', {name: /^Theme: auto/}).click();
  const [dark, darkness] = await theme();
  assert.strictEqual(dark, 'dark');
  assert.notStrictEqual(darkness, brightness);
  await eventually('charts follow', async () => await pixels(norm) !== before);
  await page.reload();
  await page.getByRole('button', {name: /^Theme: dark/}).waitFor();
  assert.deepStrictEqual(await theme(), [dark, darkness]);
});

pageTest('without a choice the page is as dark as the system', async (page) => {
  await page.emulateMedia({colorScheme: 'dark'});
  await openFixture(page, SGD);
  assert.strictEqual(await page.locator('html').getAttribute('data-theme'), 'dark');
  await page.emulateMedia({colorScheme: 'light'});
  await eventually('the page follows', async () => await page.locator('html').getAttribute('data-theme') === 'light');
});
