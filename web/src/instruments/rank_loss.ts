// SPDX-License-Identifier: MIT
// Loss by rank over the steps, of a run of several processes.
import type {Instrument} from '../app/instrument';
import {logIfWide} from '../widgets/line_parts';
import {MOST_RANKS, rankCount, rankLines, rankPoints} from '../widgets/rank_lines';

const rankLoss: Instrument = {
  id: 'rank_loss',
  title: 'Loss by rank',
  place: 'ranks',
  order: 10,
  explain:
    'Mean loss of the samples of each process: the median over the ranks, with a band from the smallest to the largest. ' +
    'A wide band, or a rank that stays above the others, means that the ranks see different data; the legend shows them one by one.',
  reads: [{quantity: 'rank_loss', groups: MOST_RANKS}],
  view(readings) {
    const ranks = rankPoints(readings.numbers('rank_loss'));
    if (ranks.length === 0) return null;
    const lines = rankLines(ranks, rankCount(readings.run), 'loss');
    return {kind: 'lines', lines, y: 'loss', scale: logIfWide(lines)};
  },
};
export default rankLoss;
