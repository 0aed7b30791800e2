// SPDX-License-Identifier: MIT
// The colour of a run: made of what the run is, so that no choice, filter, view or visit changes it.
// Runs of one colour that are shown together are told apart by dashes.

export interface Identified {
  id: string;
  /** Seconds since 1970; 0 if not known. */
  start_time: number;
}

export interface RunStyle {
  /** Index into the palette's colours of runs. */
  color: number;
  /** Empty for a solid line. */
  dash: readonly number[];
}

/** Colours of runs; widgets/palette.ts has as many in both themes. */
export const RUN_COLORS = 10;
const DASHES: readonly (readonly number[])[] = [[], [7, 3], [2, 2], [9, 3, 2, 3], [14, 4], [4, 2, 1, 2], [1, 5], [12, 2, 2, 2, 2, 2]];

/** FNV-1a with a last mix: neighbouring texts get unlike numbers. */
function hash(text: string): number {
  let h = 0x811c9dc5;
  for (let i = 0; i < text.length; ++i) h = Math.imul(h ^ text.charCodeAt(i), 0x01000193);
  h = Math.imul(h ^ (h >>> 16), 0x45d9f3b);
  h = Math.imul(h ^ (h >>> 16), 0x45d9f3b);
  return (h ^ (h >>> 16)) >>> 0;
}

/** When it began is the run's own: a folder may be renamed, moved, or served from further up. */
export function colorOf({id, start_time}: Identified): number {
  return hash(start_time > 0 ? start_time.toFixed(6) : id) % RUN_COLORS;
}

/** Styles of runs that are shown together, by id. Of those with one colour the first to begin is solid. */
export function runStyles(runs: readonly Identified[]): Map<string, RunStyle> {
  const ordered = [...runs].sort((a, b) => a.start_time - b.start_time || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0));
  const used = new Map<number, number>();
  return new Map(ordered.map((run) => {
    const color = colorOf(run);
    const before = used.get(color) ?? 0;
    used.set(color, before + 1);
    return [run.id, {color, dash: DASHES[before % DASHES.length] as readonly number[]}];
  }));
}

/** Styles of groups, by label: their own colours too, but of two with one the later takes another that is free. */
export function groupStyles(labels: readonly string[]): Map<string, RunStyle> {
  const taken = new Set<number>();
  return new Map([...labels].sort().map((id, i) => {
    let color = colorOf({id, start_time: 0});
    const round = Math.floor(i / RUN_COLORS);
    if (i % RUN_COLORS === 0) taken.clear();
    // Not the next: neighbours in the palette have like hues.
    while (taken.has(color)) color = (color + 3) % RUN_COLORS;
    taken.add(color);
    return [id, {color, dash: DASHES[round % DASHES.length] as readonly number[]}];
  }));
}
