// SPDX-License-Identifier: MIT
// All runs of the folder, as the server tells of them.
import {Watched} from '../base/watched';
import type {Source} from '../wire/source';
import type {RunSummary} from '../wire/types';

export interface Runs {
  /** False until the first list has come. */
  isLoaded: boolean;
  isConnected: boolean;
  error: Error | null;
  /** The newest first. */
  list: readonly RunSummary[];
}

/** After a reset, runs that were not told again within this time are gone. */
const GONE_MS = 2000;
const RETRY_MS = 2000;
/** Many runs may change at once; lists are made anew this often at most, long ones more seldom. */
const GATHER_MS = 150;
const GATHER_MS_EACH = 1;

export class RunsStore {
  readonly watched = new Watched<Runs>({isLoaded: false, isConnected: true, error: null, list: []});
  /** Counts how often everything is told anew: after a restart of the server. */
  readonly resets = new Watched(0);
  private readonly byId = new Map<string, RunSummary>();
  private stale = new Set<string>();
  private timer: ReturnType<typeof setTimeout> | undefined;
  private readonly stopWatching: () => void;

  constructor(private readonly source: Source) {
    this.stopWatching = source.watch({
      run: (summary) => {
        this.byId.set(summary.id, summary);
        this.stale.delete(summary.id);
        this.tellSoon();
      },
      gone: (id) => {
        this.byId.delete(id);
        this.tellSoon();
      },
      reset: () => {
        this.stale = new Set(this.byId.keys());
        this.resets.set(this.resets.value + 1);
        setTimeout(() => {
          for (const id of this.stale) this.byId.delete(id);
          this.stale.clear();
          this.tellSoon();
        }, GONE_MS);
      },
      connected: (isConnected) => this.patch({isConnected}),
    });
    void this.load();
  }

  find(id: string): RunSummary | undefined {
    return this.byId.get(id);
  }

  close(): void {
    clearTimeout(this.timer);
    this.stopWatching();
  }

  private async load(): Promise<void> {
    try {
      for (const summary of (await this.source.runs()).runs) {
        // An event that came first knows more.
        if ((this.byId.get(summary.id)?.change ?? -1) < summary.change) this.byId.set(summary.id, summary);
      }
      this.patch({isLoaded: true, error: null});
      this.tellSoon();
    } catch (error) {
      this.patch({error: error instanceof Error ? error : new Error(String(error))});
      setTimeout(() => void this.load(), RETRY_MS);
    }
  }

  private tellSoon(): void {
    this.timer ??= setTimeout(() => {
      this.timer = undefined;
      this.patch({list: [...this.byId.values()].sort((a, b) => b.start_time - a.start_time || (a.id < b.id ? -1 : 1))});
    }, this.watched.value.list.length ? GATHER_MS + GATHER_MS_EACH * this.byId.size : 0);
  }

  private patch(part: Partial<Runs>): void {
    this.watched.set({...this.watched.value, ...part});
  }
}
