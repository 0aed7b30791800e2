// SPDX-License-Identifier: MIT
// Gradient entries against the parameters they belong to.
import type {Instrument} from '../app/instrument';
import {jointHistogramScene} from '../widgets/scenes/joint_histogram';

const gradHist2d: Instrument = {
  id: 'grad_hist_2d',
  title: 'Gradient and parameter entries',
  place: 'gradients',
  order: 30,
  explain:
    'Entries of the gradients of single samples against the value of their parameter, colours and both sums on a ' +
    'log scale; what lies outside is counted in the outermost cells. It shows which weights the large gradients ' +
    'belong to: a vertical streak is a value that many parameters share, entries in the middle row alone are a ' +
    'part that does not learn.',
  reads: [{quantity: 'grad_hist_2d', frames: true}],
  view(readings) {
    const frame = readings.frame('grad_hist_2d');
    const [gradients, parameters] = frame?.axes ?? [];
    if (!frame || !gradients || !parameters) return null;
    return jointHistogramScene(frame, gradients, parameters, {rows: 'gradient entry', columns: 'parameter value'});
  },
};
export default gradHist2d;
