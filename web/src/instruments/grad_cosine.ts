// SPDX-License-Identifier: MIT
// How far the gradients of two samples agree.
import type {Instrument} from '../app/instrument';

const gradCosine: Instrument = {
  id: 'grad_cosine',
  title: 'Agreement of samples',
  place: 'more',
  order: 50,
  explain:
    'Mean cosine of the angle between the gradients of two samples of a batch. Near 1 the samples pull the same ' +
    'way, near 0 they are unrelated, below 0 they undo each other; a sudden rise often means that one feature ' +
    'drives them all.',
  reads: [{quantity: 'grad_cosine'}],
  view(readings) {
    const points = readings.number('grad_cosine');
    if (!points) return null;
    return {kind: 'lines', lines: [{label: 'mean cosine', points}], guides: [{value: 0, label: 'unrelated'}], y: 'cosine'};
  },
};
export default gradCosine;
