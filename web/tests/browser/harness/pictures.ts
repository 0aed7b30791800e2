// SPDX-License-Identifier: MIT
// Screenshots and how much they differ. Compared are grey values of tiles, averaged over so many
// pixels that letters blur: fonts are drawn differently on every machine, panels are not.
import assert from 'node:assert';
import {existsSync, mkdirSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import type {Page} from 'playwright-core';
import {blankPage} from './browser';
import {eventually} from './panels';
import {settings} from './settings';

/** Width and height of a tile in the pixels of the reduced picture. */
const TILE = 8;
/** References are kept this much smaller. */
const REDUCED = 6;
/** Greatest mean difference of a tile, of 255. Letters of another shape make 6, a chart without its one thin line 10. */
export const TOLERANCE = 8;

/**
 * The whole page as PNG: the window is made as high as the page, so that all is drawn. In a font that
 * the tests bring along: letters of another width would move everything.
 */
export async function picture(page: Page, font = 'DejaVu Sans'): Promise<Buffer> {
  return (await pictureAnd(page, font, () => Promise.resolve(undefined))).bytes;
}

/** The same, and what else is read of the page while all of it is drawn. */
export async function pictureAnd<T>(page: Page, font: string, read: () => Promise<T>): Promise<{bytes: Buffer; seen: T}> {
  return whileAllIsDrawn(page, font, async () => {
    const bytes = await page.screenshot({animations: 'disabled', caret: 'hide'});
    return {bytes, seen: await read()};
  });
}

/** What is read of the page while all of it is drawn. */
export async function whileAllIsDrawn<T>(page: Page, font: string, read: () => Promise<T>): Promise<T> {
  await page.evaluate((family) => { document.body.style.fontFamily = family; }, font);
  const size = page.viewportSize();
  assert.ok(size);
  const height = () => page.evaluate(() => Math.min(12_000, document.documentElement.scrollHeight));
  let tall = 0;
  await eventually('all charts are drawn', async () => {
    // The page may grow while it is looked at: a panel comes, and charts are drawn when they come into sight.
    const now = await height();
    if (now > tall) {
      tall = now;
      await page.setViewportSize({width: size.width, height: tall});
      return false;
    }
    const isDrawn = await page.evaluate(() => [...document.querySelectorAll('.plot, .tile-picture')].every((plot) => plot.querySelector('canvas')) &&
      [...document.querySelectorAll('canvas')].every((canvas) => canvas.width > 0) && !document.querySelector('.skeleton, .pulse'));
    if (!isDrawn) return false;
    // A chart that has just been drawn may still find its height: the page has to stand still.
    await page.evaluate(() => new Promise((resolve) => setTimeout(() => requestAnimationFrame(() => requestAnimationFrame(resolve)), 100)));
    return await height() <= tall;
  });
  await page.mouse.move(0, 0);
  await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))));
  const seen = await read();
  await page.setViewportSize(size);
  return seen;
}

/** As references are kept. */
async function reduce(taken: Buffer): Promise<Buffer> {
  const reduced = await (await blankPage()).evaluate(async ([data, by]) => {
    const image = new Image();
    image.src = `data:image/png;base64,${data}`;
    await image.decode();
    const canvas = document.createElement('canvas');
    [canvas.width, canvas.height] = [Math.round(image.width / by), Math.round(image.height / by)];
    const context = canvas.getContext('2d') as CanvasRenderingContext2D;
    context.imageSmoothingQuality = 'high';
    context.drawImage(image, 0, 0, canvas.width, canvas.height);
    return canvas.toDataURL('image/png').split(',')[1] as string;
  }, [taken.toString('base64'), REDUCED] as const);
  return Buffer.from(reduced, 'base64');
}

export interface Difference {
  /** Of the tile that differs most, of 255. */
  worst: number;
  /** Where that tile is, in pixels of the page. */
  at: [number, number];
}

/** How much a picture differs from a reference; pictures of other heights by their common part. */
export async function differenceFrom(name: string, actual: Buffer): Promise<Difference & {heights: [number, number]}> {
  const reference = readFileSync(join(settings.references, `${name}.png`));
  const reduced = await reduce(actual);
  return (await blankPage()).evaluate(async ([first, second, tile, reduced]) => {
    const grey = async (data: string) => {
      const image = new Image();
      image.src = `data:image/png;base64,${data}`;
      await image.decode();
      const {width, height} = image;
      const context = new OffscreenCanvas(width, height).getContext('2d') as OffscreenCanvasRenderingContext2D;
      context.drawImage(image, 0, 0);
      const pixels = context.getImageData(0, 0, width, height).data;
      const [columns, rows] = [Math.ceil(width / tile), Math.ceil(height / tile)];
      const sums = new Float64Array(columns * rows);
      for (let y = 0; y < height; ++y) {
        for (let x = 0; x < width; ++x) {
          const i = 4 * (y * width + x);
          const at = Math.floor(y / tile) * columns + Math.floor(x / tile);
          sums[at] = (sums[at] as number) + (0.3 * (pixels[i] as number) + 0.6 * (pixels[i + 1] as number) + 0.1 * (pixels[i + 2] as number)) / (tile * tile);
        }
      }
      return {sums, columns, rows, height};
    };
    const [a, b] = [await grey(first), await grey(second)];
    const found = {worst: 0, at: [0, 0] as [number, number], heights: [a.height, b.height] as [number, number]};
    if (a.columns !== b.columns) return {...found, worst: 255};
    // The last row of tiles is cut at another height.
    for (let i = 0; i < a.columns * (Math.min(a.rows, b.rows) - 1); ++i) {
      const difference = Math.abs((a.sums[i] as number) - (b.sums[i] as number));
      if (difference > found.worst) {
        found.worst = difference;
        found.at = [(i % a.columns) * tile * reduced, Math.floor(i / a.columns) * tile * reduced];
      }
    }
    return found;
  }, [reference.toString('base64'), reduced.toString('base64'), TILE, REDUCED] as const);
}

/** Compares the page with its reference, or makes it the reference. */
export async function looksLike(page: Page, name: string): Promise<void> {
  const actual = await picture(page);
  const reference = join(settings.references, `${name}.png`);
  const kept = join(settings.failures, `${name}.png`);
  mkdirSync(settings.failures, {recursive: true});
  if (settings.isUpdate) {
    mkdirSync(settings.references, {recursive: true});
    writeFileSync(reference, await reduce(actual));
    // In full size, to be looked at.
    writeFileSync(kept, actual);
    return;
  }
  assert.ok(existsSync(reference), `there is no ${reference}; look at the page and take it with --update`);
  const {worst, at, heights} = await differenceFrom(name, actual);
  const isLike = worst <= TOLERANCE && Math.abs(heights[0] - heights[1]) <= 0.05 * heights[0];
  if (isLike) rmSync(kept, {force: true});
  else writeFileSync(kept, actual);
  assert.ok(isLike, `${name} differs by ${worst.toFixed(1)} at ${at.join(', ')}, heights ${heights.join(' and ')}; compare ${kept} with ${reference}`);
}
