// SPDX-License-Identifier: MIT
// Best values and frequent samples.
import assert from 'node:assert/strict';
import test from 'node:test';
import {lastKnown, stepsOf} from '../src/app/run_head';
import {bestOf, bestValues, entriesOf, frequentPositions} from '../src/app/views/run_facts';
import type {StepRange} from '../src/wire/source';
import type {Frame, PointsList} from '../src/wire/types';
import {FakeSource} from './fake_source';

/** One series of 20 000 steps with its smallest value at 12 345, taken together as a server does. */
class LongSource extends FakeSource {
  override points(_run: string, ids: number[], range: StepRange, points: number): Promise<PointsList> {
    const first = range.first ?? 0;
    const steps = Array.from({length: (range.last ?? 19_999) - first + 1}, (_, i) => first + i);
    const valueAt = (step: number) => Math.abs(step - 12_345) + 0.5;
    const width = Math.ceil(steps.length / points);
    const last = steps.filter((_, i) => i % width === width - 1 || i === steps.length - 1);
    const parts = last.map((step, i) => steps.slice(i * width, steps.indexOf(step) + 1).map(valueAt));
    const isReduced = width > 1;
    return Promise.resolve({change: 1, series: ids.map((id) => ({id, reduced: isReduced, count: steps.length,
      steps: Float64Array.from(last), values: Float64Array.from(last.map(valueAt)),
      low: Float64Array.from(isReduced ? parts.map((part) => Math.min(...part)) : []),
      high: Float64Array.from(isReduced ? parts.map((part) => Math.max(...part)) : [])}))});
  }
}

test('the best value and its step are exact where points were taken together', async () => {
  const source = new LongSource({runs: 1});
  const series = (await source.details('run_0')).series[0];
  assert.ok(series);
  assert.deepEqual(await bestOf(source, 'run_0', series, false), {value: 0.5, step: 12_345, isExact: true});
  assert.deepEqual(await bestOf(source, 'run_0', series, true), {value: 12_345.5, step: 0, isExact: true});
});

test('a run that has ended says how many steps it took, another where it is', async () => {
  const {summary} = await new FakeSource({runs: 1}).details('run_0');
  assert.deepEqual(stepsOf({...summary, last_step: 390}, 400), {label: 'step', text: '400'});
  assert.deepEqual(stepsOf({...summary, last_step: 390, config: {steps_taken: '391'}}), {label: 'steps', text: '391'});
  assert.equal(stepsOf({...summary, last_step: -1}).text, 'none yet');
});

test('a run whose values are there before its summary counts them is where its values are', async () => {
  const {summary} = await new FakeSource({runs: 1}).details('run_0');
  assert.equal(lastKnown({...summary, last_step: -1}, 12), 12);
  assert.equal(lastKnown({...summary, last_step: -1}, 0), -1);
  assert.equal(lastKnown({...summary, last_step: 0}, 0), 0);
});

test('accuracies are best at their largest, losses at their smallest', async () => {
  const source = new FakeSource({runs: 1});
  const best = await bestValues(source, await source.details('run_0'));
  assert.deepEqual(best.map((each) => [each.quantity, each.isLargest]).slice(0, 2), [['valid_accuracy', true], ['valid_loss', false]]);
  assert.ok(best.every((each) => Number.isFinite(each.value) && each.step >= 0 && each.final !== undefined));
});

test('positions are counted over all lists', () => {
  const frame = (...list: number[]): Frame => ({id: 1, step: 0, list: Float64Array.from(list), axes: [],
    counts: new Float64Array(), below: 0, above: 0, not_a_number: 0});
  assert.deepEqual(frequentPositions([frame(3, 1), frame(3, 2), frame(2, 3)]),
    [{position: 3, times: 3}, {position: 2, times: 2}, {position: 1, times: 1}]);
  assert.deepEqual(frequentPositions([]), []);
});

test('a tensor has the product of its sizes as entries, and one without sizes has one', () => {
  assert.equal(entriesOf([16, 1, 5, 5]), 400);
  assert.equal(entriesOf([]), 1);
});
