// SPDX-License-Identifier: MIT
// A histogram the size of a stamp, to be seen beside many others: its shape, where zero is, and how
// much lies outside its range.
import {tickLabel, tickLabels} from '../../base/ticks';
import type {SceneDrawing} from '../drawing';
import type {Surface} from '../surface';
import type {Axis, Frame} from '../../wire/types';

export interface SmallHistogramOptions {
  label: string;
  /** Of one axis. */
  frame: Frame;
  /** Heights as logarithms of counts; gradients have a peak that hides the rest. */
  isLog?: boolean;
  height?: number;
}

const EDGE = 5; // place for what lies outside, on either side
const FOOT = 13;

function heightOf(count: number, most: number, isLog: boolean): number {
  if (count <= 0 || most <= 0) return 0;
  // One entry is still seen.
  return isLog ? Math.log1p(count) / Math.log1p(most) : count / most;
}

function paintOutside(surface: Surface, frame: Frame, top: number, isLog: boolean, bottom: number): void {
  const {palette} = surface;
  const most = Math.max(top, frame.below, frame.above);
  const bar = (x: number, count: number) => {
    if (count <= 0) return;
    const height = Math.max(2, heightOf(count, most, isLog) * bottom);
    surface.rect(x, bottom - height, EDGE - 2, height, {color: palette.warning});
  };
  bar(0, frame.below);
  bar(surface.width - EDGE + 2, frame.above);
}

export function smallHistogram(options: SmallHistogramOptions): SceneDrawing {
  const {frame, label} = options;
  const isLog = options.isLog ?? true;
  const axis: Axis = frame.axes[0] ?? {low: 0, high: 1, count: 1};
  const {counts} = frame;
  const most = counts.reduce((a, b) => Math.max(a, b), 0);
  const total = counts.reduce((a, b) => a + b, 0) + frame.below + frame.above + frame.not_a_number;
  const outside = [
    frame.below > 0 ? `${frame.below} below` : '', frame.above > 0 ? `${frame.above} above` : '',
    frame.not_a_number > 0 ? `${frame.not_a_number} not a number` : '',
  ].filter((part) => part !== '').join(', ');
  const [low = '', high = ''] = tickLabels([axis.low, axis.high].map((edge) => Number(edge.toPrecision(3))));
  const binWidth = (axis.high - axis.low) / Math.max(1, axis.count);
  return {
    kind: 'scene',
    height: () => options.height ?? 64,
    words: `${label} at step ${frame.step}: ${total} entries between ${tickLabel(axis.low)} and ${tickLabel(axis.high)}` +
      (outside ? `, ${outside}` : ''),
    paint(surface) {
      const {palette} = surface;
      const bottom = surface.height - FOOT;
      const width = Math.max(1, surface.width - 2 * EDGE);
      const across = (i: number) => EDGE + (i / axis.count) * width;
      if (axis.low < 0 && axis.high > 0) {
        const zero = across(-axis.low / binWidth);
        surface.path([zero, 0, zero, bottom], {color: palette.grid});
      }
      const outline: number[] = [across(0), bottom];
      for (let i = 0; i < axis.count; ++i) {
        const y = bottom - heightOf(counts[i] ?? 0, most, isLog) * (bottom - 2);
        outline.push(across(i), y, across(i + 1), y);
      }
      outline.push(across(axis.count), bottom);
      surface.area(outline, {color: palette.lines[0] as string, opacity: 0.55});
      surface.path([EDGE, bottom, EDGE + width, bottom], {color: palette.grid});
      paintOutside(surface, frame, most, isLog, bottom);
      surface.text(EDGE, bottom + 2, low, {color: palette.faint, size: 9, baseline: 'top'});
      surface.text(EDGE + width, bottom + 2, high, {color: palette.faint, size: 9, align: 'right', baseline: 'top'});
      if (frame.not_a_number > 0) {
        surface.text(EDGE + width / 2, bottom + 2, `${frame.not_a_number} NaN`, {color: palette.bad, size: 9, align: 'center', baseline: 'top'});
      }
    },
    at(x, _y, width) {
      if (x < EDGE) return frame.below > 0 ? {text: `below ${tickLabel(axis.low)}: ${frame.below}`} : null;
      if (x >= width - EDGE) return frame.above > 0 ? {text: `above ${tickLabel(axis.high)}: ${frame.above}`} : null;
      const bin = Math.floor(((x - EDGE) / (width - 2 * EDGE)) * axis.count);
      const count = counts[bin];
      if (count === undefined) return null;
      return {text: `${tickLabel(axis.low + bin * binWidth)} to ${tickLabel(axis.low + (bin + 1) * binWidth)}: ${count}`};
    },
  };
}
