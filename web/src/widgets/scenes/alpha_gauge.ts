// SPDX-License-Identifier: MIT
// Steps on a standardised parabola: start at -1, bottom at 0, as far up the other side at 1. Over it
// the distribution of alpha over the run and over its last tenth.
import {shortCount, shortNumber} from '../../base/short_number';
import {countInBins, density, finite, kernelWidth, largest, lastPart, median} from '../../base/statistics';
import type {SceneDrawing} from '../drawing';
import type {Palette, Surface} from '../surface';
import {plated} from '../surface_text';
import {bottomAxis, legend, legendHeight, linearScale, nothing, panelHeight, SMALL, type Box, type Entry} from './axes';

export const REACH = 2; // alphas shown: from -REACH to REACH
export const BINS = 160;
export const STRIP = 16; // height of the names of the zones
export const LANDMARKS: Record<string, string> = {'-1': '−1 start', '0': '0 bottom', '1': '1 mirror'};

interface Part {
  name: string;
  values: Float64Array;
  median: number;
  curve: Float64Array;
}

function zones(palette: Palette) {
  return [
    {name: 'uphill', from: -REACH, to: -1, color: palette.bad},
    {name: 'short', from: -1, to: 0, color: palette.lines[0] as string},
    {name: 'beyond', from: 0, to: 1, color: palette.good},
    {name: 'overshoot', from: 1, to: REACH, color: palette.warning},
  ];
}

function part(name: string, values: Float64Array): Part {
  const inside = finite(values).filter((value) => Math.abs(value) <= REACH);
  const width = Math.max(kernelWidth(inside), 0.04);
  return {name, values, median: median(values), curve: density(values, -REACH, REACH, BINS, width)};
}

function labelOf({name, values, median: middle}: Part): string {
  return `${name} (${shortCount(values.length)}) median ${shortNumber(middle, 2)}`;
}

function boxOf(width: number, height: number, labels: string[]): Box {
  const top = legendHeight(width - 16, labels) + 8 + STRIP;
  return {x: 14, y: top, width: width - 28, height: height - top - 36};
}

export function paintZones(surface: Surface, box: Box, x: (value: number) => number): void {
  for (const zone of zones(surface.palette)) {
    const left = x(zone.from);
    surface.rect(left, box.y - STRIP, x(zone.to) - left, box.height + STRIP, {color: zone.color, opacity: 0.07});
    surface.text((left + x(zone.to)) / 2, box.y - STRIP / 2, zone.name,
      {color: surface.palette.faint, size: SMALL, align: 'center', baseline: 'middle'});
  }
}

function paintPart(surface: Surface, box: Box, x: (value: number) => number, {curve, median: middle}: Part, most: number,
                   color: string, opacity: number): void {
  const bottom = box.y + box.height;
  const outline: number[] = [];
  curve.forEach((value, i) =>
    outline.push(x(-REACH + ((i + 0.5) / BINS) * 2 * REACH), bottom - (value / most) * 0.86 * box.height));
  surface.area([x(-REACH), bottom, ...outline, x(REACH), bottom], {color, opacity});
  surface.path(outline, {color, width: 1.5});
  if (Math.abs(middle) <= REACH) surface.path([x(middle), box.y, x(middle), bottom], {color, width: 1.5, dash: [4, 3]});
}

export function paintParabola(surface: Surface, box: Box, x: (value: number) => number): void {
  const color = surface.palette.text;
  const y = (value: number) => box.y + box.height * (1 - (value * value) / (REACH * REACH));
  const line: number[] = [];
  for (let i = -40; i <= 40; ++i) line.push(x((i / 40) * REACH), y((i / 40) * REACH));
  surface.path(line, {color, width: 2, opacity: 0.75});
  for (const landmark of [-1, 0, 1]) surface.circle(x(landmark), y(landmark), 3.5, {fill: {color}});
}

export function paintOutside(surface: Surface, box: Box, below: number, above: number): void {
  const style = {color: surface.palette.text, size: SMALL, baseline: 'bottom', weight: 'bold'} as const;
  const y = box.y + box.height - 4;
  if (below > 0) plated(surface, box.x + 3, y, `◂ ${shortCount(below)}`, {...style, align: 'left'});
  if (above > 0) plated(surface, box.x + box.width - 3, y, `${shortCount(above)} ▸`, {...style, align: 'right'});
}

/** `remark`: said of the values, such as that they are a selection. */
export function alphaGauge(values: Float64Array, remark = ''): SceneDrawing {
  const all = part('all', values);
  const recent = part('last 10 %', lastPart(values, 0.1));
  const parts = [all, recent];
  const most = largest([...all.curve, ...recent.curve], 0);
  const outside = countInBins(values, -REACH, REACH, 1);
  const labels = parts.map(labelOf);
  if (outside.notANumber > 0) labels.push(`${shortCount(outside.notANumber)} NaN`);
  return {
    kind: 'scene',
    height: panelHeight,
    words: `Alpha of ${values.length} steps${remark}: median ${shortNumber(all.median)}, of the last 10 % ` +
      `${shortNumber(recent.median)}. ${outside.below} below −${REACH}, ${outside.above} above ${REACH}, ` +
      `${outside.notANumber} not a number.`,
    paint(surface) {
      const {palette} = surface;
      const box = boxOf(surface.width, surface.height, labels);
      const x = linearScale(-REACH, REACH, box.x, box.x + box.width);
      const colors = [palette.faint, palette.lines[0] as string, palette.bad];
      legend(surface, 8, 2, surface.width - 16, labels.map((label, i): Entry => ({label, color: colors[i] as string})));
      paintZones(surface, box, x);
      x.ticks = [-2, -1, 0, 1, 2].map((value) => ({at: x(value), label: LANDMARKS[value] ?? shortNumber(value)}));
      bottomAxis(surface, box, x, remark ? `alpha${remark}` : 'alpha: where on the parabola a step ends');
      if (most > 0) {
        paintPart(surface, box, x, all, most, palette.faint, 0.28);
        paintPart(surface, box, x, recent, most, palette.lines[0] as string, 0.3);
      } else {
        nothing(surface, {...box, height: box.height / 2}, 'no alpha within this range');
      }
      paintParabola(surface, box, x);
      paintOutside(surface, box, outside.below, outside.above);
    },
    at(px, py, width, height) {
      const box = boxOf(width, height, labels);
      const alpha = ((px - box.x) / box.width) * 2 * REACH - REACH;
      if (!(Math.abs(alpha) <= REACH) || py < box.y - STRIP || py > box.y + box.height) return null;
      const shares = parts.map(({name, values: of}) => {
        const numbers = of.filter((value) => !Number.isNaN(value));
        const share = numbers.filter((value) => value <= alpha).length / numbers.length;
        return `${name}: ${Number.isNaN(share) ? 'none' : `${(100 * share).toFixed(0)} %`} up to here`;
      });
      return {text: [`alpha ${shortNumber(alpha, 2)}`, ...shares].join('\n')};
    },
  };
}
