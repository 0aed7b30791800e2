// SPDX-License-Identifier: MIT
// Trace of the Hessian over the steps.
import type {Instrument} from '../app/instrument';
import {logIfPositive} from '../widgets/line_parts';

const hessTrace: Instrument = {
  id: 'hess_trace',
  title: 'Trace of the Hessian',
  place: 'curvature',
  order: 20,
  explain:
    'Curvature of the loss summed over all directions. Beside the largest eigenvalue it tells a single gorge from ' +
    'a bowl that is steep all around; at equal loss a smaller trace means a flatter place.',
  reads: [{quantity: 'hess_trace'}],
  view(readings) {
    const points = readings.number('hess_trace');
    if (!points) return null;
    const lines = [{label: 'trace', points}];
    return {kind: 'lines', lines, y: 'trace', scale: logIfPositive(lines)};
  },
};
export default hessTrace;
