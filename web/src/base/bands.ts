// SPDX-License-Identifier: MIT
// Many curves as one: their middle and how far they spread, at the places where any of them has a value.
import {quantile} from './statistics';

export const BANDS = ['deviation', 'quartiles', 'range'] as const;
/** Mean with the standard deviation, median with the quartiles, mean with the smallest and the largest. */
export type Band = (typeof BANDS)[number];

export interface Curve {
  /** Ascending. */
  x: ArrayLike<number>;
  y: ArrayLike<number>;
}

export interface Summary {
  x: Float64Array;
  middle: Float64Array;
  low: Float64Array;
  high: Float64Array;
  /** Curves that have a value there. */
  counts: Float64Array;
  /** Values that are not finite and could not be counted in. */
  leftOut: number;
}

/** All places of the curves, or of very many an even selection with the last among them. */
function places(curves: readonly Curve[], most: number): Float64Array {
  const all = new Set<number>();
  for (const {x} of curves) for (let i = 0; i < x.length; ++i) if (Number.isFinite(x[i])) all.add(x[i] as number);
  const sorted = Float64Array.from(all).sort();
  if (sorted.length <= most) return sorted;
  return Float64Array.from({length: most}, (_, i) => sorted[Math.round((i * (sorted.length - 1)) / (most - 1))] as number);
}

/** The curve at ascending places: between its points by a straight line, NaN before its first and after its last. */
function sampled({x, y}: Curve, at: Float64Array): Float64Array {
  const result = new Float64Array(at.length).fill(NaN);
  let k = 0;
  for (let i = 0; i < at.length; ++i) {
    const place = at[i] as number;
    while (k + 1 < x.length && (x[k + 1] as number) <= place) ++k;
    const [x0, x1, y0, y1] = [x[k] as number, x[k + 1] as number, y[k] as number, y[k + 1] as number];
    if (x0 === place) result[i] = Number.isFinite(y0) ? y0 : NaN;
    else if (x0 < place && place < x1 && Number.isFinite(y0) && Number.isFinite(y1)) result[i] = y0 + ((place - x0) / (x1 - x0)) * (y1 - y0);
  }
  return result;
}

function spread(values: Float64Array, band: Band): [number, number, number] {
  if (values.length === 0) return [NaN, NaN, NaN];
  const sorted = values.sort();
  if (band === 'quartiles') return [quantile(sorted, 0.5), quantile(sorted, 0.25), quantile(sorted, 0.75)];
  const mean = sorted.reduce((sum, value) => sum + value, 0) / sorted.length;
  if (band === 'range') return [mean, sorted[0] as number, sorted[sorted.length - 1] as number];
  const variance = sorted.reduce((sum, value) => sum + (value - mean) ** 2, 0) / Math.max(1, sorted.length - 1);
  return [mean, mean - Math.sqrt(variance), mean + Math.sqrt(variance)];
}

/** At most `most` places. The deviation is that of a sample (n - 1); of one curve it is 0. */
export function summarise(curves: readonly Curve[], band: Band, most = 600): Summary {
  const x = places(curves, most);
  const sampledCurves = curves.map((curve) => sampled(curve, x));
  const summary: Summary = {x, middle: new Float64Array(x.length), low: new Float64Array(x.length), high: new Float64Array(x.length),
    counts: new Float64Array(x.length), leftOut: 0};
  for (const {y} of curves) for (let i = 0; i < y.length; ++i) if (!Number.isFinite(y[i])) ++summary.leftOut;
  for (let i = 0; i < x.length; ++i) {
    const values = Float64Array.from(sampledCurves, (curve) => curve[i] as number).filter((value) => !Number.isNaN(value));
    summary.counts[i] = values.length;
    [summary.middle[i], summary.low[i], summary.high[i]] = spread(values, band);
  }
  return summary;
}

export const BAND_WORDS: Record<Band, string> = {
  deviation: 'mean and standard deviation',
  quartiles: 'median and quartiles',
  range: 'mean, smallest and largest',
};
