// SPDX-License-Identifier: MIT
// The table of runs and what they are compared by.
import assert from 'node:assert/strict';
import test from 'node:test';
import {foundRun} from '../src/app/run_picker';
import {singleSettings} from '../src/base/hyperparameters';
import {overlays} from '../src/app/views/overlay';
import {allColumns, chosenRuns, usualColumns} from '../src/app/views/run_table';
import type {RunSummary} from '../src/wire/types';
import {FakeSource} from './fake_source';

const broken: RunSummary = {id: 'broken', status: 'unreadable', error: 'no database', change: 1, start_time: 0, last_time: 0,
  last_step: -1, config: {}, values: {}, tags: [], note: '', archived: false};

async function summaries(runs = 4): Promise<RunSummary[]> {
  return (await new FakeSource({runs}).runs()).runs;
}

test('settings that differ and the usual values are columns until others are chosen', async () => {
  assert.deepEqual(usualColumns([...(await summaries()), broken]), ['status', 'name', 'tags', 'start', 'step', 'config:optimizer',
    'config:learning_rate', 'value:loss', 'value:valid_loss', 'value:valid_accuracy', 'value:test_accuracy']);
});

test('tags are a column where a run has some, and runs are found by them', async () => {
  const runs = await summaries();
  const [first, second] = runs as [RunSummary, RunSummary];
  assert.ok(!usualColumns([first]).includes('tags'));
  assert.ok(usualColumns([first, second]).includes('tags'));
  const found = (filter: string) => chosenRuns(runs, filter, {column: 'name', direction: 'up'}).map((run) => run.id);
  assert.deepEqual(found('tag=baseline'), ['run_1']);
  assert.deepEqual(found('tag=baseline tag=paper'), ['run_1']);
  assert.deepEqual(found('tag=base'), []);
  assert.deepEqual(found('tag!=baseline'), ['run_0', 'run_2', 'run_3']);
  assert.deepEqual(found('beat'), ['run_1']);
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
