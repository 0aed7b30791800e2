// SPDX-License-Identifier: MIT
// What the curves of runs are drawn over: steps, epochs, samples, seconds or the time of day.

export const RUN_AXES = ['step', 'epoch', 'samples', 'seconds', 'time'] as const;
export type RunAxis = (typeof RUN_AXES)[number];

export const AXIS_LABELS: Record<RunAxis, string> = {
  step: 'Steps', epoch: 'Epochs', samples: 'Samples seen', seconds: 'Seconds since the start', time: 'Time of day',
};

/** What is said behind a number; undefined for steps, which need no word. */
export const AXIS_UNITS: Record<RunAxis, string | undefined> = {
  step: undefined, epoch: 'epochs', samples: 'samples', seconds: 'seconds', time: 'time',
};

export interface Placed {
  config: Readonly<Record<string, string>>;
  /** Seconds since 1970. */
  startTime: number;
  /** When some steps were recorded, in seconds since the start. */
  clock: {steps: ArrayLike<number>; seconds: ArrayLike<number>};
}

/** Where a step lies on the axis, or what is missing to know. */
export type Placing = {place(step: number): number; missing: ''} | {place: null; missing: string};

const positive = (config: Placed['config'], key: string): number | null => {
  const value = Object.hasOwn(config, key) ? Number(config[key]) : NaN;
  return value > 0 && Number.isFinite(value) ? value : null;
};

/** By a straight line between the recorded times, and on beyond the first and the last. */
export function secondsAt({steps, seconds}: Placed['clock'], step: number): number {
  let [low, high] = [0, steps.length - 1];
  if (high < 0) return NaN;
  if (high === 0) return seconds[0] as number;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if ((steps[middle] as number) <= step) low = middle;
    else high = middle;
  }
  const [s0, s1, t0, t1] = [steps[low], steps[high], seconds[low], seconds[high]] as [number, number, number, number];
  return s1 === s0 ? t0 : t0 + ((step - s0) / (s1 - s0)) * (t1 - t0);
}

export function placing(axis: RunAxis, run: Placed): Placing {
  if (axis === 'step') return {place: (step) => step, missing: ''};
  if (axis === 'epoch') {
    const each = positive(run.config, 'steps_per_epoch');
    return each === null ? {place: null, missing: 'the setting steps_per_epoch'} : {place: (step) => step / each, missing: ''};
  }
  if (axis === 'samples') {
    const each = positive(run.config, 'batch_size');
    return each === null ? {place: null, missing: 'the setting batch_size'} : {place: (step) => step * each, missing: ''};
  }
  if (run.clock.steps.length === 0) return {place: null, missing: 'recorded values'};
  const from = axis === 'time' ? run.startTime : 0;
  return {place: (step) => from + secondsAt(run.clock, step), missing: ''};
}

/** The steps, of ascending ones, whose places lie in a range of the axis, with a neighbour at both ends; null if none. */
export function stepsWithin(steps: ArrayLike<number>, place: (step: number) => number, first: number, last: number): {first: number; last: number} | null {
  let [from, to] = [-1, -1];
  for (let i = 0; i < steps.length; ++i) {
    const x = place(steps[i] as number);
    if (x <= first || from < 0) from = i;
    if (to < 0 && x >= last) to = i;
  }
  if (from < 0) return null;
  if (to < 0) to = steps.length - 1;
  return {first: steps[from] as number, last: steps[Math.max(from, to)] as number};
}
