// SPDX-License-Identifier: MIT
// Scale and margins of a classifier's outputs.
import type {Instrument} from '../app/instrument';
import {type LinePart, recordedLines, rightAxis} from '../widgets/line_parts';

const PARTS: readonly LinePart[] = [
  ['logits', '', 'deviation'],
  ['logits', 'margin', 'margin'],
  ['logits', 'log_partition', 'log-partition'],
  ['logits', 'accuracy', 'accuracy', 'right'],
  ['logits', 'confidence', 'confidence', 'right'],
  ['logits', 'predicted_largest', 'commonest prediction', 'right'],
];

const logits: Instrument = {
  id: 'logits',
  title: 'Logits',
  place: 'more',
  order: 150,
  explain:
    'Deviation of the logits, mean margin of the right class and mean log-partition, and on the right ' +
    'accuracy, confidence and the share of the commonest prediction. Logits that grow without the accuracy ' +
    'are overconfidence; one prediction for all samples is a network that has collapsed.',
  reads: [
    {quantity: 'logits', fields: ['margin', 'log_partition', 'accuracy', 'confidence', 'predicted_largest']},
  ],
  view(readings) {
    const lines = recordedLines(readings, PARTS);
    if (lines.length === 0) return null;
    return {kind: 'lines', lines, y: 'logits', ...rightAxis(lines, 'share')};
  },
};
export default logits;
