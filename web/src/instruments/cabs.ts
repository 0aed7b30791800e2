// SPDX-License-Identifier: MIT
// Batch size that fits the learning rate.
import type {Instrument} from '../app/instrument';
import {batchSizeGuide, logIfPositive} from '../widgets/line_parts';

const cabs: Instrument = {
  id: 'cabs',
  title: 'CABS batch size',
  place: 'more',
  order: 10,
  explain:
    'The batch size at which gradient noise and learning rate balance, as CABS has it. Far above the batch in ' +
    'use, larger batches or a smaller rate would pay; far below it, samples are wasted.',
  reads: [{quantity: 'cabs'}],
  view(readings) {
    const points = readings.number('cabs');
    if (!points) return null;
    const lines = [{label: 'suggested batch size', points}];
    return {kind: 'lines', lines, guides: batchSizeGuide(readings.run), y: 'samples', scale: logIfPositive(lines)};
  },
};
export default cabs;
