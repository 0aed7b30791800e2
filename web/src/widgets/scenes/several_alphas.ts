// SPDX-License-Identifier: MIT
// Distributions of alpha of several runs over one parabola, from -2 to 2 as in the cockpit.
import {shortNumber} from '../../base/short_number';
import {countInBins, density, finite, kernelWidth, largest, median} from '../../base/statistics';
import type {SceneDrawing} from '../drawing';
import {BINS, LANDMARKS, paintOutside, paintParabola, paintZones, REACH, STRIP} from './alpha_gauge';
import {bottomAxis, linearScale, nothing, panelHeight, type Box} from './axes';
import type {RunMark} from './run_mark';

export interface AlphaPart extends RunMark {
  values: Float64Array;
}

const boxOf = (width: number, height: number): Box => ({x: 14, y: STRIP + 6, width: width - 28, height: height - STRIP - 6 - 36});

export function severalAlphas(parts: readonly AlphaPart[]): SceneDrawing {
  const curves = parts.map(({values}) => {
    const inside = finite(values).filter((value) => Math.abs(value) <= REACH);
    return density(values, -REACH, REACH, BINS, Math.max(kernelWidth(inside), 0.04));
  });
  const medians = parts.map(({values}) => median(values));
  const most = curves.reduce((found, curve) => Math.max(found, largest(curve, 0)), 0);
  const outside = parts.map(({values}) => countInBins(values, -REACH, REACH, 1));
  const sum = (of: (each: (typeof outside)[number]) => number) => outside.reduce((total, each) => total + of(each), 0);
  return {
    kind: 'scene',
    height: panelHeight,
    words: `Alpha of ${parts.length} lines. ${parts.slice(0, 12).map(({name}, i) => `${name}: median ${shortNumber(medians[i] as number)}`).join('; ')}. ` +
      `${sum((each) => each.below)} below −${REACH}, ${sum((each) => each.above)} above ${REACH}, ${sum((each) => each.notANumber)} not a number.`,
    paint(surface) {
      const box = boxOf(surface.width, surface.height);
      const bottom = box.y + box.height;
      const x = linearScale(-REACH, REACH, box.x, box.x + box.width);
      paintZones(surface, box, x);
      x.ticks = [-2, -1, 0, 1, 2].map((value) => ({at: x(value), label: LANDMARKS[value] ?? shortNumber(value)}));
      bottomAxis(surface, box, x, 'alpha: where on the parabola a step ends');
      if (most === 0) nothing(surface, {...box, height: box.height / 2}, 'no alpha within this range');
      paintParabola(surface, box, x);
      parts.forEach(({color: index, dash}, i) => {
        if (most === 0) return;
        const color = surface.palette.runs[index] as string;
        const outline: number[] = [];
        (curves[i] as Float64Array).forEach((value, bin) =>
          outline.push(x(-REACH + ((bin + 0.5) / BINS) * 2 * REACH), bottom - (value / most) * 0.86 * box.height));
        if (parts.length <= 4) surface.area([x(-REACH), bottom, ...outline, x(REACH), bottom], {color, opacity: 0.12});
        surface.path(outline, {color, width: 1.5, ...(dash.length > 0 ? {dash} : {})});
        const middle = medians[i] as number;
        if (Math.abs(middle) <= REACH) surface.path([x(middle), bottom, x(middle), bottom - 12], {color, width: 2});
      });
      paintOutside(surface, box, sum((each) => each.below), sum((each) => each.above));
    },
    at(px, py, width, height) {
      const box = boxOf(width, height);
      const alpha = ((px - box.x) / box.width) * 2 * REACH - REACH;
      if (!(Math.abs(alpha) <= REACH) || py < box.y - STRIP || py > box.y + box.height) return null;
      const shares = parts.slice(0, 14).map(({name, values}) => {
        const numbers = values.filter((value) => !Number.isNaN(value));
        const share = numbers.filter((value) => value <= alpha).length / numbers.length;
        return `${name}: ${Number.isNaN(share) ? 'none' : `${(100 * share).toFixed(0)} %`} up to here`;
      });
      const more = parts.length > 14 ? [`and ${parts.length - 14} more`] : [];
      return {text: [`alpha ${shortNumber(alpha, 2)}`, ...shares, ...more].join('\n')};
    },
  };
}
