// SPDX-License-Identifier: MIT
// Accuracy on the batches and on whole data sets.
import type {Instrument} from '../app/instrument';
import type {Line} from '../widgets/drawing';

const NAMES = [
  ['batch_accuracy', 'mini-batch'], ['train_accuracy', 'training'], ['valid_accuracy', 'validation'],
  ['test_accuracy', 'test'],
] as const;

const accuracies: Instrument = {
  id: 'accuracies',
  title: 'Accuracies',
  place: 'performance',
  order: 20,
  explain:
    'The share of samples that are classified correctly, on each mini-batch and on training, validation and test ' +
    'data whenever they were evaluated. A plateau at one over the number of classes is guessing; training far ' +
    'above validation is learning by heart.',
  reads: NAMES.map(([quantity]) => ({quantity})),
  view(readings) {
    const lines: Line[] = [];
    for (const [color, [quantity, label]] of NAMES.entries()) {
      const points = readings.number(quantity);
      if (points) lines.push({label, points, color: (color + 7) % 8, exact: quantity !== 'batch_accuracy'});
    }
    return lines.length > 0 ? {kind: 'lines', lines, y: 'accuracy'} : null;
  },
};
export default accuracies;
