// SPDX-License-Identifier: MIT
// Spectral norms of weights and updates.
import type {Instrument} from '../app/instrument';
import {type LinePart, logIfPositive, recordedLines, rightAxis} from '../widgets/line_parts';

const PARTS: readonly LinePart[] = [
  ['weight_spectra', '', 'weight'],
  ['weight_spectra', 'update', 'update'],
  ['weight_spectra', 'stable_rank', 'stable rank', 'right'],
  ['weight_spectra', 'condition', 'condition', 'right'],
];

const weightSpectra: Instrument = {
  id: 'weight_spectra',
  title: 'Spectra of weights',
  place: 'more',
  order: 190,
  explain:
    'Largest spectral norm of a weight and of an update, and on the right the smallest stable rank and the ' +
    'largest condition. A norm that grows without end lets activations and logits explode; a stable rank near ' +
    '1 means that a layer has one thing to say.',
  reads: [{quantity: 'weight_spectra', fields: ['update', 'stable_rank', 'condition']}],
  view(readings) {
    const lines = recordedLines(readings, PARTS);
    if (lines.length === 0) return null;
    return {kind: 'lines', lines, y: 'spectral norm', ...rightAxis(lines, 'rank, condition'), scale: logIfPositive(lines)};
  },
};
export default weightSpectra;
