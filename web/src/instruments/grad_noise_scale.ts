// SPDX-License-Identifier: MIT
// Batch size at which noise and signal are equal, with both.
import type {Instrument} from '../app/instrument';
import type {Line} from '../widgets/drawing';
import {batchSizeGuide, logIfPositive} from '../widgets/line_parts';

const gradNoiseScale: Instrument = {
  id: 'grad_noise_scale',
  title: 'Gradient noise scale',
  place: 'more',
  order: 40,
  explain:
    'The batch size at which noise and signal of the gradient are equal, beside the two it is the ratio of. Far ' +
    'below it, doubling the batch nearly halves the number of steps; far above it, samples are spent for little, ' +
    'and a negative value means that the batch is too small to tell.',
  reads: [{quantity: 'grad_noise_scale', fields: ['noise', 'signal']}],
  view(readings) {
    const points = readings.number('grad_noise_scale');
    if (!points) return null;
    const lines: Line[] = [{label: 'noise scale', points, color: 0}];
    for (const [i, field] of ['noise', 'signal'].entries()) {
      const part = readings.number('grad_noise_scale', field);
      if (part) lines.push({label: field, points: part, color: i + 1, side: 'right', dash: [4, 3]});
    }
    return {kind: 'lines', lines, guides: batchSizeGuide(readings.run), y: 'samples',
      ...(lines.length > 1 ? {yRight: 'noise, signal'} : {}), scale: logIfPositive(lines)};
  },
};
export default gradNoiseScale;
