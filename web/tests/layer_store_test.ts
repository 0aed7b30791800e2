// SPDX-License-Identifier: MIT
// Loading of many layers.
import assert from 'node:assert/strict';
import test from 'node:test';
import {layerChoices} from '../src/app/views/layer_choices';
import {LayerStore} from '../src/store/layer_store';
import type {PointsList} from '../src/wire/types';
import {FakeSource} from './fake_source';

async function settled(store: LayerStore): Promise<void> {
  const isDone = () => store.watched.value.progress === null;
  if (isDone()) return;
  await new Promise<void>((resolve) => {
    const stop = store.watched.watch(() => {
      if (!isDone()) return;
      stop();
      resolve();
    });
  });
}

async function idsOf(source: FakeSource, quantity: string): Promise<number[]> {
  const choice = layerChoices(await source.details('run_0')).find((each) => each.id === quantity);
  return (choice?.rows ?? []).map((row) => row.series.id);
}

test('parts are seen as they arrive', async () => {
  const source = new FakeSource({parameters: 120, runs: 1});
  const store = new LayerStore(source, 'run_0', 0);
  const sizes: number[] = [];
  store.watched.watch(() => sizes.push(store.watched.value.points.size));
  store.choose(await idsOf(source, 'grad_norm'));
  await settled(store);
  assert.deepEqual([...new Set(sizes)], [0, 50, 100, 120]);
  assert.equal(store.watched.value.progress, null);
  store.close();
});

test('another choice replaces the first, also while that is loading', async () => {
  const source = new FakeSource({parameters: 120, runs: 1});
  const store = new LayerStore(source, 'run_0');
  store.choose(await idsOf(source, 'grad_norm'));
  const wanted = await idsOf(source, 'update_size');
  store.choose(wanted);
  await settled(store);
  assert.deepEqual([...store.watched.value.points.keys()], wanted);
  store.close();
});

class DownSource extends FakeSource {
  isDown = true;
  override points(...args: Parameters<FakeSource['points']>): Promise<PointsList> {
    return this.isDown ? Promise.reject(new Error('the server cannot be reached')) : super.points(...args);
  }
}

test('what fails is said and can be tried again', async () => {
  const source = new DownSource({parameters: 4, runs: 1});
  const store = new LayerStore(source, 'run_0');
  store.choose(await idsOf(source, 'grad_norm'));
  await settled(store);
  assert.equal(store.watched.value.error?.message, 'the server cannot be reached');
  source.isDown = false;
  store.retry();
  await settled(store);
  assert.equal(store.watched.value.error, null);
  assert.equal(store.watched.value.points.size, 4);
  store.close();
});

test('between two parts there is time for what else the page has to do', async () => {
  const source = new FakeSource({parameters: 200, runs: 1});
  const store = new LayerStore(source, 'run_0', 0);
  let turns = 0;
  const timer = setInterval(() => ++turns, 0);
  store.choose(await idsOf(source, 'grad_norm'));
  await settled(store);
  clearInterval(timer);
  assert.ok(turns > 0);
  store.close();
});
