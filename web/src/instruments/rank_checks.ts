// SPDX-License-Identifier: MIT
// Whether the processes of a run are what they are to be: equal in parameters, different in data and random numbers.
import type {Instrument} from '../app/instrument';
import {type LinePart, recordedLines} from '../widgets/line_parts';

const PARTS: readonly LinePart[] = [
  ['rank_drift', '', 'other parameters'],
  ['rank_twins', '', 'equal data'],
  ['rank_streams', '', 'equal random numbers'],
  ['rank_overlap', '', 'samples of several ranks'],
];

const rankChecks: Instrument = {
  id: 'rank_checks',
  title: 'Ranks that differ or repeat',
  place: 'more',
  order: 420,
  explain:
    'How many ranks have other parameters than the first, the same samples as another, or the same random numbers as another, ' +
    'and how many samples several ranks have at the same step. Other parameters mean that replicas drift apart, equal samples that the data set is not divided among the ranks.',
  reads: [{quantity: 'rank_drift'}, {quantity: 'rank_twins'}, {quantity: 'rank_streams'}, {quantity: 'rank_overlap'}],
  view(readings) {
    const lines = recordedLines(readings, PARTS).map((line) => ({...line, exact: true}));
    return lines.length === 0 ? null : {kind: 'lines', lines, y: 'ranks'};
  },
};
export default rankChecks;
