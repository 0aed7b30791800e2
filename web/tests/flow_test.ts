// SPDX-License-Identifier: MIT
// Rows without holes, panels that would be level lines, and histograms without their empty ends.
import assert from 'node:assert/strict';
import {test} from 'node:test';
import {constantsIn, isConstant} from '../src/app/constant_lines';
import {nameBelow} from '../src/app/views/layer_tree';
import {cutBins} from '../src/base/cut_bins';
import {scoreName, scorePart} from '../src/base/score_names';
import {cutFrame} from '../src/widgets/cut_frame';
import type {LinesDrawing} from '../src/widgets/drawing';
import {FLOW_GAP, perRow} from '../src/widgets/flow';
import {logIfWide} from '../src/widgets/line_parts';
import type {Frame, Points} from '../src/wire/types';

test('no row has two panels fewer than another, and none is too narrow', () => {
  for (let count = 1; count <= 40; ++count) {
    for (const width of [280, 390, 800, 1280, 2560]) {
      const columns = perRow(count, width, 360);
      assert.ok(columns === 1 || columns * 360 + (columns - 1) * FLOW_GAP <= width, `${columns} in ${width}`);
      const last = count % columns || columns;
      const rows = Math.ceil(count / columns);
      assert.ok(columns - last < rows || columns - last <= 1, `${count} in rows of ${columns}`);
    }
  }
  assert.equal(perRow(4, 1280, 360), 2);
  assert.equal(perRow(7, 2560, 360), 4);
  assert.equal(perRow(0, 1280, 360), 1);
});

const points = (...values: number[]): Points => ({id: 1, reduced: false, count: values.length,
  steps: Float64Array.from(values, (_, i) => i), values: Float64Array.from(values), low: new Float64Array(), high: new Float64Array()});
const lines = (...all: Points[]): LinesDrawing => ({kind: 'lines', lines: all.map((each, i) => ({label: `line ${i}`, points: each}))});

test('a learning rate that stays is no panel, one that changes is', () => {
  assert.ok(isConstant({place: 'hyperparameters'}, lines(points(0.1, 0.1))));
  assert.ok(isConstant({place: 'hyperparameters'}, lines(points(0.1))));
  assert.ok(!isConstant({place: 'hyperparameters'}, lines(points(0.1, 0.2))));
  assert.ok(!isConstant({place: 'hyperparameters'}, lines(points(0.1, 0.1), points(1, 2))));
  const reduced = {...points(1, 1), reduced: true, low: Float64Array.of(1, 0), high: Float64Array.of(1, 1)};
  assert.ok(!isConstant({place: 'hyperparameters'}, lines(reduced)), 'a reduced entry may hide a change');
});

test('what is measured is believed to be constant after some values, and never if it is no number', () => {
  assert.ok(!isConstant({place: 'more'}, lines(points(0, 0))));
  assert.ok(isConstant({place: 'more'}, lines(points(0, 0, 0, 0, 0))));
  assert.ok(!isConstant({place: 'more'}, lines(points(NaN, NaN, NaN, NaN, NaN))));
  assert.ok(!isConstant({place: 'more'}, lines()));
});

test('the instruments of the papers have their panel whatever they show', () => {
  for (const place of ['step_size', 'gradients', 'curvature', 'performance'] as const) {
    assert.ok(!isConstant({place}, lines(points(1, 1, 1, 1, 1, 1))), place);
  }
  for (const nothing of [null, 'nothing', new Error('x')] as const) assert.ok(!isConstant({place: 'more'}, nothing));
});

test('lines of one value are told once', () => {
  assert.deepEqual(constantsIn({title: 'Dead units'}, lines(points(0), points(0))), [{label: 'dead units', value: 0}]);
  assert.deepEqual(constantsIn({title: 'Rates'}, lines(points(1), points(2))), [{label: 'line 0', value: 1}, {label: 'line 1', value: 2}]);
});

test('empty ends of a histogram are cut, at few places, and what is kept keeps its place', () => {
  const filled = (from: number, to: number) => (bin: number) => bin >= from && bin < to;
  const axis = {low: -2, high: 2, count: 64};
  const cut = cutBins(axis, filled(30, 34));
  assert.deepEqual(cut, {low: -0.25, high: 0.25, count: 8, first: 28});
  assert.deepEqual(cutBins(axis, filled(29, 33)), cut);
  assert.deepEqual(cutBins(axis, filled(0, 0)), {...axis, first: 0});
  assert.deepEqual(cutBins(axis, filled(0, 64)), {...axis, first: 0});
  assert.deepEqual(cutBins({low: 0, high: 1, count: 1}, () => true), {low: 0, high: 1, count: 1, first: 0});
});

test('a histogram that is cut has the entries it had', () => {
  const counts = new Float64Array(64 * 32);
  counts[40 * 32 + 5] = 3;
  counts[41 * 32 + 9] = 4;
  const frame: Frame = {id: 1, step: 2, list: new Float64Array(), axes: [{low: -1, high: 1, count: 64}, {low: 0, high: 32, count: 32}],
    counts, below: 1, above: 2, not_a_number: 3};
  const shown = cutFrame(frame);
  const [rows, columns] = shown.axes as [Frame['axes'][0], Frame['axes'][0]];
  assert.equal(shown.counts.length, rows.count * columns.count);
  assert.equal(shown.counts.reduce((a, b) => a + b), 7);
  assert.deepEqual([shown.below, shown.above, shown.not_a_number], [1, 2, 3]);
  const at = shown.counts.indexOf(4);
  assert.equal(columns.low + ((at % columns.count) * (columns.high - columns.low)) / columns.count, 9);
  assert.ok(Math.abs(rows.low + (Math.floor(at / columns.count) * (rows.high - rows.low)) / rows.count - (-1 + 41 / 32)) < 1e-12);
});

test('losses say of what they are, and whether with the penalty', () => {
  assert.equal(scoreName('loss', {l2: '0'}), 'Mini-batch loss');
  assert.equal(scoreName('loss', {l2: '0.002'}), 'Mini-batch loss without penalty');
  assert.equal(scoreName('valid_loss', {l2: '0.002'}), 'Validation loss with penalty');
  assert.equal(scoreName('valid_accuracy', {l2: '0.002'}), 'Validation accuracy');
  assert.equal(scoreName('grad_norm', {}), undefined);
  assert.equal(scorePart('train_loss', {l2: 'none'}), 'training');
});

test('losses that explode get a logarithmic axis, others a linear one', () => {
  const of = (...values: number[]) => lines(points(...values)).lines;
  assert.equal(logIfWide(of(2.3, 2, 1.8)), 'linear');
  assert.equal(logIfWide(of(2.3, 2, 1e-3, 1e-3)), 'linear');
  assert.equal(logIfWide(of(2.3, 2.5, 2.6, 1e30, NaN)), 'log');
  assert.equal(logIfWide(of(2.3, -1, 1e30)), 'linear');
  assert.equal(logIfWide(of()), 'linear');
});

test('below the heading of a module its parameters are called weight and bias', () => {
  assert.equal(nameBelow('unit1.norm1.weight', 'unit1.norm1'), 'weight');
  assert.equal(nameBelow('unit1.scale', 'unit1.(own)'), 'scale');
  assert.equal(nameBelow('unit1.norm1.weight', 'linear weight'), 'unit1.norm1.weight');
  assert.equal(nameBelow('weight', 'model'), 'weight');
});
