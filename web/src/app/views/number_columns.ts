// SPDX-License-Identifier: MIT
// Which columns of the table of runs can be axes, and which are of use first.
import {asNumber} from '../../base/table';
import type {RunSummary} from '../../wire/types';
import {allColumns, type Column, FIRST_VALUES, tellingSettings} from './run_table';

const SCORES = ['valid_accuracy', 'valid_loss', 'test_accuracy', 'test_loss', 'train_loss', 'loss'];
/** Settings that name the run or tell what was watched, not how it was trained. */
const NO_AXES = ['config:tracked', 'config:data', 'config:steps_taken', 'config:diverged_at', 'name'];
const MOST_WORDS = 30;

interface Kind {
  column: Column;
  isNumber: boolean;
  /** Different values. */
  kinds: number;
}

function kindsOf(runs: readonly RunSummary[]): Kind[] {
  return allColumns(runs).filter(({id}) => !NO_AXES.includes(id)).map((column) => {
    const cells = new Set(runs.map((run) => column.cell(run)).filter((cell) => cell !== undefined && cell !== ''));
    return {column, kinds: cells.size, isNumber: cells.size > 0 && [...cells].every((cell) => asNumber(cell) !== undefined)};
  });
}

export interface AxisChoice {
  /** Columns of numbers. */
  numbers: Column[];
  /** Columns of numbers, and of words if there are few. */
  axes: Column[];
  /** The usual axes of parallel coordinates. */
  usual: string[];
  /** The usual axes of a scatter plot. */
  across: string;
  up: string;
}

export function axisChoice(runs: readonly RunSummary[]): AxisChoice {
  const kinds = kindsOf(runs);
  const numbers = kinds.filter(({isNumber}) => isNumber).map(({column}) => column);
  const axes = kinds.filter(({isNumber, kinds: count}) => isNumber || (count > 0 && count <= MOST_WORDS)).map(({column}) => column);
  const isSetting = (id: string) => id.startsWith('config:');
  const differing = kinds.filter(({column: {id}, isNumber, kinds: count}) => isSetting(id) && count > 1 && (isNumber || count <= MOST_WORDS));
  const telling = tellingSettings(differing.map(({column}) => column.label)).map((label) => `config:${label}`);
  // The learning rate is what is asked about first.
  const settings = telling.sort((a, b) => Number(b === 'config:learning_rate') - Number(a === 'config:learning_rate')).slice(0, 5);
  const ids = new Set(numbers.map(({id}) => id));
  const scores = SCORES.map((name) => `value:${name}`).filter((id) => ids.has(id));
  const values = FIRST_VALUES.map((name) => `value:${name}`).filter((id) => ids.has(id));
  const across = settings.find((id) => ids.has(id)) ?? (ids.has('step') ? 'step' : numbers[0]?.id ?? '');
  const up = scores[0] ?? numbers.find(({id}) => id.startsWith('value:'))?.id ?? numbers.find(({id}) => id !== across)?.id ?? '';
  return {numbers, axes, usual: [...settings, ...(scores.length > 0 ? scores.slice(0, 3) : values.slice(0, 3))], across, up};
}
