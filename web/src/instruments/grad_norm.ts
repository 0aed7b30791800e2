// SPDX-License-Identifier: MIT
// Norm of the mini-batch gradient over the steps.
import type {Instrument} from '../app/instrument';

const gradNorm: Instrument = {
  id: 'grad_norm',
  title: 'Gradient norm',
  place: 'step_size',
  order: 30,
  explain:
    'Length of the mean gradient of each batch, as the optimizer receives it. Near zero while the loss is high ' +
    'means a plateau or vanishing gradients; spikes ask for clipping or a smaller learning rate.',
  reads: [{quantity: 'grad_norm'}],
  view(readings) {
    const points = readings.number('grad_norm');
    if (!points) return null;
    return {kind: 'lines', lines: [{label: 'gradient norm', points}], y: 'norm', scale: 'log'};
  },
};
export default gradNorm;
