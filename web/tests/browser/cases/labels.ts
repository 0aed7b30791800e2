// SPDX-License-Identifier: MIT
// Tags, notes and the archive: seen everywhere, changed where the server allows it.
import assert from 'node:assert';
import {join} from 'node:path';
import type {Page} from 'playwright-core';
import {pageTest} from '../harness/browser';
import {ADAM, SGD} from '../harness/fixture';
import {copyOfFixture, flightdeck, served} from '../harness/flightdeck';
import {eventually} from '../harness/panels';

const names = (page: Page) => page.getByRole('table', {name: 'runs'}).locator('tbody .run-name a').allInnerTexts();
const card = (page: Page) => page.getByRole('region', {name: 'Tags and note'});

async function shownRun(folder: string, run: string): Promise<{tags: string[]; note: string}> {
  return JSON.parse(await flightdeck('show', join(folder, run), '--json')) as {tags: string[]; note: string};
}

pageTest('labels are shown and cannot be changed unless the server allows it', async (page) => {
  const folder = copyOfFixture();
  await flightdeck('tag', join(folder, SGD), 'baseline');
  await flightdeck('note', join(folder, SGD), 'The one to beat.');
  await served(page, folder, async (address) => {
    await page.goto(address);
    await page.getByRole('button', {name: 'baseline', exact: true}).click();
    await eventually('the tag filters', async () => (await names(page)).join() === SGD);
    await page.goto(`${address}#/run/${SGD}/run`);
    await card(page).getByText('The one to beat.').waitFor();
    assert.strictEqual(await card(page).getByRole('textbox').count(), 0);
    assert.strictEqual(await card(page).getByRole('button').count(), 0);
  });
}, {isAlone: true});

pageTest('tags, note and archive are changed on the page of a run where the server allows it', async (page) => {
  const folder = copyOfFixture();
  await served(page, folder, async (address) => {
    await page.goto(`${address}#/run/${SGD}/run`);
    const labels = card(page);
    await labels.getByRole('textbox', {name: 'New tag'}).fill('baseline');
    await labels.getByRole('button', {name: 'Add'}).click();
    await labels.getByRole('button', {name: 'Remove the tag baseline'}).waitFor();
    await labels.getByRole('textbox', {name: 'Note'}).fill('two\nlines & <b>more</b>');
    await labels.getByRole('button', {name: 'Save the note'}).click();
    await labels.getByRole('button', {name: 'Save the note'}).waitFor({state: 'detached'});
    await eventually('the folder has them', async () => (await shownRun(folder, SGD)).note === 'two\nlines & <b>more</b>');
    assert.deepStrictEqual((await shownRun(folder, SGD)).tags, ['baseline']);

    await labels.getByRole('button', {name: 'Archive this run'}).click();
    await labels.getByText('Archived: lists leave this run out.').waitFor();
    await page.goto(`${address}#/`);
    await eventually('archived runs are hidden', async () => (await names(page)).join() === ADAM);
    await page.getByRole('checkbox', {name: '1 archived'}).check();
    await eventually('they are shown if asked for', async () => (await names(page)).length === 2);
  }, '--edit');
}, {isAlone: true});
