// SPDX-License-Identifier: MIT
// Seconds of a step by process: what each takes by itself, and the backward pass, in which it waits for the others.
import type {Instrument} from '../app/instrument';
import {logIfWide} from '../widgets/line_parts';
import {MOST_RANKS, rankCount, rankLines, rankPoints} from '../widgets/rank_lines';

const rankTime: Instrument = {
  id: 'rank_time',
  title: 'Time of a step by rank',
  place: 'ranks',
  order: 30,
  explain:
    'Seconds that each process takes outside of the backward pass, and in it: median and range over the ranks. ' +
    'In the backward pass ranks wait for one another, so a slow one shows by a high line outside and a low one within.',
  reads: [{quantity: 'rank_time', fields: ['backward'], groups: MOST_RANKS}],
  view(readings) {
    const all = readings.numbers('rank_time');
    const [own, backward] = [rankPoints(all), rankPoints(all, 'backward')];
    const count = rankCount(readings.run);
    // Single ranks of what they do by themselves: there a slow one is seen.
    const lines = [...(own.length > 0 ? rankLines(own, count, 'outside') : []),
      ...(backward.length > 0 ? rankLines(backward, count, 'backward', 3).slice(0, 1) : [])];
    return lines.length === 0 ? null : {kind: 'lines', lines, y: 'seconds', scale: logIfWide(lines)};
  },
};
export default rankTime;
