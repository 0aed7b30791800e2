// SPDX-License-Identifier: MIT
// Hyperparameters that no run of a comparison changed: what a line of text says better than a panel.
import {formatNumber} from '../../base/format';
import {HYPERPARAMETERS} from '../../wire/logged_numbers';
import {isFlat} from '../constant_lines';
import type {CurveChart} from './curves';

export interface ConstantCurve {
  quantity: string;
  /** "0.001 (adam), 0.3 (3 lines)"; of one value that value, of many their range. */
  text: string;
}

/** More values than this are told as a range. */
const MOST_VALUES = 6;

export const isConstantChart = ({overlay, drawing}: CurveChart): boolean =>
  HYPERPARAMETERS.includes(overlay.quantity) && drawing.lines.every(({points}) => isFlat(points));

export function constantCurve({overlay: {quantity}, drawing: {lines}}: CurveChart): ConstantCurve {
  const owners = new Map<number, string[]>();
  for (const {points, label, short} of lines) {
    const value = points.values[0] as number;
    owners.set(value, [...(owners.get(value) ?? []), short ?? label]);
  }
  const values = [...owners.keys()].sort((a, b) => a - b);
  const [least, most] = [values[0] as number, values[values.length - 1] as number];
  if (values.length === 1) return {quantity, text: formatNumber(least)};
  if (values.length > MOST_VALUES) return {quantity, text: `${values.length} values from ${formatNumber(least)} to ${formatNumber(most)}`};
  return {quantity, text: values.map((value) => {
    const names = owners.get(value) as string[];
    return `${formatNumber(value)} (${names.length === 1 ? names[0] : `${names.length} lines`})`;
  }).join(', ')};
}
