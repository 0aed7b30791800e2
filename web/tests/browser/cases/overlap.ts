// SPDX-License-Identifier: MIT
// What the eye would trip over: labels upon each other, holes between panels, a page that scrolls sideways.
import assert from 'node:assert';
import type {Page} from 'playwright-core';
import {pageTest} from '../harness/browser';
import {ADAM, openFixture, openLayer, SGD} from '../harness/fixture';
import {overlaps, rememberLabels, sidewaysRoom} from '../harness/labels';
import {eventually, loaded, panel} from '../harness/panels';
import {whileAllIsDrawn} from '../harness/pictures';
import {openReport} from '../harness/report';

const FONT = 'DejaVu Sans';

const VIEWS: Record<string, (page: Page) => Promise<void>> = {
  compare: (page) => openFixture(page, ''),
  cockpit: (page) => openFixture(page, SGD),
  'economy cockpit': (page) => openFixture(page, ADAM),
  layers: (page) => openFixture(page, SGD, 'layers'),
  layer: openLayer,
  run: (page) => openFixture(page, SGD, 'run'),
  diagnosis: async (page) => {
    await openFixture(page, SGD, 'diagnosis');
    await page.locator('details').evaluateAll((all) => all.forEach((each) => each.setAttribute('open', '')));
  },
  report: openReport,
};

/** In the page: rows of panels that end before their place does, or have panels of different heights. */
function holes(): string[] {
  const found: string[] = [];
  for (const flow of document.querySelectorAll<HTMLElement>('.flow')) {
    const outer = flow.getBoundingClientRect();
    const boxes = [...flow.children].filter((child) => !(child as HTMLElement).hidden).map((child) => child.getBoundingClientRect());
    const rows = new Map<number, DOMRect[]>();
    for (const box of boxes) rows.set(Math.round(box.top), [...(rows.get(Math.round(box.top)) ?? []), box]);
    const last = Math.max(...rows.keys());
    for (const [top, row] of rows) {
      const right = Math.max(...row.map((box) => box.right));
      const bottoms = row.map((box) => Math.round(box.bottom));
      if (outer.right - right > 4) found.push(`${outer.right - right} pixels beside the row at ${top} of ${flow.className}`);
      if (Math.max(...bottoms) - Math.min(...bottoms) > 2) found.push(`panels of different heights in the row at ${top}: ${bottoms.join()}`);
      if (top === last && outer.bottom - Math.max(...bottoms) > 2) found.push(`${outer.bottom - Math.max(...bottoms)} pixels below ${flow.className}`);
    }
  }
  return found;
}

for (const width of [390, 1280, 2560]) {
  for (const [name, open] of Object.entries(VIEWS)) {
    pageTest(`no labels overlap and no panels leave holes: ${name} at ${width}`, async (page) => {
      await open(page);
      const seen = await whileAllIsDrawn(page, FONT, async () => ({overlaps: await overlaps(page), holes: await page.evaluate(holes),
        sideways: await sidewaysRoom(page)}));
      assert.deepStrictEqual(seen, {overlaps: [], holes: [], sideways: 0});
    }, {width, height: 900, prepare: rememberLabels});
  }
}

pageTest('labels that lie upon each other are found, on canvases and beside them', async (page) => {
  await openFixture(page, SGD);
  const seen = await whileAllIsDrawn(page, FONT, async () => {
    await page.evaluate(() => {
      const canvas = document.querySelector<HTMLCanvasElement>('[data-panel=grad_norm] canvas') as HTMLCanvasElement;
      const pen = canvas.getContext('2d') as CanvasRenderingContext2D;
      pen.textAlign = 'left';
      pen.fillText('first of two', 60, 60);
      pen.fillText('second of two', 64, 62);
      const beside = document.body.appendChild(document.createElement('span'));
      beside.textContent = 'beside';
      const box = canvas.getBoundingClientRect();
      Object.assign(beside.style, {position: 'absolute', left: `${box.left + 62}px`, top: `${box.top + 52}px`});
    });
    return overlaps(page);
  });
  const pairs = seen.map((each) => each.replace(/ at .*/, '').split(' and ').sort().join(' and ')).sort();
  assert.deepStrictEqual(pairs, ['"beside" and "first of two"', '"beside" and "second of two"', '"first of two" and "second of two"']);
}, {prepare: rememberLabels});

pageTest('a constant learning rate is a line of text, not a panel', async (page) => {
  await openFixture(page, ADAM);
  assert.strictEqual(await panel(page, 'Hyperparameters').count(), 0);
  assert.match(await page.locator('.constants').innerText(), /learning rate\s+0\.001/);
});

pageTest('the word log is a switch of the vertical axis', async (page) => {
  await openFixture(page, SGD);
  const control = panel(page, 'Gradient norm').getByRole('button', {name: 'Logarithmic vertical axis of Gradient norm'});
  assert.strictEqual(await control.getAttribute('aria-pressed'), 'true');
  await control.click();
  assert.strictEqual(await control.getAttribute('aria-pressed'), 'false');
});

pageTest('on a phone the slider has a row of its own', async (page) => {
  await openFixture(page, SGD);
  const slider = await page.getByRole('slider', {name: 'Step', exact: true}).boundingBox();
  assert.ok(slider && slider.width > 200, `the slider is ${slider?.width} pixels wide`);
}, {width: 390, height: 844});

pageTest('cards of layers say weight and bias below the name of their module, and what their number is', async (page) => {
  await openFixture(page, SGD, 'layers');
  const tile = page.getByRole('button', {name: 'dense1.weight'});
  await tile.scrollIntoViewIfNeeded();
  await loaded(page);
  await eventually('its number is named', async () => /^weight\s+gradient norm\s+[\d.e−]+$/.test((await tile.innerText()).trim()));
});
