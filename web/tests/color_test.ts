// SPDX-License-Identifier: MIT
// Colours as bytes.
import assert from 'node:assert/strict';
import test from 'node:test';
import {colorBytes, pixelsOf} from '../src/base/color';
import {darkPalette, lightPalette} from '../src/widgets/palette';

test('both ways the palettes name colours are understood', () => {
  assert.deepEqual(colorBytes('#0072B2'), [0, 114, 178]);
  assert.deepEqual(colorBytes('rgb(1,20, 255)'), [1, 20, 255]);
  assert.equal(colorBytes('tomato'), null);
  for (const palette of [lightPalette, darkPalette]) {
    for (const color of [palette.bad, palette.heat(0.3), palette.diverging(-0.2)]) assert.ok(colorBytes(color), color);
  }
});

test('values become pixels and what is missing stays transparent', () => {
  assert.deepEqual([...(pixelsOf([1, NaN], 3, () => '#010203') ?? [])], [1, 2, 3, 255, 0, 0, 0, 0, 0, 0, 0, 0]);
  assert.equal(pixelsOf([1], 1, () => 'tomato'), null);
});
