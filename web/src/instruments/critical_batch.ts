// SPDX-License-Identifier: MIT
// Batch size beyond which larger ones stop to pay.
import type {Instrument} from '../app/instrument';
import {type LinePart, batchSizeGuide, logIfPositive, recordedLines} from '../widgets/line_parts';

const PARTS: readonly LinePart[] = [
  ['critical_batch', '', 'critical batch'],
];

const criticalBatch: Instrument = {
  id: 'critical_batch',
  title: 'Critical batch size',
  place: 'more',
  order: 210,
  explain:
    'Batch size at which smoothed noise and signal of the gradient are equal. Far below it a larger batch ' +
    'saves steps nearly in proportion, far above it samples are spent for little.',
  reads: [{quantity: 'critical_batch'}],
  view(readings) {
    const lines = recordedLines(readings, PARTS);
    if (lines.length === 0) return null;
    return {kind: 'lines', lines, guides: batchSizeGuide(readings.run), y: 'samples', scale: logIfPositive(lines)};
  },
};
export default criticalBatch;
