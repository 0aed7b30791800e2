// SPDX-License-Identifier: MIT
// Lines as columns over one axis of steps: what both the live chart and the exported picture draw.
import {formatNumber, formatStep, formatTime} from '../base/format';
import type {Intervention} from '../base/interventions';
import {placedStep} from '../base/scale';
import {smoothed} from '../base/smoothing';
import type {LinesDrawing} from './drawing';

export interface LineOptions {
  /** 0 (none) to 0.99. */
  smoothing: number;
  logX: boolean;
  logY: boolean;
}

/** null ends a line, undefined is passed over: another line has a value at that step, this one none. */
export type Cell = number | null | undefined;

/** 'raw' is drawn faintly behind the smoothed 'value'; 'low' and 'high' bound what a reduced line stands for. */
export type Role = 'value' | 'raw' | 'low' | 'high';

export interface Column {
  /** Index into the drawing's lines. */
  line: number;
  role: Role;
  cells: Cell[];
}

/** A value that no axis has. */
export interface Mark {
  line: number;
  /** Index into steps. */
  at: number;
  kind: 'nan' | 'above' | 'below';
}

export interface LineData {
  /** Ascending, of all lines. */
  steps: number[];
  /** Where they are on the axis. */
  x: number[];
  /** Of each line: low and high if it is reduced, raw if it is smoothed, then value. */
  columns: Column[];
  /** Exact values of each line over steps, NaN where it has none; for hovering. */
  exact: Float64Array[];
  marks: Mark[];
  /** What the eye would miss: values left out. */
  remarks: string[];
}

function mergedSteps(drawing: LinesDrawing): number[] {
  const all = drawing.lines.map((line) => line.points.steps);
  const [first] = all;
  if (!first) return [];
  const same = all.every((steps) => steps === first || (steps.length === first.length && steps.every((s, i) => s === first[i])));
  if (same) return Array.from(first);
  const union = new Set<number>();
  for (const steps of all) for (const step of steps) union.add(step);
  return [...union].sort((a, b) => a - b);
}

/** A column of `size` with values[i] at the row of steps[i]. */
function spread(values: ArrayLike<number>, rows: Int32Array, size: number, cell: (value: number, i: number) => Cell): Cell[] {
  const cells = new Array<Cell>(size).fill(undefined);
  for (let i = 0; i < rows.length; ++i) cells[rows[i] as number] = cell(values[i] as number, i);
  return cells;
}

export function lineData(drawing: LinesDrawing, options: LineOptions): LineData {
  const steps = mergedSteps(drawing);
  const rowOf = new Map(steps.map((step, row) => [step, row]));
  const data: LineData = {steps, x: steps.map((s) => placedStep(s, options.logX)), columns: [], exact: [], marks: [], remarks: []};
  let notPositive = 0;
  let beyond = 0;
  const drawable = (value: number): Cell => (Number.isFinite(value) && !(options.logY && value <= 0) ? value : null);

  drawing.lines.forEach((line, index) => {
    const {points} = line;
    const rows = Int32Array.from(points.steps, (step) => rowOf.get(step) as number);
    const add = (role: Role, values: ArrayLike<number>, cell: (value: number, i: number) => Cell) =>
      data.columns.push({line: index, role, cells: spread(values, rows, steps.length, cell)});
    const isReduced = points.reduced && points.low.length === points.values.length;
    const isSmoothed = options.smoothing > 0 && !line.exact && !line.dots;
    if (isReduced) {
      // The band of a logarithmic axis ends at the line where its low end is not positive.
      add('low', points.low, (low, i) => drawable(low) ?? drawable(points.values[i] as number));
      add('high', points.high, (high, i) => drawable(high) ?? drawable(points.values[i] as number));
    } else if (isSmoothed) {
      add('raw', points.values, drawable);
    }
    add('value', isSmoothed ? smoothed(points.values, options.smoothing) : points.values, drawable);

    const exact = new Float64Array(steps.length).fill(NaN);
    points.values.forEach((value, i) => {
      const row = rows[i] as number;
      exact[row] = value;
      if (Number.isNaN(value)) data.marks.push({line: index, at: row, kind: 'nan'});
      else if (!Number.isFinite(value)) data.marks.push({line: index, at: row, kind: value > 0 ? 'above' : 'below'});
      else if (options.logY && value <= 0) ++notPositive;
      else if (drawing.clip && (value > drawing.clip.high || value < drawing.clip.low)) {
        ++beyond;
        data.marks.push({line: index, at: row, kind: value > drawing.clip.high ? 'above' : 'below'});
      }
    });
    data.exact.push(exact);
  });
  data.remarks = remarksOf(data.marks, notPositive, beyond, drawing.clip);
  return data;
}

function remarksOf(marks: Mark[], notPositive: number, beyond: number, clip: LinesDrawing['clip']): string[] {
  const remarks: string[] = [];
  const nan = marks.filter((mark) => mark.kind === 'nan').length;
  const infinite = marks.length - nan - beyond;
  const values = (n: number) => (n === 1 ? '1 value' : `${n} values`);
  if (notPositive > 0) remarks.push(`${values(notPositive)} ≤ 0 left out of the log axis`);
  if (nan > 0) remarks.push(`${values(nan)} not a number (×)`);
  if (clip && beyond > 0) remarks.push(`${values(beyond)} beyond ${formatNumber(clip.low)} to ${formatNumber(clip.high)} (▲▼)`);
  if (infinite > 0) remarks.push(`${values(infinite)} infinite (▲▼)`);
  return remarks;
}

/** The row whose value a cursor at `row` means for a column: the nearest that has one; null if none. */
export function nearestRow(cells: ArrayLike<Cell>, x: ArrayLike<number>, row: number): number | null {
  if (cells[row] != null) return row;
  let [before, after] = [row - 1, row + 1];
  while (before >= 0 && cells[before] == null) --before;
  while (after < cells.length && cells[after] == null) ++after;
  if (before < 0) return after < cells.length ? after : null;
  if (after >= cells.length) return before;
  const here = x[row] as number;
  return here - (x[before] as number) <= (x[after] as number) - here ? before : after;
}

/** A place on the horizontal axis in words. */
export function overText(drawing: LinesDrawing, place: number): string {
  if (drawing.x === undefined) return `step ${formatStep(place)}`;
  return drawing.x === 'time' ? formatTime(place) : `${formatNumber(place)} ${drawing.x}`;
}

/** The drawing in words, for those who do not see it. */
export function describeLines(drawing: LinesDrawing, interventions: readonly Intervention[] = []): string {
  if (drawing.lines.length === 0) return 'No values yet.';
  const parts = drawing.lines.slice(0, 6).map(({label, points}) => {
    const last = points.values.length - 1;
    if (last < 0) return `${label}: no values yet`;
    return `${label}: ${formatNumber(points.values[last] as number)} at ${overText(drawing, points.steps[last] as number)}`;
  });
  const more = drawing.lines.length > 6 ? `, and ${drawing.lines.length - 6} more` : '';
  const marked = interventions.slice(0, 6).map(({step, text}) => ` ${text} at step ${formatStep(step)}.`).join('');
  return `Lines over ${drawing.x ?? 'steps'}. ${parts.join('; ')}${more}.${marked}`;
}
