// SPDX-License-Identifier: MIT
// The ways to compare runs: curves, distributions, scatter, parallel coordinates.
import assert from 'node:assert/strict';
import test from 'node:test';
import {comparedRuns} from '../src/app/views/compare_view';
import {constantCurve, isConstantChart} from '../src/app/views/constant_curves';
import {type CurveChart, curvesOf, lineOwners, wholeRange} from '../src/app/views/curves';
import {distributionsOf} from '../src/app/views/distributions';
import {axisChoice} from '../src/app/views/number_columns';
import {RUN_AXES} from '../src/base/run_axis';
import {valueAxis} from '../src/base/value_axis';
import {LastFramesStore} from '../src/store/last_frames_store';
import {type Overlaid, OverlayStore} from '../src/store/overlay_store';
import {lineData} from '../src/widgets/line_data';
import {inBrush, parallelScene} from '../src/widgets/scenes/parallel';
import {scatterScene} from '../src/widgets/scenes/scatter';
import {severalAlphas} from '../src/widgets/scenes/several_alphas';
import {severalHistograms} from '../src/widgets/scenes/several_histograms';
import {toggled} from '../src/widgets/shared_legend';
import {tipEntries} from '../src/widgets/values_tip';
import type {Watched} from '../src/base/watched';
import type {RunSummary} from '../src/wire/types';
import {FakeSource} from './fake_source';
import {paintEverywhere} from './recording_surface';

async function until<T>(watched: Watched<T>, isThere: (value: T) => boolean): Promise<T> {
  if (!isThere(watched.value)) {
    await new Promise<void>((resolve) => {
      const stop = watched.watch(() => {
        if (!isThere(watched.value)) return;
        stop();
        resolve();
      });
    });
  }
  return watched.value;
}

async function loadedRuns(count: number): Promise<{source: FakeSource; runs: RunSummary[]; loaded: Overlaid}> {
  const source = new FakeSource({runs: count, steps: 100});
  const store = new OverlayStore(source);
  const {runs} = await source.runs();
  store.choose(runs);
  const loaded = await until(store.watched, ({missing}) => missing === 0);
  store.close();
  return {source, runs, loaded};
}

function chartOf(quantity: string, lines: Record<string, number[]>): CurveChart {
  return {overlay: {quantity, series: [], count: 1}, drawing: {kind: 'lines', lines: Object.entries(lines).map(([label, values]) => ({label,
    points: {id: 1, reduced: false, count: values.length, steps: Float64Array.from(values.keys()), values: Float64Array.from(values),
      low: new Float64Array(), high: new Float64Array()}}))}};
}

test('a hyperparameter that no run changed is a line of text, and a score that stands still keeps its panel', () => {
  const rates = (...values: number[]) => chartOf('learning_rate', Object.fromEntries(values.map((value, i) => [`run ${i}`, [value, value]])));
  assert.ok(isConstantChart(rates(0.1, 0.2)));
  assert.ok(!isConstantChart(chartOf('learning_rate', {a: [0.1, 0.1], b: [0.1, 0.05]})));
  assert.ok(!isConstantChart(chartOf('test_accuracy', {a: [0.1, 0.1]})));
  assert.equal(constantCurve(rates(0.1, 0.1, 0.1)).text, '0.1');
  assert.equal(constantCurve(rates(0.3, 0.001, 0.3)).text, '0.001 (run 1), 0.3 (2 lines)');
  assert.equal(constantCurve(rates(...[1, 2, 3, 4, 5, 6, 7].map((each) => each / 100))).text, '7 values from 0.01 to 0.07');
});

test('the filter acts on what is compared as on the table, and until runs are chosen the newest are', async () => {
  const {runs} = await new FakeSource({runs: 20}).runs();
  const ids = (picked: readonly string[] | 'all' | null, passing: readonly RunSummary[]) => comparedRuns(picked, runs, passing).map(({id}) => id);
  const passing = runs.slice(4, 16);
  assert.deepEqual(ids(null, passing), passing.slice(0, 8).map(({id}) => id));
  assert.equal(ids('all', passing).length, 12);
  assert.deepEqual(ids(['run_2', 'run_5', 'run_6'], passing).sort(), ['run_5', 'run_6']);
  assert.deepEqual(ids([], passing), []);
  assert.equal(ids(['of another folder'], passing).length, 8);
});

test('every run has a line over every axis, in its own colour', async () => {
  const {runs, loaded} = await loadedRuns(4);
  const {owners} = lineOwners(runs, '');
  for (const axis of RUN_AXES) {
    const known = new Map([...loaded.runs].map(([id, run]) => [id, {...run, details: {...run.details, summary: {...run.details.summary,
      config: {...run.details.summary.config, steps_per_epoch: '10', batch_size: '8'}}}}]));
    const {charts, notDrawn} = curvesOf(owners, {...loaded, runs: known}, axis, 'deviation', false);
    assert.deepEqual(notDrawn, [], axis);
    const loss = charts.find(({overlay}) => overlay.quantity === 'loss');
    assert.deepEqual(loss?.drawing.lines.map(({label, color}) => [label, color]), owners.map(({label, color}) => [label, color]));
    const {first, last} = wholeRange(charts, axis);
    assert.ok(last > first && (axis === 'time') === (first > 1e9), `${axis} from ${first} to ${last}`);
  }
});

test('a run that cannot be placed is named with what is missing', async () => {
  const {runs, loaded} = await loadedRuns(3);
  const known = new Map(loaded.runs);
  const run = known.get('run_1');
  assert.ok(run);
  const rest = Object.fromEntries(Object.entries(run.details.summary.config).filter(([key]) => key !== 'batch_size'));
  known.set('run_1', {...run, details: {...run.details, summary: {...run.details.summary, config: rest}}});
  const {charts, notDrawn} = curvesOf(lineOwners(runs, '').owners, {...loaded, runs: known}, 'samples', 'range', false);
  const without = runs.filter(({id, config}) => id === 'run_1' || !config['batch_size']).map(({id}) => id);
  assert.deepEqual(notDrawn.flatMap(({ids}) => ids).sort(), without.sort());
  assert.match(notDrawn[0]?.reason ?? '', /batch_size/);
  assert.ok(charts.every(({drawing}) => drawing.lines.every(({label}) => label !== 'run_1')));
});

test('a group is a line with a band and says of how many runs', async () => {
  const {runs, loaded} = await loadedRuns(6);
  const {owners} = lineOwners(runs, 'config:optimizer');
  assert.deepEqual(owners.map(({count}) => count).reduce((sum, count) => (sum ?? 0) + (count ?? 0), 0), 6);
  const {charts} = curvesOf(owners, loaded, 'step', 'range', true);
  const loss = charts.find(({overlay}) => overlay.quantity === 'loss');
  assert.ok(loss);
  assert.equal(loss.drawing.lines.length, owners.length);
  for (const line of loss.drawing.lines) {
    assert.ok(line.points.reduced && line.points.values.every((value, i) => value >= (line.points.low[i] as number) - 1e-12 && value <= (line.points.high[i] as number) + 1e-12));
    assert.match(line.detail?.(0) ?? '', / to .*(runs|one run)$/);
  }
  const data = lineData(loss.drawing, {smoothing: 0, logX: false, logY: false});
  assert.deepEqual(tipEntries(loss.drawing, data, 0, new Set()).map(({name}) => name).sort(), owners.map(({short}) => short).sort());
});

test('runs that the server tells tags of are grouped by them', async () => {
  const {runs} = await new FakeSource({runs: 3}).runs();
  const tagged = runs.map((run, i) => ({...run, ...(i < 2 ? {tags: i === 0 ? ['paper', 'best'] : ['paper']} : {})}));
  assert.deepEqual(lineOwners(tagged, 'tag').owners.map(({label, count}) => [label, count]), [['best', 1], ['no tag', 1], ['paper', 2]]);
});

test('a run that diverged and one of a single value leave a group\'s mean finite', async () => {
  const {runs, loaded} = await loadedRuns(3);
  const known = new Map(loaded.runs);
  const bent = (id: string, bend: (values: Float64Array) => Float64Array, length = Infinity) => {
    const run = known.get(id);
    assert.ok(run);
    known.set(id, {...run, points: new Map([...run.points].map(([series, points]) => [series, {...points, steps: points.steps.slice(0, length), values: bend(points.values.slice(0, length))}]))});
  };
  bent('run_1', (values) => values.map((value, i) => (i > 2 ? NaN : value)));
  bent('run_2', (values) => values, 1);
  const {charts, notDrawn} = curvesOf(lineOwners(runs, 'all').owners, {...loaded, runs: known}, 'step', 'deviation', true);
  assert.deepEqual(notDrawn, []);
  const line = charts[0]?.drawing.lines[0];
  assert.ok(line && line.points.values.every((value) => Number.isFinite(value)));
  assert.deepEqual([line.detail?.(0), line.detail?.(line.points.steps.length - 1)].map((text) => text?.split(', ')[1]), ['3 runs', 'one run']);
});

test('one alpha far out does not flatten the others: it is marked at the end of the axis', async () => {
  const {runs, loaded} = await loadedRuns(2);
  const alpha = curvesOf(lineOwners(runs, '').owners, loaded, 'step', 'range', false).charts.find(({overlay}) => overlay.quantity === 'alpha');
  assert.ok(alpha?.drawing.clip);
  const [line] = alpha.drawing.lines;
  assert.ok(line);
  const values = line.points.values.map((value, i) => (i === 3 ? -62 : value));
  const data = lineData({...alpha.drawing, lines: [{...line, points: {...line.points, values}}]}, {smoothing: 0, logX: false, logY: false});
  assert.deepEqual(data.marks.map(({kind}) => kind), ['below']);
  assert.match(data.remarks.join(), /1 value beyond −2 to 2/);
});

test('a tip names every line or says how many it leaves out', async () => {
  const {runs, loaded} = await loadedRuns(30);
  const [chart] = curvesOf(lineOwners(runs, '').owners, loaded, 'step', 'range', false).charts;
  assert.ok(chart);
  const data = lineData(chart.drawing, {smoothing: 0, logX: false, logY: false});
  const entries = tipEntries(chart.drawing, data, 0, new Set(['run_0']));
  assert.ok(entries.some(({line, value}) => line === -1 && value.includes('15 more')));
  assert.ok(!entries.some(({name}) => name === 'run_0'));
});

test('the legend switches a line off, or all the others, and back', () => {
  const labels = ['a', 'b', 'c'];
  assert.deepEqual(toggled(labels, new Set(), 'a', false), ['a']);
  assert.deepEqual(toggled(labels, new Set(['a']), 'a', false), []);
  assert.deepEqual(toggled(labels, new Set(['c']), 'b', true), ['a', 'c']);
  assert.deepEqual(toggled(labels, new Set(['a', 'c']), 'b', true), []);
});

test('alpha and histograms of several runs are in one picture each', async () => {
  const {source, runs, loaded} = await loadedRuns(3);
  const store = new LastFramesStore(source);
  store.choose(loaded.runs);
  const frames = await until(store.watched, (value) => value.runs.size === 3);
  const {owners} = lineOwners(runs, '');
  const found = distributionsOf(owners, loaded, frames);
  assert.deepEqual(found.map(({id, count}) => [id, count]), [['alpha', 3], ['final_parameters', 3], ['grad_hist_1d', 3]]);
  for (const {drawing} of found) paintEverywhere(drawing);
  const grouped = distributionsOf(lineOwners(runs, 'all').owners, loaded, frames);
  assert.deepEqual(grouped.map(({count}) => count), [1, 1, 1]);
  store.choose(new Map());
  assert.equal(store.watched.value.runs.size, 0);
  store.close();
});

test('distributions bear values that are far out, not numbers, or none', () => {
  const mark = {name: 'a', color: 0, dash: []};
  for (const values of [[], [NaN], [1e300, -1e300, Infinity], [0]]) paintEverywhere(severalAlphas([{...mark, values: Float64Array.from(values)}, {...mark, color: 9, values: Float64Array.of(0.3)}]));
  const histogram = (low: number, high: number, counts: number[], outside = 0) => ({low, high, counts, outside});
  for (const parts of [[], [histogram(0, 1, [0, 0])], [histogram(-1, 1, [1, 2, 3], 5), histogram(-1e-9, 1e-9, [7])]]) {
    paintEverywhere(severalHistograms([{...mark, histograms: parts}], 'entry'));
  }
});

test('axes of use are found: settings that differ and scores', async () => {
  const {runs} = await new FakeSource({runs: 6}).runs();
  const choice = axisChoice(runs);
  assert.deepEqual([choice.across, choice.up], ['config:learning_rate', 'value:valid_accuracy']);
  assert.ok(choice.usual.includes('config:optimizer') && choice.usual.includes('value:valid_loss'));
  assert.ok(choice.numbers.every(({id}) => id !== 'config:optimizer' && id !== 'name'));
  assert.deepEqual(axisChoice([]), {numbers: [], axes: [], usual: [], across: '', up: ''});
});

test('a scatter plot finds the run under the pointer', () => {
  const [x, y] = [valueAxis([1, 2, 3]), valueAxis([0.001, 1, 100])];
  const dots = [1, 2, 3].map((value, i) => ({id: `run_${i}`, x: x.place(value), y: y.place([0.001, 1, 100][i]), color: i, isChosen: i === 1, text: `run ${i}`}));
  const {drawing, find} = scatterScene(dots, {name: 'learning_rate', axis: x}, {name: 'loss', axis: y});
  const surface = paintEverywhere(drawing);
  const [, , chosen] = surface.circles;
  assert.ok(chosen && chosen.radius === 5);
  assert.equal(find(chosen.x, chosen.y, 280, drawing.height(280)), 'run_1');
  assert.equal(find(-50, -50, 280, 260), null);
  paintEverywhere(scatterScene([], {name: 'a', axis: valueAxis([])}, {name: 'b', axis: valueAxis([undefined])}).drawing);
});

test('parallel coordinates place every run, those without a value apart, and a brush holds its ends', () => {
  const columns = [['0.1', '0.01', undefined], ['sgd', 'adam', 'sgd'], [1, 2, NaN]] as const;
  const axes = columns.map((cells, i) => ({id: `axis_${i}`, name: ['learning_rate', 'optimizer', 'valid_loss'][i] as string, axis: valueAxis(cells)}));
  const runs = [0, 1, 2].map((i) => ({id: `run_${i}`, cells: columns.map((cells) => cells[i]), color: i, isChosen: i > 0}));
  const {drawing, axisAt} = parallelScene(axes, runs, {axis_0: {first: 0.01, last: 0.05}, axis_1: {first: 0, last: 0}});
  const surface = paintEverywhere(drawing);
  assert.ok(surface.texts.some(({text}) => text === 'none'));
  assert.equal(axisAt(60, 100, 600, 300)?.axis.id, 'axis_0');
  assert.equal(axisAt(180, 100, 600, 300), null);
  const [rate, optimizer] = axes;
  assert.ok(rate && optimizer);
  assert.deepEqual(columns[0].map((cell) => inBrush(rate.axis, cell, {first: 0.01, last: 0.05})), [false, true, false]);
  assert.deepEqual(columns[1].map((cell) => inBrush(optimizer.axis, cell, {first: 0, last: 0})), [false, true, false]);
  paintEverywhere(parallelScene([], [], {}).drawing);
  paintEverywhere(parallelScene(axes.slice(0, 1), runs.map((run) => ({...run, cells: run.cells.slice(0, 1)})), {}).drawing);
});
