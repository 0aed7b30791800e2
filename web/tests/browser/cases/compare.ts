// SPDX-License-Identifier: MIT
// The first page: all runs in a table, chosen ones over each other.
import assert from 'node:assert';
import type {Page} from 'playwright-core';
import {pageTest} from '../harness/browser';
import {ADAM, openFixture, SGD} from '../harness/fixture';
import {eventually, hover, panel, pixels} from '../harness/panels';

const names = (page: Page) => page.getByRole('table', {name: 'runs'}).locator('tbody .run-name a').allInnerTexts();

pageTest('runs lie over each other, and leave when they are not chosen', async (page) => {
  await openFixture(page, '');
  const loss = page.getByRole('region', {name: 'Comparison'}).getByRole('region', {name: /^Loss/i}).first();
  await loss.locator('canvas').waitFor();
  assert.strictEqual(await loss.locator('.legend button').count(), 2);
  const {values} = await hover(page, loss, 0);
  assert.deepStrictEqual(Object.keys(values).sort(), [ADAM, SGD]);
  const before = await pixels(loss);
  await page.getByRole('checkbox', {name: `Compare ${ADAM}`}).uncheck();
  await eventually('one line is left', async () => await loss.locator('.legend button').count() === 1);
  assert.notStrictEqual(await pixels(loss), before);
});

pageTest('runs that did not track time lie over each other by seconds too', async (page) => {
  await openFixture(page, '');
  const comparison = page.getByRole('region', {name: 'Comparison'});
  const loss = comparison.getByRole('region', {name: /^Loss/i}).first();
  await loss.locator('canvas').waitFor();
  await comparison.getByRole('radio', {name: 'Seconds'}).check();
  await eventually('both are still there', async () => await loss.locator('.legend button').count() === 2);
  await comparison.getByRole('heading', {name: '2 runs over each other'}).waitFor();
});

pageTest('the difference of settings shows what differs, and no more', async (page) => {
  await openFixture(page, '');
  const difference = page.getByRole('region', {name: 'settings that differ'});
  await difference.waitFor();
  const heads = await difference.getByRole('columnheader').allInnerTexts();
  assert.ok(heads.includes('optimizer') && heads.includes('seed'), heads.join());
  assert.ok(!heads.includes('batch_size') && !heads.includes('problem'), heads.join());
});

pageTest('the table of runs sorts by any column and filters by words and values', async (page) => {
  await openFixture(page, '');
  assert.deepStrictEqual(await names(page), [ADAM, SGD]);
  const table = page.getByRole('table', {name: 'runs'});
  const head = table.getByRole('columnheader', {name: /^(Name|Run)/});
  await head.getByRole('button').click();
  const first = await names(page);
  await head.getByRole('button').click();
  assert.deepStrictEqual(await names(page), [...first].reverse());
  assert.match(await head.getAttribute('aria-sort') ?? '', /ascending|descending/);

  const filter = page.getByRole('searchbox', {name: 'Filter'});
  for (const [words, left] of [['adam', [ADAM]], ['seed=7', [SGD]], ['-adam', [SGD]], ['nothing like it', []]] as const) {
    await filter.fill(words);
    await eventually(`${words} leaves ${left.join()}`, async () => (await names(page)).join() === left.join());
  }
  await page.getByText('No run passes the filter').waitFor();
  await filter.fill('');
  await eventually('all are back', async () => (await names(page)).length === 2);
});

pageTest('a name in the table opens the run, and the menu of runs another', async (page) => {
  await openFixture(page, '');
  await page.getByRole('link', {name: SGD, exact: true}).click();
  await panel(page, 'Losses').waitFor();
  await page.getByRole('combobox', {name: 'Run'}).selectOption(ADAM);
  await page.waitForURL(/#\/run\/adam\/cockpit/);
  await panel(page, 'Losses').waitFor();
  await page.getByRole('link', {name: 'Compare'}).click();
  await page.getByRole('table', {name: 'runs'}).waitFor();
});
