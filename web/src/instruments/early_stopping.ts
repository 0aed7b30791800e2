// SPDX-License-Identifier: MIT
// Evidence that the gradient is only noise.
import type {Instrument} from '../app/instrument';

const earlyStopping: Instrument = {
  id: 'early_stopping',
  title: 'Early stopping',
  place: 'more',
  order: 20,
  explain:
    'How much smaller the gradient is than its own noise would make it, without any validation data. A curve that ' +
    'stays above 0 says that further steps fit the noise of the training data.',
  reads: [{quantity: 'early_stopping'}],
  view(readings) {
    const points = readings.number('early_stopping');
    if (!points) return null;
    return {kind: 'lines', lines: [{label: 'criterion', points}], guides: [{value: 0, label: 'stop above'}], y: 'criterion'};
  },
};
export default earlyStopping;
