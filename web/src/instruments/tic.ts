// SPDX-License-Identifier: MIT
// Takeuchi information criterion in both approximations.
import type {Instrument} from '../app/instrument';
import type {Line} from '../widgets/drawing';
import {logIfPositive} from '../widgets/line_parts';

const tic: Instrument = {
  id: 'tic',
  title: 'Takeuchi criterion',
  place: 'curvature',
  order: 30,
  explain:
    'Gradient noise over curvature, from the diagonal of the Hessian or from traces: near a minimum an estimate ' +
    'of the gap between training and test loss. Compare runs rather than reading one number, and expect wild or ' +
    'negative values where curvature is close to 0.',
  reads: [{quantity: 'tic_diag'}, {quantity: 'tic_trace'}],
  view(readings) {
    const diag = readings.number('tic_diag');
    const trace = readings.number('tic_trace');
    const lines: Line[] = [];
    if (diag) lines.push({label: 'by diagonal', points: diag, color: 0});
    if (trace) lines.push({label: 'by traces', points: trace, color: 1, side: diag ? 'right' : 'left'});
    if (lines.length === 0) return null;
    return {kind: 'lines', lines, y: diag ? 'by diagonal' : 'by traces', ...(diag && trace ? {yRight: 'by traces'} : {}),
      scale: logIfPositive(lines)};
  },
};
export default tic;
