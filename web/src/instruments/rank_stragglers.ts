// SPDX-License-Identifier: MIT
// Which process the others wait for: how far each is behind the median of all, over the steps.
import type {Instrument} from '../app/instrument';
import {latenessOf, latenessText} from '../base/ranks';
import {MOST_RANKS, rankPoints} from '../widgets/rank_lines';
import {heatMap} from '../widgets/scenes/heat_map';

/** Rows that are shown: those that are late most. */
const ROWS = 16;

const rankStragglers: Instrument = {
  id: 'rank_stragglers',
  title: 'Stragglers',
  place: 'ranks',
  order: 40,
  explain:
    'How many seconds each process is behind the median of all at each step, outside of the backward pass; the latest rank comes first. ' +
    'A row that is orange all along is a slow machine, orange spots that wander are a shared disk or network.',
  reads: [{quantity: 'rank_time', groups: MOST_RANKS}],
  view(readings) {
    const ranks = rankPoints(readings.numbers('rank_time'));
    const late = latenessOf(ranks.map(({rank, points}) => ({rank, steps: points.steps, values: points.values})));
    const [first] = late;
    if (late.length < 2 || !first) return null;
    const none = new Float64Array();
    const rows = late.slice(0, ROWS).map(({rank, steps, behind, usual}) => ({label: `rank ${rank} ${latenessText(usual)}`.trim(),
      points: [{id: rank, reduced: false, count: steps.length, steps, values: behind, low: none, high: none}]}));
    const share = Math.round(100 * first.lastShare);
    const map = heatMap({rows, title: 'Seconds behind the median of the ranks', scale: 'diverging', note: `rank ${first.rank} is last in ${share} % of steps`});
    return {...map, words: `${map.words}. Rank ${first.rank} is the latest, ${latenessText(first.usual)} at the median and last in ${share} % of the steps.`};
  },
};
export default rankStragglers;
