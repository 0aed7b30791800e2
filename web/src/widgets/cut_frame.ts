// SPDX-License-Identifier: MIT
// A histogram of one or two axes without its empty ends, as it is shown.
import {cutBins} from '../base/cut_bins';
import type {Axis, Frame} from '../wire/types';

/** Frames of the same axes without the ends that are empty in all of them. */
export function cutTogether(frames: readonly Frame[]): Frame[] {
  const first = frames[0];
  if (!first) return [];
  const sum = Float64Array.from(first.counts, (_, i) => frames.reduce((all, {counts}) => all + (counts[i] ?? 0), 0));
  const kept = cutFrame({...first, counts: sum}).axes;
  const [rows, columns] = first.axes.length === 2 ? first.axes as [Axis, Axis] : [WHOLE, first.axes[0] ?? WHOLE];
  const [down, across] = kept.length === 2 ? kept as [Axis, Axis] : [WHOLE, kept[0] ?? WHOLE];
  const skipped = (axis: Axis, cut: Axis) => Math.round(((cut.low - axis.low) / (axis.high - axis.low)) * axis.count);
  const [top, left] = [skipped(rows, down), skipped(columns, across)];
  return frames.map((frame) => ({...frame, axes: kept,
    counts: Float64Array.from({length: down.count * across.count}, (_, i) =>
      frame.counts[(top + Math.floor(i / across.count)) * columns.count + left + (i % across.count)] ?? 0)}));
}

const WHOLE: Axis = {low: 0, high: 1, count: 1};

export function cutFrame(frame: Frame): Frame {
  const [rows, columns] = frame.axes.length === 2 ? frame.axes as [Axis, Axis] : [WHOLE, frame.axes[0] ?? WHOLE];
  const at = (row: number, column: number) => frame.counts[row * columns.count + column] ?? 0;
  const some = (count: number, test: (i: number) => boolean) => {
    for (let i = 0; i < count; ++i) if (test(i)) return true;
    return false;
  };
  const down = cutBins(rows, (row) => some(columns.count, (column) => at(row, column) > 0));
  const across = cutBins(columns, (column) => some(rows.count, (row) => at(row, column) > 0));
  const counts = new Float64Array(down.count * across.count);
  for (let row = 0; row < down.count; ++row) {
    for (let column = 0; column < across.count; ++column) {
      counts[row * across.count + column] = at(down.first + row, across.first + column);
    }
  }
  const axis = ({low, high, count}: Axis): Axis => ({low, high, count});
  return {...frame, axes: frame.axes.length === 2 ? [axis(down), axis(across)] : [axis(across)], counts};
}
