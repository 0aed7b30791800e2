// SPDX-License-Identifier: MIT
// Processes of one run: values that each of them has, as one band, and who of them is late. Their series are groups
// named `rank 0`, `rank 1`, ... (docs/wire_format.md).
import {median} from './statistics';

export interface RankCurve {
  rank: number;
  /** Ascending. */
  steps: ArrayLike<number>;
  values: ArrayLike<number>;
}

/** The number of a group `rank 3`; -1 of any other. */
export function rankOf(group: string): number {
  const found = /^rank (\d+)$/.exec(group);
  return found ? Number(found[1]) : -1;
}

export interface RankBand {
  steps: Float64Array;
  middle: Float64Array;
  low: Float64Array;
  high: Float64Array;
  /** Ranks with the smallest and the largest value at each step; -1 where none has one. */
  lowRank: Int32Array;
  highRank: Int32Array;
  /** Ranks that have a value there, finite or not. */
  counts: Int32Array;
}

/** Finite values of all ranks by step. */
function byStep(curves: readonly RankCurve[]): Map<number, {ranks: number[]; values: number[]; count: number}> {
  const found = new Map<number, {ranks: number[]; values: number[]; count: number}>();
  for (const {rank, steps, values} of curves) {
    for (let i = 0; i < steps.length; ++i) {
      const [step, value] = [steps[i] as number, values[i] as number];
      const here = found.get(step) ?? {ranks: [], values: [], count: 0};
      found.set(step, here);
      ++here.count;
      if (!Number.isFinite(value)) continue;
      here.ranks.push(rank);
      here.values.push(value);
    }
  }
  return new Map([...found].sort(([a], [b]) => a - b));
}

/** Median, smallest and largest over the ranks at each step; NaN where no rank has a finite value. */
export function bandOfRanks(curves: readonly RankCurve[]): RankBand {
  const all = [...byStep(curves)];
  const band: RankBand = {steps: Float64Array.from(all, ([step]) => step), middle: new Float64Array(all.length), low: new Float64Array(all.length),
    high: new Float64Array(all.length), lowRank: new Int32Array(all.length), highRank: new Int32Array(all.length), counts: new Int32Array(all.length)};
  all.forEach(([, {ranks, values, count}], i) => {
    let [low, high] = [0, 0];
    values.forEach((value, k) => {
      if (value < (values[low] as number)) low = k;
      if (value > (values[high] as number)) high = k;
    });
    band.middle[i] = values.length > 0 ? median(values) : NaN;
    [band.low[i], band.high[i]] = [values[low] ?? NaN, values[high] ?? NaN];
    [band.lowRank[i], band.highRank[i]] = [ranks[low] ?? -1, ranks[high] ?? -1];
    band.counts[i] = count;
  });
  return band;
}

/** Ranks that are farthest from the median over all steps, the farthest first; one with a value that is not finite before all. */
export function farthestRanks(curves: readonly RankCurve[], band: RankBand): number[] {
  const rows = new Map(Array.from(band.steps, (step, i) => [step, i]));
  const distances = curves.map(({rank, steps, values}) => {
    let [sum, count] = [0, 0];
    for (let i = 0; i < steps.length; ++i) {
      const distance = Math.abs((values[i] as number) - (band.middle[rows.get(steps[i] as number) as number] as number));
      if (!Number.isFinite(values[i])) sum = Infinity;
      else if (Number.isFinite(distance)) sum += distance;
      ++count;
    }
    return {rank, distance: count > 0 ? sum / count : 0};
  });
  return distances.sort((a, b) => b.distance - a.distance || a.rank - b.rank).map(({rank}) => rank);
}

export interface Lateness {
  rank: number;
  steps: Float64Array;
  /** Seconds behind the median of the ranks at each step; negative: before it. */
  behind: Float64Array;
  /** Their median. */
  usual: number;
  /** Share of the steps in which it is the last. */
  lastShare: number;
}

/** How late each rank is, of the seconds that it takes; the latest first. Needs two ranks. */
export function latenessOf(curves: readonly RankCurve[]): Lateness[] {
  const band = bandOfRanks(curves);
  const rows = new Map(Array.from(band.steps, (step, i) => [step, i]));
  const comparable = Array.from(band.counts).filter((count) => count > 1).length;
  const found = curves.map(({rank, steps, values}): Lateness => {
    const at = Array.from(steps, (_, i) => i).filter((i) => (band.counts[rows.get(steps[i] as number) as number] as number) > 1);
    const behind = Float64Array.from(at, (i) => (values[i] as number) - (band.middle[rows.get(steps[i] as number) as number] as number));
    const last = Array.from(band.highRank).filter((highest, i) => highest === rank && (band.counts[i] as number) > 1).length;
    return {rank, steps: Float64Array.from(at, (i) => steps[i] as number), behind, usual: median(behind.filter(Number.isFinite)),
      lastShare: comparable > 0 ? last / comparable : 0};
  });
  const usual = ({usual: value}: Lateness) => (Number.isFinite(value) ? value : -Infinity);
  return found.filter(({steps}) => steps.length > 0).sort((a, b) => usual(b) - usual(a) || b.lastShare - a.lastShare || a.rank - b.rank);
}

/** 0.0123 as +12.3 ms. */
export function latenessText(seconds: number): string {
  if (!Number.isFinite(seconds)) return '';
  const size = Math.abs(seconds);
  const [value, unit] = size >= 1 ? [size, 's'] : size >= 1e-3 ? [1e3 * size, 'ms'] : [1e6 * size, 'µs'];
  return `${seconds < 0 ? '−' : '+'}${Number(value.toPrecision(3))} ${unit}`;
}
