// SPDX-License-Identifier: MIT
// What people do with panels: find them, read their values, drag over them, play the run.
import assert from 'node:assert';
import type {Locator, Page} from 'playwright-core';

/** As generous as the limits of the browser's own waits: a busy machine is no failure. */
const WAIT_MS = 90_000;

/** Asks again until the answer is true. */
export async function eventually(what: string, answer: () => Promise<boolean>, within = WAIT_MS): Promise<void> {
  const end = Date.now() + within;
  for (;;) {
    if (await answer()) return;
    assert.ok(Date.now() < end, `not within ${within / 1000} s: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

export function panel(page: Page, title: string): Locator {
  return page.getByRole('region', {name: title, exact: true});
}

/** In the page. Reads a copy: the browser warns of reading a canvas itself often. */
function readCanvas(element: HTMLElement | SVGElement): {sum: number; kinds: number} {
  const {width, height} = element as HTMLCanvasElement;
  if (width === 0 || height === 0) return {sum: 0, kinds: 0};
  const copy = new OffscreenCanvas(width, height).getContext('2d', {willReadFrequently: true}) as OffscreenCanvasRenderingContext2D;
  copy.drawImage(element as HTMLCanvasElement, 0, 0);
  const words = new Uint32Array(copy.getImageData(0, 0, width, height).data.buffer);
  let sum = 7;
  for (const word of words) sum = (Math.imul(sum, 31) + word) | 0;
  return {sum, kinds: new Set(words).size};
}

/** A number that changes with the pixels of the panel's canvas; 0 where there is none yet. */
export async function pixels(place: Locator): Promise<number> {
  const canvas = place.locator('canvas').first();
  await place.scrollIntoViewIfNeeded();
  const {sum} = await canvas.evaluate(readCanvas);
  return sum;
}

/** How many kinds of pixels a canvas has: one means that nothing is drawn on it. */
export async function colours(canvas: Locator): Promise<number> {
  const {kinds} = await canvas.evaluate(readCanvas);
  return kinds;
}

/** Waits until no panel on the page is loading. */
export async function loaded(page: Page): Promise<void> {
  await page.locator('[data-panel]').first().waitFor();
  await eventually('all panels are loaded', async () => await page.locator('.skeleton, .pulse').count() === 0);
}

/** The part of a chart where lines are: left and right edge, and a height to point at. */
async function plotBox(place: Locator) {
  const plot = place.locator('.u-over');
  // A chart is drawn when it comes into sight.
  await place.scrollIntoViewIfNeeded();
  await plot.scrollIntoViewIfNeeded();
  const box = await plot.boundingBox();
  assert.ok(box, 'the chart is on the page');
  return box;
}

export interface Pointed {
  step: number;
  /** By the line's label. */
  values: Record<string, number>;
}

/** Points at a part of a chart (0 is its left end, 1 its right one) and reads the exact values there. */
export async function hover(page: Page, place: Locator, part: number): Promise<Pointed> {
  const box = await plotBox(place);
  await page.mouse.move(box.x + 1 + part * (box.width - 2), box.y + box.height / 2);
  await eventually('the legend tells the step', async () => /\d/.test(await place.locator('.legend .at').textContent() ?? ''));
  return place.locator('.legend').evaluate((legend): Pointed => {
    const step = Number(legend.querySelector('.at')?.textContent?.replace(/\D/g, ''));
    const values: Record<string, number> = {};
    for (const item of legend.querySelectorAll('button')) {
      const value = item.querySelector<HTMLElement>('.value');
      const [, at, exact] = /^step (-?\d+): (\S+?)(,|$)/.exec(value?.title ?? '') ?? [];
      const label = (item.textContent ?? '').slice(0, -(value?.textContent ?? '').length || undefined).trim();
      if (Number(at) === step) values[label] = Number(exact);
    }
    return {step, values};
  });
}

/** Opens the menu of a panel. */
export async function menu(place: Locator, title: string): Promise<Locator> {
  await place.getByRole('button', {name: `Menu of ${title}`}).click();
  return place.getByRole('group', {name: `Menu of ${title}`});
}

/** Drags over a part of a chart. */
export async function drag(page: Page, place: Locator, from: number, to: number): Promise<void> {
  const box = await plotBox(place);
  const y = box.y + box.height / 2;
  await page.mouse.move(box.x + from * box.width, y);
  await page.mouse.down();
  await page.mouse.move(box.x + ((from + to) / 2) * box.width, y, {steps: 4});
  await page.mouse.move(box.x + to * box.width, y, {steps: 4});
  await page.mouse.up();
}

/** The step that the top of a run's page shows. */
export async function shownStep(page: Page): Promise<number> {
  const summary = page.getByRole('region', {name: 'Summary of the run'});
  return Number((await summary.locator('dd').first().innerText()).replace(/\D/g, ''));
}
