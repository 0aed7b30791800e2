// SPDX-License-Identifier: MIT
// Loads many series in small requests, so that the first are seen before the last arrive.
import type {Source} from '../wire/source';
import type {Points} from '../wire/types';

export interface Progress {
  done: number;
  wanted: number;
}

/** Series a request asks for. */
const CHUNK = 50;

/** Calls `arrived` after each request and waits for it; stops quietly once `isStopped`. */
export async function loadChunks(source: Source, run: string, ids: readonly number[], points: number,
    isStopped: () => boolean, arrived: (points: Points[], progress: Progress) => void | Promise<void>): Promise<void> {
  for (let first = 0; first < ids.length; first += CHUNK) {
    const part = ids.slice(first, first + CHUNK);
    const answer = await source.points(run, part, {}, points);
    if (isStopped()) return;
    await arrived(answer.series, {done: first + part.length, wanted: ids.length});
  }
}
