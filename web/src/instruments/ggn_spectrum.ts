// SPDX-License-Identifier: MIT
// Largest eigenvalues of the GGN with their signal-to-noise ratios at the slider's step.
import type {Instrument} from '../app/instrument';
import {stemScene} from '../widgets/scenes/stems';

const ggnSpectrum: Instrument = {
  id: 'ggn_spectrum',
  title: 'Gauss-Newton spectrum',
  place: 'more',
  order: 75,
  explain:
    'The largest eigenvalues of the Gauss-Newton matrix, and below them the signal-to-noise ratio of slope and ' +
    'curvature along their directions. A few stems far above the others carry the curvature; where a dot lies ' +
    'below 1, this batch cannot tell which way to go along that direction.',
  reads: [{quantity: 'ggn_spectrum', fields: ['eigenvalues', 'slope_snr', 'curvature_snr'], frames: true}],
  view(readings) {
    const eigenvalues = readings.frame('ggn_spectrum', 'eigenvalues');
    if (!eigenvalues) return null;
    return stemScene({
      step: eigenvalues.step,
      name: 'eigenvalue',
      values: eigenvalues.list,
      ratios: [
        {label: 'slope', values: readings.frame('ggn_spectrum', 'slope_snr')?.list ?? []},
        {label: 'curvature', values: readings.frame('ggn_spectrum', 'curvature_snr')?.list ?? []},
      ],
    });
  },
};
export default ggnSpectrum;
