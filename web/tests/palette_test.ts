// SPDX-License-Identifier: MIT
// Colours as people see them who lack one kind of cones.
import assert from 'node:assert/strict';
import test from 'node:test';
import {colorBytes} from '../src/base/color';
import {darkPalette, lightPalette} from '../src/widgets/palette';

type Triple = readonly [number, number, number];
type Matrix = readonly [Triple, Triple, Triple];

/** Machado, Oliveira and Fernandes 2009, for linear colours and no such cones at all. */
const SIGHTS: Record<string, Matrix> = {
  'all cones': [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
  'no red cones': [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
  'no green cones': [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]],
  'no blue cones': [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.3039]],
};
/** Ottosson's, from linear colours to responses and from their roots to lightness and two axes of colour. */
const RESPONSE: Matrix = [[0.4122214708, 0.5363325363, 0.0514459929], [0.2119034982, 0.6806995451, 0.1073969566],
  [0.0883024619, 0.2817188376, 0.6299787005]];
const OKLAB: Matrix = [[0.2104542553, 0.793617785, -0.0040720468], [1.9779984951, -2.428592205, 0.4505937099],
  [0.0259040371, 0.7827717662, -0.808675766]];

const times = (matrix: Matrix, v: Triple): Triple => matrix.map((row) => row[0] * v[0] + row[1] * v[1] + row[2] * v[2]) as unknown as Triple;
const each = (v: Triple, of: (value: number) => number): Triple => [of(v[0]), of(v[1]), of(v[2])];

function linear(color: string): Triple {
  const bytes = colorBytes(color);
  assert.ok(bytes, color);
  return each(bytes, (byte) => (byte <= 10 ? byte / 255 / 12.92 : ((byte / 255 + 0.055) / 1.055) ** 2.4));
}

/** Lightness and colour such that equal distances look about equal: black and white are 1 apart. */
function seen(color: string, sight: Matrix): Triple {
  const left = each(times(sight, linear(color)), (value) => Math.min(1, Math.max(0, value)));
  return times(OKLAB, each(times(RESPONSE, left), Math.cbrt));
}

const distance = (a: Triple, b: Triple) => Math.hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);

function contrast(a: string, b: string): number {
  const [dark, bright] = [a, b].map((color) => times([[0.2126, 0.7152, 0.0722], [0, 0, 0], [0, 0, 0]], linear(color))[0]).sort((x, y) => x - y) as [number, number];
  return (bright + 0.05) / (dark + 0.05);
}

const THEMES = {light: lightPalette, dark: darkPalette};
/** Two lines side by side are told apart from about 0.02 on; thin ones, apart from each other, need several times that. */
const TOLD_APART = 0.09;

for (const [theme, palette] of Object.entries(THEMES)) {
  test(`any two lines of the ${theme} theme can be told apart with any two kinds of cones`, () => {
    for (const [name, sight] of Object.entries(SIGHTS)) {
      palette.lines.forEach((a, i) => palette.lines.slice(i + 1).forEach((b) => {
        const apart = distance(seen(a, sight), seen(b, sight));
        assert.ok(apart >= TOLD_APART, `${a} and ${b} are ${apart.toFixed(3)} apart with ${name}`);
      }));
    }
  });

  test(`lines and words of the ${theme} theme stand out from the background`, () => {
    for (const color of palette.lines) assert.ok(contrast(color, palette.background) >= 3, `${color}: ${contrast(color, palette.background)}`);
    for (const color of [palette.text, palette.faint, palette.bad, palette.good, palette.warning]) {
      assert.ok(contrast(color, palette.background) >= 4.5, `${color}: ${contrast(color, palette.background)}`);
    }
  });

  test(`more is always darker, or always brighter, on the heat scale of the ${theme} theme, with any cones`, () => {
    for (const [name, sight] of Object.entries(SIGHTS)) {
      const lightness = Array.from({length: 17}, (_, i) => seen(palette.heat(i / 16), sight)[0]);
      const steps = lightness.slice(1).map((value, i) => (value - (lightness[i] as number)) * (palette.isDark ? 1 : -1));
      assert.ok(steps.every((step) => step > 0.005), `${name}: ${steps.map((step) => step.toFixed(3)).join(' ')}`);
      assert.ok(Math.abs((lightness[16] as number) - (lightness[0] as number)) > 0.5, name);
    }
  });

  test(`both sides of the scale around 0 of the ${theme} theme can be told apart with any cones`, () => {
    for (const [name, sight] of Object.entries(SIGHTS)) {
      for (const size of [0.35, 0.7, 1]) {
        const apart = distance(seen(palette.diverging(-size), sight), seen(palette.diverging(size), sight));
        assert.ok(apart >= TOLD_APART * size, `${size}: ${apart.toFixed(3)} with ${name}`);
      }
    }
  });
}
