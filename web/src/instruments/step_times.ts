// SPDX-License-Identifier: MIT
// Seconds of a step by part, and memory.
import type {Instrument} from '../app/instrument';
import {type LinePart, recordedLines, rightAxis} from '../widgets/line_parts';

const PARTS: readonly LinePart[] = [
  ['step_times', '', 'whole step'],
  ['step_times', 'backward', 'backward'],
  ['step_times', 'cockpit', 'cockpit'],
  ['step_times', 'between', 'between'],
  ['step_times', 'data', 'data'],
  ['step_times', 'forward', 'forward'],
  ['step_times', 'update', 'update'],
  ['step_times', 'memory', 'memory', 'right'],
];

const stepTimes: Instrument = {
  id: 'step_times',
  title: 'Where the time goes',
  place: 'more',
  order: 180,
  explain:
    'Seconds per step with those of the backward pass, of the cockpit and of what lies between, and the ' +
    'memory of the process on the right. Compare the parts: a cockpit that takes more than you would give it ' +
    'should look less often, and memory that only grows is a leak.',
  reads: [
    {quantity: 'step_times', fields: ['backward', 'cockpit', 'between', 'data', 'forward', 'update', 'memory']},
  ],
  view(readings) {
    const lines = recordedLines(readings, PARTS);
    if (lines.length === 0) return null;
    return {kind: 'lines', lines, y: 'seconds', ...rightAxis(lines, 'bytes')};
  },
};
export default stepTimes;
