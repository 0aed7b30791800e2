// SPDX-License-Identifier: MIT
// Sorting and filtering.
import assert from 'node:assert/strict';
import test from 'node:test';
import {compareCells, parseFilter, passes, sortRows, type Cell} from '../src/base/table';

const sorted = (cells: Cell[], direction: 'up' | 'down') => sortRows(cells, (cell) => cell, direction);

test('numbers sort as numbers, also where they are text', () => {
  assert.deepEqual(sorted(['10', '9', 1e-3, '1e-4'], 'up'), ['1e-4', 1e-3, '9', '10']);
  assert.deepEqual(sorted(['10', '9', 1e-3, '1e-4'], 'down'), ['10', '9', 1e-3, '1e-4']);
});

test('what is missing comes last in both directions, after what is not a number', () => {
  assert.deepEqual(sorted([undefined, 2, NaN, 1, ''], 'up'), [1, 2, NaN, undefined, '']);
  assert.deepEqual(sorted([undefined, 2, NaN, 1, ''], 'down'), [2, 1, NaN, undefined, '']);
});

test('infinities are ordinary extremes', () => {
  assert.deepEqual(sorted([Infinity, 0, -Infinity], 'down'), [Infinity, 0, -Infinity]);
});

test('text sorts without regard to case and with its numbers counted', () => {
  assert.deepEqual(sorted(['run_10', 'Run_9', 'adam'], 'up'), ['adam', 'Run_9', 'run_10']);
});

test('numbers come before text', () => {
  assert.ok(compareCells(3, 'adam') < 0);
  assert.ok(compareCells(3, 'adam', 'down') > 0);
});

test('rows that are equal stay in their order', () => {
  const rows = [{a: 1, b: 'x'}, {a: 1, b: 'y'}, {a: 0, b: 'z'}];
  assert.deepEqual(sortRows(rows, (row) => row.a, 'down').map((row) => row.b), ['x', 'y', 'z']);
});

const ROW: Record<string, Cell> = {name: 'first', optimizer: 'SGD', learning_rate: '0.01', loss: 0.5, diverged: NaN};
const keeps = (filter: string) =>
  passes(parseFilter(filter), () => Object.values(ROW).join('\n'), (key) => ROW[key]);

test('an empty filter keeps every row', () => {
  assert.ok(keeps('') && keeps('   '));
});

test('all words must be there, whichever their case', () => {
  assert.ok(keeps('sgd FIRST'));
  assert.ok(!keeps('sgd second'));
});

test('a word after a minus must not be there', () => {
  assert.ok(keeps('-adam'));
  assert.ok(!keeps('-sgd'));
});

test('conditions compare numbers', () => {
  for (const filter of ['learning_rate>0.001', 'learning_rate>=0.01', 'learning_rate=1e-2', 'loss<1', 'loss!=1', 'Loss<=.5']) {
    assert.ok(keeps(filter), filter);
  }
  for (const filter of ['learning_rate>0.01', 'learning_rate<0.01', 'loss=1', 'loss>=0.6']) {
    assert.ok(!keeps(filter), filter);
  }
});

test('conditions compare text by equality', () => {
  assert.ok(keeps('optimizer=sgd') && keeps('optimizer!=adam'));
  assert.ok(!keeps('optimizer=adam'));
});

test('a missing cell only differs', () => {
  assert.ok(keeps('momentum!=0.9'));
  assert.ok(!keeps('momentum=0.9') && !keeps('momentum>0') && !keeps('momentum<1'));
});

test('what is not a number can be asked for', () => {
  assert.ok(keeps('diverged=nan') && !keeps('loss=nan'));
  assert.ok(!keeps('diverged>0') && !keeps('diverged<0'));
});

test('a condition without a value yet keeps every row', () => {
  assert.ok(keeps('loss>'));
});

test('quotes keep words together', () => {
  assert.deepEqual(parseFilter('"two words" x="a b"'), [
    {kind: 'word', text: 'two words', isWanted: true},
    {kind: 'condition', key: 'x', operator: '=', value: 'a b'},
  ]);
});
