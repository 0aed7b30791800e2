// SPDX-License-Identifier: MIT
// From what an instrument reads to the series of a run, and from loaded series to its readings.
import type {Frame, Points, RunDetails, Series} from '../wire/types';
import type {FrameSeries, Instrument, NumberSeries, Readings, Reads} from './instrument';

/** Whether a series is read if its group is. */
function isOfKind(reads: Reads, series: Series): boolean {
  if (series.quantity !== reads.quantity) return false;
  if (reads.frames ? series.kind === 'number' : series.kind !== 'number') return false;
  return series.field === '' || reads.fields === 'all' || (reads.fields?.includes(series.field) ?? false);
}

/** The groups that are read of those there are; '' is the whole model. */
function groupsRead(reads: Reads, series: readonly Series[]): ReadonlySet<string> {
  const groups = [...new Set(series.map(({group}) => group))].filter((group) => group !== '');
  const most = reads.groups === 'all' ? Infinity : reads.groups ?? 0;
  const kept = groups.length <= most ? groups
    : Array.from({length: most}, (_, i) => groups[Math.floor((i * groups.length) / most)] as string);
  return new Set(['', ...kept]);
}

export interface SeriesRead {
  numbers: Series[];
  frames: Series[];
}

/** The series of the run that the instrument reads, in the record's order. */
export function seriesRead(instrument: Pick<Instrument, 'reads'>, details: RunDetails): SeriesRead {
  const found: SeriesRead = {numbers: [], frames: []};
  const wanted = new Set<Series>();
  for (const reads of instrument.reads) {
    const candidates = details.series.filter((series) => isOfKind(reads, series));
    const groups = groupsRead(reads, candidates);
    for (const series of candidates) if (groups.has(series.group)) wanted.add(series);
  }
  for (const series of details.series) {
    if (!wanted.has(series)) continue;
    (series.kind === 'number' ? found.numbers : found.frames).push(series);
  }
  return found;
}

export interface Loaded {
  points(id: number): Points | undefined;
  frame(id: number): Frame | undefined;
}

/** Readings of what is loaded; what is not loaded yet is not there. */
export function readingsOf(run: RunDetails, step: number, series: SeriesRead, loaded: Loaded): Readings {
  const numbers = series.numbers.flatMap((info): NumberSeries[] => {
    const points = loaded.points(info.id);
    return points ? [{info, points}] : [];
  });
  const frames = series.frames.flatMap((info): FrameSeries[] => {
    const frame = loaded.frame(info.id);
    return frame ? [{info, frame}] : [];
  });
  const named = (quantity: string, field: string, group: string) => ({info}: {info: Series}) =>
    info.quantity === quantity && info.field === field && info.group === group;
  return {
    run,
    step,
    numbers: (quantity) => numbers.filter(({info}) => info.quantity === quantity),
    number: (quantity, field = '', group = '') => numbers.find(named(quantity, field, group))?.points,
    frames: (quantity) => frames.filter(({info}) => info.quantity === quantity),
    frame: (quantity, field = '', group = '') => frames.find(named(quantity, field, group))?.frame,
  };
}
