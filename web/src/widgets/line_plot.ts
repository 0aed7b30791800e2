// SPDX-License-Identifier: MIT
// Lines drawn by uPlot. Made anew when the set of columns, axes or colours changes; otherwise it
// gets new data only, so that live growth neither flickers nor loses the cursor.
import uPlot from 'uplot';
import type {Intervention} from '../base/interventions';
import {type Scale, scaleTicks, stepScale, stepTicks, valueScale} from '../base/scale';
import {tickLabels} from '../base/ticks';
import {timeLabels, timeTicks} from '../base/time_ticks';
import type {Line, LinesDrawing} from './drawing';
import {type Column, type LineData, type LineOptions, nearestRow} from './line_data';
import type {Palette} from './surface';
import {FONT} from './surface_text';

export interface ShownSteps {
  first: number;
  last: number;
}

export interface PlotInput {
  drawing: LinesDrawing;
  data: LineData;
  options: LineOptions;
  palette: Palette;
  width: number;
  height: number;
  shown: ShownSteps;
  /** Lines that the legend has switched off, by label. */
  hidden: ReadonlySet<string>;
  /** A step to mark: where the slider stands. */
  marker?: number | undefined;
  interventions?: readonly Intervention[] | undefined;
}

export interface PlotEvents {
  /** Steps chosen by dragging; null to see all of them again. */
  zoom(shown: ShownSteps | null): void;
  /** Row of the data under the cursor of this or another chart; null if none. */
  hover(row: number | null): void;
  /** A click without dragging. */
  pick(step: number): void;
}

export const LEFT_AXIS = 52;
export const RIGHT_AXIS = 48;
export const STEP_AXIS = 24;
/** For half of the last step's label, where no axis is. */
export const RIGHT_ROOM = 18;
const SYNC = 'steps';
const DOUBLE_CLICK_MS = 260;

export function lineColor(line: Line, index: number, palette: Palette): string {
  const colors = line.isRun ? palette.runs : palette.lines;
  return colors[(line.color ?? index) % colors.length] as string;
}

/** Whether the axis can be logarithmic: epochs begin below 1, and dates have no beginning. */
export function canBeLog(drawing: LinesDrawing): boolean {
  return drawing.x !== 'time' && drawing.x !== 'epochs';
}

/** Marks of the horizontal axis and their labels. */
export function xTicks(drawing: LinesDrawing, scale: Scale, wanted: number): {ticks: number[]; labels: string[]} {
  if (drawing.x === 'time') {
    const ticks = timeTicks(scale.low, scale.high, wanted);
    return {ticks, labels: timeLabels(ticks)};
  }
  const ticks = drawing.x === 'epochs' || drawing.x === 'seconds' && !scale.isLog ? scaleTicks(scale, wanted) : stepTicks(scale, wanted);
  return {ticks, labels: tickLabels(ticks)};
}

/** The axis of values within what the drawing allows. */
export function clippedRange({clip}: LinesDrawing, low: number, high: number): [number, number] {
  return clip ? [Math.max(low, clip.low), Math.min(high, clip.high)] : [low, high];
}

/** Whether a guide is near enough to the values to be worth showing. */
export function guideFits(value: number, low: number, high: number, isLog: boolean): boolean {
  if (isLog) return value > 0 && value >= low / 3 && value <= high * 3;
  const span = high - low;
  return value >= low - 0.6 * span && value <= high + 0.6 * span;
}

function structureOf(input: PlotInput): string {
  const {drawing, data, options, palette} = input;
  return JSON.stringify([palette.isDark, options.logX, options.logY, drawing.x, drawing.y, drawing.yRight, drawing.clip,
    drawing.lines.map((line) => [line.label, line.color, line.isRun, line.dash, line.side, line.dots]),
    data.columns.map((column) => [column.line, column.role])]);
}

export class LinePlot {
  private plot: uPlot | null = null;
  private structure = '';
  private pressedAt: number | null = null;
  private picking: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly place: HTMLElement, private input: PlotInput, private readonly events: PlotEvents) {
    this.update(input);
  }

  update(input: PlotInput): void {
    this.input = input;
    const structure = structureOf(input);
    if (!this.plot || structure !== this.structure) {
      this.destroy();
      this.structure = structure;
      this.plot = new uPlot(this.setUp(), this.table(), this.place);
      this.listen(this.plot);
      return;
    }
    const {plot} = this;
    const x = this.xScale();
    plot.batch(() => {
      if (plot.width !== input.width || plot.height !== input.height) plot.setSize(input);
      input.data.columns.forEach((column, i) => {
        const show = this.isShown(column);
        if (plot.series[i + 1]?.show !== show) plot.setSeries(i + 1, {show}, false);
      });
      plot.setData(this.table(), false);
      plot.setScale('x', {min: x.low, max: x.high});
    });
  }

  /** Where the cursor is, in pixels from the left of the chart's place. */
  cursorLeft(): number {
    return (this.plot?.cursor.left ?? 0) + (this.plot?.over.offsetLeft ?? 0);
  }

  destroy(): void {
    clearTimeout(this.picking);
    this.plot?.destroy();
    this.plot = null;
  }

  private table(): uPlot.AlignedData {
    return [this.input.data.x, ...this.input.data.columns.map((column) => column.cells)];
  }

  private lineOf(column: Column): Line {
    return this.input.drawing.lines[column.line] as Line;
  }

  private isShown(column: Column): boolean {
    return !this.input.hidden.has(this.lineOf(column).label);
  }

  private xScale(): Scale {
    return stepScale(this.input.shown.first, this.input.shown.last, this.input.options.logX);
  }

  private yScale(low: number | null, high: number | null): Scale {
    const isLog = this.input.options.logY;
    let [from, to] = clippedRange(this.input.drawing, low ?? NaN, high ?? NaN);
    for (const {value} of this.input.drawing.guides ?? []) {
      if (guideFits(value, from, to, isLog)) [from, to] = [Math.min(from, value), Math.max(to, value)];
    }
    return valueScale(from, to, isLog);
  }

  private setUp(): uPlot.Options {
    const {data, options, palette, width, height, drawing} = this.input;
    const hasRight = drawing.lines.some((line) => line.side === 'right');
    const range = (_: uPlot, min: number | null, max: number | null): uPlot.Range.MinMax => {
      const scale = this.yScale(min, max);
      return [scale.low, scale.high];
    };
    const y: uPlot.Scale = {distr: options.logY ? 3 : 1, range: range as uPlot.Scale.Range};
    return {
      width, height,
      padding: [8, hasRight ? 0 : RIGHT_ROOM, 0, 0],
      legend: {show: false},
      scales: {
        x: {time: false, distr: options.logX ? 3 : 1, range: () => [this.xScale().low, this.xScale().high]},
        y, ...(hasRight ? {right: {...y}} : {}),
      },
      axes: this.axes(hasRight, palette),
      series: [{}, ...data.columns.map((column) => this.series(column))],
      bands: this.bands(),
      cursor: {
        y: false,
        drag: {x: true, y: false, setScale: false},
        sync: {key: SYNC, scales: ['x', null]},
        dataIdx: (plot, series, row) => (series === 0 ? row
          : nearestRow(plot.data[series] as ArrayLike<number | null | undefined>, plot.data[0] as ArrayLike<number>, row) ?? row),
        points: {size: 6, width: 0, fill: (plot, i) => this.pointColor(plot, i)},
        bind: {dblclick: () => () => {
          clearTimeout(this.picking);
          this.events.zoom(null);
          return null;
        }},
      },
      hooks: {
        drawAxes: [(plot) => this.drawGuides(plot)],
        draw: [(plot) => this.drawMarks(plot), (plot) => this.drawGuideLabels(plot)],
        setSelect: [(plot) => this.selected(plot)],
        setCursor: [(plot) => this.events.hover(plot.cursor.left !== undefined && plot.cursor.left >= 0
          ? plot.cursor.idx ?? null : null)],
      },
    };
  }

  private pointColor(plot: uPlot, i: number): string {
    const column = this.input.data.columns[i - 1];
    if (!column || column.role !== 'value' || !plot.series[i]?.show) return 'transparent';
    return lineColor(this.lineOf(column), column.line, this.input.palette);
  }

  private axes(hasRight: boolean, palette: Palette): uPlot.Axis[] {
    const {options, drawing} = this.input;
    const look = {stroke: palette.faint, font: `10px ${FONT}`, ticks: {show: false}, gap: 4,
      // uPlot leaves out an axis whose range is beyond its own increments; where ticks are, we say.
      incrs: (_plot: uPlot, _axis: number, min: number, max: number) => [Math.max(5, max - min)],
      filter: (_: uPlot, splits: number[]) => splits,
      values: (_: uPlot, splits: number[]) => tickLabels(splits)};
    const grid = {stroke: palette.grid, width: 1};
    const y = (scale: string, side: uPlot.Axis.Side, size: number, label: string | undefined, shown: boolean): uPlot.Axis => ({
      ...look, scale, side, size, grid: {...grid, show: shown},
      splits: (_plot, _axis, min, max) => scaleTicks({low: min, high: max, isLog: options.logY}, Math.max(2, this.input.height / 36)),
      ...(label ? {label, labelSize: 14, labelGap: 0, labelFont: `10px ${FONT}`, size: size - 2} : {}),
    });
    return [
      {...look, size: STEP_AXIS, grid, values: (_, splits) => (drawing.x === 'time' ? timeLabels(splits) : tickLabels(splits)),
        splits: (_plot, _axis, min, max) => xTicks(drawing, {low: min, high: max, isLog: options.logX}, Math.max(2, this.input.width / 75)).ticks},
      y('y', 3, LEFT_AXIS, drawing.y, true),
      ...(hasRight ? [y('right', 1, RIGHT_AXIS, drawing.yRight, false)] : []),
    ];
  }

  private series(column: Column): uPlot.Series {
    const line = this.lineOf(column);
    const color = lineColor(line, column.line, this.input.palette);
    const isBound = column.role === 'low' || column.role === 'high';
    const isDots = line.dots === true || this.input.data.steps.length === 1;
    return {
      label: line.label,
      scale: line.side === 'right' ? 'right' : 'y',
      show: this.isShown(column),
      // The rim of the band: a single peak is too narrow for a faint area to show it.
      stroke: isBound ? color + '80' : column.role === 'raw' ? color + '4d' : color,
      width: isDots ? 0 : column.role === 'value' ? 1.5 : 1,
      ...(line.dash ? {dash: [...line.dash]} : {}),
      spanGaps: false,
      points: isBound ? {show: false} : isDots ? {show: true, size: 4, width: 0, fill: color} : {size: 4, width: 0, fill: color},
      ...(isDots ? {paths: () => null} : {}),
    };
  }

  private bands(): uPlot.Band[] {
    const {columns} = this.input.data;
    return columns.flatMap((column, i) => {
      const next = columns[i + 1];
      if (column.role !== 'low' || next?.role !== 'high') return [];
      return [{series: [i + 2, i + 1] as [number, number], fill: lineColor(this.lineOf(column), column.line, this.input.palette) + '38'}];
    });
  }

  private listen(plot: uPlot): void {
    plot.over.addEventListener('pointerdown', (event) => { this.pressedAt = event.clientX; });
    plot.over.addEventListener('pointerup', (event) => {
      const isClick = this.pressedAt !== null && Math.abs(event.clientX - this.pressedAt) < 4;
      this.pressedAt = null;
      // Not where the cursor is: a finger moves it only after it was lifted.
      const step = this.input.data.steps[plot.posToIdx(event.clientX - plot.over.getBoundingClientRect().left)];
      clearTimeout(this.picking);
      // A double click begins like a click.
      if (isClick && step !== undefined) this.picking = setTimeout(() => this.events.pick(step), DOUBLE_CLICK_MS);
    });
  }

  private selected(plot: uPlot): void {
    const {left, width} = plot.select;
    if (width < 4) return;
    const isWhole = this.input.drawing.x === undefined || this.input.drawing.x === 'samples';
    const place = (x: number) => (isWhole ? Math.round(plot.posToVal(x, 'x')) : plot.posToVal(x, 'x'));
    const [first, last] = [Math.max(0, place(left)), place(left + width)];
    plot.setSelect({left: 0, top: 0, width: 0, height: 0}, false);
    if (last > first) this.events.zoom({first, last});
  }

  private shownGuides(plot: uPlot): {label: string; y: number}[] {
    const {top, height} = plot.bbox;
    return (this.input.drawing.guides ?? []).map(({label, value}) => ({label, y: plot.valToPos(value, 'y', true)}))
      .filter(({y}) => y >= top && y <= top + height);
  }

  private drawGuides(plot: uPlot): void {
    const {ctx, bbox} = plot;
    const ratio = uPlot.pxRatio;
    ctx.save();
    ctx.strokeStyle = this.input.palette.faint;
    ctx.lineWidth = ratio;
    ctx.setLineDash([4 * ratio, 4 * ratio]);
    for (const {y} of this.shownGuides(plot)) {
      ctx.beginPath();
      ctx.moveTo(bbox.left, y);
      ctx.lineTo(bbox.left + bbox.width, y);
      ctx.stroke();
    }
    ctx.restore();
  }

  /** Above the lines, on a plate in the panel's colour: lines may cross them. */
  private drawGuideLabels(plot: uPlot): void {
    const {ctx, bbox} = plot;
    const {palette} = this.input;
    const ratio = uPlot.pxRatio;
    ctx.save();
    ctx.font = `${10 * ratio}px ${FONT}`;
    ctx.textAlign = 'right';
    for (const {label, y} of this.shownGuides(plot)) {
      const isAtTop = y - bbox.top < 14 * ratio;
      ctx.textBaseline = isAtTop ? 'top' : 'bottom';
      const [x, place] = [bbox.left + bbox.width - 3 * ratio, y + (isAtTop ? 2 : -2) * ratio];
      if (label === '') continue;
      const width = ctx.measureText(label).width + 6 * ratio;
      ctx.fillStyle = palette.background;
      ctx.globalAlpha = 0.85;
      ctx.fillRect(x - width + 3 * ratio, isAtTop ? place - ratio : place - 12 * ratio, width, 13 * ratio);
      ctx.globalAlpha = 1;
      ctx.fillStyle = palette.faint;
      ctx.fillText(label, x, place);
    }
    ctx.restore();
  }

  private drawMarks(plot: uPlot): void {
    const {ctx, bbox} = plot;
    const {data, palette, drawing, hidden, marker, interventions = [], options} = this.input;
    const ratio = uPlot.pxRatio;
    ctx.save();
    ctx.beginPath();
    ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
    ctx.clip();
    for (const {step} of interventions) {
      const x = plot.valToPos(options.logX ? Math.max(step, this.xScale().low) : step, 'x', true);
      ctx.fillStyle = palette.bad;
      ctx.globalAlpha = 0.5;
      ctx.fillRect(Math.round(x - ratio / 2), bbox.top, Math.max(1, ratio), bbox.height);
      ctx.globalAlpha = 1;
      ctx.beginPath();
      ctx.moveTo(x - 4 * ratio, bbox.top);
      ctx.lineTo(x + 4 * ratio, bbox.top);
      ctx.lineTo(x, bbox.top + 7 * ratio);
      ctx.fill();
    }
    if (marker !== undefined) {
      const x = plot.valToPos(options.logX ? Math.max(marker, this.xScale().low) : marker, 'x', true);
      ctx.fillStyle = palette.warning;
      ctx.fillRect(Math.round(x - ratio / 2), bbox.top, Math.max(1, ratio), bbox.height);
    }
    ctx.font = `bold ${10 * ratio}px ${FONT}`;
    ctx.textAlign = 'center';
    for (const {line, at, kind} of data.marks) {
      const owner = drawing.lines[line] as Line;
      if (hidden.has(owner.label)) continue;
      const x = plot.valToPos(data.x[at] as number, 'x', true);
      const isTop = kind === 'above';
      ctx.fillStyle = lineColor(owner, line, palette);
      ctx.textBaseline = isTop ? 'top' : 'bottom';
      ctx.fillText(kind === 'nan' ? '×' : isTop ? '▲' : '▼', x, isTop ? bbox.top : bbox.top + bbox.height);
    }
    ctx.restore();
  }
}
