// SPDX-License-Identifier: MIT
// Gradient entries against the parameters they belong to.
import type {Instrument} from '../app/instrument';
import {cutFrame} from '../widgets/cut_frame';
import {jointHistogramScene} from '../widgets/scenes/joint_histogram';
import type {Axis} from '../wire/types';

const gradHist2d: Instrument = {
  id: 'grad_hist_2d',
  title: 'Gradient and parameter entries',
  place: 'gradients',
  order: 30,
  explain:
    'Entries of the gradients of single samples against the value of their parameter, colours and both sums on a ' +
    'log scale, where there are any; what was outside the recorded range is in its outermost cells. It shows which weights the large gradients ' +
    'belong to: a vertical streak is a value that many parameters share, entries in the middle row alone are a ' +
    'part that does not learn.',
  reads: [{quantity: 'grad_hist_2d', frames: true}],
  view(readings) {
    const frame = readings.frame('grad_hist_2d');
    if (frame?.axes.length !== 2) return null;
    const shown = cutFrame(frame);
    const [gradients, parameters] = shown.axes as [Axis, Axis];
    return jointHistogramScene(shown, gradients, parameters, {rows: 'gradient entry', columns: 'parameter value'});
  },
};
export default gradHist2d;
