// SPDX-License-Identifier: MIT
// The factor that losses have been multiplied by.
import type {Instrument} from '../app/instrument';
import {logIfWide} from '../widgets/line_parts';

const lossScale: Instrument = {
  id: 'loss_scale',
  title: 'Loss scale',
  place: 'more',
  order: 165,
  explain:
    'The factor by which the losses are multiplied before the backward pass, where it is not 1 throughout. ' +
    'Mixed precision raises it until gradients overflow and halves it then: steps down that come often are ' +
    'gradients at the edge of their range, and a scale near 1 is one that has collapsed.',
  reads: [{quantity: 'finite', fields: ['loss_scale']}],
  view(readings) {
    const points = readings.number('finite', 'loss_scale');
    if (!points || points.values.every((value) => value === 1)) return null;
    const lines = [{label: 'loss scale', points, color: 0}];
    return {kind: 'lines', lines, y: 'factor', scale: logIfWide(lines)};
  },
};
export default lossScale;
