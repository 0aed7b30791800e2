// SPDX-License-Identifier: MIT
// A small picture of what a lamp judges: its series over the steps, and what they are compared with.
import {formatNumber, formatStep} from '../../base/format';
import {valueScale} from '../../base/scale';
import {largest, smallest} from '../../base/statistics';
import type {Points} from '../../wire/types';
import type {SceneDrawing} from '../drawing';
import type {Surface} from '../surface';
import {plated, textWidth} from '../surface_text';
import {linearScale, logScale, nothing, type Scale, SMALL} from './axes';

export interface Judged {
  label: string;
  points: Points;
}

export interface EvidencePicture {
  series: readonly Judged[];
  /** What the values are compared with; those that are not finite are left out. */
  limits: readonly number[];
  /** Where the lamp was lit; -1 marks nothing. */
  step: number;
}

/** Colours before they come again. */
export const SERIES_COLORS = 7;
const HEIGHT = 72;
/** Room for the steps below the lines. */
const FOOT = 14;
/** How many times the smallest value the largest may be on a linear scale. */
const WIDE = 100;

interface Reach {
  first: number;
  last: number;
  low: number;
  high: number;
}

/** What the picture shows; null where no value is a number. */
function reachOf({series, limits}: EvidencePicture): Reach | null {
  const values = series.flatMap(({points}) =>
    Array.from(points.values).concat(points.reduced ? [...points.low, ...points.high] : [])).filter(Number.isFinite);
  if (values.length === 0) return null;
  const steps = series.flatMap(({points}) => (points.steps.length > 0 ? [points.steps[0] as number, points.steps[points.steps.length - 1] as number] : []));
  // A limit far off would press the line flat: then it is told by the text alone.
  const [low, high] = [smallest(values, 0), largest(values, 0)];
  const span = Math.max(high - low, 1e-3 * Math.max(Math.abs(low), Math.abs(high)));
  const near = limits.filter((limit) => Number.isFinite(limit) && limit > low - 20 * span && limit < high + 20 * span);
  return {first: smallest(steps, 0), last: largest(steps, 0), low: smallest([low, ...near], low), high: largest([high, ...near], high)};
}

function valuesScale({low, high}: Reach, top: number, bottom: number): Scale {
  const isLog = low > 0 && high > WIDE * low;
  const scale = valueScale(low, high, isLog);
  return (isLog ? logScale : linearScale)(scale.low, scale.high, bottom, top);
}

function line(points: Points, x: (step: number) => number, y: Scale): number[] {
  const path: number[] = [];
  points.steps.forEach((step, i) => {
    const value = points.values[i] as number;
    path.push(Number.isFinite(value) ? x(step) : NaN, Number.isFinite(value) ? y(value) : NaN);
  });
  return path;
}

/** From the smallest to the largest of what each entry stands for. */
function band(points: Points, x: (step: number) => number, y: Scale): number[] {
  const [above, below]: [number[], number[]] = [[], []];
  points.steps.forEach((step, i) => {
    const [low, high] = [points.low[i] as number, points.high[i] as number];
    if (!Number.isFinite(low) || !Number.isFinite(high)) return;
    above.push(x(step), y(high));
    below.unshift(x(step), y(low));
  });
  return [...above, ...below];
}

function entryAt(points: Points, step: number): number {
  let best = -1;
  points.steps.forEach((at, i) => {
    if (best < 0 || Math.abs(at - step) <= Math.abs((points.steps[best] as number) - step)) best = i;
  });
  return best;
}

function wordsOf({series, limits, step}: EvidencePicture): string {
  const parts = series.slice(0, 4).map(({label, points}) => {
    const last = points.values.length - 1;
    return last < 0 ? `${label}: no values` : `${label}: ${formatNumber(points.values[last] as number)} at step ${formatStep(points.steps[last] as number)}`;
  });
  const more = series.length > 4 ? ` and ${series.length - 4} more` : '';
  const compared = limits.length > 0 ? `, compared with ${limits.map(formatNumber).join(' and ')}` : '';
  return `${parts.join('; ')}${more}${compared}${step >= 0 ? `, found at step ${formatStep(step)}` : ''}.`;
}

function paintLimits(surface: Surface, limits: readonly number[], y: Scale, bottom: number): void {
  const {palette, width} = surface;
  let free = -Infinity;
  for (const limit of [...limits].sort((a, b) => b - a)) {
    const at = y(limit);
    if (!Number.isFinite(at) || at < 0 || at > bottom) continue;
    surface.path([0, at, width, at], {color: palette.bad, dash: [4, 3]});
    // Above its line, or below one that is at the top.
    const top = at < SMALL + 3 ? at + 2 : at - SMALL - 1;
    if (top < free || top + SMALL > bottom) continue;
    free = top + SMALL + 2;
    plated(surface, width - 3, top, formatNumber(limit), {color: palette.bad, size: SMALL, align: 'right', baseline: 'top'});
  }
}

/** A cross at the foot where a series first is no number. */
function paintBroken(surface: Surface, points: Points, x: (step: number) => number, bottom: number): void {
  const at = points.values.findIndex((value) => !Number.isFinite(value));
  if (at < 0) return;
  const [middle, y] = [x(points.steps[at] as number), bottom - 6];
  surface.path([middle - 3, y - 3, middle + 3, y + 3, NaN, NaN, middle - 3, y + 3, middle + 3, y - 3], {color: surface.palette.bad, width: 1.75});
}

function paintSteps(surface: Surface, {first, last}: Reach): void {
  const {palette, width, height} = surface;
  const style = {color: palette.faint, size: SMALL, baseline: 'bottom'} as const;
  const [left, right] = [`step ${formatStep(first)}`, formatStep(last)];
  surface.text(0, height - 1, left, style);
  if (last > first && textWidth(left, SMALL) + textWidth(right, SMALL) + 8 < width) surface.text(width, height - 1, right, {...style, align: 'right'});
}

/** Lines, the limits dashed across them, a dot where the lamp was lit, and a cross where a series is no number. */
export function evidencePicture(picture: EvidencePicture): SceneDrawing {
  const {series, limits, step} = picture;
  const reach = reachOf(picture);
  const place = (width: number) => (at: number) =>
    !reach || reach.last <= reach.first ? width / 2 : 4 + ((at - reach.first) / (reach.last - reach.first)) * (width - 8);
  return {
    kind: 'scene',
    height: () => HEIGHT,
    words: wordsOf(picture),
    paint(surface) {
      const {palette, width, height} = surface;
      const bottom = height - FOOT;
      surface.rect(0, 0, width, bottom, {color: palette.grid, opacity: 0.35});
      if (!reach) {
        nothing(surface, {x: 0, y: 0, width, height: bottom}, series.some(({points}) => points.steps.length > 0) ? 'no finite values' : 'no values yet');
        return;
      }
      const [x, y] = [place(width), valuesScale(reach, 3, bottom - 3)];
      surface.clipped(0, 0, width, bottom, () => {
        series.forEach(({points}, i) => {
          const color = palette.lines[i % SERIES_COLORS] as string;
          if (points.reduced) surface.area(band(points, x, y), {color, opacity: 0.25});
          surface.path(line(points, x, y), {color, width: 1.5});
          paintBroken(surface, points, x, bottom);
          if (points.steps.length !== 1 && step < 0) return;
          const at = points.steps.length === 1 ? 0 : entryAt(points, step);
          const value = points.values[at];
          if (value !== undefined && Number.isFinite(value)) surface.circle(x(points.steps[at] as number), y(value), 3, {fill: {color}});
        });
      });
      paintLimits(surface, limits, y, bottom);
      paintSteps(surface, reach);
    },
    at(px, _py, width) {
      if (!reach) return null;
      const wanted = reach.first + ((px - 4) / Math.max(1, width - 8)) * (reach.last - reach.first);
      const found = series.flatMap(({label, points}) => {
        const at = entryAt(points, wanted);
        return at < 0 ? [] : [`${label} ${formatNumber(points.values[at] as number)} at step ${formatStep(points.steps[at] as number)}`];
      });
      return found.length > 0 ? {text: found.join('\n')} : null;
    },
  };
}
