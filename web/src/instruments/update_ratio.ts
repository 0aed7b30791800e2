// SPDX-License-Identifier: MIT
// Size of the update beside the size of the parameters.
import type {Instrument} from '../app/instrument';
import {manyLines} from '../widgets/line_parts';

const updateRatio: Instrument = {
  id: 'update_ratio',
  title: 'Update ratio',
  place: 'more',
  order: 70,
  explain:
    'Length of each update over the length of the parameters it changes, as a power of ten, in all and by group; ' +
    'of many groups twelve, evenly spread (the Layers tab has all). About −3 is usual: at −1 a layer is rewritten ' +
    'within ten steps, below −5 it stands still.',
  reads: [{quantity: 'update_ratio', groups: 12}],
  view(readings) {
    const series = readings.numbers('update_ratio').filter(({info}) => info.field === '');
    const whole = series.length > 1 ? 'whole model' : 'update ratio';
    const lines = manyLines(series.map(({info, points}) => ({name: info.group, points})), whole);
    if (lines.length === 0) return null;
    return {kind: 'lines', lines, guides: [{value: -3, label: 'usual'}], y: 'log10 of update / size'};
  },
};
export default updateRatio;
