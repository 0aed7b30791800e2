// SPDX-License-Identifier: MIT
// Runs of several processes: bands over ranks, ranks on demand, and who is late.
import assert from 'node:assert/strict';
import {test} from 'node:test';
import {bandOfRanks, farthestRanks, latenessOf, latenessText, rankOf} from '../src/base/ranks';
import {interventionsOf} from '../src/base/interventions';
import rankChecks from '../src/instruments/rank_checks';
import rankLoss from '../src/instruments/rank_loss';
import rankStragglers from '../src/instruments/rank_stragglers';
import rankTime from '../src/instruments/rank_time';
import {layerChoices} from '../src/app/views/layer_choices';
import type {LinesDrawing, SceneDrawing} from '../src/widgets/drawing';
import {hiddenLines} from '../src/widgets/line_chart';
import {describeLines} from '../src/widgets/line_data';
import {rankCount} from '../src/widgets/rank_lines';
import {FakeSource, randomNumbers} from './fake_source';
import {madeReadings} from './read_instrument';
import {paintEverywhere} from './recording_surface';

const column = (...values: number[]) => Float64Array.from(values);
const curve = (rank: number, values: number[], steps = values.map((_, i) => i)) => ({rank, steps, values});
/** Readings of a quantity by rank. */
const made = (quantity: string, byRank: readonly (readonly number[])[], field = '') =>
  Object.fromEntries(byRank.map((values, rank) => [`${quantity}/${field}/rank ${rank}`, {values: column(...values)}]));
const lines = (drawing: unknown) => (drawing as LinesDrawing).lines;

test('ranks are read from the names of groups, and other groups are none', () => {
  assert.deepEqual(['rank 0', 'rank 17', 'rank', 'rank -1', 'rank 1.bias', 'Rank 2', ''].map(rankOf), [0, 17, -1, -1, -1, -1, -1]);
});

test('a band over ranks is what sorting the values of each step gives', () => {
  const random = randomNumbers(3);
  const curves = Array.from({length: 7}, (_, rank) => curve(rank, Array.from({length: 40}, () => random())));
  const band = bandOfRanks(curves);
  for (let i = 0; i < 40; ++i) {
    const sorted = curves.map(({values}) => values[i] as number).sort((a, b) => a - b);
    assert.deepEqual([band.low[i], band.middle[i], band.high[i]], [sorted[0], sorted[3], sorted[6]]);
    assert.equal(curves[band.highRank[i] as number]?.values[i], sorted[6]);
    assert.equal(curves[band.lowRank[i] as number]?.values[i], sorted[0]);
  }
});

test('ranks that lack a step, or whose value is no number, leave the others their band', () => {
  const band = bandOfRanks([curve(0, [1, 2, NaN]), curve(1, [3, 5], [0, 2]), curve(2, [Infinity, NaN, NaN])]);
  assert.deepEqual([...band.steps], [0, 1, 2]);
  assert.deepEqual([...band.middle], [2, 2, 5]);
  assert.deepEqual([...band.counts], [3, 2, 3]);
  assert.deepEqual([...bandOfRanks([curve(0, [NaN])]).middle], [NaN]);
  assert.deepEqual([...bandOfRanks([]).steps], []);
});

test('the rank farthest from the median comes first, one with a value that is no number before it', () => {
  const curves = [curve(0, [1, 1]), curve(1, [1.1, 1.1]), curve(2, [9, 9]), curve(3, [1, NaN])];
  assert.deepEqual(farthestRanks(curves, bandOfRanks(curves)).slice(0, 2), [3, 2]);
});

test('who is late is said in seconds behind the median and the share of steps in which it is last', () => {
  const late = latenessOf([curve(0, [1, 1, 1, 1]), curve(1, [1.5, 1.5, 1.5, 0.5]), curve(2, [1, 1, 1, 1.2])]);
  assert.deepEqual(late.map(({rank}) => rank), [1, 2, 0]);
  assert.equal(late[0]?.usual, 0.5);
  assert.equal(late[0]?.lastShare, 0.75);
  assert.deepEqual([...late[0]?.behind ?? []], [0.5, 0.5, 0.5, -0.5]);
  assert.deepEqual([0.0123, -2, 4e-6, NaN].map(latenessText), ['+12.3 ms', '−2 s', '+4 µs', '']);
  // Of one rank alone nobody is late.
  assert.deepEqual(latenessOf([curve(0, [1, 2])]), []);
});

test('a panel by rank is a band, and ranks begin switched off but for broken ones', () => {
  const drawing = lines(rankLoss.view(madeReadings({numbers: made('rank_loss', [[1, 2], [3, 4], [5, NaN]])})));
  assert.deepEqual(drawing.map(({label, startsOff}) => [label, startsOff === true]),
    [['loss, median of 3 ranks', false], ['rank 0', true], ['rank 1', true], ['rank 2', false]]);
  assert.deepEqual([...drawing[0]?.points.low ?? []], [1, 2]);
  assert.deepEqual([...drawing[0]?.points.high ?? []], [5, 4]);
  assert.equal(drawing[0]?.detail?.(0), 'from 1 of rank 0 to 5 of rank 2');
  assert.equal(rankLoss.view(madeReadings({numbers: {rank_loss: {values: column(1)}}})), null);
});

test('of many ranks those farthest from the median are offered', () => {
  const drawing = lines(rankLoss.view(madeReadings({numbers: made('rank_loss', Array.from({length: 64}, (_, rank) => [rank === 40 ? 99 : rank / 100]))})));
  assert.equal(drawing.length, 9);
  assert.ok(drawing.some(({label}) => label === 'rank 40'));
});

test('extremes of reduced series of ranks are kept', () => {
  const reduced = (values: number[], high: number[]) => ({reduced: true, values: column(...values), low: column(0, 0), high: column(...high)});
  const drawing = lines(rankLoss.view(madeReadings({numbers: {'rank_loss//rank 0': reduced([1, 1], [7, 1]), 'rank_loss//rank 1': reduced([2, 2], [2, 9])}})));
  assert.deepEqual([...drawing[0]?.points.high ?? []], [7, 9]);
});

test('a legend switches on what starts off, and keeps what was switched when lines come', () => {
  const drawing = (...labels: string[]) => ({lines: labels.map((label) => ({label, points: {} as never, ...(label.startsWith('rank') ? {startsOff: true} : {})}))}) as unknown as LinesDrawing;
  assert.deepEqual([...hiddenLines(drawing('loss', 'rank 0', 'rank 1'), new Set())], ['rank 0', 'rank 1']);
  assert.deepEqual([...hiddenLines(drawing('loss', 'rank 0', 'rank 1', 'rank 2'), new Set(['rank 1', 'loss']))], ['loss', 'rank 0', 'rank 2']);
});

test('the time of a step has a band outside of the backward pass and one within', () => {
  const numbers = {...made('rank_time', [[1, 1], [2, 2]]), ...made('rank_time', [[0.5, 0.5], [0.1, 0.1]], 'backward')};
  assert.deepEqual(lines(rankTime.view(madeReadings({numbers}))).map(({label}) => label),
    ['outside, median of 2 ranks', 'rank 0', 'rank 1', 'backward, median of 2 ranks']);
});

test('stragglers are told in words and drawn at every width', () => {
  const times = [[0.01, 0.01, 0.01], [0.01, 0.02, 0.05], [0.01, 0.01, 0.012]];
  const drawing = rankStragglers.view(madeReadings({numbers: made('rank_time', times)})) as SceneDrawing;
  paintEverywhere(drawing);
  assert.match(drawing.words, /Rank 1 is the latest, \+10 ms at the median and last in 67 % of the steps\.$/);
  for (const odd of [[[NaN], [NaN]], [[1], [1]], [[0, Infinity], [1, -Infinity]], Array.from({length: 40}, (_, i) => [i])]) {
    paintEverywhere(rankStragglers.view(madeReadings({numbers: made('rank_time', odd)})) as SceneDrawing);
  }
  assert.equal(rankStragglers.view(madeReadings({numbers: made('rank_time', [[1, 2]])})), null);
});

test('drift, equal data and equal random numbers are lines where they were recorded', () => {
  const drawing = lines(rankChecks.view(madeReadings({numbers: {rank_drift: {values: column(0, 1)}, rank_twins: {values: column(0, 0)}}})));
  assert.deepEqual(drawing.map(({label}) => label), ['other parameters', 'equal data']);
});

test('ranks are counted, and are no layers', async () => {
  const run = await new FakeSource().details('run_0');
  assert.equal(rankCount(run), 4);
  assert.equal(rankCount({series: []}), 0);
  assert.ok(layerChoices(run).every(({rows}) => rows.every(({name}) => rankOf(name) < 0)));
});

test('interventions are told by step in words, and with the lines that they are marked in', () => {
  const done = interventionsOf([{field: 'rate_factor', steps: [40, 90], values: [0.5, 0.25]}, {field: 'restored', steps: [60], values: [10]}, {field: 'new_kind', steps: [5], values: [2]},
    {field: 'ranks', steps: [95, 99], values: [3, 1]}]);
  assert.deepEqual(done.map(({step, text}) => `${step}: ${text}`), ['5: new kind 2', '40: learning rate at 0.5 times its schedule', '60: state of step 10 restored',
    '90: learning rate at 0.25 times its schedule', '95: goes on with 3 ranks', '99: goes on with 1 rank']);
  const drawing: LinesDrawing = {kind: 'lines', lines: [{label: 'loss', points: {id: 1, reduced: false, count: 1, steps: column(0), values: column(1), low: column(), high: column()}}]};
  assert.match(describeLines(drawing, done.slice(0, 1)), /loss: 1 at step 0\. new kind 2 at step 5\.$/);
});
