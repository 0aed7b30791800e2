// SPDX-License-Identifier: MIT
// Loss of the batches and of whole data sets.
import type {Instrument} from '../app/instrument';
import type {Line} from '../widgets/drawing';

const NAMES = [
  ['loss', 'mini-batch'], ['train_loss', 'training'], ['valid_loss', 'validation'], ['test_loss', 'test'],
] as const;

const losses: Instrument = {
  id: 'losses',
  title: 'Losses',
  place: 'performance',
  order: 10,
  explain:
    'The loss on each mini-batch, and on training, validation and test data whenever they were evaluated. ' +
    'Training below validation with a growing gap is overfitting; all of them flat and high means that nothing is ' +
    'learnt, and the instruments above say why.',
  reads: NAMES.map(([quantity]) => ({quantity})),
  view(readings) {
    const lines: Line[] = [];
    for (const [color, [quantity, label]] of NAMES.entries()) {
      const points = readings.number(quantity);
      if (points) lines.push({label, points, color: (color + 7) % 8, exact: quantity !== 'loss'});
    }
    return lines.length > 0 ? {kind: 'lines', lines, y: 'loss'} : null;
  },
};
export default losses;
