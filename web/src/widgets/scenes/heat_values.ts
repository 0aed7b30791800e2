// SPDX-License-Identifier: MIT
// From series over steps to the cells of a heat map: bins of steps, rows taken together, a range of
// colours. In cells NaN is "nothing recorded" and Infinity "recorded, but no finite number".
import type {Points} from '../../wire/types';

export interface HeatRow {
  label: string;
  /** Several where a row stands for several series; empty while they are not loaded. */
  points: readonly Points[];
}

export interface StepSpan {
  first: number;
  last: number;
}

export type HeatScale = 'log' | 'linear' | 'diverging';

/** Of two values the one that must not get lost: no finite number, else the larger magnitude or value. */
export function graver(a: number, b: number, scale: HeatScale): number {
  if (Number.isNaN(a)) return b;
  if (Number.isNaN(b)) return a;
  if (a === Infinity || b === Infinity) return Infinity;
  if (scale === 'diverging') return Math.abs(b) > Math.abs(a) ? b : a;
  return b > a ? b : a;
}

/** The value of an entry that a cell shows: where it stands for several points, the graver extreme. */
export function entryValue(points: Points, i: number, scale: HeatScale): number {
  const value = points.values[i] as number;
  if (!Number.isFinite(value)) return Infinity;
  if (!points.reduced) return value;
  const low = points.low[i] as number;
  const high = points.high[i] as number;
  if (!Number.isFinite(low) || !Number.isFinite(high)) return Infinity;
  return graver(low, high, scale);
}

/** Steps an entry covers: a reduced one those up to its own, another one those until the next. */
export function entrySpan(points: Points, i: number, span: StepSpan): StepSpan {
  const step = points.steps[i] as number;
  if (points.reduced) return {first: i === 0 ? span.first : (points.steps[i - 1] as number) + 1, last: step};
  const next = points.steps[i + 1];
  if (next !== undefined) return {first: step, last: next - 1};
  const before = points.steps[i - 1];
  return {first: step, last: before === undefined ? step : step + (step - before) - 1};
}

/** The entry that covers a step; -1 if none does. */
export function entryAt(points: Points, step: number, span: StepSpan): number {
  let low = 0;
  let high = points.steps.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (entrySpan(points, middle, span).last < step) low = middle + 1;
    else high = middle;
  }
  return low < points.steps.length && entrySpan(points, low, span).first <= step ? low : -1;
}

/** Adds a series to one row of cells. */
function pour(points: Points, span: StepSpan, scale: HeatScale, cells: Float64Array, offset: number, columns: number): void {
  const width = (span.last - span.first + 1) / columns;
  for (let i = 0; i < points.steps.length; ++i) {
    const covered = entrySpan(points, i, span);
    if (covered.last < span.first || covered.first > span.last) continue;
    const value = entryValue(points, i, scale);
    const first = Math.max(0, Math.floor((covered.first - span.first) / width));
    const last = Math.min(columns - 1, Math.floor((covered.last - span.first) / width));
    for (let c = first; c <= last; ++c) {
      cells[offset + c] = graver(cells[offset + c] as number, value, scale);
    }
  }
}

/** Cells of rows `from` to `to`, `together` of them in each row of cells. */
export function heatCells(rows: readonly HeatRow[], from: number, to: number, together: number, span: StepSpan,
    columns: number, scale: HeatScale): Float64Array {
  const count = Math.ceil(Math.max(0, to - from) / together);
  const cells = new Float64Array(count * columns).fill(NaN);
  for (let r = from; r < to; ++r) {
    const offset = Math.floor((r - from) / together) * columns;
    for (const points of rows[r]?.points ?? []) pour(points, span, scale, cells, offset, columns);
  }
  return cells;
}

/** The distance of entries where it is nearly always the same; 0 where it is not. */
function usualGap(steps: Float64Array): number {
  const times = new Map<number, number>();
  for (let i = 1; i < steps.length; ++i) {
    const gap = (steps[i] as number) - (steps[i - 1] as number);
    times.set(gap, (times.get(gap) ?? 0) + 1);
  }
  const [gap, count] = [...times].sort((a, b) => b[1] - a[1])[0] ?? [0, 0];
  return count >= 0.9 * (steps.length - 1) ? gap : 0;
}

/** Columns worth drawing: one for each entry where they are evenly spaced, and never more than pixels. */
export function columnCount(rows: readonly HeatRow[], span: StepSpan, pixels: number): number {
  let longest: Float64Array = new Float64Array();
  for (const row of rows) {
    for (const points of row.points) if (points.steps.length > longest.length) longest = points.steps;
  }
  const steps = span.last - span.first + 1;
  const most = Math.max(1, Math.min(Math.floor(pixels), steps));
  const gap = usualGap(longest);
  const even = gap > 0 ? steps / gap : 0;
  if (even > 0 && Number.isInteger(even)) return Math.min(most, even);
  // Three to an entry: bounds of columns and entries differ by little then.
  return Math.min(most, Math.max(1, 3 * longest.length));
}

/** Steps that the entries of all rows cover; the first may lie before 0 by less than an entry. */
export function spanOf(rows: readonly HeatRow[]): StepSpan {
  let first = Infinity;
  let last = -Infinity;
  for (const row of rows) {
    for (const points of row.points) {
      const {steps, reduced} = points;
      const [begin, next] = [steps[0], steps[1]];
      if (begin === undefined) continue;
      first = Math.min(first, reduced && next !== undefined ? begin - (next - begin) + 1 : begin);
      last = Math.max(last, entrySpan(points, steps.length - 1, {first: begin, last: begin}).last);
    }
  }
  return first <= last ? {first, last} : {first: 0, last: 0};
}

/** The scale that suits the values: signs on both sides diverge, more than two decades ask for a logarithm. */
export function naturalScale(rows: readonly HeatRow[]): HeatScale {
  let least = Infinity;
  let most = -Infinity;
  let smallest = Infinity;
  for (const row of rows) {
    for (const {values} of row.points) {
      for (const value of values) {
        if (!Number.isFinite(value)) continue;
        least = Math.min(least, value);
        most = Math.max(most, value);
        if (value > 0) smallest = Math.min(smallest, value);
      }
    }
  }
  if (least < 0 && most > 0) return 'diverging';
  return least >= 0 && most > 100 * smallest ? 'log' : 'linear';
}

export interface HeatRange {
  low: number;
  high: number;
  /** Some values lie beyond and have the colour of the end. */
  isCutLow: boolean;
  isCutHigh: boolean;
  hasBad: boolean;
}

/** Decades a logarithmic range has at most: what lies below is as good as zero. */
const MOST_DECADES = 12;
/** Share of values at either end that a linear range may leave out, so that one spike does not hide the rest. */
const CUT = 0.005;

/** Values that quantiles are taken of: enough, and quick to sort. */
const SAMPLED = 20_000;

/** The range of colours of all rows: it stays when the window of rows moves. Null without values. */
export function heatRange(rows: readonly HeatRow[], scale: HeatScale): HeatRange | null {
  let count = 0;
  for (const row of rows) for (const points of row.points) count += points.steps.length;
  const stride = Math.max(1, Math.floor(count / SAMPLED));
  const sample: number[] = [];
  let [least, most, seen, hasBad, hasZero] = [Infinity, -Infinity, 0, false, false];
  for (const row of rows) {
    for (const points of row.points) {
      for (let i = 0; i < points.steps.length; ++i) {
        const value = entryValue(points, i, scale);
        if (value === Infinity) hasBad = true;
        else if (scale === 'log' && value <= 0) hasZero = true;
        else {
          if (value < least) least = value;
          if (value > most) most = value;
          if (scale !== 'log' && seen++ % stride === 0) sample.push(value);
        }
      }
    }
  }
  if (least > most) return hasBad || hasZero ? {low: 0, high: 1, isCutLow: false, isCutHigh: false, hasBad} : null;
  if (scale === 'log') {
    const low = Math.max(least, most * 10 ** -MOST_DECADES);
    return {low, high: most, isCutLow: hasZero || least < low, isCutHigh: false, hasBad};
  }
  const sorted = Float64Array.from(sample).sort();
  const quantile = (q: number) => sorted[Math.round(q * (sorted.length - 1))] as number;
  let [low, high] = [quantile(CUT), quantile(1 - CUT)];
  if (scale === 'diverging') {
    high = Math.max(Math.abs(low), Math.abs(high));
    low = -high;
  }
  return {low, high, isCutLow: least < low, isCutHigh: most > high, hasBad};
}

/** Where a value lies on the scale of colours: 0 to 1, or -1 to 1 if diverging. */
export function heatFraction(value: number, range: HeatRange, scale: HeatScale): number {
  const clamp = (x: number, low: number) => (x > 1 ? 1 : x >= low ? x : low);
  if (scale === 'diverging') return range.high > 0 ? clamp(value / range.high, -1) : 0;
  if (range.high <= range.low) return 0.5;
  if (scale === 'linear') return clamp((value - range.low) / (range.high - range.low), 0);
  if (value <= 0) return 0;
  return clamp(Math.log(value / range.low) / Math.log(range.high / range.low), 0);
}
