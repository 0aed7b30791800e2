// SPDX-License-Identifier: MIT
// A panel as a file.
import assert from 'node:assert';
import {readFileSync} from 'node:fs';
import type {Page} from 'playwright-core';
import {pageTest} from '../harness/browser';
import {fixtureFolder, openFixture, SGD} from '../harness/fixture';
import {exported} from '../harness/flightdeck';
import {menu, panel} from '../harness/panels';

export async function saved(page: Page, title: string, item: string): Promise<{name: string; bytes: Buffer}> {
  const choices = await menu(panel(page, title), title);
  const [download] = await Promise.all([page.waitForEvent('download'), choices.getByText(item, {exact: true}).click()]);
  return {name: download.suggestedFilename(), bytes: readFileSync(await download.path())};
}

/** Size and number of colours of a picture, as the browser itself reads it. */
function seen(page: Page, bytes: Buffer, type: string) {
  return page.evaluate(async ([data, kind]) => {
    const image = new Image();
    image.src = `data:${kind};base64,${data}`;
    await image.decode();
    const copy = new OffscreenCanvas(image.width, image.height).getContext('2d') as OffscreenCanvasRenderingContext2D;
    copy.drawImage(image, 0, 0);
    const words = new Uint32Array(copy.getImageData(0, 0, image.width, image.height).data.buffer);
    return {width: image.width, height: image.height, colours: new Set(words).size};
  }, [bytes.toString('base64'), type] as const);
}

pageTest('panels are saved as PNG and SVG that show something', async (page) => {
  await openFixture(page, SGD);
  for (const title of ['Losses', 'Gradient and parameter entries']) {
    for (const [item, type, ending] of [['Save as PNG', 'image/png', '.png'], ['Save as SVG', 'image/svg+xml', '.svg']] as const) {
      const {name, bytes} = await saved(page, title, item);
      assert.ok(name.startsWith(SGD) && name.endsWith(ending), name);
      const picture = await seen(page, bytes, type);
      assert.ok(picture.width >= 300 && picture.height >= 150 && picture.colours > 10, `${name}: ${JSON.stringify(picture)}`);
      if (ending === '.svg') {
        const problem = await page.evaluate((text) => new DOMParser().parseFromString(text, 'image/svg+xml').querySelector('parsererror')?.textContent, bytes.toString());
        assert.strictEqual(problem, undefined);
        assert.doesNotMatch(bytes.toString(), /<script|href="http/);
      }
    }
  }
});

pageTest('the values of a panel are saved as CSV, exactly', async (page) => {
  await openFixture(page, SGD);
  const {name, bytes} = await saved(page, 'Gradient norm', 'Values as CSV');
  assert.match(name, /\.csv$/);
  const [head = '', ...rows] = bytes.toString().trim().split('\r\n');
  const column = head.split(',').indexOf('grad_norm');
  assert.ok(column > 0, head);
  const got = new Map(rows.map((row) => row.split(',')).map((row) => [Number(row[0]), Number(row[column])]));
  assert.deepStrictEqual(got, await exported(fixtureFolder(), SGD, 'grad_norm'));
});
