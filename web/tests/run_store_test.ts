// SPDX-License-Identifier: MIT
// What is loaded of a run that grows, is zoomed into and played.
import assert from 'node:assert/strict';
import {test} from 'node:test';
import type {Watched} from '../src/base/watched';
import {RunStore} from '../src/store/run_store';
import {RunsStore} from '../src/store/runs_store';
import type {StepRange} from '../src/wire/source';
import type {PointsList, RunDetails, RunSummary} from '../src/wire/types';
import {FakeSource} from './fake_source';

Object.assign(globalThis, {document: {hidden: false, addEventListener: () => undefined, removeEventListener: () => undefined}});

class CountingSource extends FakeSource {
  readonly asked: {ids: number[]; range: StepRange; points: number}[] = [];
  fails = 0;

  override points(id: string, ids: number[], range: StepRange, points: number): Promise<PointsList> {
    this.asked.push({ids, range, points});
    if (this.fails-- > 0) return Promise.reject(new Error('the server cannot be reached'));
    return super.points(id, ids, range, points);
  }

  /** Adds tracked steps to a run and returns what the server would tell. */
  grow(run: RunDetails, steps: number): RunSummary {
    for (const series of run.series) series.last_step += steps;
    run.summary = {...run.summary, change: run.summary.change + 1, last_step: run.summary.last_step + steps};
    return run.summary;
  }
}

function next<T>(watched: Watched<T>): Promise<T> {
  return new Promise((resolve) => {
    const stop = watched.watch(() => {
      stop();
      resolve(watched.value);
    });
  });
}

async function opened(steps: number) {
  const source = new CountingSource({steps, interval: 1, parameters: 2});
  const details = await source.details('run_0');
  const loss = details.series.find(({quantity}) => quantity === 'loss')?.id as number;
  const histogram = details.series.find(({quantity}) => quantity === 'grad_hist_1d')?.id as number;
  const run = new RunStore(source, 'run_0');
  run.want([loss], [histogram]);
  run.heard(details.summary);
  await next(run.version);
  return {source, details, run, loss, histogram};
}

test('a run is read once, then only what came after', async () => {
  const {source, details, run, loss} = await opened(100);
  assert.equal(run.pointsOf(loss)?.steps.length, 100);
  run.heard(source.grow(details, 10));
  await next(run.version);
  assert.deepEqual(source.asked.map(({range}) => range), [{}, {first: 99}]);
  assert.equal(run.pointsOf(loss)?.steps.length, 110);
  assert.equal(run.lastStep, 109);
  run.close();
});

test('a run that goes on from an earlier step loses what came after', async () => {
  const {source, details, run, loss} = await opened(100);
  run.heard(source.grow(details, -40));
  await next(run.version);
  assert.deepEqual(source.asked.map(({range}) => range), [{}, {}]);
  assert.equal(run.pointsOf(loss)?.steps.length, 60);
  assert.equal(run.lastStep, 59);
  run.close();
});

test('a long run stays within its entries as it grows', async () => {
  const {source, details, run, loss} = await opened(5000);
  for (let i = 0; i < 3; ++i) {
    run.heard(source.grow(details, 400));
    await next(run.version);
    assert.ok((run.pointsOf(loss)?.steps.length as number) <= 2000);
  }
  const steps = run.pointsOf(loss)?.steps as Float64Array;
  assert.equal(steps[steps.length - 1], 6199);
  run.close();
});

test('a zoom reads its steps in detail and leaves the whole as it is', async () => {
  const {run, loss} = await opened(100_000);
  assert.equal(run.pointsOf(loss)?.reduced, true);
  run.zoom.set({first: 1000, last: 1400});
  await next(run.version);
  assert.equal(run.zoomedPointsOf(loss)?.reduced, false);
  assert.equal(run.zoomedPointsOf(loss)?.steps.length, 401);
  assert.equal(run.pointsOf(loss)?.reduced, true);
  run.close();
});

test('the slider shows a histogram as it was, and playing reads ahead', async () => {
  const {run, histogram} = await opened(100);
  assert.equal(run.frameOf(histogram)?.step, 99);
  run.step.set(42);
  await next(run.version);
  assert.equal(run.frameOf(histogram)?.step, 42);
  assert.deepEqual(await run.stepsToPlay({first: 10, last: 13}, 10), [10, 11, 12, 13]);
  run.isPlaying.set(true);
  run.step.set(11);
  assert.equal(run.frameOf(histogram)?.step, 11);
  run.close();
});

test('values that cannot be read are said to be missing, and read later', async () => {
  const {source, details, run, loss} = await opened(100);
  source.fails = 1;
  run.heard(source.grow(details, 1));
  assert.match((await next(run.error))?.message ?? '', /cannot be reached/);
  run.heard(source.grow(details, 1));
  assert.equal(await next(run.error), null);
  assert.equal(run.pointsOf(loss)?.steps.length, 102);
  run.close();
});

test('the list of runs follows what is told, newest first', async () => {
  const source = new FakeSource({runs: 3});
  const runs = new RunsStore(source);
  while (runs.watched.value.list.length === 0) await next(runs.watched);
  assert.deepEqual(runs.watched.value.list.map(({id}) => id), ['run_2', 'run_1', 'run_0']);
  assert.equal(runs.find('run_1')?.id, 'run_1');
  runs.close();
});

test('a run that tells of itself without pause is read all the same', async () => {
  const {source, details, run, loss} = await opened(100);
  const teller = setInterval(() => run.heard(source.grow(details, 1)), 50);
  await next(run.version);
  await next(run.version);
  clearInterval(teller);
  assert.ok((run.pointsOf(loss)?.steps.length as number) > 101);
  run.close();
});

test('after a restart everything is read again, and shown as it was until then', async () => {
  const {source, run, loss} = await opened(100);
  run.reload();
  assert.equal(run.pointsOf(loss)?.steps.length, 100);
  await next(run.version);
  assert.deepEqual(source.asked.map(({range}) => range), [{}, {}]);
  run.close();
});

test('a series that nobody wanted while the run grew is read when it is wanted again', async () => {
  const {source, details, run} = await opened(100);
  const other = details.series.find(({quantity}) => quantity === 'alpha')?.id as number;
  const forget = run.want([other], []);
  await next(run.version);
  forget();
  run.heard(source.grow(details, 10));
  await next(run.version);
  assert.equal(run.pointsOf(other)?.steps.length, 100);
  run.want([other], []);
  await next(run.version);
  assert.equal(run.pointsOf(other)?.steps.length, 110);
  assert.ok(run.isRead(other));
  run.close();
});

test('many series are first read in a few parts, and each part is shown when it is there', async () => {
  const source = new CountingSource({steps: 100, parameters: 2});
  const ids = (await source.details('run_0')).series.filter(({kind}) => kind === 'number').map(({id}) => id);
  const run = new RunStore(source, 'run_0');
  run.want(ids, []);
  await next(run.version);
  const first = ids.filter((id) => run.isRead(id)).length;
  assert.ok(first > 0 && first < ids.length);
  while (ids.some((id) => !run.isRead(id))) await next(run.version);
  assert.ok(source.asked.length <= 5);
  assert.deepEqual(source.asked.flatMap(({ids: part}) => part), ids);
  run.close();
});
