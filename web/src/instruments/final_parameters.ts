// SPDX-License-Identifier: MIT
// What the parameters are at the end of a run, layer by layer.
import type {Instrument} from '../app/instrument';
import {layeredHistograms} from '../widgets/scenes/layered_histograms';

const LAYERS = 8; // as many as there are colours

const finalParameters: Instrument = {
  id: 'final_parameters',
  title: 'Final parameters',
  place: 'more',
  order: 102,
  explain:
    'Entries of the parameters that the run ended with, as shares of each of up to eight layers spread over the model, on a ' +
    'log scale. A layer whose entries all stand near 0 may be superfluous, long tails or a lone far entry are what rounding and ' +
    'compression will hurt first.',
  reads: [{quantity: 'final_parameters', groups: LAYERS, frames: true}],
  view(readings) {
    const all = readings.frames('final_parameters').filter(({frame}) => frame.axes.length === 1);
    const layers = all.filter(({info}) => info.group !== '');
    const shown = layers.length > 0 ? layers : all;
    if (shown.length === 0) return null;
    return layeredHistograms(shown.map(({info, frame}) => ({name: info.group || 'all', frame})), 'parameter value');
  },
};
export default finalParameters;
