// SPDX-License-Identifier: MIT
// What a diagnosis says, as people read it.
import {formatNumber, formatStep} from './format';

export function percent(share: number): string {
  const rounded = Math.round(100 * share);
  // Nothing is certain, and what is listed is not impossible.
  if (rounded >= 100) return 'over 99 %';
  return rounded <= 0 ? 'under 1 %' : `${rounded} %`;
}

/** How much a piece of evidence weighs, of the log of how much more often it is seen with a cause. */
export function strength(weight: number): string {
  const times = Math.exp(Math.abs(weight));
  if (!Number.isFinite(times)) return '';
  const rounded = times >= 9.5 ? String(Math.round(times)) : formatNumber(Number(times.toPrecision(2)));
  return weight >= 0 ? `${rounded} times as often as in healthy runs` : `${rounded} times as rare as in healthy runs`;
}

/** "conv1, conv2 and 3 more". */
export function listed(names: readonly string[], most: number): string {
  const shown = names.slice(0, most).join(', ');
  return names.length > most ? `${shown} and ${names.length - most} more` : shown;
}

export function samplesText(samples: ArrayLike<number>, arePositions: boolean): string {
  const names = Array.from(samples, formatStep);
  return `${arePositions ? 'positions in the batch' : 'samples'} ${listed(names, 8)}`;
}
