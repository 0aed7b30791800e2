// SPDX-License-Identifier: MIT
// Loss of the batches and of whole data sets.
import type {Instrument} from '../app/instrument';
import {scorePart} from '../base/score_names';
import type {Line} from '../widgets/drawing';
import {logIfWide} from '../widgets/line_parts';

const NAMES = ['loss', 'train_loss', 'valid_loss', 'test_loss'];

const losses: Instrument = {
  id: 'losses',
  title: 'Losses',
  place: 'performance',
  order: 10,
  explain:
    'The loss on each mini-batch, and on training, validation and test data whenever they were evaluated, ' +
    'with a word on the L2 penalty where the problem has one: the loss of mini-batches is without it. ' +
    'Training below validation with a growing gap is overfitting; all of them flat and high means that nothing is ' +
    'learnt, and the instruments above say why.',
  reads: NAMES.map((quantity) => ({quantity})),
  view(readings) {
    const lines: Line[] = [];
    for (const [color, quantity] of NAMES.entries()) {
      const points = readings.number(quantity);
      const label = scorePart(quantity, readings.run.summary.config);
      if (points) lines.push({label, points, color: (color + 7) % 8, exact: quantity !== 'loss'});
    }
    return lines.length > 0 ? {kind: 'lines', lines, y: 'loss', scale: logIfWide(lines)} : null;
  },
};
export default losses;
