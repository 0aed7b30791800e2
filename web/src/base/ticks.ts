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

/** Powers of ten in [low, high]; with 2 and 5 between them while there are few. */
export function logTicks(low: number, high: number, wanted: number): number[] {
  if (!(low > 0) || !(high > low)) return low > 0 ? [low] : [];
  const first = Math.floor(Math.log10(low) + 1e-9);
  const last = Math.ceil(Math.log10(high) - 1e-9);
  const decades = Math.log10(high / low);
  if (decades < 0.7) return linearTicks(low, high, wanted);
  const inner = decades <= wanted / 3 ? [1, 2, 5] : decades <= wanted / 2 ? [1, 3] : [1];
  const every = Math.max(1, Math.ceil(decades / wanted));
  const ticks: number[] = [];
  for (let decade = first; decade <= last; ++decade) {
    if (decade % every !== 0) continue;
    for (const factor of inner) {
      const tick = Number(`${factor}e${decade}`);
      if (tick >= low * (1 - 1e-9) && tick <= high * (1 + 1e-9)) ticks.push(tick);
    }
  }
  return ticks;
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

/** Letters that fit beside an axis. */
const LONGEST = 9;

/** Labels of one axis, no two the same: of ticks that lie close together, more digits or what each adds to the first. */
export function tickLabels(ticks: readonly number[]): string[] {
  const short = ticks.map(tickLabel);
  if (new Set(short).size === short.length) return short;
  const exact = ticks.map((tick) => String(tick).replace(/-/g, '−'));
  if (exact.every((label) => label.length <= LONGEST)) return exact;
  const first = ticks[0] as number;
  return ticks.map((tick, i) => (i === 0 ? short[0] as string : `+${tickLabel(Number((tick - first).toPrecision(3)))}`));
}
