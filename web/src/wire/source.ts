// SPDX-License-Identifier: MIT
// Where the page gets its values: a server, or the report it is part of.
import type {Diagnosis, FrameList, LampList, PointsList, RunDetails, RunList, RunSummary} from './types';

/** Steps from first to last, both included; without one of them, from or to the end. */
export interface StepRange {
  first?: number;
  last?: number;
}

export interface Listener {
  /** A run that is new or has changed. */
  run(summary: RunSummary): void;
  gone(id: string): void;
  /** What was heard before no longer counts; every run follows. */
  reset(): void;
  /** Whether values arrive; false while the server cannot be reached. */
  connected(isConnected: boolean): void;
}

/** What is to become of a run's labels. */
export interface LabelChange {
  /** A tag. */
  add?: string;
  /** A tag. */
  remove?: string;
  note?: string;
  archived?: boolean;
}

export interface Source {
  /** False if nothing will ever change: a report. */
  readonly isLive: boolean;
  /** Said above a page whose values were reduced; empty if none were. */
  readonly remark: string;
  runs(): Promise<RunList>;
  details(run: string): Promise<RunDetails>;
  /** At most `points` entries of each series of numbers. */
  points(run: string, ids: number[], range: StepRange, points: number): Promise<PointsList>;
  /** At most `count` lists or histograms of each series, the last of the range among them. */
  frames(run: string, ids: number[], range: StepRange, count: number): Promise<FrameList>;
  lamps(run: string): Promise<LampList>;
  /** With the lamps. */
  diagnosis(run: string): Promise<Diagnosis>;
  /** Where the exact values are to be had as CSV; null if nowhere. */
  csvAddress(run: string, ids: number[]): string | null;
  /** Whether runs can be labelled from here. */
  canEdit(): Promise<boolean>;
  /** The run with its new labels. */
  label(run: string, change: LabelChange): Promise<RunSummary>;
  /** Calls back until the returned function is called. */
  watch(listener: Listener): () => void;
}
