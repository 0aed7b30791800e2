// SPDX-License-Identifier: MIT
// The part of a histogram that holds something. Axes are recorded before the data are known and are
// mostly far too wide.

export interface Bins {
  low: number;
  high: number;
  count: number;
}

export interface Cut extends Bins {
  /** Of the bins that are kept, in the histogram as it was recorded. */
  first: number;
}

/** Cuts are made at so many places, so that a range stays while a run is played. */
const PLACES = 16;

/** Without the empty bins at both ends, but one or a few of them; all of it where every bin is empty. */
export function cutBins({low, high, count}: Bins, isFilled: (bin: number) => boolean): Cut {
  let [first, last] = [0, count - 1];
  while (first < count && !isFilled(first)) ++first;
  while (last > first && !isFilled(last)) --last;
  if (first >= count) return {low, high, count, first: 0};
  const stride = Math.max(1, Math.round(count / PLACES));
  const from = Math.max(0, Math.floor((first - 1) / stride) * stride);
  const to = Math.min(count, Math.ceil((last + 2) / stride) * stride);
  const edge = (bin: number) => (bin === 0 ? low : bin === count ? high : low + ((high - low) * bin) / count);
  return {low: edge(from), high: edge(to), count: to - from, first: from};
}
