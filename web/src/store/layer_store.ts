// SPDX-License-Identifier: MIT
// What is loaded of many series of one run at once: coarse, in parts, and again now and then while
// the run grows.
import {Watched} from '../base/watched';
import type {Source} from '../wire/source';
import type {Points} from '../wire/types';
import {loadChunks, type Progress} from './load_chunks';

export interface Layers {
  points: ReadonlyMap<number, Points>;
  /** Null once all have arrived. */
  progress: Progress | null;
  error: Error | null;
}

/** As many as a heat map has columns, about. */
const ENTRIES = 300;
/** Between two readings of a run that grows: this long, and eight times as long as the last one took. */
const PAUSE_MS = 3000;
const PAUSE_FACTOR = 8;

/** Parts that arrive within this time are shown together; within longer if showing takes longer than its share. */
const GATHER_MS = 250;
const SHARE_MS = 60;

export class LayerStore {
  readonly watched = new Watched<Layers>({points: new Map(), progress: null, error: null});
  private ids: readonly number[] = [];
  /** Counts choices: an answer to an earlier one is thrown away. */
  private turn = 0;
  private isReading = false;
  private hasGrown = false;
  private pause = PAUSE_MS;
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly source: Source, private readonly run: string, private readonly gatherMs = GATHER_MS) {}

  /** The series to show, those seen first in front. */
  choose(ids: readonly number[]): void {
    if (ids.length === this.ids.length && ids.every((id, i) => id === this.ids[i])) return;
    this.ids = [...ids];
    const {points} = this.watched.value;
    const missing = ids.filter((id) => !points.has(id));
    const wanted = new Set(ids);
    this.watched.set({points: new Map([...points].filter(([id]) => wanted.has(id))), progress: null, error: null});
    if (missing.length > 0) void this.read(missing);
  }

  /** The run has more values than before. */
  grew(): void {
    this.hasGrown = true;
    if (!this.isReading) this.readLater();
  }

  retry(): void {
    void this.read(this.ids);
  }

  close(): void {
    ++this.turn;
    clearTimeout(this.timer);
  }

  private readLater(): void {
    this.timer ??= setTimeout(() => {
      this.timer = undefined;
      void this.read(this.ids);
    }, this.pause);
  }

  private async read(ids: readonly number[]): Promise<void> {
    const turn = ++this.turn;
    const begin = Date.now();
    this.isReading = true;
    this.hasGrown = false;
    // What is shown already stays while it is read again.
    const isFirst = ids.some((id) => !this.watched.value.points.has(id));
    if (isFirst) this.patch({progress: {done: 0, wanted: ids.length}, error: null});
    try {
      const points = new Map(this.watched.value.points);
      let next = 0;
      await loadChunks(this.source, this.run, ids, ENTRIES, () => turn !== this.turn, async (arrived, progress) => {
        for (const each of arrived) points.set(each.id, each);
        const isLast = progress.done === progress.wanted;
        const now = Date.now();
        if (!isLast && now < next) return;
        this.patch({points: new Map(points), progress: isFirst && !isLast ? progress : null, error: null});
        // Drawn before reading goes on: keys and clicks come in between.
        await new Promise((resolve) => setTimeout(resolve));
        next = Date.now() + this.gatherMs * Math.max(1, (Date.now() - now) / SHARE_MS);
      });
    } catch (error) {
      if (turn === this.turn) this.patch({progress: null, error: error instanceof Error ? error : new Error(String(error))});
    }
    if (turn !== this.turn) return;
    this.isReading = false;
    this.pause = Math.max(PAUSE_MS, PAUSE_FACTOR * (Date.now() - begin));
    if (this.hasGrown) this.readLater();
  }

  private patch(part: Partial<Layers>): void {
    this.watched.set({...this.watched.value, ...part});
  }
}
