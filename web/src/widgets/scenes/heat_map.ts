// SPDX-License-Identifier: MIT
// Steps across, layers down, values as colours. Rows that are thinner than a pixel are taken
// together by their gravest value, and the picture says so.
import {elide} from '../../base/elide';
import {linearTicks, tickLabel} from '../../base/ticks';
import type {Hover, SceneDrawing} from '../drawing';
import type {Palette, Surface} from '../surface';
import {columnCount, entryAt, heatCells, heatFraction, heatRange, spanOf, type HeatRange, type HeatRow, type HeatScale,
  type StepSpan} from './heat_values';

export interface HeatMapOptions {
  rows: readonly HeatRow[];
  /** What the colours mean. */
  title: string;
  /** Above the map where there is room beside the scale of colours. */
  note?: string;
  scale: HeatScale;
  /** The window of rows that is seen; all unless said. */
  first?: number;
  count?: number;
  /** Steps that are seen; all that are there unless said. */
  span?: StepSpan;
  /** Of the colours; found from the rows unless said. */
  range?: HeatRange | null;
  /** Height of the rows' part; by default from their number. */
  rowsHeight?: number;
}

export interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
}

export interface HeatMap extends SceneDrawing {
  /** Where a row is, to be marked; null if it is not seen. */
  rowBox(row: number, width: number, height: number): Box | null;
  /** Where a step is; null if it is not seen. */
  stepBox(step: number, width: number, height: number): Box | null;
  /** Position of the row at a place; -1 beside them. */
  rowAt(x: number, y: number, width: number, height: number): number;
  /** The step at a place; null beside the map. */
  stepAt(x: number, y: number, width: number, height: number): number | null;
}

const TOP = 30;
const BOTTOM = 22;
const RIGHT = 10;
const LETTER = 6.1; // of 11 px text, on average
const LINE = 12; // least distance of labels
const ROW = 18; // height of a row where there is room
const LEAST = 72;
const MOST = 600;

const rounded = (value: number) => tickLabel(Number(value.toPrecision(3)));

interface Layout {
  left: number;
  top: number;
  width: number;
  height: number;
  from: number;
  to: number;
  /** Rows in one row of cells. */
  together: number;
  /** Height of one row of cells. */
  cell: number;
}

function layoutOf(options: HeatMapOptions, width: number, height: number): Layout {
  const from = Math.max(0, Math.min(options.first ?? 0, options.rows.length - 1));
  const to = Math.min(options.rows.length, from + Math.max(1, options.count ?? options.rows.length));
  let letters = 4;
  for (let r = from; r < to; ++r) letters = Math.max(letters, (options.rows[r] as HeatRow).label.length);
  const left = Math.round(Math.min(letters * LETTER + 10, width * 0.34));
  const inner = Math.max(1, height - TOP - BOTTOM);
  const together = Math.max(1, Math.ceil((to - from) / inner));
  const cell = inner / Math.max(1, Math.ceil((to - from) / together));
  return {left, top: TOP, width: Math.max(1, width - left - RIGHT), height: inner, from, to, together, cell};
}

function colorOf(palette: Palette, range: HeatRange, scale: HeatScale): (value: number) => string {
  // Few colours, made once: there may be a million cells.
  const colors = Array.from({length: 129}, (_, i) =>
    scale === 'diverging' ? palette.diverging(i / 64 - 1) : palette.heat(i / 128));
  return (value) => {
    if (value === Infinity) return palette.bad;
    const fraction = heatFraction(value, range, scale);
    return colors[Math.round(scale === 'diverging' ? (fraction + 1) * 64 : fraction * 128)] as string;
  };
}

/** Gives where it begins. */
function paintBar(surface: Surface, options: HeatMapOptions, layout: Layout, range: HeatRange): number {
  const {palette} = surface;
  const color = colorOf(palette, range, options.scale);
  const low = `${range.isCutLow ? '≤ ' : ''}${rounded(range.low)}`;
  const high = `${range.isCutHigh ? '≥ ' : ''}${rounded(range.high)}`;
  const bad = range.hasBad ? 64 : 0;
  const length = Math.max(40, Math.min(180, layout.left + layout.width - bad - (low.length + high.length) * LETTER - 40));
  let x = layout.left + layout.width - bad - high.length * LETTER - length - 6;
  const pieces = 64;
  const values = Float64Array.from({length: pieces}, (_, i) => {
    const t = (i + 0.5) / pieces;
    return options.scale === 'log' ? range.low * (range.high / range.low) ** t : range.low + (range.high - range.low) * t;
  });
  const begin = x - 5 - low.length * LETTER;
  surface.text(x - 5, 12, low, {color: palette.faint, align: 'right', baseline: 'middle'});
  surface.cells(x, 7, length, 10, pieces, values, color);
  x += length + 5;
  surface.text(x, 12, high, {color: palette.faint, baseline: 'middle'});
  if (bad) {
    x += high.length * LETTER + 10;
    surface.rect(x, 7, 10, 10, {color: palette.bad});
    surface.text(x + 14, 12, 'NaN, ∞', {color: palette.faint, baseline: 'middle'});
  }
  return begin;
}

function paintLabels(surface: Surface, options: HeatMapOptions, layout: Layout): void {
  const {palette} = surface;
  const every = Math.max(1, Math.ceil(LINE / layout.cell)) * layout.together;
  const letters = Math.floor((layout.left - 8) / LETTER);
  for (let r = layout.from; r < layout.to; r += every) {
    const y = layout.top + (Math.floor((r - layout.from) / layout.together) + 0.5) * layout.cell;
    surface.text(layout.left - 6, y, elide((options.rows[r] as HeatRow).label, letters), {color: palette.faint, align: 'right', baseline: 'middle'});
  }
}

/** Middle of a step. */
function across(layout: Layout, span: StepSpan, step: number): number {
  return layout.left + ((step - span.first + 0.5) / (span.last - span.first + 1)) * layout.width;
}

function paintSteps(surface: Surface, layout: Layout, span: StepSpan): void {
  const {palette} = surface;
  const bottom = layout.top + layout.height;
  for (const tick of linearTicks(Math.max(0, span.first), span.last, layout.width / 90)) {
    if (!Number.isInteger(tick)) continue;
    const x = across(layout, span, tick);
    surface.path([x, bottom, x, bottom + 4], {color: palette.grid});
    surface.text(x, bottom + 6, tickLabel(tick), {color: palette.faint, align: 'center', baseline: 'top'});
  }
}

function describe(points: HeatRow['points'], step: number, span: StepSpan): string {
  const parts: string[] = [];
  for (const series of points) {
    const i = entryAt(series, step, span);
    if (i < 0) continue;
    const value = `${series.values[i] as number}`;
    parts.push(series.reduced
      ? `${value} at step ${series.steps[i] as number}, between ${series.low[i] as number} and ${series.high[i] as number} since the point before`
      : `${value} at step ${series.steps[i] as number}`);
  }
  const first = parts[0];
  if (first === undefined) return 'nothing recorded';
  return parts.length === 1 ? first : `${first}; ${parts.length - 1} more`;
}

function hoverText(options: HeatMapOptions, layout: Layout, row: number, step: number, span: StepSpan): Hover {
  const first = layout.from + Math.floor((row - layout.from) / layout.together) * layout.together;
  const rows = options.rows.slice(first, Math.min(layout.to, first + layout.together));
  const label = (rows[0] as HeatRow).label;
  if (rows.length === 1 && (rows[0] as HeatRow).points.length <= 1) {
    return {text: `${label}\n${describe((rows[0] as HeatRow).points, step, span)}`};
  }
  // Of several the cell shows the gravest; name it.
  const series = rows.flatMap((each) => each.points);
  const values = heatCells(rows, 0, rows.length, rows.length, {first: step, last: step}, 1, options.scale);
  const name = rows.length === 1 ? label : `${label} and ${rows.length === 2 ? 'the row' : `${rows.length - 1} rows`} after it`;
  const value = values[0] as number;
  const said = Number.isNaN(value) ? 'nothing recorded' : value === Infinity ? 'NaN or infinite in one of them'
    : `${options.scale === 'diverging' ? 'largest magnitude' : 'largest'} of ${series.length}: ${value}`;
  return {text: `${name}\n${said} at step ${step}`};
}

export function heatMap(options: HeatMapOptions): HeatMap {
  const span = options.span ?? spanOf(options.rows);
  const range = options.range === undefined ? heatRange(options.rows, options.scale) : options.range;
  const seen = Math.min(options.rows.length, options.count ?? options.rows.length);
  const inside = (layout: Layout, x: number, y: number) =>
    x >= layout.left && x < layout.left + layout.width && y >= layout.top && y < layout.top + layout.height;
  const rowAt: HeatMap['rowAt'] = (x, y, width, height) => {
    const layout = layoutOf(options, width, height);
    if (x < 0 || x >= layout.left + layout.width || y < layout.top || y >= layout.top + layout.height) return -1;
    const fraction = ((y - layout.top) / layout.cell) * layout.together;
    return Math.min(layout.to - 1, layout.from + Math.floor(fraction));
  };
  const stepAt: HeatMap['stepAt'] = (x, y, width, height) => {
    const layout = layoutOf(options, width, height);
    if (!inside(layout, x, y)) return null;
    return Math.max(0, span.first + Math.floor(((x - layout.left) / layout.width) * (span.last - span.first + 1)));
  };
  return {
    kind: 'scene',
    height: () => TOP + BOTTOM + (options.rowsHeight ?? Math.max(LEAST, Math.min(MOST, seen * ROW))),
    words: `${options.title} of ${options.rows.length} rows over steps ${Math.max(0, span.first)} to ${span.last}` +
      (range ? `, from ${rounded(range.low)} to ${rounded(range.high)}` : ', no values') +
      (range?.hasBad ? ', some of them no finite numbers' : ''),
    paint(surface) {
      const {palette} = surface;
      const layout = layoutOf(options, surface.width, surface.height);
      surface.rect(layout.left, layout.top, layout.width, layout.height, {color: palette.grid, opacity: 0.35});
      if (range) {
        const columns = columnCount(options.rows, span, layout.width);
        const cells = heatCells(options.rows, layout.from, layout.to, layout.together, span, columns, options.scale);
        surface.cells(layout.left, layout.top, layout.width, layout.height, columns, cells, colorOf(palette, range, options.scale));
        const begin = paintBar(surface, options, layout, range);
        const note = layout.together > 1 ? `${layout.together} rows a line, the gravest value shown` : options.note ?? '';
        if (note.length * LETTER < begin) surface.text(2, 12, note, {color: palette.faint, baseline: 'middle'});
      }
      paintLabels(surface, options, layout);
      paintSteps(surface, layout, span);
    },
    at(x, y, width, height) {
      const step = stepAt(x, y, width, height);
      const row = rowAt(x, y, width, height);
      if (step === null || row < 0 || !range) return null;
      return hoverText(options, layoutOf(options, width, height), row, step, span);
    },
    rowAt,
    stepAt,
    rowBox(row, width, height) {
      const layout = layoutOf(options, width, height);
      if (row < layout.from || row >= layout.to) return null;
      const y = layout.top + Math.floor((row - layout.from) / layout.together) * layout.cell;
      return {x: layout.left, y, width: layout.width, height: layout.cell};
    },
    stepBox(step, width, height) {
      const layout = layoutOf(options, width, height);
      if (step < span.first || step > span.last) return null;
      return {x: across(layout, span, step), y: layout.top, width: 0, height: layout.height};
    },
  };
}
