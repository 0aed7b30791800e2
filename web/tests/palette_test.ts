// SPDX-License-Identifier: MIT
// Colours as people see them who lack one kind of cones.
import assert from 'node:assert/strict';
import test from 'node:test';
import {colorBytes} from '../src/base/color';
import {darkPalette, lightPalette} from '../src/widgets/palette';
import {distanceFor, lightnessFor, luminance, VISIONS} from './color_vision';

const bytes = (color: string) => {
  const found = colorBytes(color);
  assert.ok(found, color);
  return found;
};

function contrast(a: string, b: string): number {
  const [dark, bright] = [a, b].map((color) => luminance(bytes(color))).sort((x, y) => x - y) as [number, number];
  return (bright + 0.05) / (dark + 0.05);
}

const THEMES = {light: lightPalette, dark: darkPalette};
/** Two lines side by side are told apart from about 2 on; thin ones, apart from each other, need several times that. */
const TOLD_APART = 9;

for (const [theme, palette] of Object.entries(THEMES)) {
  test(`any two lines of the ${theme} theme can be told apart with any two kinds of cones`, () => {
    for (const vision of VISIONS) {
      palette.lines.forEach((a, i) => palette.lines.slice(i + 1).forEach((b) => {
        const apart = distanceFor(vision, bytes(a), bytes(b));
        assert.ok(apart >= TOLD_APART, `${a} and ${b} are ${apart.toFixed(1)} apart as ${vision}`);
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
    for (const vision of VISIONS) {
      const lightness = Array.from({length: 17}, (_, i) => lightnessFor(vision, bytes(palette.heat(i / 16))));
      const steps = lightness.slice(1).map((value, i) => (value - (lightness[i] as number)) * (palette.isDark ? 1 : -1));
      assert.ok(steps.every((step) => step > 0.5), `${vision}: ${steps.map((step) => step.toFixed(1)).join(' ')}`);
      assert.ok(Math.abs((lightness[16] as number) - (lightness[0] as number)) > 50, vision);
    }
  });

  test(`both sides of the scale around 0 of the ${theme} theme can be told apart with any cones`, () => {
    for (const vision of VISIONS) {
      for (const size of [0.35, 0.7, 1]) {
        const apart = distanceFor(vision, bytes(palette.diverging(-size)), bytes(palette.diverging(size)));
        assert.ok(apart >= TOLD_APART * size, `${size}: ${apart.toFixed(1)} as ${vision}`);
      }
    }
  });
}
