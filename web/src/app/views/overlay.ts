// SPDX-License-Identifier: MIT
// Which quantities several runs can be compared by, and how their lines are told apart.
import {naturalOrder} from '../../base/natural_order';
import type {Line} from '../../widgets/drawing';
import type {Points, RunDetails, Series} from '../../wire/types';
import {FIRST_VALUES} from './run_table';

export interface Overlay {
  quantity: string;
  /** By run, in the order chosen; null where it was not recorded. */
  series: (Series | null)[];
  /** Runs that have it. */
  count: number;
}

function mainSeries(run: RunDetails): Map<string, Series> {
  return new Map(run.series
    .filter((series) => series.kind === 'number' && series.field === '' && series.group === '')
    .map((series) => [series.quantity, series]));
}

/** Quantities of the runs: losses and accuracies first, then what all have, then the rest. */
export function overlays(runs: readonly RunDetails[]): Overlay[] {
  const found = runs.map(mainSeries);
  const quantities = new Set(found.flatMap((series) => [...series.keys()]));
  quantities.delete('time');
  const rank = (name: string) => (FIRST_VALUES.includes(name) ? FIRST_VALUES.indexOf(name) : FIRST_VALUES.length);
  return [...quantities]
    .map((quantity) => {
      const series = found.map((each) => each.get(quantity) ?? null);
      return {quantity, series, count: series.filter((each) => each !== null).length};
    })
    .sort((a, b) => rank(a.quantity) - rank(b.quantity) || b.count - a.count || naturalOrder(a.quantity, b.quantity));
}

const COLORS = 8;
const DASHES: readonly (readonly number[])[] = [[], [7, 3], [2, 2], [9, 3, 2, 3]];

/** Colour and dashes of the i-th run: all eight colours, then again with dashes. */
export function lineStyle(i: number): Pick<Line, 'color' | 'dash'> {
  const dash = DASHES[Math.floor(i / COLORS) % DASHES.length] as readonly number[];
  return dash.length > 0 ? {color: i % COLORS, dash} : {color: i % COLORS};
}

/** Seconds by step: the quantity `time` if it was tracked, else when values were recorded. Null: not known. */
export function timesOf(run: RunDetails, points: ReadonlyMap<number, Points>): Points | null {
  const tracked = run.series.find((series) => series.quantity === 'time' && series.group === '' && series.field === '');
  const found = tracked && points.get(tracked.id);
  if (found) return found;
  const {steps, seconds} = run.clock;
  const none = new Float64Array();
  return steps.length === 0 ? null
    : {id: -1, reduced: false, count: steps.length, steps, values: seconds, low: none, high: none};
}

/** The points with seconds in the place of steps, between recorded times by a straight line. */
export function overTime(points: Points, time: Points): Points {
  const {steps, values} = time;
  const seconds = new Float64Array(points.steps.length);
  let k = 0;
  points.steps.forEach((step, i) => {
    while (k + 2 < steps.length && (steps[k + 1] as number) < step) ++k;
    const [s0, s1, t0, t1] = [steps[k], steps[k + 1], values[k], values[k + 1]];
    if (s0 === undefined || t0 === undefined) seconds[i] = NaN;
    else if (s1 === undefined || t1 === undefined || s1 === s0) seconds[i] = t0;
    else seconds[i] = t0 + ((step - s0) / (s1 - s0)) * (t1 - t0);
  });
  return {...points, steps: seconds};
}
