// SPDX-License-Identifier: MIT
// From instruments to series to readings; routes; panels that are made by themselves.
import assert from 'node:assert/strict';
import {test} from 'node:test';
import {automaticInstruments} from '../src/app/automatic';
import type {Instrument} from '../src/app/instrument';
import {instrumentsAt} from '../src/app/layout';
import {readingsOf, seriesRead} from '../src/app/readings';
import {parseRoute, routeAddress} from '../src/app/route';
import {lightPalette} from '../src/widgets/palette';
import {SvgSurface} from '../src/widgets/svg_surface';
import type {Frame, Points} from '../src/wire/types';
import {FakeSource} from './fake_source';

const names = (series: {quantity: string; field: string; group: string}[]) =>
  series.map(({quantity, field, group}) => [quantity, field, group].filter(Boolean).join('/'));
const run = await new FakeSource({parameters: 2}).details('run_0');

test('by default an instrument reads the main value of the whole model', () => {
  assert.deepEqual(names(seriesRead({reads: [{quantity: 'parameters'}]}, run).numbers), ['parameters']);
});

test('fields and groups are read if asked for', () => {
  const read = (reads: Instrument['reads'][number]) => names(seriesRead({reads: [reads]}, run).numbers);
  assert.deepEqual(read({quantity: 'parameters', fields: ['mean']}), ['parameters', 'parameters/mean']);
  assert.deepEqual(read({quantity: 'grad_noise_scale', fields: 'all'}), ['grad_noise_scale', 'grad_noise_scale/noise', 'grad_noise_scale/signal']);
  assert.deepEqual(read({quantity: 'grad_norm', groups: 'all'}), ['grad_norm', 'grad_norm/layer_0.weight', 'grad_norm/layer_0.bias']);
});

test('of many groups as many as asked for are read, evenly spread', async () => {
  const many = await new FakeSource({parameters: 1000}).details('run_0');
  const {numbers} = seriesRead({reads: [{quantity: 'grad_norm', groups: 4}]}, many);
  assert.deepEqual(names(numbers), ['grad_norm', 'grad_norm/layer_0.weight', 'grad_norm/layer_125.weight',
    'grad_norm/layer_250.weight', 'grad_norm/layer_375.weight']);
});

test('panels that are made by themselves come in the order people count', () => {
  const [first] = run.series;
  const series = [10, 2, 1].map((i) => ({...(first as (typeof run.series)[number]), quantity: `own_${i}`}));
  assert.deepEqual(automaticInstruments({...run, series}, []).map(({title}) => title), ['own 1', 'own 2', 'own 10']);
});

test('frames and numbers of a quantity are told apart', () => {
  const read = seriesRead({reads: [{quantity: 'ggn_spectrum'}, {quantity: 'ggn_spectrum', fields: ['eigenvalues'], frames: true}]}, run);
  assert.deepEqual([names(read.numbers), names(read.frames)], [['ggn_spectrum'], ['ggn_spectrum/eigenvalues']]);
});

test('readings hold what is loaded and nothing else', async () => {
  const source = new FakeSource({parameters: 2});
  const series = seriesRead({reads: [{quantity: 'grad_norm', groups: 'all'}, {quantity: 'grad_hist_1d', frames: true}]}, run);
  const first = series.numbers[0] as {id: number};
  const [points] = (await source.points('run_0', [first.id], {}, 10)).series;
  const [frame] = (await source.frames('run_0', [(series.frames[0] as {id: number}).id], {}, 1)).frames;
  const readings = readingsOf(run, 7, series, {points: (id) => (id === first.id ? points : undefined), frame: () => frame});
  assert.equal(readings.step, 7);
  assert.equal(readings.number('grad_norm'), points as Points);
  assert.equal(readings.number('grad_norm', '', 'layer_0.bias'), undefined);
  assert.equal(readings.numbers('grad_norm').length, 1);
  assert.equal(readings.frame('grad_hist_1d'), frame as Frame);
  assert.equal(readings.number('loss'), undefined);
});

test('every quantity that no instrument reads has a panel of its own that can be drawn', async () => {
  const source = new FakeSource({parameters: 2});
  const made = automaticInstruments(run, [{reads: [{quantity: 'loss'}]}]);
  const shown = new Set(made.flatMap(({reads}) => reads.map(({quantity}) => quantity)));
  assert.deepEqual([...shown].sort(), [...new Set(run.series.map(({quantity}) => quantity))].filter((q) => q !== 'loss').sort());
  for (const instrument of made) {
    const series = seriesRead(instrument, run);
    const points = new Map((await source.points('run_0', series.numbers.map(({id}) => id), {}, 50)).series.map((p) => [p.id, p]));
    const frames = new Map((await source.frames('run_0', series.frames.map(({id}) => id), {}, 1)).frames.map((f) => [f.id, f]));
    const drawing = instrument.view(readingsOf(run, 0, series, {points: (id) => points.get(id), frame: (id) => frames.get(id)}));
    assert.ok(drawing, instrument.id);
    if (drawing?.kind === 'scene') drawing.paint(new SvgSurface(300, 200, lightPalette));
  }
});

test('instruments of a place come in their order', () => {
  const make = (id: string, order?: number) => ({id, place: 'more', ...(order === undefined ? {} : {order})}) as Instrument;
  assert.deepEqual(instrumentsAt('more', [make('c'), make('a'), make('b', 1)]).map(({id}) => id), ['b', 'a', 'c']);
});

test('addresses of runs survive slashes and signs', () => {
  const route = {page: 'run', id: 'a/b c%#?', view: 'layers'} as const;
  assert.deepEqual(parseRoute(routeAddress(route)), route);
  assert.deepEqual(parseRoute(''), {page: 'compare'});
  assert.deepEqual(parseRoute('#/run/x'), {page: 'run', id: 'x', view: 'cockpit'});
  assert.deepEqual(parseRoute('#/run/%/x'), {page: 'compare'});
});
