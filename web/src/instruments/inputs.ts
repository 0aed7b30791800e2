// SPDX-License-Identifier: MIT
// Scale of what the model is given, and samples that come again.
import type {Instrument} from '../app/instrument';
import {type LinePart, recordedLines, rightAxis} from '../widgets/line_parts';

const PARTS: readonly LinePart[] = [
  ['inputs', '', 'root mean square'],
  ['inputs', 'mean', 'mean'],
  ['inputs', 'deviation', 'deviation'],
  ['inputs', 'duplicates', 'duplicates', 'right'],
  ['inputs', 'seen_before', 'seen before', 'right'],
  ['inputs', 'constant_features', 'constant features', 'right'],
];

const inputs: Instrument = {
  id: 'inputs',
  title: 'Inputs',
  place: 'more',
  order: 140,
  explain:
    'Root mean square, mean and deviation of the inputs, and on the right the shares of samples that repeat ' +
    'within a batch or were seen in the last batches and of features that never vary. A scale far from 1 ' +
    'slows the first layer down; samples that repeat mean that the loader deals the same cards again.',
  reads: [
    {quantity: 'inputs', fields: ['mean', 'deviation', 'duplicates', 'seen_before', 'constant_features']},
  ],
  view(readings) {
    const lines = recordedLines(readings, PARTS);
    if (lines.length === 0) return null;
    return {kind: 'lines', lines, y: 'inputs', ...rightAxis(lines, 'share')};
  },
};
export default inputs;
