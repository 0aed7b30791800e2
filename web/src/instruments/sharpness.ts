// SPDX-License-Identifier: MIT
// Sharpest direction as the optimizer meets it.
import type {Instrument} from '../app/instrument';
import {type LinePart, logIfPositive, recordedLines} from '../widgets/line_parts';

const PARTS: readonly LinePart[] = [
  ['sharpness', '', 'over the bound'],
];

const sharpness: Instrument = {
  id: 'sharpness',
  title: 'Sharpness under the optimizer',
  place: 'more',
  order: 200,
  explain:
    'Largest eigenvalue of the Hessian, scaled as the optimizer scales its steps, over the value that it ' +
    'bears. Around 1 is the edge of stability where many trainings stay; far above it steps along that ' +
    'direction grow.',
  reads: [{quantity: 'sharpness'}],
  view(readings) {
    const lines = recordedLines(readings, PARTS);
    if (lines.length === 0) return null;
    return {kind: 'lines', lines, guides: [{value: 1, label: 'edge of stability'}], y: 'eigenvalue / bound', scale: logIfPositive(lines)};
  },
};
export default sharpness;
