// SPDX-License-Identifier: MIT
// Exponential moving average, as the smoothing control asks for.

/** The largest setting of the control. */
export const MAX_SMOOTHING = 0.99;

/**
 * Mean of the values so far, each weighing `factor` times the one after it; divided by the sum of
 * the weights, so that the first values are not pulled towards 0. Values that are not finite are
 * left out of the mean and stay what they are.
 */
export function smoothed(values: ArrayLike<number>, factor: number): Float64Array {
  const result = new Float64Array(values.length);
  let sum = 0;
  let weight = 0;
  for (let i = 0; i < values.length; ++i) {
    const value = values[i] as number;
    if (!Number.isFinite(value)) {
      result[i] = value;
      continue;
    }
    sum = factor * sum + (1 - factor) * value;
    weight = factor * weight + (1 - factor);
    result[i] = sum / weight;
  }
  return result;
}
