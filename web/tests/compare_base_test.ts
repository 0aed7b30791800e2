// SPDX-License-Identifier: MIT
// What a comparison is made of: means and bands, groups, axes, names, layouts.
import assert from 'node:assert/strict';
import test from 'node:test';
import {summarise} from '../src/base/bands';
import {arranged, isUsual, readLayout, sizeOf, USUAL_LAYOUT, withHidden, withMoved, withPin, withSize, withStep} from '../src/base/board_layout';
import {rebinned, usedRange} from '../src/base/rebin';
import {placing, RUN_AXES, secondsAt, stepsWithin} from '../src/base/run_axis';
import {groupings, groupRuns, NO_TAG} from '../src/base/run_groups';
import {shortNames} from '../src/base/short_names';
import {timeLabels, timeTicks} from '../src/base/time_ticks';
import {valueAxis} from '../src/base/value_axis';
import {soundRange} from '../src/base/sound_range';

const near = (actual: ArrayLike<number>, expected: readonly number[], tolerance = 1e-12) => {
  assert.equal(actual.length, expected.length);
  expected.forEach((value, i) => assert.ok(Math.abs((actual[i] as number) - value) <= tolerance || (Number.isNaN(value) && Number.isNaN(actual[i])), `${actual[i]} at ${i}, not ${value}`));
};

test('the mean of curves has their standard deviation, quartiles or extremes around it', () => {
  const curves = [1, 2, 3, 10].map((y) => ({x: [0, 1], y: [y, 2 * y]}));
  const deviation = summarise(curves, 'deviation');
  near(deviation.middle, [4, 8]);
  const sd = Math.sqrt((9 + 4 + 1 + 36) / 3);
  near(deviation.low, [4 - sd, 8 - 2 * sd]);
  near(deviation.high, [4 + sd, 8 + 2 * sd]);
  const quartiles = summarise(curves, 'quartiles');
  near([quartiles.low[0] as number, quartiles.middle[0] as number, quartiles.high[0] as number], [1.75, 2.5, 4.75]);
  const range = summarise(curves, 'range');
  near([range.low[0] as number, range.middle[0] as number, range.high[0] as number], [1, 4, 10]);
});

test('curves with other places are met between their points, and nowhere beyond them', () => {
  const {x, middle, counts} = summarise([{x: [0, 4, 8], y: [0, 4, 8]}, {x: [2, 6], y: [20, 60]}], 'range');
  assert.deepEqual([...x], [0, 2, 4, 6, 8]);
  assert.deepEqual([...counts], [1, 2, 2, 2, 1]);
  assert.deepEqual([...middle], [0, 11, 22, 33, 8]);
});

test('values that are not finite are left out of a mean and counted', () => {
  const {middle, counts, leftOut} = summarise([{x: [0, 1], y: [1, NaN]}, {x: [0, 1], y: [3, 5]}, {x: [0, 1], y: [Infinity, NaN]}], 'deviation');
  assert.deepEqual([[...middle], [...counts], leftOut], [[2, 5], [2, 1], 3]);
  assert.ok(Number.isNaN(summarise([{x: [0], y: [NaN]}], 'quartiles').middle[0]));
  assert.equal(summarise([], 'range').x.length, 0);
});

test('one curve is its own mean with no band, and of very many places a selection with both ends stays', () => {
  const many = {x: Float64Array.from({length: 5000}, (_, i) => i), y: new Float64Array(5000).fill(2)};
  const {x, low, high} = summarise([many], 'deviation', 100);
  assert.deepEqual([x.length, x[0], x[99], low[50], high[50]], [100, 0, 4999, 2, 2]);
});

const RUNS = [
  {id: 'a', config: {optimizer: 'sgd', seed: '1', data: 'generated with seed 1'}, tags: ['paper', 'old']},
  {id: 'b', config: {optimizer: 'sgd', seed: '2', data: 'generated with seed 2'}, tags: []},
  {id: 'c', config: {optimizer: 'adam', seed: '1', data: 'generated with seed 1'}, tags: ['paper']},
  {id: 'd', config: {seed: '1'}},
];
const told = (by: string) => groupRuns(RUNS, by).map(({label, runs}) => `${label}: ${runs.map(({id}) => id).join('')}`);

test('runs are grouped by a setting, a tag, everything but the seed, or all in one, and none is lost', () => {
  assert.deepEqual(told('config:optimizer'), ['optimizer adam: c', 'optimizer not set: d', 'optimizer sgd: ab']);
  assert.deepEqual(told('tag'), [`${NO_TAG}: bd`, 'old: a', 'paper: ac']);
  assert.deepEqual(groupRuns(RUNS.slice(0, 3), 'seed').map(({label, runs}) => [label, runs.length]), [['optimizer adam', 1], ['optimizer sgd', 2]]);
  assert.deepEqual(told('all'), ['all: abcd']);
  assert.deepEqual(told('config:no such setting'), ['no such setting not set: abcd']);
  assert.deepEqual(groupRuns([], 'seed'), []);
});

test('any setting can be grouped by, and tags where there are some', () => {
  assert.deepEqual(groupings(RUNS).map(({by}) => by), ['', 'seed', 'tag', 'all', 'config:data', 'config:optimizer', 'config:seed']);
  assert.ok(!groupings(RUNS.slice(1, 2)).some(({by}) => by === 'tag'));
});

const PLACED = {config: {steps_per_epoch: '10', batch_size: '32'}, startTime: 1_700_000_000, clock: {steps: [0, 10, 20], seconds: [1, 11, 31]}};

test('a step is placed by epochs, samples, seconds and the time of day', () => {
  const at = RUN_AXES.map((axis) => placing(axis, PLACED).place?.(15));
  assert.deepEqual(at, [15, 1.5, 480, 21, 1_700_000_021]);
  assert.deepEqual([-5, 0, 5, 10, 25].map((step) => secondsAt(PLACED.clock, step)), [-4, 1, 6, 11, 41]);
});

test('what is missing to place a run is said', () => {
  const nothing = {config: {batch_size: 'all'}, startTime: 0, clock: {steps: [], seconds: []}};
  assert.deepEqual(RUN_AXES.map((axis) => placing(axis, nothing).missing),
    ['', 'the setting steps_per_epoch', 'the setting batch_size', 'recorded values', 'recorded values']);
});

test('a part of an axis means the steps in it and a neighbour at both ends', () => {
  const place = (step: number) => step / 10;
  assert.deepEqual(stepsWithin([0, 10, 20, 30, 40], place, 1.5, 2.5), {first: 10, last: 30});
  assert.deepEqual(stepsWithin([0, 10], place, 5, 9), {first: 10, last: 10});
  assert.equal(stepsWithin([], place, 0, 1), null);
});

test('names lose the words that all begin with, and never everything', () => {
  assert.deepEqual(shortNames(['study/sgd_1', 'study/sgd_2', 'study/adam_1']), {prefix: 'study/', names: ['sgd_1', 'sgd_2', 'adam_1']});
  assert.deepEqual(shortNames(['lr_10', 'lr_12']), {prefix: 'lr_', names: ['10', '12']});
  assert.deepEqual(shortNames(['a/', 'a/b']).names, ['a/', 'a/b']);
  assert.deepEqual(shortNames(['only/one']), {prefix: '', names: ['only/one']});
  assert.deepEqual(shortNames([]), {prefix: '', names: []});
});

test('panels are pinned, hidden, moved and resized, and a layout can be what it was', () => {
  const ids = ['a', 'b', 'c', 'd'];
  assert.deepEqual(arranged(ids, withPin(USUAL_LAYOUT, 'c')), ['c', 'a', 'b', 'd']);
  assert.deepEqual(arranged(ids, withHidden(USUAL_LAYOUT, 'b')), ['a', 'c', 'd']);
  assert.deepEqual(arranged(ids, withMoved(USUAL_LAYOUT, ids, 'd', 'a')), ['d', 'a', 'b', 'c']);
  assert.deepEqual(arranged(ids, withStep(USUAL_LAYOUT, ids, 'a', 1)), ['b', 'a', 'c', 'd']);
  assert.equal(withStep(USUAL_LAYOUT, ids, 'a', -1), USUAL_LAYOUT);
  const pinned = withPin(USUAL_LAYOUT, 'c');
  assert.equal(withMoved(pinned, ids, 'a', 'c'), pinned);
  assert.deepEqual(sizeOf(withSize(USUAL_LAYOUT, 'a', {span: 9, height: 10}), 'a'), {span: 3, height: 120});
  assert.ok(isUsual(withSize(withSize(USUAL_LAYOUT, 'a', {span: 2, height: 0}), 'a', {span: 1, height: 0})));
  assert.ok(isUsual(withPin(pinned, 'c')));
  assert.deepEqual(arranged([...ids, 'new'], withStep(USUAL_LAYOUT, ids, 'a', 1)), ['b', 'a', 'c', 'd', 'new']);
});

test('a stored layout that makes no sense is the usual one', () => {
  for (const stored of [null, undefined, 7, 'x', [], {order: 'a', sizes: {a: null, b: {span: 'x', height: 1}}}, {pinned: [1, null]}]) {
    assert.ok(isUsual(readLayout(stored)), JSON.stringify(stored));
  }
});

test('marks of times are round and within the axis', () => {
  const ticks = timeTicks(1_700_000_003, 1_700_000_303, 5);
  assert.ok(ticks.length >= 2 && ticks.every((tick) => tick % 60 === 0 && tick >= 1_700_000_003 && tick <= 1_700_000_303));
  assert.equal(timeLabels(ticks).length, ticks.length);
  assert.match(timeLabels(ticks)[0] as string, /^\d\d:\d\d$/);
  assert.deepEqual(timeTicks(5, 5, 3), [5]);
  assert.ok(timeTicks(0, 1e10, 5).length <= 100);
});

test('histograms of other ranges are put on one axis without losing an entry', () => {
  const histogram = {low: -1, high: 1, counts: [0, 4, 6, 0]};
  assert.deepEqual(usedRange([histogram, {low: 0, high: 4, counts: [0, 0, 0, 0]}]), {low: -0.5, high: 0.5});
  const counts = rebinned(histogram, -2, 2, 16);
  assert.ok(Math.abs(counts.reduce((sum, count) => sum + count, 0) - 10) < 1e-12);
  near(rebinned(histogram, -1, 1, 2), [4, 6]);
  assert.equal(usedRange([]), null);
});

test('an axis has numbers, a logarithm for decades, or words', () => {
  const decades = valueAxis(['0.001', '0.1', undefined, 'NaN']);
  assert.ok(decades.isLog && decades.words === null && Number.isNaN(decades.place(undefined)) && Number.isNaN(decades.place('NaN')));
  assert.ok(Math.abs(decades.valueAt(decades.place('0.01')) - 0.01) < 1e-12);
  assert.equal(valueAxis([1, 2]).isLog, false);
  assert.equal(valueAxis([-1, 100], true).isLog, false);
  const words = valueAxis(['sgd', 'adam', '5']);
  assert.deepEqual(words.words, ['5', 'adam', 'sgd']);
  assert.ok(Math.abs(words.valueAt(words.place('adam')) - 1) < 1e-12);
  assert.ok(Number.isNaN(words.place(undefined)));
});

test('a run that diverged does not set the range of the others', () => {
  assert.equal(soundRange([[1, 2], [3, 4]], false), undefined);
  assert.equal(soundRange([[1, NaN], [Infinity]], false), undefined);
  assert.deepEqual(soundRange([[1, 3], [2, 1e30, NaN]], false), {low: -1, high: 5});
  assert.deepEqual(soundRange([[1, 100, 0], [2, 1e30, Infinity]], true), {low: 0.01, high: 10000});
  assert.deepEqual(soundRange([[2, 2], [NaN]], false), {low: 0, high: 4});
  assert.deepEqual(soundRange([[0, 0], [NaN]], false), {low: -1, high: 1});
});
