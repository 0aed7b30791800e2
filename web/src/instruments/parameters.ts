// SPDX-License-Identifier: MIT
// Size of the parameters.
import type {Instrument} from '../app/instrument';
import type {Line} from '../widgets/drawing';

const FIELDS = ['mean', 'deviation', 'abs_max'];

const parameters: Instrument = {
  id: 'parameters',
  title: 'Parameters',
  place: 'more',
  order: 100,
  explain:
    'Length of all parameters taken as one vector, and mean, deviation and largest magnitude of their entries on ' +
    'the right. A norm that grows without end beside a falling loss usually means that nothing holds the scale; a ' +
    'single huge entry shows in the largest magnitude first.',
  reads: [{quantity: 'parameters', fields: FIELDS}],
  view(readings) {
    const points = readings.number('parameters');
    if (!points) return null;
    const lines: Line[] = [{label: 'norm', points, color: 0}];
    for (const [i, field] of FIELDS.entries()) {
      const part = readings.number('parameters', field);
      if (part) lines.push({label: field.replace('_', ' '), points: part, color: i + 1, side: 'right', dash: [4, 3]});
    }
    return {kind: 'lines', lines, y: 'norm', ...(lines.length > 1 ? {yRight: 'entries'} : {})};
  },
};
export default parameters;
