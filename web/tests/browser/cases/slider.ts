// SPDX-License-Identifier: MIT
// The step slider: histograms as they were, and play.
import assert from 'node:assert';
import {pageTest} from '../harness/browser';
import {openFixture, SGD} from '../harness/fixture';
import {eventually, panel, pixels} from '../harness/panels';

pageTest('the slider shows histograms as they were at a tracked step', async (page) => {
  await openFixture(page, SGD);
  const picture = panel(page, 'Gradient entries').getByRole('img');
  const slider = page.getByRole('slider', {name: 'Step', exact: true});
  assert.match(await picture.getAttribute('aria-label') ?? '', /at step 60/);
  const before = await pixels(panel(page, 'Gradient entries'));
  await slider.fill('22');
  await eventually('the last tracked step before is shown', async () => /at step 20\b/.test(await picture.getAttribute('aria-label') ?? ''));
  assert.notStrictEqual(await pixels(panel(page, 'Gradient entries')), before);
  await slider.focus();
  await page.keyboard.press('ArrowLeft');
  await page.keyboard.press('ArrowLeft');
  await eventually('arrows go by tracked steps', async () => /at step 16\b/.test(await picture.getAttribute('aria-label') ?? ''));
  await page.getByRole('button', {name: 'Last step'}).click();
  await eventually('the last step is shown again', async () => await pixels(panel(page, 'Gradient entries')) === before);
});

pageTest('play walks through the tracked steps and pauses', async (page) => {
  await openFixture(page, SGD);
  const slider = page.getByRole('slider', {name: 'Step', exact: true});
  const step = async () => Number(await slider.inputValue());
  await slider.fill('0');
  const seen = new Set<number>();
  await page.getByRole('button', {name: 'Play the run'}).click();
  await eventually('several steps are played', async () => { seen.add(await step()); return seen.size >= 4; });
  await page.getByRole('button', {name: 'Pause'}).click();
  const paused = await step();
  await page.waitForTimeout(400);
  assert.strictEqual(await step(), paused);
  await page.getByRole('button', {name: 'Play the run'}).click();
  await page.getByRole('button', {name: 'Play the run'}).waitFor();
  assert.strictEqual(await step(), 64);
});

pageTest('a click into a chart moves the slider there', async (page) => {
  await openFixture(page, SGD);
  const plot = panel(page, 'Gradient norm').locator('.u-over');
  const box = await plot.boundingBox();
  assert.ok(box);
  await plot.click({position: {x: box.width / 2, y: box.height / 2}});
  await eventually('the slider stands there', async () => {
    const at = Number(await page.getByRole('slider', {name: 'Step', exact: true}).inputValue());
    return at > 20 && at < 44;
  });
});
