// SPDX-License-Identifier: MIT
// Samples that pull against their class.
import type {Instrument} from '../app/instrument';
import {type LinePart, recordedLines, rightAxis} from '../widgets/line_parts';

const PARTS: readonly LinePart[] = [
  ['label_conflicts', '', 'share'],
  ['label_conflicts', 'smallest', 'smallest cosine', 'right'],
];

const labelConflicts: Instrument = {
  id: 'label_conflicts',
  title: 'Labels that may be wrong',
  place: 'more',
  order: 220,
  explain:
    'Share of samples whose gradient points against the mean of the others of their class, and the smallest ' +
    'cosine on the right. A few are usual; many mean wrong labels or classes that the network cannot tell ' +
    'apart yet, and the record lists the worst.',
  reads: [{quantity: 'label_conflicts', fields: ['smallest']}],
  view(readings) {
    const lines = recordedLines(readings, PARTS);
    if (lines.length === 0) return null;
    return {kind: 'lines', lines, y: 'share', ...rightAxis(lines, 'cosine')};
  },
};
export default labelConflicts;
