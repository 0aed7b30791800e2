// SPDX-License-Identifier: MIT
// Signal-to-noise ratio of an average gradient entry.
import type {Instrument} from '../app/instrument';
import {logIfPositive} from '../widgets/line_parts';

const meanGsnr: Instrument = {
  id: 'mean_gsnr',
  title: 'Gradient signal to noise',
  place: 'more',
  order: 30,
  explain:
    'Squared mean over variance of the gradient entries across samples, averaged over all parameters. It falls as ' +
    'training proceeds; between runs, the one whose ratio stays higher tends to generalise better.',
  reads: [{quantity: 'mean_gsnr'}],
  view(readings) {
    const points = readings.number('mean_gsnr');
    if (!points) return null;
    const lines = [{label: 'mean ratio', points}];
    return {kind: 'lines', lines, y: 'signal to noise', scale: logIfPositive(lines)};
  },
};
export default meanGsnr;
