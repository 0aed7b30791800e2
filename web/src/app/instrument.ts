// SPDX-License-Identifier: MIT
// A panel: what it reads, and a pure function from that to a drawing. One file each in
// ../instruments; _skeleton.ts there is the one to copy.
import type {Drawing} from '../widgets/drawing';
import type {Frame, Points, RunDetails, Series} from '../wire/types';

/** The cockpit's columns, the row below them, processes beside one another, what comes after, and samples one by one. */
export type Place = 'step_size' | 'gradients' | 'curvature' | 'hyperparameters' | 'performance' | 'ranks' | 'more' | 'samples';

/** Series an instrument reads. `fields` and `groups` beyond the main value of the whole model. */
export interface Reads {
  quantity: string;
  /** 'all': every field, not just the main value. Names: these besides the main value. */
  fields?: 'all' | readonly string[];
  /** 'all': every group too. A number: so many at most, evenly spread over them. */
  groups?: 'all' | number;
  /** Lists and histograms at the step of the slider instead of numbers over steps. */
  frames?: boolean;
}

export interface NumberSeries {
  info: Series;
  points: Points;
}

export interface FrameSeries {
  info: Series;
  /** At the slider's step, or at the last tracked step before it. */
  frame: Frame;
}

/** What was read. Missing quantities are simply not there. */
export interface Readings {
  run: RunDetails;
  /** Where the slider stands; the last step if it was not moved. */
  step: number;
  /** Numbers of one quantity that the instrument reads: fields and groups in the record's order. */
  numbers(quantity: string): NumberSeries[];
  /** One of them. */
  number(quantity: string, field?: string, group?: string): Points | undefined;
  frames(quantity: string): FrameSeries[];
  frame(quantity: string, field?: string, group?: string): Frame | undefined;
}

export interface Instrument {
  /** As the file: lower case with underscores. */
  id: string;
  title: string;
  place: Place;
  /** Order within its place; smaller ones first, then by id. */
  order?: number;
  /** Columns of the grid it takes; 1 unless said. */
  span?: 1 | 2 | 3;
  /** Two sentences: what it shows, and how to read it. */
  explain: string;
  reads: readonly Reads[];
  /** Null if what it needs was not recorded: the panel is left out. */
  view(readings: Readings): Drawing | null;
}
