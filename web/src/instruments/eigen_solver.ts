// SPDX-License-Identifier: MIT
// What the eigenvalues cost, and how exact they are.
import type {Instrument} from '../app/instrument';
import type {Line} from '../widgets/drawing';

const ENDS = [['hess_max_ev', 'largest'], ['hess_min_ev', 'smallest']] as const;
const FIELDS = [['products', 'left'], ['iterations', 'left'], ['residual', 'right']] as const;

const eigenSolver: Instrument = {
  id: 'eigen_solver',
  title: 'Eigenvalue solver',
  place: 'more',
  order: 120,
  explain:
    'How many products with the matrix and iterations the extreme eigenvalues took, and the residual that was ' +
    'left. Products at their limit with a residual that stays large mean that the eigenvalue is not to be ' +
    'trusted; few products mean that the start from the last step works.',
  reads: [
    {quantity: 'hess_max_ev', fields: ['products', 'iterations', 'residual']},
    {quantity: 'hess_min_ev', fields: ['products', 'iterations', 'residual']},
  ],
  view(readings) {
    const lines: Line[] = [];
    for (const [i, [quantity, end]] of ENDS.entries()) {
      for (const [j, [field, side]] of FIELDS.entries()) {
        const points = readings.number(quantity, field);
        if (points) lines.push({label: `${field} (${end})`, points, color: j, side, exact: true, ...(i > 0 ? {dash: [4, 3]} : {})});
      }
    }
    if (lines.length === 0) return null;
    return {kind: 'lines', lines, y: 'count', yRight: 'residual'};
  },
};
export default eigenSolver;
