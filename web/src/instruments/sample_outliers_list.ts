// SPDX-License-Identifier: MIT
// The samples with the largest gradients at the slider's step.
import type {Instrument} from '../app/instrument';
import {barScene} from '../widgets/scenes/bars';

const sampleOutliersList: Instrument = {
  id: 'sample_outliers_list',
  title: 'Largest samples',
  place: 'more',
  order: 65,
  explain:
    'The samples of the batch whose gradients are largest, by their position in the batch, at the step of the ' +
    'slider. One bar far longer than the rest is a sample that steers the update alone.',
  reads: [{quantity: 'sample_outliers', fields: ['samples', 'norms'], frames: true}],
  view(readings) {
    const samples = readings.frame('sample_outliers', 'samples');
    const norms = readings.frame('sample_outliers', 'norms');
    if (!samples || !norms || norms.list.length === 0) return null;
    const bars = Array.from(norms.list, (value, i) => ({label: `sample ${samples.list[i] ?? '?'}`, value}));
    return barScene(norms.step, 'gradient norm', bars);
  },
};
export default sampleOutliersList;
