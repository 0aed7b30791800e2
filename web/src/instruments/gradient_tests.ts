// SPDX-License-Identifier: MIT
// Scatter of the gradient as disc and bands around its tip, as it was at the slider.
import type {Instrument} from '../app/instrument';
import {gradientGauge, type Scatter} from '../widgets/scenes/gradient_gauge';
import type {Points} from '../wire/types';

const BEFORE = 16; // rings of earlier steps

function valueAt(points: Points | undefined, step: number): number | undefined {
  const at = points?.steps.indexOf(step) ?? -1;
  return at < 0 ? undefined : points?.values[at];
}

const gradientTests: Instrument = {
  id: 'gradient_tests',
  title: 'Gradient tests',
  place: 'gradients',
  order: 10,
  explain:
    'The mean gradient as an arrow of length 1, with the scatter of the batch around its tip: in all as a disc, ' +
    'along and across the arrow as bands; thin rings and marks are earlier steps. A disc that reaches back to the ' +
    'foot of the arrow says that a step is as much noise as signal, and that a larger batch would help.',
  reads: [{quantity: 'norm_test'}, {quantity: 'inner_test'}, {quantity: 'ortho_test'}],
  view(readings) {
    const norm = readings.number('norm_test');
    const along = readings.number('inner_test');
    const across = readings.number('ortho_test');
    const recorded = (norm ?? along ?? across)?.steps ?? new Float64Array();
    const steps = recorded.filter((step) => step <= readings.step);
    const last = steps[steps.length - 1] ?? recorded[0];
    if (last === undefined) return null;
    const scatter = (step: number): Scatter =>
      ({norm: valueAt(norm, step), along: valueAt(along, step), across: valueAt(across, step)});
    return gradientGauge({
      step: last,
      now: scatter(last),
      before: Array.from(steps.slice(0, -1).slice(-BEFORE), scatter),
      histories: [norm, along, across],
    });
  },
};
export default gradientTests;
