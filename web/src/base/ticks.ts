// SPDX-License-Identifier: MIT
// Where an axis is marked and how the marks are labelled; live charts and exported pictures share it.
import {formatNumber} from './format';

/** Round numbers in [low, high], about `wanted` of them. */
export function linearTicks(low: number, high: number, wanted: number): number[] {
  const span = high - low;
  if (!(span > 0) || !Number.isFinite(span)) return Number.isFinite(low) ? [low] : [];
  const raw = span / Math.max(1, wanted);
  const magnitude = 10 ** Math.floor(Math.log10(raw));
  const digit = raw / magnitude;
  // The limits are the geometric means of the neighbours.
  const step = magnitude * (digit >= Math.sqrt(50) ? 10 : digit >= Math.sqrt(10) ? 5 : digit >= Math.SQRT2 ? 2 : 1);
  const ticks: number[] = [];
  const begin = Math.ceil(low / step - 1e-9);
  for (let i = begin; i * step <= high + 1e-9 * span && ticks.length < 100; ++i) {
    ticks.push(Number((i * step).toPrecision(14)));
  }
  return ticks;
}

/** Digits at which a decade is marked, from many to few. */
const MARKED = [[1, 2, 3, 4, 5, 6, 7, 8, 9], [1, 2, 3, 5, 7], [1, 2, 5], [1, 3], [1]] as const;

/** Powers of ten in [low, high], about `wanted` of them; with others between them while there are few. */
export function logTicks(low: number, high: number, wanted: number): number[] {
  if (!(low > 0) || !(high > low)) return low > 0 ? [low] : [];
  const first = Math.floor(Math.log10(low) + 1e-9);
  const last = Math.ceil(Math.log10(high) - 1e-9);
  const decades = Math.log10(high) - Math.log10(low);
  if (decades < 0.7) return someTicks(low, high, wanted);
  const room = Math.max(3, 1.2 * wanted);
  const every = Math.max(1, Math.ceil(decades / wanted));
  let ticks: number[] = [];
  for (const digits of MARKED) {
    // Not worth looking at: a decade has more of them than all may be.
    if (decades * digits.length > 2 * room && digits.length > 1) continue;
    ticks = [];
    for (let decade = first; decade <= last; ++decade) {
      if (digits.length === 1 && decade % every !== 0) continue;
      for (const digit of digits) {
        const tick = Number(`${digit}e${decade}`);
        if (tick >= low * (1 - 1e-9) && tick <= high * (1 + 1e-9)) ticks.push(tick);
      }
    }
    if (ticks.length <= room) break;
  }
  return ticks;
}

/** Linear ticks, three at least where that can be. */
function someTicks(low: number, high: number, wanted: number): number[] {
  for (const more of [1, 1.5, 2]) {
    const ticks = linearTicks(low, high, more * wanted);
    if (ticks.length >= 3) return ticks;
  }
  return linearTicks(low, high, 3 * wanted);
}

const SUFFIXES: readonly [number, string][] = [[1e9, 'G'], [1e6, 'M'], [1e3, 'k']];

/** Short: 20k, 1.5M, 1e−5. */
export function tickLabel(value: number): string {
  const size = Math.abs(value);
  for (const [unit, suffix] of SUFFIXES) {
    if (size >= Math.max(unit, 1e4) && size < 1e12) return formatNumber(Number((value / unit).toPrecision(6))) + suffix;
  }
  if (size >= 1e12 || (size > 0 && size < 1e-3)) {
    const [digits = '', exponent = ''] = value.toExponential(3).split('e');
    return `${Number(digits)}e${exponent.replace('+', '')}`.replace(/-/g, '−');
  }
  return formatNumber(Number(value.toPrecision(6)));
}

/** Letters that fit beside an axis, and those of a decimal that is still read at a glance. */
const LONGEST = 9;
const PLAIN = 7;

const minus = (text: string) => text.replace(/-/g, '−');

function withPower(value: number): string {
  if (value === 0) return '0';
  const [digits = '', exponent = ''] = value.toExponential(3).split('e');
  return minus(`${Number(digits)}e${exponent.replace('+', '')}`);
}

/** In thousands, millions or billions: of each by itself where they differ by more than a thousand. */
function withSuffix(ticks: readonly number[], least: number, most: number): string[] {
  const unitOf = (size: number) => SUFFIXES.find(([unit]) => size >= unit) ?? ([1, ''] as const);
  const common = least >= most / 1000 ? unitOf(most) : null;
  return ticks.map((tick) => {
    const [unit, suffix] = common ?? unitOf(Math.abs(tick));
    return tick === 0 ? '0' : formatNumber(Number((tick / unit).toPrecision(6))) + suffix;
  });
}

/** All in one notation: as decimals, with suffixes or with powers of ten. */
function inOneNotation(ticks: readonly number[]): string[] {
  const sizes = ticks.map(Math.abs).filter((size) => size > 0);
  const [least, most] = [Math.min(...sizes), Math.max(...sizes)];
  const plain = ticks.map((tick) => minus(String(Number(tick.toPrecision(6)))));
  const isNarrow = least >= 1e-3 || most < 100 * least;
  if (sizes.length === 0 || (most < 1e4 && isNarrow && plain.every((label) => label.length <= PLAIN))) return plain;
  if (most >= 1e4 && most < 1e12 && least >= 1) return withSuffix(ticks, least, most);
  return ticks.map(withPower);
}

/** Labels of one axis, no two the same: of ticks that lie close together, more digits or what each adds to the first. */
export function tickLabels(ticks: readonly number[]): string[] {
  const short = inOneNotation(ticks);
  if (new Set(short).size === short.length) return short;
  const exact = ticks.map((tick) => minus(String(tick)));
  if (exact.every((label) => label.length <= LONGEST)) return exact;
  const first = ticks[0] as number;
  return ticks.map((tick, i) => (i === 0 ? tickLabel(first) : `+${tickLabel(Number((tick - first).toPrecision(3)))}`));
}
