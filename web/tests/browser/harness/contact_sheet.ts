// SPDX-License-Identifier: MIT
// Many pictures on one: the top of every view, a row for each, small enough to be kept with the documents.
import type {Page} from 'playwright-core';

export interface Pictured {
  name: string;
  width: number;
  bytes: Buffer;
}

/** Pixels of a page that become one of the sheet. */
const REDUCED = 4;
/** So many pixels of each page are shown, from its top. */
const SHOWN = 1400;
const QUALITY = 0.72;

/** A JPEG with a row for each name and a column for each width. */
export async function writeSheet(page: Page, pictures: readonly Pictured[], widths: readonly number[]): Promise<Buffer> {
  const names = [...new Set(pictures.map(({name}) => name))];
  const [gap, title] = [10, 16];
  const lefts = widths.map((_, i) => gap + widths.slice(0, i).reduce((sum, width) => sum + width / REDUCED + gap, 0));
  const row = title + SHOWN / REDUCED + gap;
  await page.goto('about:blank');
  await page.evaluate(([width, height]) => {
    const canvas = document.body.appendChild(document.createElement('canvas'));
    [canvas.width, canvas.height] = [width, height];
    const pen = canvas.getContext('2d') as CanvasRenderingContext2D;
    pen.fillStyle = '#888';
    pen.fillRect(0, 0, width, height);
  }, [Math.round(gap + widths.reduce((sum, width) => sum + width / REDUCED + gap, 0)), Math.round(names.length * row + gap)] as const);
  for (const {name, width, bytes} of pictures) {
    const [left, top] = [lefts[widths.indexOf(width)] as number, gap + names.indexOf(name) * row];
    await page.evaluate(async ([data, label, x, y, under, by, most]) => {
      const image = new Image();
      image.src = `data:image/png;base64,${data}`;
      await image.decode();
      const pen = document.querySelector('canvas')?.getContext('2d') as CanvasRenderingContext2D;
      pen.imageSmoothingQuality = 'high';
      pen.fillStyle = '#000';
      pen.font = '11px DejaVu Sans';
      pen.fillText(label, x, y + 11);
      const height = Math.min(most, image.height);
      pen.drawImage(image, 0, 0, image.width, height, x, y + under, image.width / by, height / by);
    }, [bytes.toString('base64'), width === widths[0] ? name : String(width), left, top, title, REDUCED, SHOWN] as const);
  }
  const data = await page.evaluate((quality) => document.querySelector('canvas')?.toDataURL('image/jpeg', quality).split(',')[1] ?? '', QUALITY);
  return Buffer.from(data, 'base64');
}
