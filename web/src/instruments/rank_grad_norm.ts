// SPDX-License-Identifier: MIT
// Gradient norm by rank over the steps, of a run of several processes.
import type {Instrument} from '../app/instrument';
import {logIfWide} from '../widgets/line_parts';
import {MOST_RANKS, rankCount, rankLines, rankPoints} from '../widgets/rank_lines';

const rankGradNorm: Instrument = {
  id: 'rank_grad_norm',
  title: 'Gradient norm by rank',
  place: 'ranks',
  order: 20,
  explain:
    'Length of the mean gradient of each process before the gradients are averaged: median and range over the ranks. ' +
    'One rank far above the others has broken or odd samples; a band as wide as the median is noise of small batches.',
  reads: [{quantity: 'rank_grad_norm', groups: MOST_RANKS}],
  view(readings) {
    const ranks = rankPoints(readings.numbers('rank_grad_norm'));
    if (ranks.length === 0) return null;
    const lines = rankLines(ranks, rankCount(readings.run), 'gradient norm');
    return {kind: 'lines', lines, y: 'norm', scale: logIfWide(lines)};
  },
};
export default rankGradNorm;
