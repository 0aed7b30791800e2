// SPDX-License-Identifier: MIT
// Extreme eigenvalues of the Hessian over the steps.
import type {Instrument} from '../app/instrument';
import type {Line} from '../widgets/drawing';
import {logIfPositive, unconverged} from '../widgets/line_parts';

const NAMES = [['hess_max_ev', 'largest'], ['hess_min_ev', 'smallest']] as const;

const hessMaxEv: Instrument = {
  id: 'hess_max_ev',
  title: 'Extreme eigenvalues',
  place: 'curvature',
  order: 10,
  explain:
    'Curvature of the loss along its sharpest direction and, if recorded, along the one that bends down most; ' +
    'dots mark values that did not converge, where the true one is further out. Plain gradient descent becomes ' +
    'unstable where the learning rate exceeds two over the largest, and a clearly negative smallest one is a way ' +
    'down that the gradient does not show.',
  reads: [
    {quantity: 'hess_max_ev', fields: ['converged']},
    {quantity: 'hess_min_ev', fields: ['converged']},
  ],
  view(readings) {
    const lines: Line[] = [];
    const doubtful: Line[] = [];
    for (const [color, [quantity, label]] of NAMES.entries()) {
      const points = readings.number(quantity);
      if (!points) continue;
      lines.push({label, points, color});
      const marked = unconverged(points, readings.number(quantity, 'converged'));
      if (marked.steps.length > 0) doubtful.push({label: `${label}, not converged`, points: marked, color: 4, dots: true});
    }
    if (lines.length === 0) return null;
    const guides = lines.length > 1 ? [{value: 0, label: ''}] : [];
    return {kind: 'lines', lines: [...lines, ...doubtful], guides, y: 'eigenvalue', scale: logIfPositive(lines)};
  },
};
export default hessMaxEv;
