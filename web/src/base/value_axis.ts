// SPDX-License-Identifier: MIT
// An axis for any column of runs: numbers, on a logarithm where they span decades, or words in their order.
import {naturalOrder} from './natural_order';
import {fraction, scaleTicks, valueScale, type Scale} from './scale';
import {asNumber, type Cell} from './table';
import {tickLabels} from './ticks';

export interface ValueAxis {
  /** Words where some value is no number. */
  words: readonly string[] | null;
  isLog: boolean;
  /** A number, or the place of a word in their order; NaN if there is none to show. */
  number(cell: Cell): number;
  /** 0 at the low end, 1 at the high one; NaN if there is none to show. */
  place(cell: Cell): number;
  /** The inverse of place, as a number. */
  valueAt(place: number): number;
  ticks: {at: number; label: string}[];
}

const DECADES = 50;

/** `isLog`: whether a logarithm is wanted; by itself it is taken for positive numbers that span decades. */
export function valueAxis(cells: readonly Cell[], isLog?: boolean): ValueAxis {
  const present = cells.filter((cell): cell is number | string => cell !== undefined && cell !== '');
  if (present.some((cell) => asNumber(cell) === undefined)) return wordAxis([...new Set(present.map(String))].sort(naturalOrder));
  let [low, high] = [Infinity, -Infinity];
  for (const cell of present) {
    const value = asNumber(cell) as number;
    if (Number.isFinite(value)) [low, high] = [Math.min(low, value), Math.max(high, value)];
  }
  const takesLog = low > 0 && (isLog ?? high / low >= DECADES);
  const scale: Scale = valueScale(low, high, takesLog);
  const number = (cell: Cell) => {
    const value = asNumber(cell);
    return value !== undefined && Number.isFinite(value) ? value : NaN;
  };
  const ticks = scaleTicks(scale, 6);
  const labels = tickLabels(ticks);
  return {
    words: null, isLog: takesLog, number,
    place: (cell) => fraction(scale, number(cell)),
    valueAt: (place) => (takesLog ? scale.low * (scale.high / scale.low) ** place : scale.low + place * (scale.high - scale.low)),
    ticks: ticks.map((tick, i) => ({at: fraction(scale, tick), label: labels[i] as string})),
  };
}

function wordAxis(words: readonly string[]): ValueAxis {
  const order = new Map(words.map((word, i) => [word, i]));
  const place = (i: number) => (words.length === 1 ? 0.5 : 0.04 + (0.92 * i) / (words.length - 1));
  const number = (cell: Cell) => (cell === undefined ? NaN : order.get(String(cell)) ?? NaN);
  // Of very many words some are written; all have their place.
  const every = Math.ceil(words.length / 12);
  return {
    words, isLog: false, number, place: (cell) => place(number(cell)),
    valueAt: (at) => (words.length === 1 ? 0 : ((at - 0.04) / 0.92) * (words.length - 1)),
    ticks: words.map((label, i) => ({at: place(i), label})).filter((_, i) => i % every === 0),
  };
}
