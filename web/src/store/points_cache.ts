// SPDX-License-Identifier: MIT
// How a series in memory grows: what came after it is appended, within bounds.
import type {Points} from '../wire/types';

/** Entries of a series that the page asks for at most. */
export const MAX_ENTRIES = 1000;
/** Entries of all series together; with many series each gets fewer. */
const MAX_ALL_ENTRIES = 600_000;
const MIN_ENTRIES = 60;

export function entriesEach(seriesCount: number): number {
  return Math.max(MIN_ENTRIES, Math.min(MAX_ENTRIES, Math.floor(MAX_ALL_ENTRIES / Math.max(1, seriesCount))));
}

function joined(before: ArrayLike<number>, keep: number, after: Float64Array): Float64Array {
  const result = new Float64Array(keep + after.length);
  for (let i = 0; i < keep; ++i) result[i] = before[i] as number;
  result.set(after, keep);
  return result;
}

/**
 * The series with a later part of it; null if it then has too many entries and is to be read again
 * as a whole. A step that both have is the later one's: its value may have been replaced.
 */
export function grown(known: Points, tail: Points, limit: number): Points | null {
  if (tail.steps.length === 0) return known;
  const from = tail.steps[0] as number;
  let keep = known.steps.length;
  while (keep > 0 && (known.steps[keep - 1] as number) >= from) --keep;
  if (keep + tail.steps.length > limit) return null;
  const reduced = known.reduced || tail.reduced;
  const bounds = (points: Points, column: 'low' | 'high') => (points.reduced ? points[column] : points.values);
  return {
    id: known.id,
    reduced,
    count: known.count - (known.steps.length - keep) + tail.count,
    steps: joined(known.steps, keep, tail.steps),
    values: joined(known.values, keep, tail.values),
    low: reduced ? joined(bounds(known, 'low'), keep, bounds(tail, 'low')) : new Float64Array(),
    high: reduced ? joined(bounds(known, 'high'), keep, bounds(tail, 'high')) : new Float64Array(),
  };
}

/** Where reading goes on: at the last step if it stands for itself, else behind it. -1: from the beginning. */
export function nextStep(known: Points | undefined): number {
  const last = known?.steps[known.steps.length - 1];
  if (!known || last === undefined) return -1;
  return known.reduced ? last + 1 : last;
}

/** Series by where reading them goes on, in at most `most` lists: those furthest behind share one. */
export function tails(ids: readonly number[], next: (id: number) => number, most = 6): Map<number, number[]> {
  const byStart = new Map<number, number[]>();
  for (const id of ids) byStart.set(next(id), [...(byStart.get(next(id)) ?? []), id]);
  const starts = [...byStart.keys()].sort((a, b) => b - a);
  if (starts.length <= most) return byStart;
  const result = new Map(starts.slice(0, most - 1).map((start) => [start, byStart.get(start) as number[]]));
  const rest = starts.slice(most - 1);
  result.set(rest[rest.length - 1] as number, rest.flatMap((start) => byStart.get(start) as number[]));
  return result;
}
