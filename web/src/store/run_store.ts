// SPDX-License-Identifier: MIT
// What the page has loaded of one run. Panels say which series they want; the store reads them,
// follows the run as it grows, and reads the zoomed part again in more detail.
import {Watched} from '../base/watched';
import type {Source, StepRange} from '../wire/source';
import type {Diagnosis, Frame, Lamp, Points, RunDetails, RunSummary} from '../wire/types';
import {FrameCache} from './frame_cache';
import {entriesEach, grown, nextStep, tails} from './points_cache';

export interface Zoom {
  first: number;
  last: number;
}

/** Between two readings: this long at least, and four times as long as the last one took. */
const PAUSE_MS = 500;
const PAUSE_FACTOR = 4;
/** The list of series is long and changes seldom. */
const DETAILS_MS = 5000;
const SETTLE_MS = 120;
/** A first reading is done in so many parts at most, of so many series at least. */
const MAX_PARTS = 5;
const MIN_PART = 6;
/** Series that are kept though no panel wants them any more, in case one does again. */
const MAX_KEPT = 500;

export class RunStore {
  readonly details = new Watched<RunDetails | null>(null);
  readonly summary = new Watched<RunSummary | null>(null);
  readonly lamps = new Watched<readonly Lamp[]>([]);
  readonly diagnosis = new Watched<Diagnosis | null>(null);
  readonly error = new Watched<Error | null>(null);
  /** Where the slider stands; null follows the last step. */
  readonly step = new Watched<number | null>(null);
  readonly isPlaying = new Watched(false);
  readonly zoom = new Watched<Zoom | null>(null);
  /** Counts what was loaded: when it changes, readings have. */
  readonly version = new Watched(0);

  private readonly wantedNumbers = new Map<number, number>();
  private readonly wantedFrames = new Map<number, number>();
  private readonly points = new Map<number, Points>();
  private readonly zoomed = new Map<number, Points>();
  private readonly frames = new FrameCache();
  /** At which growth, or for which place of the slider, a series was read last. */
  private readonly numbersRead = new Map<number, number>();
  private readonly framesRead = new Map<number, string>();
  private zoomedGrowth = 0;
  private wishes = 0;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private due = 0;
  private isReading = false;
  private isClosed = false;
  /** Counts changes of the run that were heard of. */
  private growth = 0;
  /** What was read at an earlier growth is shown until it is read again, but is not to be built on. */
  private restart = 0;
  private lastLoaded = 0;
  /** Last step of the run when it was last read; -1 before. */
  private readTo = -1;
  private pause = PAUSE_MS;
  private detailsPause = DETAILS_MS;
  private detailsRead = 0;
  private detailsGrowth = 0;
  private readonly onVisible = () => { if (!document.hidden) this.readSoon(0); };

  constructor(private readonly source: Source, readonly id: string) {
    document.addEventListener('visibilitychange', this.onVisible);
    this.step.watch(() => this.readSoon(SETTLE_MS));
    this.zoom.watch(() => {
      this.zoomed.clear();
      this.readSoon(SETTLE_MS);
    });
    this.isPlaying.watch(() => this.readSoon(SETTLE_MS));
    this.readSoon(0);
  }

  close(): void {
    this.isClosed = true;
    clearTimeout(this.timer);
    document.removeEventListener('visibilitychange', this.onVisible);
  }

  /** The newest summary that the list of runs has. */
  heard(summary: RunSummary): void {
    const known = this.summary.value;
    if (known && known.change === summary.change && known.status === summary.status) return;
    const isNewer = known !== null;
    this.summary.set(summary);
    if (!isNewer) return;
    // It goes on from an earlier step, and has forgotten what came after that.
    if (summary.last_step < known.last_step) this.forgetAll();
    ++this.growth;
    if (summary.status !== known.status) this.detailsRead = 0;
    this.readSoon(this.pause);
  }

  /** Everything again: another server may have other values under the same ids. */
  reload(): void {
    this.restart = ++this.growth;
    this.zoomed.clear();
    this.framesRead.clear();
    this.detailsRead = 0;
    this.readSoon(0);
  }

  /** Asks for series until the returned function is called. */
  want(numbers: readonly number[], frames: readonly number[]): () => void {
    const change = (by: number) => {
      for (const [ids, counts] of [[numbers, this.wantedNumbers], [frames, this.wantedFrames]] as const) {
        for (const id of ids) {
          const count = (counts.get(id) ?? 0) + by;
          if (count > 0) counts.set(id, count);
          else counts.delete(id);
        }
      }
    };
    change(1);
    ++this.wishes;
    this.readSoon(0);
    return () => {
      change(-1);
      if (this.points.size > MAX_KEPT) this.forgetUnwanted();
    };
  }

  private forgetAll(): void {
    this.lastLoaded = 0;
    this.readTo = this.summary.value?.last_step ?? 0;
    this.points.clear();
    this.numbersRead.clear();
    this.zoomed.clear();
    this.framesRead.clear();
    this.detailsRead = 0;
  }

  private forgetUnwanted(): void {
    for (const id of [...this.points.keys()]) {
      if (this.wantedNumbers.has(id)) continue;
      this.points.delete(id);
      this.numbersRead.delete(id);
    }
  }

  /** Whether a series has been read, be there values or not. */
  isRead(id: number): boolean {
    return this.numbersRead.has(id) || this.framesRead.has(id);
  }

  /** The series over the whole run; undefined before it has come. */
  pointsOf(id: number): Points | undefined {
    return this.points.get(id);
  }

  /** The series in detail where the page is zoomed to; over the whole run before that has come. */
  zoomedPointsOf(id: number): Points | undefined {
    return this.zoomed.get(id) ?? this.points.get(id);
  }

  /** The list or histogram at the slider's step or last before it. */
  frameOf(id: number): Frame | undefined {
    return this.frames.at(id, this.step.value ?? Infinity);
  }

  /** Last step of the run as far as it was read: what panels, slider and the head of the page show alike. */
  get lastStep(): number {
    return this.readTo < 0 ? this.newestStep : Math.max(this.lastLoaded, this.readTo);
  }

  /** Last step that was heard of; its values may not have been read yet. */
  private get newestStep(): number {
    return Math.max(this.lastLoaded, this.summary.value?.last_step ?? 0, this.details.value?.summary.last_step ?? 0);
  }

  /**
   * Tracked steps in the range with their frames loaded, for playing: at most `count` of them,
   * evenly spread. Without frames, steps at even distances.
   */
  async stepsToPlay(range: Zoom, count: number): Promise<number[]> {
    const ids = [...this.wantedFrames.keys()];
    if (ids.length === 0) {
      const by = Math.max(1, Math.round((range.last - range.first) / count));
      return Array.from({length: count}, (_, i) => range.first + i * by).filter((step) => step <= range.last);
    }
    const {frames} = await this.source.frames(this.id, ids, range, count);
    this.frames.add(frames, range.first);
    return [...new Set(frames.map((frame) => frame.step))].sort((a, b) => a - b);
  }

  /** Steps that the loaded series have, for moving by one tracked step; ascending. */
  knownSteps(): number[] {
    const steps = new Set<number>();
    for (const points of this.points.values()) for (const step of points.steps) steps.add(step);
    return [...steps].sort((a, b) => a - b);
  }

  private readSoon(wait: number): void {
    if (this.isClosed || this.isReading || document.hidden) return;
    const due = performance.now() + wait;
    // A run that tells of itself often must not put off being read.
    if (this.timer !== undefined && this.due <= due) return;
    clearTimeout(this.timer);
    this.due = due;
    this.timer = setTimeout(() => void this.read(), wait);
  }

  private async read(): Promise<void> {
    this.timer = undefined;
    this.isReading = true;
    const begin = performance.now();
    const [zoom, step, wishes, growth] = [this.zoom.value, this.step.value, this.wishes, this.growth];
    let isComplete = false, hasNews = false;
    try {
      await this.readDetails(begin, growth);
      const newest = this.newestStep;
      hasNews = await this.readNumbers(growth);
      hasNews = await this.readZoomed(zoom, growth) || hasNews;
      hasNews = await this.readFrames(step, growth) || hasNews;
      if (this.isClosed) return;
      const isFurther = newest !== this.readTo;
      this.readTo = newest;
      if (hasNews || isFurther) this.version.set(this.version.value + 1);
      this.error.set(null);
      this.pause = Math.max(PAUSE_MS, PAUSE_FACTOR * (performance.now() - begin));
      isComplete = true;
    } catch (error) {
      if (this.isClosed) return;
      // What was read before it is shown all the same.
      if (hasNews) this.version.set(this.version.value + 1);
      this.error.set(error instanceof Error ? error : new Error(String(error)));
      this.pause = 4 * PAUSE_MS;
    } finally {
      this.isReading = false;
    }
    if (zoom !== this.zoom.value || step !== this.step.value || wishes !== this.wishes) this.readSoon(0);
    else if (!isComplete || growth !== this.growth) this.readSoon(this.pause);
    else if (growth !== this.detailsGrowth) this.readSoon(this.detailsPause);
  }

  private async readDetails(now: number, growth: number): Promise<void> {
    const known = this.details.value;
    const isDue = growth !== this.detailsGrowth && (known?.series.length === 0 || now - this.detailsRead >= this.detailsPause);
    if (known && this.detailsRead > 0 && !isDue) return;
    const [details, diagnosis] = await Promise.all([this.source.details(this.id), this.source.diagnosis(this.id)]);
    this.detailsRead = performance.now();
    this.detailsGrowth = growth;
    this.detailsPause = Math.max(DETAILS_MS, 20 * (this.detailsRead - now));
    if (this.isClosed) return;
    if ((this.summary.value?.change ?? -1) < details.summary.change) this.summary.set(details.summary);
    this.details.set(details);
    this.lamps.set(diagnosis.lamps);
    this.diagnosis.set(diagnosis);
  }

  private async readNumbers(growth: number): Promise<boolean> {
    const all = [...this.wantedNumbers.keys()];
    const wanted = all.filter((id) => this.numbersRead.get(id) !== growth);
    if (wanted.length === 0) return false;
    const limit = entriesEach(all.length);
    const again: number[] = [];
    const next = (id: number) => ((this.numbersRead.get(id) ?? -1) < this.restart ? -1 : nextStep(this.points.get(id)));
    for (const [first, part] of tails(wanted, next)) {
      if (first < 0) {
        await this.readWhole(part, limit, growth);
        continue;
      }
      for (const tail of (await this.source.points(this.id, part, {first}, limit)).series) {
        const known = this.points.get(tail.id);
        // A third more than asked for is room to grow before the whole is read again.
        const joined = known ? grown(known, tail, Math.ceil(1.33 * limit)) : tail;
        if (joined) this.keep(joined);
        else again.push(tail.id);
      }
    }
    if (again.length > 0) {
      const {series} = await this.source.points(this.id, again, {}, limit);
      for (const points of series) this.keep(points);
    }
    for (const id of wanted) this.numbersRead.set(id, growth);
    return true;
  }

  /** In a few parts, each shown when it is there: the first panels need not wait for the last. */
  private async readWhole(ids: readonly number[], limit: number, growth: number): Promise<void> {
    const size = Math.max(MIN_PART, Math.ceil(ids.length / MAX_PARTS));
    for (let i = 0; i < ids.length && !this.isClosed; i += size) {
      const part = ids.slice(i, i + size);
      for (const points of (await this.source.points(this.id, part, {}, limit)).series) this.keep(points);
      for (const id of part) this.numbersRead.set(id, growth);
      if (i + size < ids.length && !this.isClosed) this.version.set(this.version.value + 1);
    }
  }

  private keep(points: Points): void {
    this.points.set(points.id, points);
    this.lastLoaded = Math.max(this.lastLoaded, points.steps[points.steps.length - 1] ?? 0);
  }

  private async readZoomed(zoom: Zoom | null, growth: number): Promise<boolean> {
    if (!zoom) return false;
    const hasNews = growth !== this.zoomedGrowth && zoom.last >= this.newestStep;
    // What is loaded in full needs no second reading.
    const ids = [...this.wantedNumbers.keys()].filter((id) => this.points.get(id)?.reduced && (hasNews || !this.zoomed.has(id)));
    if (ids.length === 0) return false;
    const range: StepRange = {first: zoom.first, last: zoom.last};
    const {series} = await this.source.points(this.id, ids, range, entriesEach(this.wantedNumbers.size));
    if (this.zoom.value !== zoom) return false;
    this.zoomedGrowth = growth;
    for (const points of series) this.zoomed.set(points.id, points);
    return true;
  }

  private async readFrames(step: number | null, growth: number): Promise<boolean> {
    // What is played was read ahead.
    if (this.isPlaying.value) return false;
    const place = step === null ? `growth ${growth}` : `step ${step}`;
    const wanted = [...this.wantedFrames.keys()].filter((id) => this.framesRead.get(id) !== place);
    if (wanted.length === 0) return false;
    const {frames} = await this.source.frames(this.id, wanted, step === null ? {} : {last: step}, 1);
    this.frames.add(frames, step ?? this.newestStep);
    for (const id of wanted) this.framesRead.set(id, place);
    return true;
  }
}
