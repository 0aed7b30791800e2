// SPDX-License-Identifier: MIT
// Size of activations by layer.
import type {Instrument} from '../app/instrument';
import {logIfPositive, manyLines} from '../widgets/line_parts';

const activationScale: Instrument = {
  id: 'activation_scale',
  title: 'Activations',
  place: 'more',
  order: 94,
  explain:
    'Root mean square of the activations behind each layer, and of all of them; of many layers the lowest, the ' +
    'middle and the highest. Layers should be within a factor of ten of each other: a scale that shrinks or grows ' +
    'from layer to layer does the same to the gradients.',
  reads: [{quantity: 'activation_scale', fields: 'all'}],
  view(readings) {
    const series = readings.numbers('activation_scale')
      .filter(({info}) => info.group === '' && (info.field === '' || info.field.startsWith('rms:')));
    const lines = manyLines(series.map(({info, points}) => ({name: info.field.slice(4), points})), 'all layers');
    return lines.length > 0 ? {kind: 'lines', lines, y: 'root mean square', scale: logIfPositive(lines)} : null;
  },
};
export default activationScale;
