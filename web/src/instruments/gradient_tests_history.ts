// SPDX-License-Identifier: MIT
// The three gradient tests over the steps.
import type {Instrument} from '../app/instrument';
import type {Line} from '../widgets/drawing';
import {logIfPositive} from '../widgets/line_parts';

const NAMES = [['norm_test', 'norm'], ['inner_test', 'along'], ['ortho_test', 'across']] as const;

const gradientTestsHistory: Instrument = {
  id: 'gradient_tests_history',
  title: 'Gradient tests over time',
  place: 'more',
  order: 5,
  explain:
    'Scatter of the batch gradient beside its length over the steps: in all (norm test), along the mean (inner) ' +
    'and across it (orthogonal). Rising lines mean that batches tell less and less; above 1 a step is more noise ' +
    'than signal.',
  reads: [{quantity: 'norm_test'}, {quantity: 'inner_test'}, {quantity: 'ortho_test'}],
  view(readings) {
    const lines: Line[] = [];
    for (const [color, [quantity, label]] of NAMES.entries()) {
      const points = readings.number(quantity);
      if (points) lines.push({label, points, color});
    }
    if (lines.length === 0) return null;
    return {kind: 'lines', lines, guides: [{value: 1, label: 'noise = signal'}], y: 'scatter / length', scale: logIfPositive(lines)};
  },
};
export default gradientTestsHistory;
