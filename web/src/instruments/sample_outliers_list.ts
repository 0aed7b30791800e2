// SPDX-License-Identifier: MIT
// The samples with the largest gradients at the slider's step.
import type {Instrument} from '../app/instrument';
import {shortNumber} from '../base/short_number';
import {barScene} from '../widgets/scenes/bars';
import {readContents, sampleCardsScene, wholeNumber} from '../widgets/scenes/sample_cards';

const sampleOutliersList: Instrument = {
  id: 'sample_outliers_list',
  title: 'Largest samples',
  place: 'samples',
  order: 65,
  explain:
    'The samples of the batch whose gradients are largest, at the step of the slider, by their place in the data set ' +
    '(#) where the loop told it and in the batch elsewhere. One that is far larger than the rest steers the update alone.',
  reads: [
    {quantity: 'sample_outliers', fields: ['samples', 'norms', 'ids', 'labels', 'predictions'], frames: true},
    {quantity: 'sample_pictures', fields: ['sample_outliers'], frames: true},
  ],
  view(readings) {
    const samples = readings.frame('sample_outliers', 'samples');
    const norms = readings.frame('sample_outliers', 'norms');
    if (!samples || !norms || norms.list.length === 0) return null;
    // Of another step they belong to other samples.
    const told = (quantity: string, field: string) => {
      const frame = readings.frame(quantity, field);
      return frame?.step === norms.step ? frame.list : undefined;
    };
    const [ids, labels, predictions] = ['ids', 'labels', 'predictions'].map((field) => told('sample_outliers', field));
    const name = (i: number) => (ids?.[i] === undefined ? `sample ${samples.list[i] === undefined ? '?' : wholeNumber(samples.list[i])}` : `#${wholeNumber(ids[i])}`);
    const facts = (i: number) => [
      ...(labels?.[i] === undefined ? [] : [`label ${wholeNumber(labels[i])}`]),
      ...(predictions?.[i] === undefined ? [] : [`read as ${wholeNumber(predictions[i])}`]),
    ];
    const contents = readContents(told('sample_pictures', 'sample_outliers') ?? new Float64Array());
    if (!ids) {
      const bars = Array.from(norms.list, (value, i) => ({label: name(i), value}));
      return barScene(norms.step, 'gradient norm', bars);
    }
    const cards = Array.from(norms.list, (norm, i) => (
      {name: name(i), facts: [...facts(i), `norm ${shortNumber(norm)}`], content: contents[i]}));
    return sampleCardsScene(norms.step, 'Samples with the largest gradients', cards);
  },
};
export default sampleOutliersList;
