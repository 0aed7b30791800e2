// SPDX-License-Identifier: MIT
// Gradient entries against the parameters they belong to, all layers in one picture.
import type {Instrument} from '../app/instrument';
import {cutTogether} from '../widgets/cut_frame';
import {layeredJointScene, type Layer} from '../widgets/scenes/layered_joint';
import type {Axis, Frame} from '../wire/types';

const LAYERS = 8; // as many as there are colours

const gradHist2dLayers: Instrument = {
  id: 'grad_hist_2d_layers',
  title: 'Gradients and parameters by layer',
  place: 'more',
  order: 31,
  explain:
    'Entries of the gradients of single samples against the value of their parameter, one colour for each of up to eight ' +
    'layers spread over the model; a cell belongs to the layer with the largest share of its own entries there, and is the ' +
    'stronger the larger that share. Clouds of the same shape are layers that learn alike, a flat one is a layer that stands still.',
  reads: [{quantity: 'grad_hist_2d', groups: LAYERS, frames: true}],
  view(readings) {
    const layers: Layer[] = readings.frames('grad_hist_2d')
      .filter(({info, frame}) => info.group !== '' && frame.axes.length === 2)
      .map(({info, frame}) => ({name: info.group, frame}));
    const first = layers[0];
    if (!first || layers.length < 2) return null;
    const [gradients, parameters] = first.frame.axes as [Axis, Axis];
    // Layers that were recorded with other bins do not fit into the picture.
    const same = (axis: Axis | undefined, other: Axis) =>
      axis?.low === other.low && axis.high === other.high && axis.count === other.count;
    const fitting = layers.filter(({frame}) => same(frame.axes[0], gradients) && same(frame.axes[1], parameters));
    const shown = cutTogether(fitting.map(({frame}) => frame));
    const [rows, columns] = (shown[0] as Frame).axes as [Axis, Axis];
    return layeredJointScene(fitting.map(({name}, k) => ({name, frame: shown[k] as Frame})), rows, columns,
      {rows: 'gradient entry', columns: 'parameter value'});
  },
};
export default gradHist2dLayers;
