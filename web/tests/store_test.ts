// SPDX-License-Identifier: MIT
// What is loaded, how it grows, and what the user chose.
import assert from 'node:assert/strict';
import {test} from 'node:test';
import {USUAL_LAYOUT} from '../src/base/board_layout';
import {FrameCache} from '../src/store/frame_cache';
import {entriesEach, grown, MAX_ENTRIES, nextStep, tails} from '../src/store/points_cache';
import {readSettings, SettingsStore} from '../src/store/settings';
import type {Frame, Points} from '../src/wire/types';

function points(steps: number[], values: number[], reduced = false): Points {
  return {id: 1, reduced, count: steps.length, steps: Float64Array.from(steps), values: Float64Array.from(values),
    low: Float64Array.from(reduced ? values.map((v) => v - 1) : []), high: Float64Array.from(reduced ? values.map((v) => v + 1) : [])};
}

test('a series grows by its tail, and the value of a step that both have is the newer', () => {
  const all = grown(points([0, 1, 2], [5, 6, 7]), points([2, 3], [8, 9]), 10) as Points;
  assert.deepEqual([...all.steps], [0, 1, 2, 3]);
  assert.deepEqual([...all.values], [5, 6, 8, 9]);
  assert.equal(all.count, 4);
  assert.equal(all.reduced, false);
});

test('a reduced series takes single values as their own bounds', () => {
  const all = grown(points([9, 19], [5, 6], true), points([20], [7]), 10) as Points;
  assert.deepEqual([...all.low], [4, 5, 7]);
  assert.deepEqual([...all.high], [6, 7, 7]);
  assert.equal(all.reduced, true);
});

test('a series that would have too many entries is to be read again', () => {
  assert.equal(grown(points([0, 1, 2], [1, 2, 3]), points([3, 4], [4, 5]), 4), null);
});

test('nothing new leaves a series as it is', () => {
  const known = points([0], [1]);
  assert.equal(grown(known, points([], []), 10), known);
});

test('reading goes on at the last step, behind it if it stands for several', () => {
  assert.equal(nextStep(points([0, 7], [1, 2])), 7);
  assert.equal(nextStep(points([0, 7], [1, 2], true)), 8);
  assert.equal(nextStep(undefined), -1);
});

test('series that stand at the same step are read together, in few requests', () => {
  const next = new Map([[1, 10], [2, 10], [3, 5], [4, 4], [5, 3]]);
  const lists = tails([1, 2, 3, 4, 5], (id) => next.get(id) as number, 3);
  assert.deepEqual([...lists], [[10, [1, 2]], [5, [3]], [3, [4, 5]]]);
});

test('many series get fewer entries each', () => {
  assert.equal(entriesEach(20), MAX_ENTRIES);
  assert.ok(entriesEach(10_000) * 10_000 <= 600_000);
});

const frame = (id: number, step: number, size = 10): Frame => ({id, step, list: new Float64Array(size), axes: [],
  counts: new Float64Array(), below: 0, above: 0, not_a_number: 0});

test('the frame at a step is the last one before it', () => {
  const cache = new FrameCache();
  cache.add([frame(1, 20), frame(1, 0), frame(1, 10), frame(2, 5)], 0);
  assert.equal(cache.at(1, 15)?.step, 10);
  assert.equal(cache.at(1, 10)?.step, 10);
  assert.equal(cache.at(1, Infinity)?.step, 20);
  assert.equal(cache.at(2, 4), undefined);
  assert.equal(cache.at(3, 4), undefined);
});

test('frames far from the slider are forgotten first', () => {
  const cache = new FrameCache();
  cache.add(Array.from({length: 10}, (_, i) => frame(1, i, 1_000_000)), 9);
  assert.equal(cache.at(1, 9)?.step, 9);
  assert.equal(cache.at(1, 3), undefined);
});

test('settings that make no sense are replaced by fresh ones', () => {
  assert.equal(readSettings('{').theme, 'auto');
  assert.equal(readSettings('{"smoothing": 7, "theme": "pink", "panels": 3}').smoothing, 0);
  assert.deepEqual(readSettings('null'), {theme: 'auto', smoothing: 0, logX: false, panels: {}, compared: null, layout: USUAL_LAYOUT});
  assert.deepEqual(readSettings('{"compared": ["a", 1]}').compared, ['a']);
});

test('settings are stored, and a storage that refuses costs nothing', () => {
  const kept = new Map<string, string>();
  const store = new SettingsStore({getItem: (key) => kept.get(key) ?? null, setItem: (key, value) => { kept.set(key, value); }});
  store.change({smoothing: 0.5});
  store.changePanel('loss', {logX: true, logY: true});
  store.setLogXEverywhere(true);
  const again = new SettingsStore({getItem: (key) => kept.get(key) ?? null, setItem: () => { throw new Error('full'); }});
  assert.deepEqual(again.watched.value, {theme: 'auto', smoothing: 0.5, logX: true, panels: {loss: {logY: true}}, compared: null, layout: USUAL_LAYOUT});
  again.change({theme: 'dark'});
  assert.equal(again.watched.value.theme, 'dark');
});
