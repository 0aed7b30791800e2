// SPDX-License-Identifier: MIT
// Entropy of attention by layer.
import type {Instrument} from '../app/instrument';
import {manyLines} from '../widgets/line_parts';

const attention: Instrument = {
  id: 'attention',
  title: 'Attention',
  place: 'more',
  order: 230,
  explain:
    'Mean entropy of the weights of attention in nats, of each layer and of all; of many layers the lowest, ' +
    'the middle and the highest. The logarithm of the number of keys is attention to everything, and a fall ' +
    'to 0 is a head that sees one key alone.',
  reads: [{quantity: 'attention', fields: 'all'}],
  view(readings) {
    const mark = 'entropy:';
    const series = readings.numbers('attention')
      .filter(({info}) => info.group === '' && (info.field === '' || info.field.startsWith(mark)));
    const lines = manyLines(series.map(({info, points}) => ({name: info.field.slice(mark.length), points})), 'all layers');
    return lines.length > 0 ? {kind: 'lines', lines, y: 'nats'} : null;
  },
};
export default attention;
