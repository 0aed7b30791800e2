// SPDX-License-Identifier: MIT
// How far a run is, and what is told of one that somebody waits for.
import assert from 'node:assert/strict';
import {test} from 'node:test';
import {plannedSteps, progressOf, secondsPerStep} from '../src/base/progress';
import {endingText, Notices, type Announcer} from '../src/store/notices';
import {RunsStore} from '../src/store/runs_store';
import type {Listener} from '../src/wire/source';
import type {Lamp, LampList, RunSummary} from '../src/wire/types';
import {FakeSource} from './fake_source';

const even = (count: number, seconds: number) => ({steps: Array.from({length: count}, (_, i) => 10 * i),
  seconds: Array.from({length: count}, (_, i) => seconds * 10 * i)});

test('the time left is that of the steps left at the pace of late', () => {
  const progress = progressOf({steps: '1000'}, 499, even(50, 0.1));
  assert.deepEqual([progress?.done, progress?.total], [500, 1000]);
  assert.ok(Math.abs((progress?.left ?? NaN) - 50) < 1e-9);
  // Slow at first, as while data are fetched: the last half counts.
  const slow = {steps: [0, 1, 2, 3, 4, 5, 6, 7], seconds: [0, 60, 61, 62, 63, 64, 65, 66]};
  assert.equal(secondsPerStep(slow), 1);
});

test('pauses of a run that was resumed and clocks that were set back do not count', () => {
  const seconds = Array.from({length: 100}, (_, i) => (i < 80 ? i : i + 3600));
  assert.equal(secondsPerStep({steps: seconds.map((_, i) => i), seconds}), 1);
  assert.equal(secondsPerStep({steps: [0, 1, 2, 3, 4, 5], seconds: [0, 1, 2, 3, 1, 2]}), 1);
});

test('a run that does not say how many steps it takes, or takes more, has no progress', () => {
  assert.equal(progressOf({}, 10, even(5, 1)), null);
  assert.equal(progressOf({steps: 'many'}, 10, even(5, 1)), null);
  assert.equal(progressOf({steps: '0'}, -1, even(0, 1)), null);
  assert.equal(progressOf({steps: '5'}, 10, even(5, 1)), null);
  assert.equal(plannedSteps({total_steps: '7'}), 7);
  assert.ok(Number.isNaN(progressOf({steps: '5'}, 0, even(1, 1))?.left), 'one step tells no pace');
});

/** A source whose runs and lamps a test changes. */
class ToldSource extends FakeSource {
  heard: Listener | null = null;
  lit: Lamp[] = [];
  looks = 0;

  override watch(listener: Listener): () => void {
    this.heard = listener;
    return super.watch(listener);
  }

  override lamps(): Promise<LampList> {
    ++this.looks;
    return Promise.resolve({lamps: this.lit});
  }
}

const lamp = (title: string, severity: Lamp['severity']): Lamp => ({title, severity, step: 3, quantity: '', text: 'because'});
const settled = () => new Promise((resolve) => setImmediate(resolve));

async function waiting(permission: 'granted' | 'default' | 'denied') {
  const source = new ToldSource({runs: 1});
  const told: string[] = [];
  let asked = 0;
  let now = 0;
  const announcer: Announcer = {
    permission: () => permission,
    ask: () => { ++asked; return Promise.resolve(permission !== 'denied'); },
    tell: (title, text) => told.push(`${title}: ${text}`),
  };
  const runs = new RunsStore(source);
  const notices = new Notices(source, runs, announcer, () => now);
  let summary: RunSummary = {...(await source.details('run_0')).summary, status: 'running'};
  const tell = async (part: Partial<RunSummary>, ms: number) => {
    now += ms;
    summary = {...summary, ...part, change: summary.change + 1};
    source.heard?.run(summary);
    // As the list of runs gathers what it is told.
    runs.watched.set({...runs.watched.value});
    await settled();
    await settled();
  };
  await tell({}, 0);
  return {source, notices, told, tell, asked: () => asked, close: () => runs.close()};
}

test('nothing is asked or told before somebody wants it', async () => {
  const {notices, told, tell, asked, close} = await waiting('default');
  await tell({status: 'finished'}, 20_000);
  assert.deepEqual([told, asked(), notices.waited.value.size], [[], 0, 0]);
  close();
});

test('the end of a run is told once, with its scores', async () => {
  const {notices, told, tell, asked, close} = await waiting('default');
  await notices.toggle('run_0');
  assert.equal(asked(), 1);
  await tell({last_step: 10}, 1000);
  await tell({status: 'finished', last_step: 99, values: {valid_accuracy: 0.912345, loss: 0.5}}, 1000);
  await tell({}, 60_000);
  assert.deepEqual(told, ['run_0 has ended: finished at step 99, valid accuracy 0.9123, loss 0.5']);
  assert.equal(notices.waited.value.size, 0);
  close();
});

test('a lamp that lights is told once, those that were lit before and advice are not', async () => {
  const {source, notices, told, tell, close} = await waiting('granted');
  source.lit = [lamp('Old', 'failure')];
  await notices.toggle('run_0');
  await settled();
  source.lit = [lamp('Old', 'failure'), lamp('New', 'warning'), lamp('Hint', 'advice')];
  await tell({last_step: 11}, 1000);
  assert.deepEqual(told, [], 'lamps are looked at now and then');
  await tell({last_step: 12}, 20_000);
  await tell({last_step: 13}, 20_000);
  assert.deepEqual(told, ['run_0: New: since step 3']);
  close();
});

test('without leave, and after it is taken back by a click, nothing is told', async () => {
  const refused = await waiting('denied');
  assert.equal(refused.notices.canAsk, false);
  await refused.notices.toggle('run_0');
  await refused.tell({status: 'failed'}, 20_000);
  assert.deepEqual(refused.told, []);
  refused.close();
  const {notices, told, tell, source, close} = await waiting('granted');
  await notices.toggle('run_0');
  await settled();
  const {looks} = source;
  await notices.toggle('run_0');
  await tell({status: 'finished'}, 20_000);
  assert.deepEqual([told, source.looks], [[], looks]);
  close();
});

test('an end without scores is told by its step', () => {
  const summary = {status: 'killed', last_step: 7, values: {}} as unknown as RunSummary;
  assert.equal(endingText(summary), 'killed at step 7');
});
