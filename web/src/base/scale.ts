// SPDX-License-Identifier: MIT
// Axes: what part of the numbers they show, and where on them a number lies.
import {linearTicks, logTicks} from './ticks';

/** Where step 0 is drawn if the axis of steps is logarithmic: at its left edge, before step 1. */
export const ZERO_ON_LOG = 0.8;

/** A step as drawn on the axis of steps. */
export function placedStep(step: number, isLog: boolean): number {
  return isLog && step < 1 ? ZERO_ON_LOG : step;
}

export interface Scale {
  low: number;
  high: number;
  isLog: boolean;
}

/** 0 at the low end, 1 at the high one; NaN for what a logarithm does not have. */
export function fraction(scale: Scale, value: number): number {
  const span = scale.isLog ? Math.log(scale.high / scale.low) : scale.high - scale.low;
  const offset = scale.isLog ? (value > 0 ? Math.log(value / scale.low) : NaN) : value - scale.low;
  return offset / span;
}

/** The axis of steps from first to last. */
export function stepScale(first: number, last: number, isLog: boolean): Scale {
  const low = placedStep(first, isLog);
  const high = placedStep(last, isLog);
  return {low, high: high > low ? high : isLog ? low * 2 : low + 1, isLog};
}

/** The axis of values that lie in [low, high]; with some air, and never of no height. */
export function valueScale(low: number, high: number, isLog: boolean): Scale {
  if (isLog) {
    if (!(low > 0) || !Number.isFinite(high)) return {low: 0.1, high: 1, isLog};
    if (high / low < 1.02) return {low: low / 1.5, high: high * 1.5, isLog};
    const air = (high / low) ** 0.06;
    return {low: low / air, high: high * air, isLog};
  }
  if (!Number.isFinite(low) || !Number.isFinite(high)) return {low: 0, high: 1, isLog};
  if (high - low <= 1e-12 * Math.max(Math.abs(low), Math.abs(high))) {
    const half = Math.abs(low) > 0 ? 0.1 * Math.abs(low) : 1;
    return {low: low - half, high: high + half, isLog};
  }
  const air = 0.06 * (high - low);
  // Zero as a natural end stays the end: losses and norms do not go below it.
  return {low: low >= 0 && low < air ? 0 : low - air, high: high <= 0 && -high < air ? 0 : high + air, isLog};
}

export function scaleTicks(scale: Scale, wanted: number): number[] {
  return (scale.isLog ? logTicks : linearTicks)(scale.low, scale.high, wanted);
}

/** Ticks of the axis of steps: whole numbers only. */
export function stepTicks(scale: Scale, wanted: number): number[] {
  const ticks = scaleTicks(scale, wanted).filter(Number.isInteger);
  return scale.isLog && scale.low === ZERO_ON_LOG && !ticks.includes(1) ? [1, ...ticks] : ticks;
}
