// SPDX-License-Identifier: MIT
// Which classes of the test set are taken for which at the end of a run.
import type {Instrument} from '../app/instrument';
import {confusionScene} from '../widgets/scenes/confusion';

const confusion: Instrument = {
  id: 'confusion',
  title: 'Confused classes',
  place: 'samples',
  order: 66,
  explain:
    'Samples of the test set at the end of the run by their label and by the class they are taken for, as per cent of their ' +
    'label; colours show what is wrong, the frame what is right. A dark cell is a pair of classes that the model cannot tell ' +
    'apart, a pale frame with many marks beside it a class that it has not learned.',
  reads: [{quantity: 'misclassified', fields: ['confusion'], frames: true}],
  view(readings) {
    const frame = readings.frame('misclassified', 'confusion');
    const [rows, columns] = frame?.axes ?? [];
    if (!frame || !rows || rows.count < 2 || columns?.count !== rows.count) return null;
    return confusionScene(frame, rows.count);
  },
};
export default confusion;
