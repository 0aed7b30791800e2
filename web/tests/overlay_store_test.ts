// SPDX-License-Identifier: MIT
// Loading of the runs that are compared.
import assert from 'node:assert/strict';
import test from 'node:test';
import {OverlayStore} from '../src/store/overlay_store';
import type {RunDetails} from '../src/wire/types';
import {FakeSource} from './fake_source';

async function settled(store: OverlayStore, isThere: () => boolean): Promise<void> {
  if (isThere()) return;
  await new Promise<void>((resolve) => {
    const stop = store.watched.watch(() => {
      if (!isThere()) return;
      stop();
      resolve();
    });
  });
}

test('all chosen runs arrive with the numbers of the whole model', async () => {
  const source = new FakeSource({runs: 12});
  const store = new OverlayStore(source);
  const {runs} = await source.runs();
  store.choose(runs);
  assert.equal(store.watched.value.missing, 12);
  await settled(store, () => store.watched.value.missing === 0);
  const first = store.watched.value.runs.get('run_0');
  const loss = first?.details.series.find((series) => series.quantity === 'loss');
  assert.ok(loss && (first?.points.get(loss.id)?.steps.length ?? 0) > 0);
  store.close();
});

test('runs that are no longer chosen are let go', async () => {
  const source = new FakeSource({runs: 3});
  const store = new OverlayStore(source);
  const {runs} = await source.runs();
  store.choose(runs);
  await settled(store, () => store.watched.value.missing === 0);
  store.choose(runs.slice(0, 1));
  assert.deepEqual([...store.watched.value.runs.keys()], ['run_0']);
  store.close();
});

class BrokenSource extends FakeSource {
  override details(id: string): Promise<RunDetails> {
    return id === 'run_1' ? Promise.reject(new Error('the database is broken')) : super.details(id);
  }
}

test('a run that cannot be read leaves the others alone', async () => {
  const source = new BrokenSource({runs: 3});
  const store = new OverlayStore(source);
  store.choose((await source.runs()).runs);
  await settled(store, () => store.watched.value.missing === 0);
  assert.equal(store.watched.value.runs.size, 2);
  assert.equal(store.watched.value.errors.get('run_1')?.message, 'the database is broken');
  store.close();
});

test('what is zoomed to is read in detail where points were taken together', async () => {
  const source = new FakeSource({runs: 2, steps: 20_000, interval: 5});
  const store = new OverlayStore(source);
  store.choose((await source.runs()).runs);
  await settled(store, () => store.watched.value.missing === 0);
  const loss = store.watched.value.runs.get('run_0')?.details.series.find((series) => series.quantity === 'loss');
  assert.ok(loss);
  assert.equal(store.watched.value.runs.get('run_0')?.points.get(loss.id)?.reduced, true);
  await store.zoom(() => ({first: 1000, last: 2000}));
  const detail = store.watched.value.zoomed.get('run_1')?.get(loss.id);
  assert.equal(detail?.reduced, false);
  assert.deepEqual([detail?.steps[0], detail?.steps.length], [1000, 201]);
  await store.zoom(null);
  assert.equal(store.watched.value.zoomed.size, 0);
  store.close();
});

test('runs that arrive together are shown together', async () => {
  const source = new FakeSource({runs: 30});
  const store = new OverlayStore(source, 60_000);
  let times = 0;
  store.watched.watch(() => ++times);
  store.choose((await source.runs()).runs);
  await settled(store, () => store.watched.value.missing === 0);
  assert.equal(store.watched.value.runs.size, 30);
  assert.equal(times, 2);
  store.close();
});
