// SPDX-License-Identifier: MIT
// Size of the gradients of activations by layer.
import type {Instrument} from '../app/instrument';
import {logIfPositive, manyLines} from '../widgets/line_parts';

const activationGradients: Instrument = {
  id: 'activation_gradients',
  title: 'Gradients of activations',
  place: 'more',
  order: 96,
  explain:
    'Root mean square of the gradients of the activations behind each layer; of many layers the lowest, the middle ' +
    'and the highest. Where the first layers have a thousandth of the last ones the gradient vanishes, and where they ' +
    'have many times as much it explodes.',
  reads: [{quantity: 'activation_scale', fields: 'all'}],
  view(readings) {
    const mark = 'gradient_rms:';
    const series = readings.numbers('activation_scale')
      .filter(({info}) => info.group === '' && (info.field.startsWith(mark) || info.field === ''));
    const lines = manyLines(
      series.map(({info, points}) => ({name: info.field.slice(mark.length), points})), 'activations of all layers');
    return lines.length > 0 ? {kind: 'lines', lines, y: 'root mean square', scale: logIfPositive(lines)} : null;
  },
};
export default activationGradients;
