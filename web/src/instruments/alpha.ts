// SPDX-License-Identifier: MIT
// Where on a standardised parabola the steps end.
import type {Instrument} from '../app/instrument';
import {alphaGauge} from '../widgets/scenes/alpha_gauge';

const alpha: Instrument = {
  id: 'alpha',
  title: 'Alpha',
  place: 'step_size',
  order: 10,
  explain:
    'How far each step goes down the parabola fitted along it, over all steps up to the slider and over the last ' +
    'tenth of them: the start is at −1, the bottom at 0, the same height on the far wall at 1. Mass short of 0 ' +
    'says the learning rate could be larger, mass beyond 1 that it is too large, and what lies outside the ' +
    'picture is counted at its edges.',
  reads: [{quantity: 'alpha'}],
  view(readings) {
    const points = readings.number('alpha');
    if (!points || points.values.length === 0) return null;
    // Before the first recorded step the first stands for what is not known yet.
    const values = points.values.filter((_, i) => i === 0 || (points.steps[i] as number) <= readings.step);
    return alphaGauge(values, points.reduced ? ` (one step in ${Math.round(points.count / points.values.length)})` : '');
  },
};
export default alpha;
