// SPDX-License-Identifier: MIT
// Cells, colours and places of the heat map.
import assert from 'node:assert/strict';
import test from 'node:test';
import {elide} from '../src/base/elide';
import {heatMap} from '../src/widgets/scenes/heat_map';
import {columnCount, entryAt, graver, heatCells, heatFraction, heatRange, naturalScale, spanOf, type HeatRow} from '../src/widgets/scenes/heat_values';
import {darkPalette, lightPalette} from '../src/widgets/palette';
import {SvgSurface} from '../src/widgets/svg_surface';
import type {Points} from '../src/wire/types';

const exact = (steps: number[], values: number[]): Points => ({id: 1, reduced: false, count: steps.length,
  steps: Float64Array.from(steps), values: Float64Array.from(values), low: new Float64Array(), high: new Float64Array()});
const reduced = (steps: number[], low: number[], high: number[]): Points => ({id: 1, reduced: true, count: 10 * steps.length,
  steps: Float64Array.from(steps), values: Float64Array.from(low), low: Float64Array.from(low), high: Float64Array.from(high)});
const row = (...points: Points[]): HeatRow => ({label: 'layer', points});
const cells = (rows: HeatRow[], columns: number, first: number, last: number, scale: 'log' | 'linear' | 'diverging' = 'linear', together = 1) =>
  [...heatCells(rows, 0, rows.length, together, {first, last}, columns, scale)];

test('a value lasts until the next one', () => {
  assert.deepEqual(cells([row(exact([0, 2, 4], [1, 2, 3]))], 6, 0, 5), [1, 1, 2, 2, 3, 3]);
});

test('steps without a value before the first stay empty', () => {
  assert.deepEqual(cells([row(exact([2, 3], [5, 6]))], 4, 0, 3), [NaN, NaN, 5, 6]);
});

test('no peak is lost where several points share a cell', () => {
  assert.deepEqual(cells([row(exact([0, 1, 2, 3], [1, 9, 2, 3]))], 2, 0, 3), [9, 3]);
  assert.deepEqual(cells([row(exact([0, 1, 2, 3], [1, -9, 2, 3]))], 2, 0, 3, 'diverging'), [-9, 3]);
});

test('a reduced entry covers the steps up to its own with its extreme', () => {
  assert.deepEqual(cells([row(reduced([9, 19], [1, 2], [4, 8]))], 4, 0, 19), [4, 4, 8, 8]);
});

test('rows taken together show the largest', () => {
  const rows = [row(exact([0], [1])), row(exact([0], [7])), row(exact([0], [3]))];
  assert.deepEqual(cells(rows, 1, 0, 0, 'linear', 2), [7, 3]);
});

test('what is no finite number wins over every number and nothing over none', () => {
  assert.equal(graver(3, Infinity, 'log'), Infinity);
  assert.equal(graver(NaN, -3, 'linear'), -3);
  assert.deepEqual(cells([row(exact([0, 1], [NaN, 2]))], 1, 0, 1), [Infinity]);
  assert.deepEqual(cells([row(exact([0], [-Infinity]))], 1, 0, 0), [Infinity]);
});

test('the entry at a step is found in both kinds of series', () => {
  const span = {first: 0, last: 20};
  assert.deepEqual([0, 1, 9, 11].map((step) => entryAt(exact([0, 5, 10], [1, 2, 3]), step, span)), [0, 0, 1, 2]);
  assert.equal(entryAt(exact([5, 10], [1, 2]), 2, span), -1);
  assert.deepEqual([0, 9, 10, 20].map((step) => entryAt(reduced([9, 19], [1, 1], [1, 1]), step, span)), [0, 0, 1, -1]);
});

test('entries at even distances have a column each', () => {
  const rows = [row(exact([0, 5, 10], [1, 2, 3]))];
  assert.deepEqual(spanOf(rows), {first: 0, last: 14});
  assert.equal(columnCount(rows, spanOf(rows), 500), 3);
  assert.deepEqual(cells(rows, 3, 0, 14), [1, 2, 3]);
  const taken = [row(reduced([5, 15, 25], [1, 2, 3], [1, 2, 3]))];
  assert.deepEqual(spanOf(taken), {first: -4, last: 25});
  assert.equal(columnCount(taken, spanOf(taken), 500), 3);
  assert.deepEqual(cells(taken, 3, -4, 25), [1, 2, 3]);
});

test('columns are no more than pixels or steps, and some more than entries at uneven distances', () => {
  const even = [row(exact([0, 5, 10], [1, 2, 3]))];
  assert.equal(columnCount(even, {first: 0, last: 14}, 2), 2);
  assert.equal(columnCount([row(exact([0, 1, 10, 100], [1, 2, 3, 4]))], {first: 0, last: 189}, 500), 12);
  assert.equal(columnCount([], {first: 0, last: 10}, 500), 1);
});

test('the span is that of all rows', () => {
  assert.deepEqual(spanOf([row(exact([3, 4], [0, 0])), row(exact([1], [0])), row()]), {first: 1, last: 4});
  assert.deepEqual(spanOf([]), {first: 0, last: 0});
});

test('a logarithmic range leaves zeros to its lowest colour', () => {
  const range = heatRange([row(exact([0, 1, 2], [0, 1e-4, 1]))], 'log');
  assert.ok(range);
  assert.deepEqual([range.low, range.high, range.isCutLow], [1e-4, 1, true]);
  assert.equal(heatFraction(0, range, 'log'), 0);
  assert.ok(Math.abs(heatFraction(1e-2, range, 'log') - 0.5) < 1e-12);
  assert.equal(heatFraction(5, range, 'log'), 1);
});

test('a logarithmic range has at most twelve decades', () => {
  assert.equal(heatRange([row(exact([0, 1], [1e-200, 1]))], 'log')?.low, 1e-12);
});

test('one spike does not hide the rest of a linear range', () => {
  const values = Array.from({length: 1000}, (_, i) => (i === 500 ? 1e9 : i / 1000));
  const range = heatRange([row(exact(values.map((_, i) => i), values))], 'linear');
  assert.ok(range && range.high < 1 && range.isCutHigh);
});

test('a diverging range is the same on both sides', () => {
  const range = heatRange([row(exact([0, 1], [-4, 1]))], 'diverging');
  assert.ok(range);
  assert.deepEqual([range.low, range.high], [-4, 4]);
  assert.equal(heatFraction(-2, range, 'diverging'), -0.5);
});

test('without values there is no range, and with bad ones alone there is', () => {
  assert.equal(heatRange([row()], 'log'), null);
  assert.equal(heatRange([row(exact([0], [NaN]))], 'log')?.hasBad, true);
});

test('the scale follows the values', () => {
  assert.equal(naturalScale([row(exact([0, 1], [-1, 1]))]), 'diverging');
  assert.equal(naturalScale([row(exact([0, 1], [1e-3, 1]))]), 'log');
  assert.equal(naturalScale([row(exact([0, 1, 2], [0, 1e-3, 1]))]), 'log');
  assert.equal(naturalScale([row(exact([0, 1], [0.5, 1]))]), 'linear');
  assert.equal(naturalScale([row(exact([0, 1], [-5, -3]))]), 'linear');
  assert.equal(naturalScale([]), 'linear');
});

test('equal values have a colour', () => {
  const range = heatRange([row(exact([0, 1], [2, 2]))], 'linear');
  assert.ok(range);
  assert.equal(heatFraction(2, range, 'linear'), 0.5);
});

const many = (count: number): HeatRow[] =>
  Array.from({length: count}, (_, i) => ({label: `layers.${i}.weight`, points: [exact([0, 1, 2, 3], [i, i + 1, i + 2, i + 3])]}));

test('hovering names row, step and exact value', () => {
  const map = heatMap({rows: many(10), title: 'norm', scale: 'linear'});
  const height = map.height(600);
  const y = 30 + 18 * 3 + 9;
  assert.equal(map.rowAt(500, y, 600, height), 3);
  assert.equal(map.stepAt(589, y, 600, height), 3);
  assert.equal(map.at?.(589, y, 600, height)?.text, 'layers.3.weight\n6 at step 3');
  assert.equal(map.at?.(589, 5, 600, height), null);
});

test('a window of rows begins where it is told', () => {
  const map = heatMap({rows: many(100), title: 'norm', scale: 'linear', first: 40, count: 10});
  assert.equal(map.rowAt(300, 31, 600, map.height(600)), 40);
});

test('a thousand rows keep a height that fits a screen, and a hover tells of rows taken together', () => {
  const map = heatMap({rows: many(1000), title: 'norm', scale: 'linear'});
  const height = map.height(600);
  assert.ok(height < 700);
  assert.match(map.at?.(400, 31, 600, height)?.text ?? '', /^layers\.0\.weight and the row after it\nlargest of 2: /);
});

test('names lose their middle', () => {
  assert.equal(elide('transformer.layers.0.attention.weight', 20), 'transf…ention.weight');
  assert.equal(elide('short', 20), 'short');
  assert.equal(elide('long', 1), '…');
  assert.equal(elide('long', 0), '');
});

function drawn(rows: HeatRow[], width: number, palette = lightPalette): string {
  const map = heatMap({rows, title: 'norm', scale: 'log'});
  const surface = new SvgSurface(width, map.height(width), palette);
  map.paint(surface);
  return surface.svg();
}

test('the picture names its rows, steps and range', () => {
  const svg = drawn(many(3), 600);
  for (const text of ['layers.0.weight', 'layers.2.weight', '>1<', '>5<']) assert.ok(svg.includes(text), text);
  assert.ok(svg.includes('≤ 1'), 'zero lies below a logarithmic range');
});

test('values that are no finite numbers are drawn in the colour of failure and explained', () => {
  const svg = drawn([{label: 'a', points: [exact([0, 1], [1, NaN])]}], 600, darkPalette);
  assert.ok(svg.includes(darkPalette.bad) && svg.includes('NaN, ∞'));
});

test('a narrow picture of long names and one without values are drawn', () => {
  const svg = drawn([{label: 'transformer.layers.0.attention.weight', points: [exact([0], [1])]}], 200);
  assert.ok(svg.includes('…') && !svg.includes('NaN"'));
  assert.ok(drawn([{label: 'a', points: []}], 600).includes('>a<'));
  assert.ok(drawn([], 600).startsWith('<svg'));
});

test('marks lie on their row and step', () => {
  const map = heatMap({rows: many(4), title: 'norm', scale: 'linear'});
  const height = map.height(600);
  const box = map.rowBox(2, 600, height);
  assert.ok(box);
  assert.equal(map.rowAt(box.x + 1, box.y + box.height / 2, 600, height), 2);
  const line = map.stepBox(3, 600, height);
  assert.ok(line);
  assert.equal(map.stepAt(line.x, line.y + 1, 600, height), 3);
  assert.equal(map.rowBox(9, 600, height), null);
  assert.equal(map.stepBox(99, 600, height), null);
});
