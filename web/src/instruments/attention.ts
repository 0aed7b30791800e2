// SPDX-License-Identifier: MIT
// Entropy of attention by layer, and its largest score.
import type {Instrument} from '../app/instrument';
import {type LinePart, manyLines, recordedLines, rightAxis} from '../widgets/line_parts';

const SCORES: readonly LinePart[] = [
  ['attention', 'largest', 'largest score', 'right'],
  ['attention', 'at_least', 'largest score, at least', 'right'],
  ['attention', 'at_most', 'largest score, at most', 'right'],
];

const attention: Instrument = {
  id: 'attention',
  title: 'Attention',
  place: 'more',
  order: 230,
  explain:
    'Mean entropy of the weights of attention in nats, of each layer and of all (of many layers the lowest, ' +
    'the middle and the highest), and on the right the largest score or its bounds, as far as they are known. ' +
    'The logarithm of the number of keys is attention to everything, a fall to 0 is a head that sees one key ' +
    'alone, and scores beyond 50 are lost in low precision.',
  reads: [{quantity: 'attention', fields: 'all'}],
  view(readings) {
    const mark = 'entropy:';
    const series = readings.numbers('attention')
      .filter(({info}) => info.group === '' && (info.field === '' || info.field.startsWith(mark)));
    const layers = manyLines(series.map(({info, points}) => ({name: info.field.slice(mark.length), points})), 'all layers');
    const lines = [...layers, ...recordedLines(readings, SCORES)];
    return lines.length > 0 ? {kind: 'lines', lines, y: 'nats', ...rightAxis(lines, 'score')} : null;
  },
};
export default attention;
