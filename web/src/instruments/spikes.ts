// SPDX-License-Identifier: MIT
// Loss, gradient and update against their last values.
import type {Instrument} from '../app/instrument';
import {type LinePart, recordedLines} from '../widgets/line_parts';

const PARTS: readonly LinePart[] = [
  ['spikes', '', 'loss'],
  ['spikes', 'grad_norm', 'gradient'],
  ['spikes', 'update', 'update'],
];

const spikes: Instrument = {
  id: 'spikes',
  title: 'Spikes',
  place: 'more',
  order: 170,
  explain:
    'How far loss, gradient norm and update are from their median over the last steps, in units of their ' +
    'usual scatter. Beyond 6 something happened: the update often leaves first, then the gradient, then the ' +
    'loss.',
  reads: [{quantity: 'spikes', fields: ['grad_norm', 'update']}],
  view(readings) {
    const lines = recordedLines(readings, PARTS);
    if (lines.length === 0) return null;
    return {kind: 'lines', lines, guides: [{value: 6, label: 'spike'}], y: 'robust deviations'};
  },
};
export default spikes;
