// SPDX-License-Identifier: MIT
// What was done to a training on the way, as its record tells it: by steps, in words.
import {formatNumber, formatStep} from './format';

export interface Intervention {
  step: number;
  /** "learning rate times 0.5". */
  text: string;
}

/** The quantity whose fields are kinds of interventions. */
export const INTERVENTIONS = 'interventions';

const WORDS: Record<string, (value: number) => string> = {
  rate_factor: (value) => `learning rate at ${formatNumber(value)} times its schedule`,
  clip_norm: (value) => `gradients clipped at ${formatNumber(value)}`,
  skipped: () => 'update skipped',
  restored: (value) => `state of step ${formatStep(value)} restored`,
  checkpoint: () => 'checkpoint kept',
  stopped: () => 'stopped',
  ranks: (value) => `goes on with ${formatNumber(value)} ${value === 1 ? 'rank' : 'ranks'}`,
};

export interface FieldPoints {
  field: string;
  steps: ArrayLike<number>;
  values: ArrayLike<number>;
}

/** All of them, by step. */
export function interventionsOf(fields: readonly FieldPoints[]): Intervention[] {
  const all = fields.flatMap(({field, steps, values}) => Array.from(steps, (step, i): Intervention => {
    const value = values[i] as number;
    return {step, text: WORDS[field]?.(value) ?? `${field.replace(/_/g, ' ')} ${formatNumber(value)}`.trim()};
  }));
  return all.sort((a, b) => a.step - b.step);
}
