// SPDX-License-Identifier: MIT
// Entries that are not finite, and shares near the bounds of the type.
import type {Instrument} from '../app/instrument';
import {type LinePart, recordedLines, rightAxis} from '../widgets/line_parts';

const PARTS: readonly LinePart[] = [
  ['finite', '', 'not finite'],
  ['finite', 'overflow_near', 'near overflow', 'right'],
  ['finite', 'underflow', 'underflow of gradients', 'right'],
];

const finite: Instrument = {
  id: 'finite',
  title: 'Finite numbers',
  place: 'more',
  order: 160,
  explain:
    'How many entries of activations and gradients are NaN or infinite, and on the right the shares that are ' +
    'near overflow or lost to underflow. One is too many, and a remark names the first; a share of underflow ' +
    'that grows asks for a larger loss scale.',
  reads: [{quantity: 'finite', fields: ['overflow_near', 'underflow']}],
  view(readings) {
    const lines = recordedLines(readings, PARTS);
    if (lines.length === 0) return null;
    return {kind: 'lines', lines, y: 'entries', ...rightAxis(lines, 'share')};
  },
};
export default finite;
