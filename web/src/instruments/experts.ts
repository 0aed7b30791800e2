// SPDX-License-Identifier: MIT
// Load of the experts.
import type {Instrument} from '../app/instrument';
import {manyLines} from '../widgets/line_parts';

const experts: Instrument = {
  id: 'experts',
  title: 'Experts',
  place: 'more',
  order: 240,
  explain:
    'Largest load of an expert over an equal share, of each layer and of the worst; of many layers the ' +
    'lowest, the middle and the highest. A value of 1 is balance, and one that climbs towards the number of ' +
    'experts is a router that has collapsed.',
  reads: [{quantity: 'experts', fields: 'all'}],
  view(readings) {
    const mark = 'imbalance:';
    const series = readings.numbers('experts')
      .filter(({info}) => info.group === '' && (info.field === '' || info.field.startsWith(mark)));
    const lines = manyLines(series.map(({info, points}) => ({name: info.field.slice(mark.length), points})), 'all layers');
    return lines.length > 0 ? {kind: 'lines', lines, y: 'load over equal share'} : null;
  },
};
export default experts;
