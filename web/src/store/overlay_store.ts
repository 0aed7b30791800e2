// SPDX-License-Identifier: MIT
// What is loaded of the runs that are compared: the numbers of the whole model, a few requests at a
// time, and again for runs that grew.
import {Watched} from '../base/watched';
import type {Source, StepRange} from '../wire/source';
import type {Points, RunDetails, RunSummary} from '../wire/types';

export interface LoadedRun {
  details: RunDetails;
  /** By series. */
  points: ReadonlyMap<number, Points>;
}

export interface Overlaid {
  /** By run, of those that have arrived. */
  runs: ReadonlyMap<string, LoadedRun>;
  /** By run and series: what the page is zoomed to, in more detail. */
  zoomed: ReadonlyMap<string, ReadonlyMap<number, Points>>;
  errors: ReadonlyMap<string, Error>;
  /** Runs still to come. */
  missing: number;
}

/** Entries of a series, of many runs fewer: a chart draws no more of all of them together. */
const MOST_ENTRIES = 600;
const LEAST_ENTRIES = 100;
const ALL_ENTRIES = 12_000;
const AT_ONCE = 3;
/** Runs that arrive within this time are shown together: all charts are drawn anew. */
const GATHER_MS = 250;
/** A run that grows is read again after this long. */
const REFRESH_MS = 2000;

async function loadRun(source: Source, id: string, entries: number): Promise<LoadedRun> {
  const details = await source.details(id);
  const ids = details.series
    .filter((series) => series.kind === 'number' && series.field === '' && series.group === '')
    .map((series) => series.id);
  const {series} = ids.length > 0 ? await source.points(id, ids, {}, entries) : {series: []};
  return {details, points: new Map(series.map((points) => [points.id, points]))};
}

export class OverlayStore {
  readonly watched = new Watched<Overlaid>({runs: new Map(), zoomed: new Map(), errors: new Map(), missing: 0});
  /** What is known, a moment before it is shown. */
  private state = this.watched.value;
  private isToTell = false;
  private shown = 0;
  private telling: ReturnType<typeof setTimeout> | undefined;
  private chosen: readonly RunSummary[] = [];
  private ids: ReadonlySet<string> = new Set();
  /** The change of each run that was read last, and when. */
  private readonly read = new Map<string, {change: number; time: number}>();
  private readonly running = new Set<string>();
  private zoomTurn = 0;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private isClosed = false;

  constructor(private readonly source: Source, private readonly gatherMs = GATHER_MS) {}

  /** The runs to compare, as they are now; called again whenever they change. */
  choose(runs: readonly RunSummary[]): void {
    this.chosen = runs;
    this.ids = new Set(runs.map((run) => run.id));
    const {ids} = this;
    const {runs: loaded, errors} = this.state;
    const kept = <T>(map: ReadonlyMap<string, T>) => new Map([...map].filter(([id]) => ids.has(id)));
    for (const id of [...this.read.keys()]) if (!ids.has(id)) this.read.delete(id);
    if ([...loaded.keys(), ...errors.keys()].some((id) => !ids.has(id))) this.tell({runs: kept(loaded), errors: kept(errors)});
    this.next();
  }

  /** Reads these steps of each run in more detail where points were taken together; null lets that go. */
  async zoom(rangeOf: ((run: LoadedRun) => StepRange | null) | null): Promise<void> {
    const turn = ++this.zoomTurn;
    if (this.state.zoomed.size > 0) this.tell({zoomed: new Map()});
    if (!rangeOf) return;
    for (const [id, run] of this.state.runs) {
      const {points} = run;
      const range = rangeOf(run);
      if (!range) continue;
      const ids = [...points.values()].filter((each) => each.reduced).map((each) => each.id);
      if (ids.length === 0) continue;
      // Without the detail the coarse lines stay, and the next zoom asks again.
      const answer = await this.source.points(id, ids, range, this.entries()).catch(() => null);
      if (turn !== this.zoomTurn || this.isClosed) return;
      if (answer) this.tell({zoomed: new Map(this.state.zoomed).set(id, new Map(answer.series.map((each) => [each.id, each])))});
    }
  }

  close(): void {
    this.isClosed = true;
    clearTimeout(this.timer);
    clearTimeout(this.telling);
  }

  private next(): void {
    if (this.isClosed) return;
    clearTimeout(this.timer);
    const now = Date.now();
    let soonest = Infinity;
    for (const run of this.chosen) {
      if (this.running.size >= AT_ONCE) break;
      const before = this.read.get(run.id);
      if (this.running.has(run.id) || before?.change === run.change) continue;
      const wait = before ? before.time + REFRESH_MS - now : 0;
      if (wait > 0) soonest = Math.min(soonest, wait);
      else void this.load(run);
    }
    this.tell({});
    if (soonest < Infinity) this.timer = setTimeout(() => this.next(), soonest);
  }

  private async load(run: RunSummary): Promise<void> {
    this.running.add(run.id);
    let loaded: LoadedRun | null = null;
    let failure: Error | null = null;
    try {
      loaded = await loadRun(this.source, run.id, this.entries());
    } catch (error) {
      failure = error instanceof Error ? error : new Error(String(error));
    }
    this.running.delete(run.id);
    if (this.isChosen(run.id)) {
      const {runs, errors} = this.state;
      const others = new Map([...errors].filter(([id]) => id !== run.id));
      this.read.set(run.id, {change: run.change, time: Date.now()});
      this.tell({runs: loaded ? new Map(runs).set(run.id, loaded) : runs, errors: failure ? others.set(run.id, failure) : others});
    }
    this.next();
  }

  private entries(): number {
    return Math.min(MOST_ENTRIES, Math.max(LEAST_ENTRIES, Math.floor(ALL_ENTRIES / Math.max(1, this.chosen.length))));
  }

  private isChosen(id: string): boolean {
    return this.ids.has(id);
  }

  private tell(part: Partial<Overlaid>): void {
    const all = {...this.state, ...part};
    const missing = this.chosen.filter((run) => !all.runs.has(run.id) && !all.errors.has(run.id)).length;
    if (Object.keys(part).length === 0 && missing === this.state.missing) return;
    this.state = {...all, missing};
    this.isToTell = true;
    if (missing === 0 || Date.now() - this.shown >= this.gatherMs) this.show();
    else this.telling ??= setTimeout(() => this.show(), this.gatherMs);
  }

  private show(): void {
    clearTimeout(this.telling);
    this.telling = undefined;
    if (!this.isToTell || this.isClosed) return;
    this.isToTell = false;
    this.shown = Date.now();
    this.watched.set(this.state);
  }
}
