// SPDX-License-Identifier: MIT
// Share of outputs at the bounds of their function.
import type {Instrument} from '../app/instrument';
import {manyLines} from '../widgets/line_parts';

const saturatedUnits: Instrument = {
  id: 'saturated_units',
  title: 'Saturated units',
  place: 'more',
  order: 90,
  explain:
    'Share of outputs of sigmoid, tanh and their like that sit at a bound, in all and by layer; of many layers ' +
    'the lowest, the middle and the highest. There the function is flat and gradients vanish; large shares near ' +
    'the inputs point at the scale of weights or data.',
  reads: [{quantity: 'saturated_units', fields: 'all'}],
  view(readings) {
    const series = readings.numbers('saturated_units').filter(({info}) => info.group === '');
    const lines = manyLines(series.map(({info, points}) => ({name: info.field, points})), 'all layers');
    return lines.length > 0 ? {kind: 'lines', lines, y: 'fraction saturated'} : null;
  },
};
export default saturatedUnits;
