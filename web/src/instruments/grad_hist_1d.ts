// SPDX-License-Identifier: MIT
// Entries of all individual gradients at the slider's step.
import type {Instrument} from '../app/instrument';
import {cutFrame} from '../widgets/cut_frame';
import {histogramScene} from '../widgets/scenes/histogram';

const gradHist1d: Instrument = {
  id: 'grad_hist_1d',
  title: 'Gradient entries',
  place: 'gradients',
  order: 20,
  explain:
    'How often each size occurs among the entries of the gradients of single samples, counts on a log scale over the range ' +
    'that has any; what was outside the recorded range stands apart at the ends. A lone peak at 0 tells of vanishing gradients, a lopsided ' +
    'or far-spread shape of inputs that are scaled wrongly.',
  reads: [{quantity: 'grad_hist_1d', frames: true}],
  view(readings) {
    const frame = readings.frame('grad_hist_1d');
    const shown = frame?.axes[0] && cutFrame(frame);
    return shown?.axes[0] ? histogramScene(shown, shown.axes[0], 'gradient entry') : null;
  },
};
export default gradHist1d;
