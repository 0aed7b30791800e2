// SPDX-License-Identifier: MIT
// The range of values that runs without a divergence have: one that diverged must not flatten the others.

export interface ValueRange {
  low: number;
  high: number;
}

/** What lies so many times the range beyond it is only marked. */
const MARGIN = 1;

/** The limits are said below the chart: two digits do. */
const told = (value: number) => Number(value.toPrecision(2));

/**
 * From the runs whose values are all finite, with some room, if there are others too; undefined where every run is
 * sound or none is. On a logarithmic axis the room is counted there.
 */
export function soundRange(runs: readonly ArrayLike<number>[], isLog: boolean): ValueRange | undefined {
  const isSound = (values: ArrayLike<number>) => Array.prototype.every.call(values, Number.isFinite);
  const sound = runs.filter(isSound);
  if (sound.length === 0 || sound.length === runs.length) return undefined;
  let [low, high] = [Infinity, -Infinity];
  for (const values of sound) {
    for (let i = 0; i < values.length; ++i) {
      const value = values[i] as number;
      if (isLog && value <= 0) continue;
      [low, high] = [Math.min(low, value), Math.max(high, value)];
    }
  }
  if (!(high >= low)) return undefined;
  if (isLog) {
    const room = Math.max(high / low, 2) ** MARGIN;
    return {low: told(low / room), high: told(high * room)};
  }
  const room = MARGIN * (high - low || Math.abs(high) || 1);
  return {low: told(low - room), high: told(high + room)};
}
