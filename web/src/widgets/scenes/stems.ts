// SPDX-License-Identifier: MIT
// A list of numbers as stems on a logarithmic scale, with ratios of each below.
import {shortNumber} from '../../base/short_number';
import {largest, smallest} from '../../base/statistics';
import type {SceneDrawing} from '../drawing';
import type {Surface} from '../surface';
import {bottomAxis, leftAxis, legend, logScale, nothing, panelHeight, stepLabel, type Box, type Entry, type Scale} from './axes';

export interface Ratio {
  label: string;
  values: ArrayLike<number>;
}

export interface Stems {
  step: number;
  /** Of the stems, and of one of them: 'eigenvalue'. */
  name: string;
  values: ArrayLike<number>;
  /** Drawn below with a line at 1. */
  ratios: readonly Ratio[];
}

/** A logarithmic scale of what is positive and finite, half a decade wider, at most `decades`. */
function scaleAround(values: ArrayLike<number>, box: Box, decades: number, include: number[] = []): Scale | null {
  const positive = [...Array.from(values).filter((value) => value > 0 && Number.isFinite(value)), ...include];
  if (positive.length === 0) return null;
  const high = largest(positive, 1) * 2;
  const low = Math.max(smallest(positive, 1) / 2, high / 10 ** decades);
  return logScale(low, high, box.y + box.height, box.y, 22);
}

function boxesOf(width: number, height: number, hasRatios: boolean): {upper: Box; lower: Box} {
  const inner = height - 22 - 38;
  const share = hasRatios ? 0.6 : 1;
  const upper = {x: 52, y: 22, width: width - 62, height: inner * share - (hasRatios ? 8 : 0)};
  return {upper, lower: {...upper, y: 22 + inner * share + 8, height: inner * (1 - share) - 8}};
}

function paintRatios(surface: Surface, box: Box, ratios: readonly Ratio[], x: (i: number) => number): void {
  const {palette} = surface;
  const scale = scaleAround(ratios.flatMap(({values}) => Array.from(values)), box, 6, [1]);
  if (!scale) return;
  leftAxis(surface, box, scale, 'ratio');
  surface.path([box.x, scale(1), box.x + box.width, scale(1)], {color: palette.faint, dash: [4, 3]});
  ratios.forEach(({values}, r) => {
    for (let i = 0; i < values.length; ++i) {
      const value = values[i] as number;
      if (!(value >= 0) || !Number.isFinite(value)) continue;
      surface.circle(x(i) + (r - (ratios.length - 1) / 2) * 5, scale(value), 3, {fill: {color: palette.lines[r + 1] as string}});
    }
  });
}

export function stemScene({step, name, values, ratios}: Stems): SceneDrawing {
  const count = values.length;
  const drawn = ratios.filter((ratio) => ratio.values.length > 0);
  const placeOf = (box: Box) => (i: number) => box.x + ((i + 0.5) / Math.max(1, count)) * box.width;
  return {
    kind: 'scene',
    height: (width) => panelHeight(width) + (drawn.length > 0 ? 50 : 0),
    words: `${count} values of ${name} at step ${step}: ${Array.from(values, (value) => shortNumber(value)).join(', ')}.`,
    paint(surface) {
      const {palette} = surface;
      const {upper, lower} = boxesOf(surface.width, surface.height, drawn.length > 0);
      const x = placeOf(upper);
      const y = scaleAround(values, upper, 10);
      stepLabel(surface, surface.width - 8, 3, step);
      if (drawn.length > 0) {
        legend(surface, 8, 1, surface.width - 70, drawn.map((ratio, r): Entry =>
          ({label: ratio.label, color: palette.lines[r + 1] as string, mark: 'dot'})));
        paintRatios(surface, lower, drawn, x);
      }
      const stride = Math.max(1, Math.ceil((count * 26) / upper.width));
      const marks = Array.from({length: count}, (_, i) => i).filter((i) => i % stride === 0)
        .map((i) => ({at: x(i), label: String(i + 1)}));
      bottomAxis(surface, drawn.length > 0 ? lower : upper, Object.assign((value: number) => x(value - 1), {ticks: marks}), 'rank');
      if (!y) return nothing(surface, upper, count === 0 ? 'none' : 'none is positive');
      leftAxis(surface, upper, y, name);
      for (let i = 0; i < count; ++i) {
        const value = values[i] as number;
        if (!Number.isFinite(value)) continue;
        const color = palette.lines[0] as string;
        const top = y(value);
        surface.path([x(i), upper.y + upper.height, x(i), top], {color, width: 2});
        surface.circle(x(i), top, 3.5, value > 0 ? {fill: {color}} : {fill: {color: palette.background}, stroke: {color}});
      }
      return undefined;
    },
    at(px, _py, width, height) {
      const {upper} = boxesOf(width, height, drawn.length > 0);
      const i = Math.floor(((px - upper.x) / upper.width) * count);
      const value = values[i];
      if (value === undefined) return null;
      return {text: [`${name} ${i + 1}: ${shortNumber(value, 5)}`,
        ...drawn.map((ratio) => `${ratio.label} ${shortNumber(ratio.values[i] ?? NaN, 4)}`)].join('\n')};
    },
  };
}
