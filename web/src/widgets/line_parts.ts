// SPDX-License-Identifier: MIT
// What several panels of lines do alike: choose a scale, mark values, show many lines as a few.
import {largest, median} from '../base/statistics';
import type {Points, RunDetails} from '../wire/types';
import type {Guide, Line} from './drawing';

/** Lines of one panel that can still be told apart. */
const MANY = 12;
/** How many times the middle value the largest may be on a linear scale. */
const WIDE = 1000;

/** A logarithmic scale if there are positive values and no negative ones. */
export function logIfPositive(lines: readonly Line[]): 'linear' | 'log' {
  const has = (test: (value: number) => boolean) =>
    lines.some(({points}) => points.values.some(test) || points.low.some(test));
  return has((value) => value > 0) && !has((value) => value < 0) ? 'log' : 'linear';
}

/** A logarithmic scale if the values are positive and differ so much that a linear one would show the largest alone. */
export function logIfWide(lines: readonly Line[]): 'linear' | 'log' {
  if (logIfPositive(lines) === 'linear') return 'linear';
  const values = lines.flatMap(({points}) => Array.from(points.reduced ? points.high : points.values));
  return largest(values, 0) > WIDE * largest([median(values)], Infinity) ? 'log' : 'linear';
}

/** Some entries of exact points. */
function chosen(points: Points, keep: (i: number) => boolean): Points {
  const steps = points.steps.filter((_, i) => keep(i));
  return {id: points.id, reduced: false, count: steps.length, steps, values: points.values.filter((_, i) => keep(i)),
    low: new Float64Array(), high: new Float64Array()};
}

/** The points whose iteration did not converge, or some of those that a reduced entry stands for. */
export function unconverged(points: Points, converged: Points | undefined): Points {
  const failed = new Set<number>();
  converged?.steps.forEach((step, i) => {
    const least = converged.reduced ? converged.low[i] : converged.values[i];
    if (least === 0) failed.add(step);
  });
  return chosen(points, (i) => failed.has(points.steps[i] as number));
}

/** The batch size in use as a guide, if the run tells it. */
export function batchSizeGuide(run: RunDetails): Guide[] {
  const value = Number(run.summary.config['batch_size'] ?? NaN);
  return value > 0 && Number.isFinite(value) ? [{value, label: `batch size ${value}`}] : [];
}

/** A number of a quantity as a line: which field, what it is called, and 'right' for the second scale. */
export type LinePart = readonly [quantity: string, field: string, label: string, side?: 'right'];

/** Those of the parts that were recorded, the ones on the right dashed. */
export function recordedLines(readings: {number(quantity: string, field?: string): Points | undefined},
  parts: readonly LinePart[]): Line[] {
  return parts.flatMap(([quantity, field, label, side], color) => {
    const points = readings.number(quantity, field);
    return points ? [{label, points, color: color % 7, ...(side ? {side, dash: [4, 3]} : {})}] : [];
  });
}

/** The name of the right axis, if a line needs it. */
export function rightAxis(lines: readonly Line[], name: string): {yRight?: string} {
  return lines.some(({side}) => side === 'right') ? {yRight: name} : {};
}

export interface Named {
  /** Empty for the value of the whole. */
  name: string;
  points: Points;
}

/** The parts' values by step, without those that are not a number. */
function byStep(parts: readonly Named[]): Map<number, number[]> {
  const found = new Map<number, number[]>();
  for (const {points} of parts) {
    points.steps.forEach((step, i) => {
      const value = points.values[i] as number;
      const values = found.get(step) ?? [];
      if (values.length === 0) found.set(step, values);
      if (!Number.isNaN(value)) values.push(value);
    });
  }
  return new Map([...found].sort(([a], [b]) => a - b));
}

const SUMMARIES: readonly [string, (values: number[]) => number][] = [
  ['lowest', (values) => values.reduce((a, b) => Math.min(a, b), values[0] ?? NaN)],
  ['middle', median],
  ['highest', (values) => values.reduce((a, b) => Math.max(a, b), values[0] ?? NaN)],
];

/**
 * A line for the whole and one for each part. Of more parts than can be told apart, the lowest, the
 * middle and the highest value at each step.
 */
export function manyLines(series: readonly Named[], whole: string): Line[] {
  const lines: Line[] = series.filter(({name}) => name === '').map(({points}) => ({label: whole, points, color: 7}));
  const parts = series.filter(({name}) => name !== '');
  if (parts.length <= MANY) {
    parts.forEach(({name, points}, i) =>
      lines.push({label: name, points, color: i % 7, ...(i >= 7 ? {dash: [4, 3]} : {})}));
    return lines;
  }
  const values = byStep(parts);
  const steps = Float64Array.from(values.keys());
  SUMMARIES.forEach(([word, of], color) => {
    const points = {id: 0, reduced: false, count: steps.length, steps, values: Float64Array.from(values.values(), of),
      low: new Float64Array(), high: new Float64Array()};
    lines.push({label: `${word} of ${parts.length}`, points, color});
  });
  return lines;
}
