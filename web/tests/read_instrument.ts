// SPDX-License-Identifier: MIT
// Readings for instruments: from a source, or made up on the spot.
import type {Instrument, Readings} from '../src/app/instrument';
import {readingsOf, seriesRead} from '../src/app/readings';
import type {Source} from '../src/wire/source';
import type {Frame, Points, RunDetails, Series} from '../src/wire/types';

/** What the instrument would be given of a run: at most `points` entries of each series. */
export async function readInstrument(instrument: Instrument, source: Source, id: string, points = 1000,
                                     step?: number): Promise<Readings> {
  const run = await source.details(id);
  const last = step ?? run.summary.last_step;
  const series = seriesRead(instrument, run);
  const numbers = await source.points(id, series.numbers.map((s) => s.id), {}, points);
  const frames = await source.frames(id, series.frames.map((s) => s.id), {last}, 1);
  return readingsOf(run, last, series, {
    points: (wanted) => numbers.series.find((entry) => entry.id === wanted),
    frame: (wanted) => frames.frames.find((entry) => entry.id === wanted),
  });
}

export interface Made {
  /** By quantity, quantity/field or quantity//group. */
  numbers?: Record<string, Partial<Points> & {values: Float64Array}>;
  frames?: Record<string, Partial<Frame>>;
  step?: number;
  config?: Record<string, string>;
}

function seriesOf(name: string, id: number, kind: Series['kind']): Series {
  const [quantity = '', field = '', group = ''] = name.split('/');
  return {id, quantity, field, group, kind, count: 1, first_step: 0, last_step: 0};
}

/** Readings of exactly these values, at steps 0, 1, 2 ... unless said. */
export function madeReadings({numbers = {}, frames = {}, step = Infinity, config = {}}: Made): Readings {
  const none = new Float64Array();
  const run: RunDetails = {
    summary: {id: 'made', status: 'finished', error: '', change: 1, start_time: 0, last_time: 0, last_step: 0, config, values: {}, tags: [], note: '', archived: false},
    flightdeck_version: '', libtorch_version: '', host: '', command: '', device: '', grouping: '', plan: '', coverage: '',
    parameters: [], groups: [], quantities: [], series: [], notes: [], clock: {steps: none, seconds: none},
  };
  const points = Object.entries(numbers).map(([, entry], id) => ({id, reduced: false, count: entry.values.length, low: none,
    high: none, steps: Float64Array.from(entry.values, (_, k) => k), ...entry}));
  const pictures = Object.entries(frames).map(([, entry], id) => ({id, step: 0, list: none, axes: [], counts: none, below: 0,
    above: 0, not_a_number: 0, ...entry}));
  const series = {
    numbers: Object.keys(numbers).map((name, id) => seriesOf(name, id, 'number')),
    frames: Object.entries(frames).map(([name, {axes}], id) => seriesOf(name, id, axes ? 'histogram' : 'list')),
  };
  return readingsOf(run, step, series, {points: (id) => points[id], frame: (id) => pictures[id]});
}
