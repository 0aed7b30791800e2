// SPDX-License-Identifier: MIT
// The layers view: heat map, histograms of each layer, and the panels of one.
import assert from 'node:assert';
import {pageTest} from '../harness/browser';
import {ADAM, openFixture, SGD} from '../harness/fixture';
import {colours, eventually, panel, pixels} from '../harness/panels';

const heat = /by layer\. Arrow keys/;

pageTest('the layers view shows a heat map for each quantity that has layers', async (page) => {
  await openFixture(page, SGD, 'layers');
  const map = page.getByRole('group', {name: heat});
  await eventually('the map is drawn', async () => await colours(map.locator('canvas')) > 20);
  const choice = page.getByRole('combobox', {name: 'Quantity'});
  const names = await choice.locator('option').allInnerTexts();
  assert.ok(names.length >= 4, names.join());
  for (const name of names.slice(1, 4)) {
    const before = await pixels(map);
    await choice.selectOption(name);
    await eventually(`${name} is drawn`, async () => await pixels(map) !== before);
  }
  for (const by of ['Type', 'Depth', 'Module']) {
    await page.getByRole('radio', {name: by}).check({force: true});
    await eventually('the map is drawn', async () => await colours(map.locator('canvas')) > 20);
  }
});

pageTest('a click on a row of the heat map opens its layer, and Escape closes it', async (page) => {
  await openFixture(page, SGD, 'layers');
  const map = page.getByRole('group', {name: heat});
  const canvas = map.locator('canvas');
  await eventually('the map is drawn', async () => await colours(canvas) > 20);
  const box = await canvas.boundingBox();
  assert.ok(box);
  await canvas.click({position: {x: box.width / 2, y: box.height / 3}});
  const detail = page.getByRole('region', {name: /^dense\d\.(weight|bias)$/});
  await detail.waitFor();
  const name = await detail.getByRole('heading', {level: 2}).innerText();
  await eventually('its panels are there', async () => await detail.locator('[data-panel]').count() > 3);
  assert.strictEqual(await detail.getByRole('region', {name: 'Gradient norm', exact: true}).count(), 1);
  await page.keyboard.press('Escape');
  await detail.waitFor({state: 'detached'});

  await page.getByRole('button', {name: new RegExp(`^${name.replace('.', '\\.')}`)}).last().click();
  await detail.waitFor();
  await detail.getByRole('button', {name: 'Close'}).click();
  await detail.waitFor({state: 'detached'});
});

pageTest('the heat map is used by keys alone', async (page) => {
  await openFixture(page, SGD, 'layers');
  const map = page.getByRole('group', {name: heat});
  await eventually('the map is drawn', async () => await colours(map.locator('canvas')) > 20);
  await map.focus();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await page.getByRole('region', {name: /^dense\d\.(weight|bias)$/}).waitFor();
});

pageTest('each layer has its histogram, which follows the slider', async (page) => {
  await openFixture(page, SGD, 'layers');
  const tile = page.getByRole('button', {name: 'dense1.weight'});
  await tile.scrollIntoViewIfNeeded();
  await eventually('it is drawn', async () => await tile.locator('canvas').count() === 1 && await colours(tile.locator('canvas')) > 3);
  const before = await pixels(tile);
  await page.getByRole('slider', {name: 'Step', exact: true}).fill('4');
  await eventually('it follows', async () => await pixels(tile) !== before);
});

pageTest('a run without groups says how to get values by layer', async (page) => {
  await page.goto('about:blank');
  await openFixture(page, ADAM, 'run');
  await page.getByRole('link', {name: 'Layers'}).click();
  await page.getByRole('heading', {name: 'No values by layer'}).waitFor();
  assert.match(await page.locator('main pre').innerText(), /--group parameter/);
  assert.strictEqual(await panel(page, 'Gradient norm').count(), 0);
});
