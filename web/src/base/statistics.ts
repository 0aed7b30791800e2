// SPDX-License-Identifier: MIT
// Numbers about numbers: quantiles, counts in bins, smoothed distributions, marginals, rates.

/** Those that are neither NaN nor infinite, in order. */
export function finite(values: ArrayLike<number>): Float64Array {
  return Float64Array.from(values).filter((value) => Number.isFinite(value));
}

/** Of ascending values, interpolated between neighbours; NaN of none. */
export function quantile(sorted: ArrayLike<number>, fraction: number): number {
  if (sorted.length === 0) return NaN;
  const place = Math.min(1, Math.max(0, fraction)) * (sorted.length - 1);
  const below = Math.floor(place);
  const low = sorted[below] as number;
  const high = sorted[Math.min(below + 1, sorted.length - 1)] as number;
  return low === high || place === below ? low : low + (place - below) * (high - low);
}

/** Of the values that are not NaN; infinities count as the extremes they are. */
export function median(values: ArrayLike<number>): number {
  return quantile(Float64Array.from(values).filter((value) => !Number.isNaN(value)).sort(), 0.5);
}

/** The last of them: this fraction of their number, at least one if there is any. */
export function lastPart<T extends {length: number; slice(start: number): T}>(values: T, fraction: number): T {
  return values.slice(values.length - Math.min(values.length, Math.ceil(fraction * values.length - 1e-9)));
}

export interface Counted {
  counts: Float64Array;
  below: number;
  above: number;
  notANumber: number;
}

/** Bins of equal width over [low, high]; `high` itself belongs to the last. */
export function countInBins(values: ArrayLike<number>, low: number, high: number, bins: number): Counted {
  const counted = {counts: new Float64Array(bins), below: 0, above: 0, notANumber: 0};
  for (let i = 0; i < values.length; ++i) {
    const value = values[i] as number;
    if (Number.isNaN(value)) ++counted.notANumber;
    else if (value < low) ++counted.below;
    else if (value > high) ++counted.above;
    else ++(counted.counts[Math.min(bins - 1, Math.floor(((value - low) / (high - low)) * bins))] as number);
  }
  return counted;
}

/** Silverman's width for a Gaussian kernel; 0 if the values are all the same. */
export function kernelWidth(values: ArrayLike<number>): number {
  const sorted = finite(values).sort();
  if (sorted.length < 2) return 0;
  const mean = sorted.reduce((sum, value) => sum + value, 0) / sorted.length;
  const variance = sorted.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (sorted.length - 1);
  const spread = (quantile(sorted, 0.75) - quantile(sorted, 0.25)) / 1.349;
  const deviation = Math.sqrt(variance);
  return 0.9 * (spread > 0 ? Math.min(deviation, spread) : deviation) * sorted.length ** -0.2;
}

/**
 * Smoothed distribution at the centres of `bins` bins over [low, high], of mass 1 if all values lie
 * well inside. Counts first and smooths the counts, so that a million values cost no more than a
 * few; hence the kernel is no narrower than a bin.
 */
export function density(values: ArrayLike<number>, low: number, high: number, bins: number, width: number): Float64Array {
  const total = finite(values).length;
  const smoothed = new Float64Array(bins);
  if (total === 0) return smoothed;
  const {counts} = countInBins(values, low, high, bins);
  const cell = (high - low) / bins;
  const kernel = Math.max(width, cell) / cell;
  const weights = Float64Array.from({length: bins}, (_, i) => Math.exp(-0.5 * (i / kernel) ** 2));
  const factor = 1 / (total * kernel * cell * Math.sqrt(2 * Math.PI));
  for (let from = 0; from < bins; ++from) {
    const count = counts[from] as number;
    if (count === 0) continue;
    for (let to = 0; to < bins; ++to) {
      smoothed[to] = (smoothed[to] as number) + factor * count * (weights[Math.abs(to - from)] as number);
    }
  }
  return smoothed;
}

/** Where a count stands between none and the most on a logarithmic scale, (0, 1]; NaN for none. */
export function logFraction(count: number, most: number): number {
  return count > 0 ? Math.log1p(count) / Math.log1p(Math.max(count, most)) : NaN;
}

/** Sums over each row and each column of a table that is stored row by row. */
export function marginals(counts: ArrayLike<number>, rows: number, columns: number) {
  const sums = {rows: new Float64Array(rows), columns: new Float64Array(columns)};
  for (let i = 0; i < rows * columns; ++i) {
    const count = counts[i] ?? 0;
    const row = Math.floor(i / columns);
    sums.rows[row] = (sums.rows[row] as number) + count;
    sums.columns[i % columns] = (sums.columns[i % columns] as number) + count;
  }
  return sums;
}

/** Change per unit of x between neighbours; one entry less than there are values. */
export function rates(x: ArrayLike<number>, y: ArrayLike<number>): Float64Array {
  return Float64Array.from({length: Math.max(0, Math.min(x.length, y.length) - 1)}, (_, i) =>
    ((y[i + 1] as number) - (y[i] as number)) / ((x[i + 1] as number) - (x[i] as number)));
}

/** The largest that is finite; `otherwise` if none is. */
export function largest(values: ArrayLike<number>, otherwise: number): number {
  let found = -Infinity;
  for (let i = 0; i < values.length; ++i) {
    const value = values[i] as number;
    if (Number.isFinite(value) && value > found) found = value;
  }
  return found === -Infinity ? otherwise : found;
}

/** The smallest that is finite; `otherwise` if none is. */
export function smallest(values: ArrayLike<number>, otherwise: number): number {
  return -largest(Float64Array.from(values, (value) => -value), -otherwise);
}
