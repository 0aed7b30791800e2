// SPDX-License-Identifier: MIT
// What the layers view offers and how it loads it.
import assert from 'node:assert/strict';
import test from 'node:test';
import {layerChoices, layerHistograms, membersOf, seriesOfLayer} from '../src/app/views/layer_choices';
import {loadChunks} from '../src/store/load_chunks';
import {FakeSource} from './fake_source';

test('quantities with groups are offered, the usual ones first, and layers may be fields', async () => {
  const run = await new FakeSource({parameters: 4}).details('run_0');
  const choices = layerChoices(run);
  assert.deepEqual(choices.slice(0, 6).map((choice) => choice.id),
    ['grad_norm', 'update_ratio', 'update_size', 'distance', 'dead_units', 'saturated_units']);
  assert.deepEqual(choices[0]?.rows.map((row) => row.name), run.groups);
  assert.deepEqual(choices.find((choice) => choice.id === 'dead_units')?.rows.map((row) => row.name), ['relu_0', 'relu_1']);
  assert.ok(!choices.some((choice) => choice.id === 'loss'));
});

test('every layer has its histogram and all of its series', async () => {
  const run = await new FakeSource({parameters: 4}).details('run_0');
  assert.deepEqual([...layerHistograms(run).keys()], run.groups);
  assert.ok(seriesOfLayer(run, 'layer_1.bias').every((series) => series.group === 'layer_1.bias'));
  assert.deepEqual(seriesOfLayer(run, 'relu_1').map((series) => series.quantity), ['dead_units']);
});

test('a name that is a parameter has its shape', async () => {
  const run = await new FakeSource({parameters: 2}).details('run_0');
  assert.deepEqual(membersOf(['layer_0.weight', 'relu_0'], run),
    [{name: 'layer_0.weight', shape: [16, 8]}, {name: 'relu_0', shape: []}]);
});

test('a thousand series arrive in parts that tell how far they are', async () => {
  const source = new FakeSource({parameters: 1000, runs: 1});
  const run = await source.details('run_0');
  const ids = (layerChoices(run)[0]?.rows ?? []).map((row) => row.series.id);
  const heard: number[] = [];
  const got = new Set<number>();
  await loadChunks(source, 'run_0', ids, 300, () => false, (points, progress) => {
    heard.push(progress.done);
    for (const each of points) got.add(each.id);
  });
  assert.equal(got.size, 1000);
  assert.equal(heard.length, 20);
  assert.equal(heard[19], 1000);
});

test('loading stops when it is no longer wanted', async () => {
  const source = new FakeSource({parameters: 200, runs: 1});
  const run = await source.details('run_0');
  const ids = (layerChoices(run)[0]?.rows ?? []).map((row) => row.series.id);
  let calls = 0;
  await loadChunks(source, 'run_0', ids, 300, () => calls >= 2, () => { ++calls; });
  assert.equal(calls, 2);
});
