// SPDX-License-Identifier: MIT
// Which panels would be nothing but level lines, and what those say.
import type {Drawing, LinesDrawing} from '../widgets/drawing';
import type {Points} from '../wire/types';
import type {Instrument} from './instrument';

/** Values until one that is not measured but set, and one that is measured, is believed to be constant. */
export const LEAST = {hyperparameters: 1, more: 5} as const;

/** One finite value all the time. */
export function isFlat({values, low, high, reduced}: Points): boolean {
  const first = values[0];
  const same = (value: number) => value === first;
  return first !== undefined && Number.isFinite(first) && values.every(same) && (!reduced || (low.every(same) && high.every(same)));
}

/** Whether a panel would be nothing but level lines. The instruments of the papers have their panel whatever they show. */
export function isConstant({place}: Pick<Instrument, 'place'>, drawing: Drawing | Error | null | 'nothing'): drawing is LinesDrawing {
  if (place !== 'hyperparameters' && place !== 'more') return false;
  if (drawing === null || drawing === 'nothing' || drawing instanceof Error || drawing.kind !== 'lines') return false;
  return drawing.lines.length > 0 && drawing.lines.every(({points}) => points.values.length >= LEAST[place] && isFlat(points));
}

export interface Constant {
  label: string;
  value: number;
}

/** Names and values; lines of one value are told once, under the name of the panel. */
export function constantsIn({title}: Pick<Instrument, 'title'>, {lines}: LinesDrawing): Constant[] {
  const all = lines.map(({label, points}) => ({label, value: points.values[0] as number}));
  const [first, ...others] = all;
  if (first && others.length > 0 && others.every(({value}) => value === first.value)) return [{label: title.toLowerCase(), value: first.value}];
  return all;
}
