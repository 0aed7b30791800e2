// SPDX-License-Identifier: MIT
// Share of relu units that never fire.
import type {Instrument} from '../app/instrument';
import {manyLines} from '../widgets/line_parts';

const deadUnits: Instrument = {
  id: 'dead_units',
  title: 'Dead units',
  place: 'more',
  order: 80,
  explain:
    'Share of relu units that are 0 for the whole batch, in all and by layer; of many layers the lowest, the ' +
    'middle and the highest. Such units pass no gradient on: a share that grows and stays is capacity lost, ' +
    'mostly to a learning rate that was too large once.',
  reads: [{quantity: 'dead_units', fields: 'all'}],
  view(readings) {
    const series = readings.numbers('dead_units').filter(({info}) => info.group === '');
    const lines = manyLines(series.map(({info, points}) => ({name: info.field, points})), 'all layers');
    return lines.length > 0 ? {kind: 'lines', lines, y: 'fraction dead'} : null;
  },
};
export default deadUnits;
