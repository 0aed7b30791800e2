// SPDX-License-Identifier: MIT
// The last histograms of the whole model of several runs.
import {Watched} from '../base/watched';
import type {Source} from '../wire/source';
import type {Frame, Series} from '../wire/types';
import type {LoadedRun} from './overlay_store';

export interface RunFrame {
  series: Series;
  frame: Frame;
}

export interface LastFrames {
  /** By run. */
  runs: ReadonlyMap<string, readonly RunFrame[]>;
  errors: ReadonlyMap<string, Error>;
}

const AT_ONCE = 3;

export class LastFramesStore {
  readonly watched = new Watched<LastFrames>({runs: new Map(), errors: new Map()});
  /** The details that were read last, by run: new ones come when a run has grown. */
  private readonly read = new Map<string, LoadedRun>();
  private wanted: ReadonlyMap<string, LoadedRun> = new Map();
  private running = 0;
  private isClosed = false;

  constructor(private readonly source: Source) {}

  /** Called again whenever the runs or what is known of them changes. */
  choose(runs: ReadonlyMap<string, LoadedRun>): void {
    this.wanted = runs;
    const {runs: known, errors} = this.watched.value;
    const kept = <T>(map: ReadonlyMap<string, T>) => new Map([...map].filter(([id]) => runs.has(id)));
    for (const id of [...this.read.keys()]) if (!runs.has(id)) this.read.delete(id);
    if ([...known.keys(), ...errors.keys()].some((id) => !runs.has(id))) this.watched.set({runs: kept(known), errors: kept(errors)});
    this.next();
  }

  close(): void {
    this.isClosed = true;
  }

  private next(): void {
    for (const [id, run] of this.wanted) {
      if (this.isClosed || this.running >= AT_ONCE) return;
      if (this.read.get(id) === run) continue;
      this.read.set(id, run);
      void this.load(id, run);
    }
  }

  private async load(id: string, {details}: LoadedRun): Promise<void> {
    const series = details.series.filter(({kind, group, count}) => kind === 'histogram' && group === '' && count > 0);
    ++this.running;
    const {runs, errors} = this.watched.value;
    const others = new Map([...errors].filter(([other]) => other !== id));
    let next: LastFrames;
    try {
      const {frames} = series.length > 0 ? await this.source.frames(id, series.map((each) => each.id), {}, 1) : {frames: []};
      const found = frames.flatMap((frame): RunFrame[] => {
        const info = series.find((each) => each.id === frame.id);
        return info ? [{series: info, frame}] : [];
      });
      next = {runs: new Map(this.watched.value.runs).set(id, found), errors: others};
    } catch (error) {
      next = {runs: this.watched.value.runs ?? runs, errors: others.set(id, error instanceof Error ? error : new Error(String(error)))};
    }
    --this.running;
    if (this.isClosed) return;
    if (this.wanted.has(id)) this.watched.set(next);
    this.next();
  }
}
