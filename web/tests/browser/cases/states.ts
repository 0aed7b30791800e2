// SPDX-License-Identifier: MIT
// What the page says where there is nothing to show.
import assert from 'node:assert';
import {mkdirSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {pageTest} from '../harness/browser';
import {fixtureAddress, openFixture, SGD} from '../harness/fixture';
import {copyOfFixture, served} from '../harness/flightdeck';
import {colours, eventually, panel} from '../harness/panels';
import {emptyFolder} from '../harness/settings';

pageTest('an empty folder says how to record a run', async (page) => {
  await served(page, emptyFolder(), async (address) => {
    await page.goto(address);
    await page.getByRole('heading', {name: 'No runs yet'}).waitFor();
    assert.match(await page.locator('main pre').innerText(), /^flightdeck run \w+/);
  });
}, {isAlone: true});

pageTest('a run that is not there is named, with what to do', async (page) => {
  await page.goto(`${await fixtureAddress()}#/run/nowhere/cockpit`);
  const state = page.getByRole('alert');
  await state.waitFor();
  assert.match(await state.innerText(), /nowhere/);
  assert.match(await state.innerText(), /What to do: \S+/);
  assert.ok(await state.getByRole('button', {name: 'Try again'}).isVisible());
}, {expected: /status of 404/});

pageTest('a run that cannot be read is listed with the reason, beside those that can', async (page) => {
  const folder = copyOfFixture();
  mkdirSync(join(folder, 'broken'));
  writeFileSync(join(folder, 'broken', 'run.sqlite'), 'SQLite format 3\0, but nothing more');
  await served(page, folder, async (address) => {
    await page.goto(address);
    const row = page.getByRole('row').filter({hasText: 'broken'});
    await row.waitFor();
    assert.match(await row.innerText(), /unreadable/);
    assert.ok(await page.getByRole('row').filter({hasText: SGD}).first().isVisible());
    await page.goto(`${address}#/run/broken/cockpit`);
    const state = page.getByRole('alert').first();
    await state.waitFor();
    assert.ok((await state.innerText()).length > 20);
  });
}, {expected: /status of (404|409|422|500|503)/, isAlone: true});

pageTest('a panel whose values make no sense says so, and the others are drawn', async (page) => {
  await page.route(/api\/v1\/frames/, async (route) => {
    const response = await route.fetch();
    const list = await response.json() as {frames: {axes: {count: number}[]}[]};
    for (const {axes} of list.frames) if (axes.length === 2) axes.forEach((axis) => { axis.count = -1; });
    await route.fulfill({response, json: list});
  });
  await openFixture(page, SGD);
  const broken = panel(page, 'Gradient and parameter entries');
  await broken.getByRole('alert').waitFor();
  assert.match(await broken.innerText(), /cannot be drawn/);
  assert.ok(await broken.getByRole('button', {name: 'Try again'}).isVisible());
  assert.strictEqual(await page.getByRole('alert').count(), 1);
  for (const title of ['Gradient entries', 'Gradient tests', 'Losses']) {
    await panel(page, title).scrollIntoViewIfNeeded();
    await eventually(`${title} is drawn`, async () => await colours(panel(page, title).locator('canvas').first()) > 3);
  }
});

pageTest('an answer that cannot be read leaves the charts of others alone, and is said', async (page) => {
  await page.route(/api\/v1\/frames/, async (route) => {
    const response = await route.fetch();
    await route.fulfill({response, body: (await response.text()).replace(/"counts":/g, '"was_counts":')});
  });
  await page.goto(`${await fixtureAddress()}#/run/${SGD}/cockpit`);
  await page.getByText(/New values cannot be read: .*counts/).waitFor();
  for (const title of ['Losses', 'Gradient norm', 'Alpha']) {
    await panel(page, title).scrollIntoViewIfNeeded();
    await eventually(`${title} is drawn`, async () => await colours(panel(page, title).locator('canvas').first()) > 3);
  }
});
