// SPDX-License-Identifier: MIT
// A surface that remembers what was drawn and finds what nobody could read.
import assert from 'node:assert/strict';
import {lightPalette} from '../src/widgets/palette';
import type {Fill, Path, Stroke, Surface, TextStyle} from '../src/widgets/surface';
import {textWidth} from '../src/widgets/surface_text';
import type {SceneDrawing} from '../src/widgets/drawing';

interface TextBox {
  text: string;
  left: number;
  right: number;
  top: number;
  bottom: number;
}

export class RecordingSurface implements Surface {
  readonly palette = lightPalette;
  readonly texts: TextBox[] = [];
  readonly circles: {x: number; y: number; radius: number}[] = [];
  readonly rects: {x: number; y: number; width: number; height: number}[] = [];
  readonly cellValues: number[] = [];
  areas = 0;

  constructor(readonly width: number, readonly height: number) {}

  path(points: Path, stroke: Stroke): void {
    // A NaN begins a new piece.
    this.check('path', ...Array.from(points).filter((place) => !Number.isNaN(place)));
    assert.match(stroke.color, /^(#|rgb)/);
  }

  area(points: Path, fill: Fill): void {
    ++this.areas;
    this.check('area', ...points);
    assert.match(fill.color, /^(#|rgb)/);
  }

  rect(x: number, y: number, width: number, height: number, fill: Fill): void {
    this.check('rect', x, y, width, height);
    assert.ok(width >= 0 && height >= 0, `rect of ${width} by ${height}`);
    assert.match(fill.color, /^(#|rgb)/);
    this.rects.push({x, y, width, height});
  }

  circle(x: number, y: number, radius: number): void {
    this.check('circle', x, y, radius);
    assert.ok(radius >= 0, `circle of radius ${radius}`);
    this.circles.push({x, y, radius});
  }

  text(x: number, y: number, text: string, style: TextStyle): void {
    this.check(`text ${text}`, x, y);
    if (text === '') return;
    const size = style.size ?? 11;
    const length = textWidth(text, size);
    const left = {left: 0, center: -length / 2, right: -length}[style.align ?? 'left'];
    const top = {top: 0, middle: -size / 2, bottom: -size}[style.baseline ?? 'middle'];
    this.texts.push(style.turn
      ? {text, left: x - size / 2, right: x + size / 2, top: y - length / 2, bottom: y + length / 2}
      : {text, left: x + left, right: x + left + length, top: y + top, bottom: y + top + size});
  }

  cells(x: number, y: number, width: number, height: number, columns: number, values: ArrayLike<number>,
        color: (value: number) => string): void {
    this.check('cells', x, y, width, height);
    assert.equal(values.length % columns, 0);
    for (const value of Array.from(values)) {
      this.cellValues.push(value);
      if (!Number.isNaN(value)) assert.match(color(value), /^(#|rgb)/);
    }
  }

  clipped(x: number, y: number, width: number, height: number, draw: () => void): void {
    this.check('clip', x, y, width, height);
    draw();
  }

  /** All texts lie within the picture and none upon another. */
  assertLegible(): void {
    for (const [i, a] of this.texts.entries()) {
      assert.ok(a.left >= -2 && a.right <= this.width + 2 && a.top >= -1 && a.bottom <= this.height + 1,
        `"${a.text}" leaves the picture of ${this.width} by ${this.height}: ${JSON.stringify(a)}`);
      for (const b of this.texts.slice(i + 1)) {
        const apart = a.right <= b.left + 1 || b.right <= a.left + 1 || a.bottom <= b.top + 1 || b.bottom <= a.top + 1;
        assert.ok(apart, `"${a.text}" and "${b.text}" overlap at width ${this.width}`);
      }
    }
  }

  private check(what: string, ...numbers: number[]): void {
    assert.ok(numbers.every((value) => Number.isFinite(value)), `${what} at ${numbers.slice(0, 8).join(', ')}`);
  }
}

/** Paints at phone, column and full width; checks each, hovers everywhere, and returns the narrow one. */
export function paintEverywhere(scene: SceneDrawing): RecordingSurface {
  assert.match(scene.words, /\w.*\.$/);
  assert.doesNotMatch(scene.words, /undefined/);
  const surfaces = [280, 420, 900].map((width) => {
    const surface = new RecordingSurface(width, scene.height(width));
    assert.ok(surface.height >= 60 && surface.height <= 440, `height ${surface.height}`);
    scene.paint(surface);
    surface.assertLegible();
    for (let x = -5; x <= width + 5; x += 11) {
      for (let y = -5; y <= surface.height + 5; y += 11) {
        const hover = scene.at?.(x, y, width, surface.height);
        if (hover) assert.doesNotMatch(hover.text, /undefined|^$/);
      }
    }
    return surface;
  });
  return surfaces[0] as RecordingSurface;
}
