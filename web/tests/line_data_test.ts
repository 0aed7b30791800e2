// SPDX-License-Identifier: MIT
// Lines as columns: gaps, marks, envelopes, smoothing, logarithmic axes.
import assert from 'node:assert/strict';
import {test} from 'node:test';
import {ZERO_ON_LOG} from '../src/base/scale';
import type {Line, LinesDrawing} from '../src/widgets/drawing';
import {describeLines, lineData, nearestRow} from '../src/widgets/line_data';
import type {Points} from '../src/wire/types';

function line(label: string, steps: number[], values: number[], low: number[] = [], high: number[] = []): Line {
  const points: Points = {id: 1, reduced: low.length > 0, count: steps.length, steps: Float64Array.from(steps),
    values: Float64Array.from(values), low: Float64Array.from(low), high: Float64Array.from(high)};
  return {label, points};
}

const plain = {smoothing: 0, logX: false, logY: false};
const drawing = (...lines: Line[]): LinesDrawing => ({kind: 'lines', lines});

test('lines of different steps share one axis; where a line has no value it goes on', () => {
  const data = lineData(drawing(line('a', [0, 2], [1, 2]), line('b', [1, 2, 3], [3, 4, 5])), plain);
  assert.deepEqual(data.steps, [0, 1, 2, 3]);
  assert.deepEqual(data.columns.map(({cells}) => cells), [[1, undefined, 2, undefined], [undefined, 3, 4, 5]]);
});

test('NaN and infinities are gaps with a mark and a remark', () => {
  const data = lineData(drawing(line('a', [0, 1, 2, 3], [NaN, Infinity, -Infinity, 1])), plain);
  assert.deepEqual(data.columns[0]?.cells, [null, null, null, 1]);
  assert.deepEqual(data.marks.map(({kind}) => kind), ['nan', 'above', 'below']);
  assert.deepEqual(data.remarks, ['1 value not a number (×)', '2 values infinite (▲▼)']);
});

test('a logarithmic axis leaves out what is not positive and says so', () => {
  const data = lineData(drawing(line('a', [0, 1, 2], [0, -1, 5])), {...plain, logY: true});
  assert.deepEqual(data.columns[0]?.cells, [null, null, 5]);
  assert.deepEqual(data.remarks, ['2 values ≤ 0 left out of the log axis']);
});

test('on a logarithmic axis of steps, step 0 has a place', () => {
  const data = lineData(drawing(line('a', [0, 1, 10], [1, 2, 3])), {...plain, logX: true});
  assert.deepEqual(data.x, [ZERO_ON_LOG, 1, 10]);
  assert.deepEqual(data.steps, [0, 1, 10]);
});

test('a reduced line comes with its bounds; on a logarithmic axis they end at the line', () => {
  const reduced = drawing(line('a', [9, 19], [2, 3], [-1, 1], [4, 5]));
  const roles = (logY: boolean) => lineData(reduced, {...plain, logY}).columns.map(({role, cells}) => [role, ...cells]);
  assert.deepEqual(roles(false), [['low', -1, 1], ['high', 4, 5], ['value', 2, 3]]);
  assert.deepEqual(roles(true), [['low', 2, 1], ['high', 4, 5], ['value', 2, 3]]);
});

test('a smoothed line has the raw one behind it, unless it is exact', () => {
  const smooth = {...plain, smoothing: 0.5};
  const both = lineData(drawing(line('a', [0, 1], [0, 3]), {...line('b', [0, 1], [0, 3]), exact: true}), smooth);
  assert.deepEqual(both.columns.map(({role, cells}) => [role, ...cells]), [['raw', 0, 3], ['value', 0, 2], ['value', 0, 3]]);
  assert.deepEqual([...(both.exact[0] as Float64Array)], [0, 3]);
});

test('the cursor finds the nearest value of a line that has none under it', () => {
  const cells = [1, undefined, undefined, null, 2];
  const x = [0, 1, 2, 3, 4];
  assert.deepEqual([0, 1, 2, 3, 4].map((row) => nearestRow(cells, x, row)), [0, 0, 0, 4, 4]);
  assert.equal(nearestRow([null, undefined], [0, 1], 0), null);
});

test('lines have a description in words', () => {
  assert.equal(describeLines(drawing(line('loss', [0, 1200], [1, 0.5]))), 'Lines over steps. loss: 0.5 at step 1\u202f200.');
  assert.match(describeLines(drawing(line('loss', [], []))), /no values yet/);
});
