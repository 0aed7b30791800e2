// SPDX-License-Identifier: MIT
// How far the gradient of a batch scatters, beside its own length: the mean gradient as an arrow of
// length 1, around its tip a disc (norm test), along and across it two bands (inner and orthogonal
// test). Beside it, where there is room, the history of the three.
import {shortNumber} from '../../base/short_number';
import {finite, largest, quantile, smallest} from '../../base/statistics';
import type {SceneDrawing} from '../drawing';
import type {Surface} from '../surface';
import {bottomAxis, LABEL, leftAxis, legend, legendHeight, linearScale, logScale, stepLabel, type Box, type Entry,
  type Scale} from './axes';
import {NAME_STRIP, sparkline} from './sparkline';

/** Scatter in all, along and across the mean gradient; undefined if not recorded. */
export interface Scatter {
  norm: number | undefined;
  along: number | undefined;
  across: number | undefined;
}

export interface History {
  steps: ArrayLike<number>;
  values: ArrayLike<number>;
}

export interface GradientGauge {
  step: number;
  now: Scatter;
  /** Earlier ones, the latest last. */
  before: readonly Scatter[];
  /** Norm, along and across over the whole run; they also choose the scale, which stays while the step changes. */
  histories: readonly [History | undefined, History | undefined, History | undefined];
}

const NAMES = ['norm', 'along', 'across'] as const;

interface View {
  box: Box;
  /** Of the histories; null on narrow panels. */
  side: Box | null;
  unit: number;
  x: Scale;
  y: Scale;
}

const MOST = 6; // no scatter beyond it is shown whole: the arrow has to remain visible

function viewOf(width: number, height: number, reach: number, labels: string[]): View {
  const top = legendHeight(width - 16, labels) + 8;
  const innerHeight = height - top - 38;
  // The gauge needs little more than a square; the histories take what is left.
  const sideWidth = width < 360 ? 0 : Math.max(110, width * 0.3, width - 72 - 1.8 * innerHeight);
  const box = {x: 50, y: top, width: width - 60 - (sideWidth > 0 ? sideWidth + 12 : 0), height: innerHeight};
  const side = sideWidth > 0 ? {...box, x: width - 10 - sideWidth, width: sideWidth} : null;
  const low = Math.min(-0.2, 1 - reach);
  const unit = Math.min(box.width / (1 + reach - low), box.height / (2 * reach));
  const middle = (low + 1 + reach) / 2;
  const halfWidth = box.width / unit / 2;
  const halfHeight = box.height / unit / 2;
  return {box, side, unit,
    x: linearScale(middle - halfWidth, middle + halfWidth, box.x, box.x + box.width, 40),
    y: linearScale(-halfHeight, halfHeight, box.y + box.height, box.y, 30)};
}

/** In pixels, no more than needed to cover the box: infinity is a value too. Null if there is none. */
function pixels({box, unit}: View, scatter: number | undefined): number | null {
  return scatter !== undefined && scatter >= 0 ? Math.min(scatter * unit, 2 * (box.width + box.height)) : null;
}

function paintBands(surface: Surface, view: View, {along, across}: Scatter): void {
  const {box, x, y} = view;
  const [, inner, ortho] = surface.palette.lines as [string, string, string];
  const height = pixels(view, across);
  if (height !== null) {
    surface.rect(box.x, y(0) - height, box.width, 2 * height, {color: ortho, opacity: 0.22});
    for (const at of [y(0) - height, y(0) + height]) surface.path([box.x, at, box.x + box.width, at], {color: ortho});
  }
  const width = pixels(view, along);
  if (width !== null) {
    surface.rect(x(1) - width, box.y, 2 * width, box.height, {color: inner, opacity: 0.22});
    for (const at of [x(1) - width, x(1) + width]) surface.path([at, box.y, at, box.y + box.height], {color: inner});
  }
}

/** Earlier discs as thin rings, earlier bands as marks along the edges; the older the fainter. */
function paintBefore(surface: Surface, view: View, before: readonly Scatter[]): void {
  const {box, x, y} = view;
  const [disc, inner, ortho] = surface.palette.lines as [string, string, string];
  const right = box.x + box.width;
  before.forEach(({norm, along, across}, i) => {
    const opacity = 0.06 + 0.34 * ((i + 1) / before.length);
    const [radius, width, height] = [norm, along, across].map((scatter) => pixels(view, scatter));
    if (radius != null) surface.circle(x(1), y(0), radius, {stroke: {color: disc, width: 1, opacity}});
    for (const sign of [-1, 1]) {
      const [place, down] = [x(1) + sign * (width ?? 0), y(0) + sign * (height ?? 0)];
      if (width != null) surface.path([place, box.y, place, box.y + 7], {color: inner, width: 1.5, opacity});
      if (height != null) surface.path([right - 7, down, right, down], {color: ortho, width: 1.5, opacity});
    }
  });
}

function paintArrow(surface: Surface, {x, y}: View): void {
  const color = surface.palette.text;
  const head = Math.min(9, (x(1) - x(0)) * 0.6);
  surface.path([x(0), y(0), x(1) - head * 0.8, y(0)], {color, width: 2.5});
  surface.area([x(1), y(0), x(1) - head, y(0) - head * 0.55, x(1) - head, y(0) + head * 0.55], {color});
  surface.circle(x(0), y(0), 2.5, {fill: {color}});
}

function paintHistories(surface: Surface, box: Box, {step, histories}: GradientGauge): void {
  const {palette} = surface;
  const all = histories.flatMap((history) => Array.from(history?.values ?? [])).filter((value) => value > 0);
  const high = largest(all, 2) * 1.3;
  const low = Math.max(smallest(all, 0.5) / 1.3, high * 1e-6);
  const shown = histories.filter((history) => history !== undefined).length;
  const height = (box.height - 8 * (shown - 1)) / shown;
  let top = box.y;
  histories.forEach((history, i) => {
    if (!history) return;
    const part = {...box, y: top, height};
    const y = logScale(low, high, top + height, top + NAME_STRIP);
    sparkline(surface, part, y, {name: NAMES[i] as string, ...history, color: palette.lines[i] as string}, step);
    if (low < 1 && high > 1) surface.path([box.x, y(1), box.x + box.width, y(1)], {color: palette.faint, dash: [4, 3]});
    top += height + 8;
  });
  surface.text(box.x + box.width / 2, box.y + box.height + 19, 'over the steps',
    {color: palette.faint, size: LABEL, align: 'center', baseline: 'top'});
}

export function gradientGauge(gauge: GradientGauge): SceneDrawing {
  const {step, now, before, histories} = gauge;
  const all = histories.flatMap((history) => Array.from(history?.values ?? []));
  const reach = Math.min(MOST, Math.max(1.1, 1.08 * (quantile(finite(all).sort(), 0.95) || 0)));
  const told = NAMES.map((name, color) => ({name, value: now[name], color}))
    .flatMap(({name, value, color}) => (value === undefined ? [] : [{label: `${name} ${shortNumber(value)}`, color}]));
  const labels = [...told.map(({label}) => label), 'noise = signal'];
  return {
    kind: 'scene',
    height: (width) => Math.round(Math.min(340, Math.max(230, width * 0.58))),
    words: `Scatter of the gradient beside its length at step ${step}: ${told.map(({label}) => label).join(', ')}.`,
    paint(surface) {
      const {palette} = surface;
      const view = viewOf(surface.width, surface.height, reach, labels);
      const {box, unit, x, y} = view;
      legend(surface, 8, 2, surface.width - 16, [
        ...told.map(({label, color}): Entry => ({label, color: palette.lines[color] as string})),
        {label: 'noise = signal', color: palette.faint, mark: 'dashes'},
      ]);
      leftAxis(surface, box, y, 'across');
      bottomAxis(surface, box, x, 'along the mean (length 1)', true);
      surface.clipped(box.x, box.y, box.width, box.height, () => {
        paintBands(surface, view, now);
        paintBefore(surface, view, before);
        surface.circle(x(1), y(0), unit, {stroke: {color: palette.faint, dash: [4, 3]}});
        const radius = pixels(view, now.norm);
        const color = palette.lines[0] as string;
        if (radius !== null) {
          surface.circle(x(1), y(0), radius, {fill: {color, opacity: 0.25}, stroke: {color, width: 2}});
        }
        paintArrow(surface, view);
      });
      if (view.side) paintHistories(surface, view.side, gauge);
      stepLabel(surface, box.x + box.width - 10, box.y + 10, step);
    },
    at(px, py, width, height) {
      const {box, unit, x, y} = viewOf(width, height, reach, labels);
      if (px < box.x || px > box.x + box.width || py < box.y || py > box.y + box.height) return null;
      const distance = Math.hypot(px - x(1), py - y(0)) / unit;
      return {text: [`${shortNumber(distance, 2)} gradient lengths from the tip`, ...labels.slice(0, -1)].join('\n')};
    },
  };
}
