// SPDX-License-Identifier: MIT
// How far the parameters are from their start, and how fast they move.
import type {Instrument} from '../app/instrument';
import type {Line} from '../widgets/drawing';
import {logIfWide} from '../widgets/line_parts';

const distances: Instrument = {
  id: 'distances',
  title: 'Distances',
  place: 'step_size',
  order: 20,
  explain:
    'Length of the way from the initial parameters as the crow flies, and length of each single update. A ' +
    'distance that stands still while updates do not shrink means that training wanders about or jumps between ' +
    'walls.',
  reads: [{quantity: 'distance'}, {quantity: 'update_size'}],
  view(readings) {
    const distance = readings.number('distance');
    const update = readings.number('update_size');
    if (!distance && !update) return null;
    const lines: Line[] = [];
    if (distance) lines.push({label: 'distance from start', points: distance, color: 0});
    if (update) lines.push({label: 'update size', points: update, color: 1, side: distance ? 'right' : 'left'});
    return {kind: 'lines', lines, y: distance ? 'distance' : 'update size', ...(distance && update ? {yRight: 'update size'} : {}),
      scale: logIfWide(lines)};
  },
};
export default distances;
