// SPDX-License-Identifier: MIT
// Samples of the test set that the model takes for another class at the end of a run.
import type {Instrument} from '../app/instrument';
import {shortNumber} from '../base/short_number';
import {readContents, sampleCardsScene, wholeNumber} from '../widgets/scenes/sample_cards';

const SHOWN = 24;

const misclassified: Instrument = {
  id: 'misclassified',
  title: 'Misclassified samples',
  place: 'samples',
  order: 68,
  explain:
    'Samples of the test set that the model takes for another class at the end of the run, those with the largest ' +
    'losses first, by their place in the set. Look for wrong labels, broken inputs and pairs of classes that recur.',
  reads: [
    {quantity: 'misclassified', fields: ['ids', 'labels', 'predictions', 'losses'], frames: true},
    {quantity: 'sample_pictures', fields: ['misclassified'], frames: true},
  ],
  view(readings) {
    const list = (field: string) => readings.frame('misclassified', field)?.list;
    const ids = readings.frame('misclassified', 'ids');
    if (!ids || ids.list.length === 0) return null;
    const [labels, predictions, losses] = ['labels', 'predictions', 'losses'].map(list);
    const pictures = readings.frame('sample_pictures', 'misclassified');
    const contents = readContents(pictures?.step === ids.step ? pictures.list : new Float64Array());
    const cards = Array.from(ids.list.slice(0, SHOWN), (id, i) => ({
      name: `#${wholeNumber(id)}`,
      facts: [
        ...(labels?.[i] === undefined ? [] : [`label ${wholeNumber(labels[i])}`]),
        ...(predictions?.[i] === undefined ? [] : [`read as ${wholeNumber(predictions[i])}`]),
        ...(losses?.[i] === undefined ? [] : [`loss ${shortNumber(losses[i])}`]),
      ],
      content: contents[i],
    }));
    return sampleCardsScene(ids.step, 'Misclassified samples', cards);
  },
};
export default misclassified;
