// SPDX-License-Identifier: MIT
// Sorting and filtering of tables whose cells are numbers, text or missing.
import {naturalOrder} from './natural_order';

export type Cell = number | string | undefined;

export type Direction = 'up' | 'down';

/** Text that is a number counts as one: configurations are all text. */
export function asNumber(cell: Cell): number | undefined {
  if (typeof cell === 'number') return cell;
  if (cell === undefined || cell.trim() === '') return undefined;
  if (/^[-+]?nan$/i.test(cell)) return NaN;
  const value = Number(cell);
  return Number.isNaN(value) ? undefined : value;
}

const isMissing = (cell: Cell) => cell === undefined || cell === '';

/** Numbers, then text, then not-a-numbers, then what is missing: the last two whichever the direction. */
export function compareCells(a: Cell, b: Cell, direction: Direction = 'up'): number {
  const sign = direction === 'up' ? 1 : -1;
  const last = (cell: Cell) => (isMissing(cell) ? 2 : Number.isNaN(asNumber(cell)) ? 1 : 0);
  const rank = last(a) - last(b);
  if (rank !== 0) return rank;
  if (last(a) > 0) return 0;
  const x = asNumber(a);
  const y = asNumber(b);
  if (x !== undefined && y !== undefined) return sign * (x < y ? -1 : x > y ? 1 : 0);
  if (x !== undefined) return -sign;
  if (y !== undefined) return sign;
  return sign * naturalOrder(String(a), String(b));
}

/** A sorted copy; equal rows stay in their order. */
export function sortRows<T>(rows: readonly T[], cellOf: (row: T) => Cell, direction: Direction): T[] {
  const keyed = rows.map((row) => ({row, cell: cellOf(row)}));
  keyed.sort((a, b) => compareCells(a.cell, b.cell, direction));
  return keyed.map((entry) => entry.row);
}

type Operator = '>' | '<' | '>=' | '<=' | '=' | '!=';

export type Term =
  | {kind: 'word'; text: string; isWanted: boolean}
  | {kind: 'condition'; key: string; operator: Operator; value: string};

/** Words and conditions, all of which must hold: `adam -momentum learning_rate>=0.01 "two words"`. */
export function parseFilter(text: string): Term[] {
  const terms: Term[] = [];
  for (const part of text.match(/(?:"[^"]*"?|[^\s"])+/g) ?? []) {
    const isQuoted = part.startsWith('"');
    const condition = isQuoted ? null : /^([^<>=!]+)(>=|<=|!=|>|<|=)(.*)$/.exec(part);
    const plain = (quoted: string) => quoted.replaceAll('"', '');
    if (condition) {
      const [, key, operator, value] = condition;
      // Half a condition, while it is typed, keeps every row.
      if (plain(value as string) === '') continue;
      terms.push({kind: 'condition', key: plain(key as string).toLowerCase(), operator: operator as Operator, value: plain(value as string)});
    } else {
      const isWanted = isQuoted || !(part.startsWith('-') && part.length > 1);
      const word = plain(isWanted ? part : part.slice(1)).toLowerCase();
      if (word !== '') terms.push({kind: 'word', text: word, isWanted});
    }
  }
  return terms;
}

function holds(operator: Operator, cell: Cell, value: string): boolean {
  if (isMissing(cell)) return operator === '!=';
  const x = asNumber(cell);
  const y = asNumber(value);
  if (x !== undefined && y !== undefined) {
    switch (operator) {
      case '>': return x > y;
      case '<': return x < y;
      case '>=': return x >= y;
      case '<=': return x <= y;
      case '=': return x === y || (Number.isNaN(x) && Number.isNaN(y));
      case '!=': return x !== y && !(Number.isNaN(x) && Number.isNaN(y));
    }
  }
  const order = naturalOrder(String(cell), value);
  switch (operator) {
    case '=': return order === 0;
    case '!=': return order !== 0;
    // A number is neither above nor below a word.
    case '>': return x === undefined && order > 0;
    case '<': return x === undefined && order < 0;
    case '>=': return x === undefined && order >= 0;
    case '<=': return x === undefined && order <= 0;
  }
}

/** Whether a row passes. `texts`: all that can be searched for words; `cell`: by key in lower case. */
export function passes(terms: readonly Term[], texts: () => string, cell: (key: string) => Cell): boolean {
  let searched: string | undefined;
  return terms.every((term) => {
    if (term.kind === 'condition') return holds(term.operator, cell(term.key), term.value);
    searched ??= texts().toLowerCase();
    return searched.includes(term.text) === term.isWanted;
  });
}
