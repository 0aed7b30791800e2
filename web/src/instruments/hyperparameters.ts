// SPDX-License-Identifier: MIT
// Learning rate and other hyperparameters that were logged.
import type {Instrument} from '../app/instrument';
import type {Line} from '../widgets/drawing';
import {HYPERPARAMETERS} from '../wire/logged_numbers';
import {logIfPositive} from '../widgets/line_parts';

const hyperparameters: Instrument = {
  id: 'hyperparameters',
  title: 'Hyperparameters',
  place: 'hyperparameters',
  order: 10,
  explain:
    'The learning rate and whatever else of the optimizer was logged, as it was at each step. Hold it against the ' +
    'panels above: a change there that coincides with one here was made, not found.',
  reads: HYPERPARAMETERS.map((quantity) => ({quantity})),
  view(readings) {
    const lines: Line[] = [];
    for (const name of HYPERPARAMETERS) {
      const points = readings.number(name);
      if (!points) continue;
      lines.push({label: name.replace(/_/g, ' '), points, exact: true, side: lines.length === 0 ? 'left' : 'right'});
    }
    const [first, ...others] = lines;
    if (!first) return null;
    return {kind: 'lines', lines, y: first.label, ...(others.length > 0 ? {yRight: others.map(({label}) => label).join(', ')} : {}),
      scale: others.length > 1 ? logIfPositive(lines) : 'linear'};
  },
};
export default hyperparameters;
