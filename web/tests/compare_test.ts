// SPDX-License-Identifier: MIT
// The table of runs and what they are compared by.
import assert from 'node:assert/strict';
import test from 'node:test';
import {foundRun} from '../src/app/run_picker';
import {singleSettings} from '../src/base/hyperparameters';
import {lineStyle, overlays, overTime, timesOf} from '../src/app/views/overlay';
import {allColumns, chosenRuns, usualColumns} from '../src/app/views/run_table';
import type {Points, RunSummary} from '../src/wire/types';
import {FakeSource} from './fake_source';

const points = (steps: number[], values: number[]): Points => ({id: 1, reduced: false, count: steps.length,
  steps: Float64Array.from(steps), values: Float64Array.from(values), low: new Float64Array(), high: new Float64Array()});
const broken: RunSummary = {id: 'broken', status: 'unreadable', error: 'no database', change: 1, start_time: 0, last_time: 0,
  last_step: -1, config: {}, values: {}};

async function summaries(runs = 4): Promise<RunSummary[]> {
  return (await new FakeSource({runs}).runs()).runs;
}

test('settings that differ and the usual values are columns until others are chosen', async () => {
  assert.deepEqual(usualColumns([...(await summaries()), broken]), ['status', 'name', 'start', 'step', 'config:optimizer',
    'config:learning_rate', 'value:loss', 'value:valid_loss', 'value:valid_accuracy', 'value:test_accuracy']);
});

test('every setting and every value can be a column', async () => {
  const runs = await summaries();
  const ids = allColumns(runs).map((column) => column.id);
  assert.ok(ids.includes('config:seed') && ids.includes('value:parameters/mean'));
  assert.equal(new Set(ids).size, ids.length);
});

test('runs are filtered by words, settings and values and sorted by any column', async () => {
  const runs = [...(await summaries()), broken];
  const chosen = chosenRuns(runs, 'optimizer=adam learning_rate>0.03', {column: 'name', direction: 'up'});
  assert.deepEqual(chosen.map((run) => run.id), ['run_3']);
  const sorted = chosenRuns(runs, '', {column: 'config:learning_rate', direction: 'down'});
  assert.deepEqual(sorted.map((run) => run.id), ['run_3', 'run_2', 'run_1', 'run_0', 'broken']);
  assert.deepEqual(chosenRuns(runs, 'database', {column: 'name', direction: 'up'}).map((run) => run.id), ['broken']);
  assert.deepEqual(chosenRuns(runs, 'status=running', {column: 'name', direction: 'up'}).map((run) => run.id), ['run_0']);
});

test('hyperparameters that were told in one text are settings each', async () => {
  const runs = (await summaries(2)).map((run, i) => ({...run, config: {optimizer: 'sgd', hyperparameters: `learning_rate 0.0${i + 1}, weight_decay 0`}}));
  const found = chosenRuns(runs, 'learning_rate>0.01 weight_decay=0', {column: 'name', direction: 'up'});
  assert.deepEqual(found.map((run) => run.id), ['run_1']);
  assert.ok(usualColumns(runs).includes('config:learning_rate'));
  const ids = allColumns(runs).map((column) => column.id);
  assert.ok(ids.includes('config:weight_decay') && !ids.includes('config:hyperparameters'));
});

test('a text that is no list of hyperparameters stays as it is', () => {
  for (const hyperparameters of ['', 'the usual ones of the paper', 'momentum']) {
    assert.deepEqual(singleSettings({hyperparameters}), {hyperparameters});
  }
  assert.deepEqual({...singleSettings({hyperparameters: 'learning_rate=1, b: 2', learning_rate: '3'})}, {learning_rate: '3', b: '2'});
});

test('a run is found by its name or by a part of it', () => {
  const ids = ['mnist/10', 'mnist/1', 'cifar'];
  assert.deepEqual(['mnist/1', 'CIF', '1', '', 'x'].map((typed) => foundRun(ids, typed)), ['mnist/1', 'cifar', 'mnist/10', undefined, undefined]);
});

test('a thousand runs are sorted and filtered', async () => {
  const runs = await summaries(1000);
  assert.equal(chosenRuns(runs, 'adam', {column: 'start', direction: 'down'})[0]?.id, 'run_999');
});

test('quantities to compare begin with the losses and count the runs that have them', async () => {
  const source = new FakeSource({runs: 2});
  const [a, b] = [await source.details('run_0'), await source.details('run_1')];
  const found = overlays([a, {...b, series: b.series.filter((series) => series.quantity !== 'alpha')}]);
  assert.deepEqual(found.slice(0, 2).map((each) => each.quantity), ['loss', 'train_loss']);
  const last = found[found.length - 1];
  assert.deepEqual([last?.quantity, last?.count, last?.series[1]], ['alpha', 1, null]);
  assert.ok(!found.some((each) => each.quantity === 'time'));
});

test('a run that did not track time is compared by when its values were recorded', async () => {
  const run = await new FakeSource({runs: 1}).details('run_0');
  const without = {...run, series: run.series.filter((series) => series.quantity !== 'time'), clock: {steps: Float64Array.of(0, 10), seconds: Float64Array.of(2, 22)}};
  const times = timesOf(without, new Map());
  assert.ok(times);
  assert.deepEqual([...overTime(points([0, 5, 10], [1, 1, 1]), times).steps], [2, 12, 22]);
  const tracked = run.series.find((series) => series.quantity === 'time');
  assert.ok(tracked);
  const own = points([0, 10], [0, 7]);
  assert.equal(timesOf(run, new Map([[tracked.id, own]])), own);
  assert.equal(timesOf({...without, clock: {steps: new Float64Array(), seconds: new Float64Array()}}, new Map()), null);
});

test('more runs than colours are told apart by dashes', () => {
  const styles = Array.from({length: 32}, (_, i) => JSON.stringify(lineStyle(i)));
  assert.equal(new Set(styles).size, 32);
  assert.deepEqual(lineStyle(3), {color: 3});
});

test('steps become seconds between the recorded times', () => {
  const seconds = overTime(points([0, 5, 10, 15, 30], [1, 2, 3, 4, 5]), points([0, 10, 20], [100, 110, 130]));
  assert.deepEqual([...seconds.steps], [100, 105, 110, 120, 150]);
  assert.deepEqual([...overTime(points([3], [1]), points([], [])).steps], [NaN]);
});
