// SPDX-License-Identifier: MIT
// Histograms over different ranges on one axis.

export interface Binned {
  low: number;
  high: number;
  counts: ArrayLike<number>;
}

/** From the first bin that holds anything to the last, of all of them; null if none does. */
export function usedRange(histograms: readonly Binned[]): {low: number; high: number} | null {
  let [low, high] = [Infinity, -Infinity];
  for (const {low: from, high: to, counts} of histograms) {
    const width = (to - from) / counts.length;
    for (let i = 0; i < counts.length; ++i) {
      if (!((counts[i] as number) > 0)) continue;
      low = Math.min(low, from + i * width);
      high = Math.max(high, from + (i + 1) * width);
    }
  }
  return high > low ? {low, high} : null;
}

/** Counts in `bins` bins over [low, high]: those of a bin are spread evenly over what it covers. */
export function rebinned(histogram: Binned, low: number, high: number, bins: number): Float64Array {
  const result = new Float64Array(bins);
  const [from, to] = [(histogram.high - histogram.low) / histogram.counts.length, (high - low) / bins];
  for (let i = 0; i < histogram.counts.length; ++i) {
    const count = histogram.counts[i] as number;
    if (!(count > 0)) continue;
    const begin = (histogram.low + i * from - low) / to;
    const end = begin + from / to;
    for (let bin = Math.max(0, Math.floor(begin)); bin < Math.min(bins, Math.ceil(end)); ++bin) {
      const share = (Math.min(end, bin + 1) - Math.max(begin, bin)) / (end - begin);
      if (share > 0) result[bin] = (result[bin] as number) + count * share;
    }
  }
  return result;
}
