// SPDX-License-Identifier: MIT
// Seconds that a step takes.
import type {Instrument} from '../app/instrument';
import {rates} from '../base/statistics';
import type {Points} from '../wire/types';

/** At each step the mean since the one before it; none where the clock was set back. */
function secondsPerStep({id, steps, values}: Points): Points {
  const seconds = rates(steps, values).map((value) => (value < 0 ? NaN : value));
  return {id, reduced: false, count: seconds.length, steps: steps.slice(1), values: seconds,
    low: new Float64Array(), high: new Float64Array()};
}

const time: Instrument = {
  id: 'time',
  title: 'Time per step',
  place: 'more',
  order: 110,
  explain:
    'Seconds from one recorded step to the next, divided by the steps between them. Regular peaks are evaluations ' +
    'or costly quantities that fall due; a slow rise asks for a look at the machine or at memory.',
  reads: [{quantity: 'time'}],
  view(readings) {
    const points = readings.number('time');
    if (!points || points.steps.length === 0) return null;
    return {kind: 'lines', lines: [{label: 'seconds per step', points: secondsPerStep(points)}], y: 'seconds'};
  },
};
export default time;
