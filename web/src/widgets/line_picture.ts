// SPDX-License-Identifier: MIT
// Lines on a surface with the axes of the live chart: for export as SVG and PNG.
import {fraction, placedStep, type Scale, scaleTicks, stepScale, valueScale} from '../base/scale';
import {tickLabels} from '../base/ticks';
import type {Line, LinesDrawing} from './drawing';
import {type Column, type LineData, lineData, type LineOptions} from './line_data';
import {clippedRange, guideFits, LEFT_AXIS, lineColor, RIGHT_AXIS, RIGHT_ROOM, type ShownSteps, STEP_AXIS, xTicks} from './line_plot';
import type {Surface} from './surface';
import {plated, textWidth} from './surface_text';

const LEGEND = 20;

interface Frame {
  left: number;
  top: number;
  width: number;
  height: number;
}

function sideOf(drawing: LinesDrawing, column: Column): 'left' | 'right' {
  return drawing.lines[column.line]?.side ?? 'left';
}

function scaleOf(drawing: LinesDrawing, data: LineData, x: Scale, side: 'left' | 'right', isLog: boolean): Scale {
  let [low, high] = [Infinity, -Infinity];
  for (const column of data.columns) {
    if (sideOf(drawing, column) !== side) continue;
    column.cells.forEach((cell, row) => {
      const place = data.x[row] as number;
      if (cell == null || place < x.low || place > x.high) return;
      [low, high] = [Math.min(low, cell), Math.max(high, cell)];
    });
  }
  [low, high] = clippedRange(drawing, low, high);
  for (const {value} of drawing.guides ?? []) {
    if (side === 'left' && guideFits(value, low, high, isLog)) [low, high] = [Math.min(low, value), Math.max(high, value)];
  }
  return valueScale(low, high, isLog);
}

/** Paints the whole picture: legend, axes, guides, bands, lines. */
export function paintLines(surface: Surface, drawing: LinesDrawing, options: LineOptions, shown: ShownSteps): void {
  const data = lineData(drawing, options);
  const hasRight = drawing.lines.some((line) => line.side === 'right');
  const frame: Frame = {left: LEFT_AXIS, top: LEGEND, width: surface.width - LEFT_AXIS - (hasRight ? RIGHT_AXIS : RIGHT_ROOM),
    height: surface.height - LEGEND - STEP_AXIS};
  const x = stepScale(shown.first, shown.last, options.logX);
  const scales = {left: scaleOf(drawing, data, x, 'left', options.logY), right: scaleOf(drawing, data, x, 'right', options.logY)};
  const placeX = (value: number) => frame.left + frame.width * fraction(x, value);
  const placeY = (value: number, side: 'left' | 'right') => frame.top + frame.height * (1 - fraction(scales[side], value));

  paintLegend(surface, drawing, frame.left);
  paintAxes(surface, drawing, frame, x, scales, hasRight);
  surface.clipped(frame.left, frame.top, frame.width, frame.height, () => {
    for (const guide of drawing.guides ?? []) {
      const y = placeY(guide.value, 'left');
      surface.path([frame.left, y, frame.left + frame.width, y], {color: surface.palette.faint, dash: [4, 4]});
    }
    data.columns.forEach((column, i) => {
      const next = data.columns[i + 1];
      if (column.role === 'low' && next) paintBand(surface, drawing, data, column, next, placeX, placeY);
      else if (column.role !== 'high') paintColumn(surface, drawing, data, column, placeX, placeY);
    });
    for (const {value, label} of drawing.guides ?? []) {
      if (label) plated(surface, frame.left + frame.width - 3, placeY(value, 'left') - 7, label, {color: surface.palette.faint, size: 10, align: 'right'});
    }
    for (const {line, at, kind} of data.marks) {
      surface.text(placeX(data.x[at] as number), kind === 'above' ? frame.top + 6 : frame.top + frame.height - 6,
        kind === 'nan' ? '×' : kind === 'above' ? '▲' : '▼',
        {color: lineColor(drawing.lines[line] as Line, line, surface.palette), size: 10, align: 'center', weight: 'bold'});
    }
  });
}

type PlaceY = (value: number, side: 'left' | 'right') => number;

function paintLegend(surface: Surface, drawing: LinesDrawing, left: number): void {
  let x = left;
  let isFull = false;
  drawing.lines.forEach((line, i) => {
    if (isFull) return;
    isFull = x > surface.width - 90 && i < drawing.lines.length - 1;
    if (isFull) {
      surface.text(x, 9, `and ${drawing.lines.length - i} more`, {color: surface.palette.faint, size: 10});
      return;
    }
    const label = line.short ?? line.label;
    surface.rect(x, 7, 9, 3, {color: lineColor(line, i, surface.palette)});
    surface.text(x + 13, 9, label, {color: surface.palette.text, size: 10});
    x += 26 + textWidth(label, 10);
  });
}

function paintAxes(surface: Surface, drawing: LinesDrawing, frame: Frame, x: Scale, scales: {left: Scale; right: Scale}, hasRight: boolean): void {
  const {palette} = surface;
  const bottom = frame.top + frame.height;
  const label = {color: palette.faint, size: 10};
  const labelled = (ticks: number[]) => tickLabels(ticks).map((text, i) => ({text, tick: ticks[i] as number}));
  const across = xTicks(drawing, x, Math.max(2, frame.width / 75));
  for (const {tick, text} of across.ticks.map((tick, i) => ({tick, text: across.labels[i] as string}))) {
    const place = frame.left + frame.width * fraction(x, placedStep(tick, x.isLog));
    surface.path([place, frame.top, place, bottom], {color: palette.grid});
    surface.text(place, bottom + 11, text, {...label, align: 'center'});
  }
  const wanted = Math.max(2, frame.height / 36);
  for (const {tick, text} of labelled(scaleTicks(scales.left, wanted))) {
    const place = bottom - frame.height * fraction(scales.left, tick);
    surface.path([frame.left, place, frame.left + frame.width, place], {color: palette.grid});
    surface.text(frame.left - 5, place, text, {...label, align: 'right'});
  }
  if (hasRight) {
    for (const {tick, text} of labelled(scaleTicks(scales.right, wanted))) {
      surface.text(frame.left + frame.width + 5, bottom - frame.height * fraction(scales.right, tick), text, label);
    }
  }
  const middle = frame.top + frame.height / 2;
  if (drawing.y) surface.text(8, middle, drawing.y, {...label, align: 'center', turn: -90});
  if (drawing.yRight) surface.text(surface.width - 8, middle, drawing.yRight, {...label, align: 'center', turn: 90});
}

function paintBand(surface: Surface, drawing: LinesDrawing, data: LineData, low: Column, high: Column,
                   placeX: (value: number) => number, placeY: PlaceY): void {
  const side = sideOf(drawing, low);
  const color = lineColor(drawing.lines[low.line] as Line, low.line, surface.palette);
  let upper: number[] = [];
  let lower: number[] = [];
  const finish = () => {
    const area = [...upper];
    for (let i = lower.length - 2; i >= 0; i -= 2) area.push(lower[i] as number, lower[i + 1] as number);
    surface.area(area, {color, opacity: 0.22});
    surface.path(upper, {color, opacity: 0.5});
    surface.path(lower, {color, opacity: 0.5});
    [upper, lower] = [[], []];
  };
  low.cells.forEach((bottom, row) => {
    const top = high.cells[row];
    if (bottom === undefined || top === undefined) return;
    if (bottom === null || top === null) return finish();
    const x = placeX(data.x[row] as number);
    upper.push(x, placeY(top, side));
    lower.push(x, placeY(bottom, side));
  });
  finish();
}

function paintColumn(surface: Surface, drawing: LinesDrawing, data: LineData, column: Column,
                     placeX: (value: number) => number, placeY: PlaceY): void {
  const line = drawing.lines[column.line] as Line;
  const color = lineColor(line, column.line, surface.palette);
  const side = sideOf(drawing, column);
  const path: number[] = [];
  column.cells.forEach((cell, row) => {
    if (cell === undefined) return;
    const [x, y] = cell === null ? [NaN, NaN] : [placeX(data.x[row] as number), placeY(cell, side)];
    if (line.dots && cell !== null) surface.circle(x, y, 2, {fill: {color}});
    path.push(x, y);
  });
  if (line.dots) return;
  surface.path(path, {color, width: column.role === 'raw' ? 1 : 1.5, opacity: column.role === 'raw' ? 0.3 : 1,
    ...(line.dash ? {dash: line.dash} : {})});
}
