// SPDX-License-Identifier: MIT
// What the panel shows, in one line.
import type {Instrument} from '../app/instrument';

const skeleton: Instrument = {
  id: 'skeleton',
  title: 'Skeleton',
  place: 'more',
  explain: 'What it shows. How to read it.',
  reads: [{quantity: 'skeleton'}],
  view(readings) {
    const points = readings.number('skeleton');
    if (!points) return null;
    return {kind: 'lines', lines: [{label: 'skeleton', points}]};
  },
};
export default skeleton;
