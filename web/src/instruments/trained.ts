// SPDX-License-Identifier: MIT
// Parameters and layers that take no part in the training, and what is wrong with the graph.
import type {Instrument} from '../app/instrument';
import {type LinePart, recordedLines, rightAxis} from '../widgets/line_parts';

const PARTS: readonly LinePart[] = [
  ['trained', '', 'trained'],
  ['trained', 'unreachable', 'not in the loss', 'right'],
  ['trained', 'not_optimized', 'not in the optimizer', 'right'],
  ['trained', 'without_gradient', 'no gradient', 'right'],
  ['trained', 'unchanged', 'unchanged', 'right'],
  ['trained', 'leftover', 'gradient left over', 'right'],
  ['wiring', 'linear_pairs', 'layers without nonlinearity', 'right'],
  ['wiring', 'head_softmax', 'softmax twice', 'right'],
  ['wiring', 'head_bounded', 'outputs cut off', 'right'],
];

const trained: Instrument = {
  id: 'trained',
  title: 'What is trained',
  place: 'more',
  order: 130,
  explain:
    'Share of the parameters that the loss reaches, the optimizer has and a gradient comes to, and on the ' +
    'right how many miss one of these and how many faults the graph has. All should be trained and all counts ' +
    'zero; the remarks of the run name who is left out.',
  reads: [
    {quantity: 'trained', fields: ['unreachable', 'not_optimized', 'without_gradient', 'unchanged',
      'leftover']}, {quantity: 'wiring', fields: ['linear_pairs', 'head_softmax', 'head_bounded']},
  ],
  view(readings) {
    const lines = recordedLines(readings, PARTS);
    if (lines.length === 0) return null;
    return {kind: 'lines', lines, y: 'share of parameters', ...rightAxis(lines, 'number')};
  },
};
export default trained;
