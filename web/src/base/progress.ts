// SPDX-License-Identifier: MIT
// How far a run is and how long it still takes, from what its record says.

export interface Clock {
  /** Ascending. */
  steps: ArrayLike<number>;
  /** Since the run began. */
  seconds: ArrayLike<number>;
}

export interface Progress {
  /** Steps that were taken, of so many. */
  done: number;
  total: number;
  /** Seconds until the last step at the pace of late; NaN if there is no telling. */
  left: number;
}

/** The part of a run that its pace is taken from: the last half, where it is warm. */
const LATE = 0.5;
/** A gap this many times the usual one is a pause, in which the run was interrupted. */
const PAUSE = 20;

function medianOf(values: number[]): number {
  return values.sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? NaN;
}

/** Seconds of a step lately, pauses left out; NaN before two steps are known. */
export function secondsPerStep({steps, seconds}: Clock): number {
  const paces: {steps: number; seconds: number}[] = [];
  for (let i = Math.max(1, Math.floor(steps.length * LATE)); i < steps.length; ++i) {
    const taken = {steps: (steps[i] as number) - (steps[i - 1] as number), seconds: (seconds[i] as number) - (seconds[i - 1] as number)};
    // A clock that was set back tells nothing.
    if (taken.steps > 0 && taken.seconds >= 0) paces.push(taken);
  }
  const usual = medianOf(paces.map((pace) => pace.seconds / pace.steps));
  const kept = paces.filter((pace) => pace.seconds / pace.steps <= PAUSE * Math.max(usual, 1e-9));
  return kept.reduce((sum, pace) => sum + pace.seconds, 0) / kept.reduce((sum, pace) => sum + pace.steps, 0);
}

/** Steps that the run is to take, if it says so. */
export function plannedSteps(config: Readonly<Record<string, string>>): number | null {
  const told = Number(config['steps'] ?? config['total_steps'] ?? config['max_steps'] ?? NaN);
  return Number.isInteger(told) && told > 0 ? told : null;
}

/** Null if the run does not say how many steps it takes, or has taken more. */
export function progressOf(config: Readonly<Record<string, string>>, lastStep: number, clock: Clock): Progress | null {
  const total = plannedSteps(config);
  const done = lastStep + 1;
  if (total === null || done > total) return null;
  return {done, total, left: (total - done) * secondsPerStep(clock)};
}
