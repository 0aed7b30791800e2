// SPDX-License-Identifier: MIT
// Loss of the batches and of whole data sets.
import type {Instrument} from '../app/instrument';
import type {Line} from '../widgets/drawing';

const NAMES = [
  ['loss', 'mini-batch'], ['train_loss', 'training'], ['valid_loss', 'validation'], ['test_loss', 'test'],
] as const;

/** Of problems with an L2 penalty: the quantity is of the individual losses, evaluations are of the objective. */
const hasPenalty = (config: Record<string, string>) => Number(config['l2'] ?? 0) !== 0;

const losses: Instrument = {
  id: 'losses',
  title: 'Losses',
  place: 'performance',
  order: 10,
  explain:
    'The loss on each mini-batch, and on training, validation and test data whenever they were evaluated, ' +
    'with a word on the L2 penalty where the problem has one. ' +
    'Training below validation with a growing gap is overfitting; all of them flat and high means that nothing is ' +
    'learnt, and the instruments above say why.',
  reads: NAMES.map(([quantity]) => ({quantity})),
  view(readings) {
    const lines: Line[] = [];
    const isPenalised = hasPenalty(readings.run.summary.config);
    for (const [color, [quantity, name]] of NAMES.entries()) {
      const points = readings.number(quantity);
      const label = isPenalised ? `${name} ${quantity === 'loss' ? 'without' : 'with'} penalty` : name;
      if (points) lines.push({label, points, color: (color + 7) % 8, exact: quantity !== 'loss'});
    }
    return lines.length > 0 ? {kind: 'lines', lines, y: 'loss'} : null;
  },
};
export default losses;
