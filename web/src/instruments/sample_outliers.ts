// SPDX-License-Identifier: MIT
// Largest gradient of a sample over the median one.
import type {Instrument} from '../app/instrument';
import {logIfPositive} from '../widgets/line_parts';

const sampleOutliers: Instrument = {
  id: 'sample_outliers',
  title: 'Sample outliers',
  place: 'more',
  order: 60,
  explain:
    'Norm of the largest gradient of a single sample over the median of its batch. Ratios of ten and more are ' +
    'worth a look at the samples: wrong labels, broken inputs or classes that are hardly there.',
  reads: [{quantity: 'sample_outliers'}],
  view(readings) {
    const points = readings.number('sample_outliers');
    if (!points) return null;
    const lines = [{label: 'largest over median', points}];
    return {kind: 'lines', lines, guides: [{value: 10, label: 'look at them'}], y: 'ratio', scale: logIfPositive(lines)};
  },
};
export default sampleOutliers;
