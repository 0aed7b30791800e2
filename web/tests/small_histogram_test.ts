// SPDX-License-Identifier: MIT
// What the small histogram says.
import assert from 'node:assert/strict';
import test from 'node:test';
import {smallHistogram} from '../src/widgets/scenes/small_histogram';
import {lightPalette} from '../src/widgets/palette';
import {SvgSurface} from '../src/widgets/svg_surface';
import type {Frame} from '../src/wire/types';

const frame: Frame = {id: 1, step: 7, list: new Float64Array(), axes: [{low: -2, high: 2, count: 4}],
  counts: Float64Array.from([1, 10, 5, 0]), below: 3, above: 0, not_a_number: 2};

test('the words count every entry and tell what lies outside', () => {
  assert.equal(smallHistogram({label: 'layer', frame}).words,
    'layer at step 7: 21 entries between −2 and 2, 3 below, 2 not a number');
});

test('hovering gives the bin and its count', () => {
  const scene = smallHistogram({label: 'layer', frame});
  assert.equal(scene.at?.(5 + 25 + 1, 10, 110, 64)?.text, '−1 to 0: 10');
  assert.equal(scene.at?.(1, 10, 110, 64)?.text, 'below −2: 3');
  assert.equal(scene.at?.(109, 10, 110, 64), null);
});

function drawn(of: Frame): string {
  const surface = new SvgSurface(120, 64, lightPalette);
  smallHistogram({label: 'layer', frame: of}).paint(surface);
  return surface.svg();
}

test('the picture shows what lies outside and what is not a number', () => {
  const svg = drawn(frame);
  assert.ok(svg.includes(lightPalette.warning) && svg.includes('2 NaN'));
  assert.ok(!drawn({...frame, below: 0, not_a_number: 0}).includes(lightPalette.warning));
});

test('a histogram without bins or without entries is drawn', () => {
  assert.ok(drawn({...frame, axes: [], counts: new Float64Array()}).startsWith('<svg'));
  assert.ok(!drawn({...frame, counts: new Float64Array(4), below: 0}).includes('NaN '));
});
