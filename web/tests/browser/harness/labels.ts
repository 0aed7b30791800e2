// SPDX-License-Identifier: MIT
// Where every label of a page stands, on canvases too, and which of them lie upon each other.
import type {BrowserContext, Page} from 'playwright-core';

/** In the page, before its own script: every canvas remembers what is written on it until it is wiped. */
function rememberCanvasTexts(): void {
  interface Written {
    text: string;
    corners: [number, number][];
  }
  const written = new WeakMap<object, Written[]>();
  const known = (canvas: object) => {
    const list = written.get(canvas) ?? [];
    written.set(canvas, list);
    return list;
  };
  const pen = CanvasRenderingContext2D.prototype;
  const {fillText, clearRect} = pen;
  pen.clearRect = function wipe(x, y, width, height) {
    // Part of a canvas is never wiped by this page.
    written.delete(this.canvas);
    return clearRect.call(this, x, y, width, height);
  };
  pen.fillText = function write(text, x, y, ...rest) {
    const size = this.measureText(text);
    const place = this.getTransform();
    const corners = [[-size.actualBoundingBoxLeft, -size.actualBoundingBoxAscent], [size.actualBoundingBoxRight, size.actualBoundingBoxDescent]]
      .map(([dx, dy]): [number, number] => {
        const at = place.transformPoint(new DOMPoint(x + (dx as number), y + (dy as number)));
        return [at.x, at.y];
      });
    known(this.canvas).push({text, corners});
    return fillText.call(this, text, x, y, ...rest);
  };
  (window as unknown as {writtenOn: typeof known}).writtenOn = known;
}

export async function rememberLabels(context: BrowserContext): Promise<void> {
  await context.addInitScript(rememberCanvasTexts);
}

export interface Label {
  /** Parts of one text, which an ellipsis divides, share it. */
  of: number;
  text: string;
  left: number;
  top: number;
  right: number;
  bottom: number;
}

/** In the page: all labels that are seen, in pixels of the page. */
function readLabels(): Label[] {
  const found: Label[] = [];
  const writtenOn = (window as unknown as {writtenOn(canvas: object): {text: string; corners: [number, number][]}[]}).writtenOn;
  /** What is left of a box inside everything around it that cuts. */
  const seen = (box: Label, element: Element | null): Label | null => {
    const cut = {...box};
    for (let around = element; around; around = around.parentElement) {
      const style = getComputedStyle(around);
      if (style.visibility === 'hidden' || style.opacity === '0' || style.clipPath !== 'none') return null;
      if (style.overflowX === 'visible' && style.overflowY === 'visible') continue;
      const edge = around.getBoundingClientRect();
      [cut.left, cut.top] = [Math.max(cut.left, edge.left), Math.max(cut.top, edge.top)];
      [cut.right, cut.bottom] = [Math.min(cut.right, edge.right), Math.min(cut.bottom, edge.bottom)];
    }
    return cut.right - cut.left > 1 && cut.bottom - cut.top > 1 ? cut : null;
  };
  const add = (label: Label, element: Element | null) => {
    const visible = seen(label, element);
    if (visible) found.push(visible);
  };
  let of = 0;
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const text = (node.textContent ?? '').trim();
    const element = node.parentElement;
    // What is folded away has boxes all the same.
    if (text === '' || !element?.checkVisibility() || element.closest('option, script, style, .visually-hidden')) continue;
    ++of;
    const range = document.createRange();
    range.selectNodeContents(node);
    // Letters are less high than their line.
    const height = 0.8 * parseFloat(getComputedStyle(element).fontSize);
    for (const {left, right, top, bottom} of range.getClientRects()) {
      const middle = (top + bottom) / 2;
      add({of, text, left, right, top: middle - height / 2, bottom: middle + height / 2}, element);
    }
  }
  for (const canvas of document.querySelectorAll('canvas')) {
    const box = canvas.getBoundingClientRect();
    const [across, down] = [box.width / canvas.width, box.height / canvas.height];
    for (const {text, corners} of writtenOn(canvas)) {
      // Marks of single values may lie anywhere.
      if (text.trim() === '' || /^[×▲▼]$/.test(text)) continue;
      const [x, y] = [corners.map(([at]) => box.left + at * across), corners.map(([, at]) => box.top + at * down)];
      add({of: ++of, text, left: Math.min(...x), right: Math.max(...x), top: Math.min(...y), bottom: Math.max(...y)}, canvas);
    }
  }
  return found;
}

/** Pixels that boxes may share: edges are blurred. */
const SHARED = 1;

/** Pairs of labels that lie upon each other, in words. */
export async function overlaps(page: Page): Promise<string[]> {
  const labels = (await page.evaluate(readLabels)).sort((a, b) => a.top - b.top);
  const found: string[] = [];
  labels.forEach((label, i) => {
    for (let k = i + 1; k < labels.length; ++k) {
      const other = labels[k] as Label;
      if (other.top >= label.bottom - SHARED) break;
      if (other.of !== label.of && other.left < label.right - SHARED && other.right > label.left + SHARED) {
        found.push(`"${label.text}" and "${other.text}" at ${Math.round(other.left)}, ${Math.round(other.top)}`);
      }
    }
  });
  return found;
}

/** Pixels by which the page scrolls sideways. */
export function sidewaysRoom(page: Page): Promise<number> {
  return page.evaluate(() => Math.max(0, document.documentElement.scrollWidth - window.innerWidth));
}
