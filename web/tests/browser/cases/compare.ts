// SPDX-License-Identifier: MIT
// The first page: all runs in a table, chosen ones over each other.
import assert from 'node:assert';
import type {Locator, Page} from 'playwright-core';
import {pageTest, replacePage} from '../harness/browser';
import {ADAM, openFixture, SGD} from '../harness/fixture';
import {colours, drag, eventually, menu, panel, pixels} from '../harness/panels';
import {settings} from '../harness/settings';

const names = (page: Page) => page.getByRole('table', {name: 'runs'}).locator('tbody .run-name a').allInnerTexts();

const comparison = (page: Page) => page.getByRole('region', {name: 'Comparison'});
const loss = (page: Page) => comparison(page).getByRole('region', {name: /^Loss/i}).first();
const legend = (page: Page) => comparison(page).getByRole('group', {name: 'Legend of all charts'}).getByRole('button', {pressed: true});
const way = (page: Page, name: string) => comparison(page).getByRole('radio', {name}).check();

/** What the tip beside the cursor says: names and values. */
async function pointed(page: Page, chart: Locator, part: number): Promise<string[]> {
  const plot = chart.locator('.u-over');
  await plot.scrollIntoViewIfNeeded();
  const box = await plot.boundingBox();
  assert.ok(box);
  await page.mouse.move(box.x + 2 + part * (box.width - 4), box.y + box.height / 2);
  await chart.locator('.values-tip:not([hidden])').waitFor();
  return chart.locator('.values-tip div:not(.at) span').allInnerTexts();
}

pageTest('runs lie over each other, and leave when they are not chosen', async (page) => {
  await openFixture(page, '');
  await loss(page).locator('canvas').waitFor();
  assert.strictEqual(await legend(page).count(), 2);
  assert.deepStrictEqual((await pointed(page, loss(page), 0)).sort(), [ADAM, SGD]);
  const before = await pixels(loss(page));
  await page.getByRole('checkbox', {name: `Compare ${ADAM}`}).uncheck();
  await eventually('one line is left', async () => await legend(page).count() === 1);
  await eventually('its line is gone', async () => await pixels(loss(page)) !== before);
});

pageTest('a hover on a chart moves nothing on the page', async (page) => {
  await openFixture(page, '');
  await loss(page).locator('canvas').waitFor();
  const boxes = () => page.locator('[data-panel]').evaluateAll((panels) => panels.map((panel) => {
    const {top, height} = panel.getBoundingClientRect();
    return [top + scrollY, height];
  }));
  const before = await boxes();
  for (const part of [0.1, 0.5, 0.95]) {
    await pointed(page, loss(page), part);
    assert.deepStrictEqual(await boxes(), before);
  }
});

pageTest('both runs are drawn over every axis', async (page) => {
  await openFixture(page, '');
  await loss(page).locator('canvas').waitFor();
  let before = await pixels(loss(page));
  for (const axis of ['Epochs', 'Samples seen', 'Seconds since the start', 'Time of day', 'Steps']) {
    await comparison(page).getByRole('combobox', {name: 'Horizontal axis'}).selectOption(axis);
    await eventually(`${axis} is drawn`, async () => await pixels(loss(page)) !== before);
    before = await pixels(loss(page));
    await comparison(page).getByRole('heading', {name: '2 runs over each other'}).waitFor();
    assert.strictEqual(await comparison(page).getByText('Not drawn').count(), 0);
    assert.strictEqual((await pointed(page, loss(page), 0.5)).length, 2);
  }
});

pageTest('a filter acts on the charts as on the table', async (page) => {
  await openFixture(page, '');
  await loss(page).locator('canvas').waitFor();
  await page.getByRole('searchbox', {name: 'Filter'}).fill('adam');
  await eventually('one line is left', async () => (await legend(page).allInnerTexts()).join() === ADAM);
  assert.deepStrictEqual(await pointed(page, loss(page), 0), [ADAM]);
});

pageTest('groups of runs are drawn as a mean with a band', async (page) => {
  await openFixture(page, '');
  await loss(page).locator('canvas').waitFor();
  const groups = comparison(page).getByRole('combobox', {name: 'Group by'});
  await groups.selectOption('optimizer');
  await eventually('a line for each', async () => (await legend(page).allInnerTexts()).length === 2);
  await groups.selectOption('all in one');
  await eventually('one line', async () => (await legend(page).allInnerTexts()).length === 1);
  const before = await pixels(loss(page));
  await comparison(page).getByRole('combobox', {name: 'Band'}).selectOption('median and quartiles');
  await eventually('another band', async () => await pixels(loss(page)) !== before);
  await pointed(page, loss(page), 0);
  assert.match(await loss(page).locator('.values-tip b').first().innerText(), / to .*2 runs\)/);
});

pageTest('a run has one colour in the table, the legend and after a change of the choice', async (page) => {
  await openFixture(page, '');
  await loss(page).locator('canvas').waitFor();
  const colours = () => Promise.all([SGD, ADAM].map((id) => page.getByRole('checkbox', {name: `Compare ${id}`}).evaluate((box) => box.style.accentColor)));
  const before = await colours();
  const swatches = await legend(page).locator('i').evaluateAll((marks) => marks.map((mark) => mark.style.background));
  assert.ok(before.every((colour) => colour !== '' && swatches.some((swatch) => swatch.includes(colour))), `${before.join()} in ${swatches.join()}`);
  await page.getByRole('checkbox', {name: `Compare ${ADAM}`}).uncheck();
  await eventually('one line is left', async () => await legend(page).count() === 1);
  assert.deepStrictEqual(await colours(), before);
});

pageTest('a link shows what was seen: runs, zoom, smoothing, axis, groups and panels', async (page) => {
  await openFixture(page, '');
  await loss(page).locator('canvas').waitFor();
  await page.getByRole('checkbox', {name: `Compare ${ADAM}`}).uncheck();
  await comparison(page).getByRole('combobox', {name: 'Horizontal axis'}).selectOption('Samples seen');
  await comparison(page).getByRole('combobox', {name: 'Group by'}).selectOption({label: 'seed'});
  await comparison(page).getByRole('slider').fill('0.5');
  await (await menu(loss(page), 'Loss')).getByRole('button', {name: 'Hide'}).click();
  const training = comparison(page).getByRole('region', {name: 'Training loss', exact: true});
  await (await menu(training, 'Training loss')).getByRole('button', {name: 'Wider'}).click();
  await drag(page, training, 0.2, 0.7);
  await eventually('the address tells all', async () => /x=samples.*zoom=.*smoothing=0.5.*group=config%3Aseed.*hide=loss.*size=2x0\+train_loss/.test(page.url()));
  const seen = async () => [await page.getByRole('checkbox', {checked: true}).count(), await pixels(training), await comparison(page).getByRole('slider').inputValue(),
    await comparison(page).locator('[data-board]').evaluateAll((items) => items.map((item) => `${item.dataset['board']} ${item.className}`).join())];
  const before = await seen();
  const other = await page.context().browser()?.newContext({viewport: page.viewportSize(), timezoneId: 'UTC', reducedMotion: 'reduce', colorScheme: 'light'});
  assert.ok(other);
  if (settings.page) await replacePage(other);
  try {
    const receiver = await other.newPage();
    await receiver.goto(page.url());
    const there = comparison(receiver).getByRole('region', {name: 'Training loss', exact: true});
    await there.locator('canvas').waitFor();
    const theirs = async () => [await receiver.getByRole('checkbox', {checked: true}).count(), await pixels(there), await comparison(receiver).getByRole('slider').inputValue(),
      await comparison(receiver).locator('[data-board]').evaluateAll((items) => items.map((item) => `${item.dataset['board']} ${item.className}`).join())];
    await page.mouse.move(0, 0);
    const mine = await seen();
    assert.deepStrictEqual(mine.slice(2), before.slice(2));
    await eventually('the same is seen there', async () => JSON.stringify(await theirs()) === JSON.stringify(mine));
  } finally {
    await other.close();
  }
});

pageTest('panels are moved and resized by keys, hidden and shown, and the layout lasts until it is reset', async (page) => {
  await openFixture(page, '');
  await loss(page).locator('canvas').waitFor();
  const order = () => comparison(page).locator('[data-board]').evaluateAll((items) => items.map((item) => item.dataset['board'] ?? ''));
  const before = await order();
  await comparison(page).getByRole('button', {name: 'Place of Loss'}).focus();
  await page.keyboard.press('ArrowRight');
  await eventually('it is second', async () => (await order())[1] === 'loss');
  await page.keyboard.press('ArrowRight');
  await eventually('it is third', async () => (await order())[2] === 'loss');
  await comparison(page).getByRole('button', {name: 'Size of Loss'}).focus();
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('ArrowDown');
  const plot = loss(page).locator('.plot');
  await eventually('it is larger', async () => ((await plot.boundingBox())?.height ?? 0) >= 200);
  await (await menu(loss(page), 'Loss')).getByRole('button', {name: 'Pin to the top'}).click();
  await eventually('it is first', async () => (await order())[0] === 'loss');
  const training = comparison(page).getByRole('region', {name: 'Training loss', exact: true});
  await (await menu(training, 'Training loss')).getByRole('button', {name: 'Hide'}).click();
  await page.goto(`${new URL(page.url()).origin}/`);
  await loss(page).locator('canvas').waitFor();
  assert.strictEqual((await order())[0], 'loss');
  assert.ok(!(await order()).includes('train_loss'));
  await comparison(page).getByRole('button', {name: '+ Training loss'}).click();
  await eventually('it is back', async () => (await order()).includes('train_loss'));
  await comparison(page).getByRole('button', {name: 'Reset the layout'}).click();
  await eventually('all is as it was', async () => (await order()).join() === before.join());
});

pageTest('alpha and histograms of both runs are in one panel each', async (page) => {
  await openFixture(page, '');
  await way(page, 'Distributions');
  for (const name of [/^Alpha/, /^Gradient entries/]) {
    const canvas = comparison(page).getByRole('region', {name}).locator('canvas');
    await eventually(`${name} is drawn`, async () => await colours(canvas) > 3);
  }
});

pageTest('a dot of the scatter plot chooses its run', async (page) => {
  await openFixture(page, '');
  await way(page, 'Scatter');
  const chart = page.locator('[data-panel=compare_scatter] canvas');
  await eventually('it is drawn', async () => await colours(chart) > 3);
  await page.getByRole('combobox', {name: 'Across'}).selectOption('seed');
  await page.getByRole('combobox', {name: 'Up'}).selectOption('Last step');
  const box = await chart.boundingBox();
  assert.ok(box);
  // Two runs are at two corners: the one with the smaller seed went further.
  await chart.scrollIntoViewIfNeeded();
  let isFound = false;
  for (let y = 4; y < box.height - 30 && !isFound; y += 8) {
    for (let x = 50; x < 200 && !isFound; x += 8) {
      await chart.hover({position: {x, y}});
      isFound = await page.locator('[data-panel=compare_scatter] .tip').count() > 0;
      if (isFound) await chart.click({position: {x, y}});
    }
  }
  await eventually('sgd is let go', async () => !await page.getByRole('checkbox', {name: `Compare ${SGD}`}).isChecked());
  assert.ok(await page.getByRole('checkbox', {name: `Compare ${ADAM}`}).isChecked());
});

pageTest('a brush on an axis of the parallel coordinates chooses the runs that cross it', async (page) => {
  await openFixture(page, '');
  await way(page, 'Parallel coordinates');
  const chart = page.locator('[data-panel=compare_parallel] canvas');
  await eventually('it is drawn', async () => await colours(chart) > 3);
  await chart.scrollIntoViewIfNeeded();
  const box = await chart.boundingBox();
  assert.ok(box);
  // The first axis is the learning rate: the upper half is the run with the larger one.
  await page.mouse.move(box.x + 60, box.y + 30);
  await page.mouse.down();
  await page.mouse.move(box.x + 60, box.y + box.height / 2, {steps: 5});
  await page.mouse.up();
  await eventually('adam is let go', async () => !await page.getByRole('checkbox', {name: `Compare ${ADAM}`}).isChecked());
  assert.ok(await page.getByRole('checkbox', {name: `Compare ${SGD}`}).isChecked());
  await eventually('the address has the brush', async () => /brush=/.test(page.url()));
  await page.getByRole('button', {name: /^learning_rate .* ✕$/}).click();
  await eventually('both are back', async () => await page.getByRole('checkbox', {name: `Compare ${ADAM}`}).isChecked());
  await page.getByText('Brush by numbers').click();
  await page.getByRole('textbox', {name: 'Most learning_rate'}).fill('0.01');
  await page.keyboard.press('Tab');
  await eventually('sgd is let go', async () => !await page.getByRole('checkbox', {name: `Compare ${SGD}`}).isChecked());
});

pageTest('the difference of two runs shows what differs first, and then what is the same', async (page) => {
  await openFixture(page, '');
  await way(page, 'Settings');
  const difference = page.getByRole('region', {name: 'settings that differ'});
  for (const [rows, words] of [['tr.differs', ['optimizer', 'seed']], ['tr.quiet', ['batch_size', 'problem']]] as const) {
    await eventually(`${words.join(' and ')} are told`, async () => {
      const told = await difference.locator(`${rows} th`).allInnerTexts();
      return words.every((word) => told.includes(word));
    });
  }
});

pageTest('the table of runs sorts by any column and filters by words and values', async (page) => {
  await openFixture(page, '');
  await eventually('both runs are told', async () => (await names(page)).join() === [ADAM, SGD].join());
  const table = page.getByRole('table', {name: 'runs'});
  const head = table.getByRole('columnheader', {name: /^(Name|Run)/});
  const sorted = async () => await head.getAttribute('aria-sort') ?? 'none';
  await head.getByRole('button').click();
  await eventually('it is sorted', async () => await sorted() !== 'none');
  const first = await names(page);
  const before = await sorted();
  await head.getByRole('button').click();
  await eventually('it is sorted the other way', async () => !['none', before].includes(await sorted()));
  assert.deepStrictEqual(await names(page), [...first].reverse());

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
