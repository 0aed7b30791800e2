// SPDX-License-Identifier: MIT
// What is seen of a comparison, as the end of an address: a link shows what its sender saw.
import {BANDS, type Band} from './bands';
import {type Layout, readLayout, USUAL_LAYOUT} from './board_layout';
import {RUN_AXES, type RunAxis} from './run_axis';
import type {GroupBy} from './run_groups';
import {MAX_SMOOTHING} from './smoothing';

export const COMPARE_VIEWS = ['curves', 'distributions', 'scatter', 'parallel', 'settings'] as const;
export type CompareViewName = (typeof COMPARE_VIEWS)[number];

export interface Range {
  first: number;
  last: number;
}

export interface CompareState {
  view: CompareViewName;
  /** Runs that are chosen; 'all' that pass the filter; null until some are chosen. */
  runs: readonly string[] | 'all' | null;
  filter: string;
  x: RunAxis;
  zoom: Range | null;
  smoothing: number;
  logX: boolean;
  group: GroupBy;
  band: Band;
  /** Lines that the legend has switched off. */
  off: readonly string[];
  /** Columns of the scatter plot; empty for the first that are of use. */
  across: string;
  up: string;
  logAcross: boolean;
  logUp: boolean;
  /** Columns of the parallel coordinates; empty for the usual ones. */
  axes: readonly string[];
  /** By column: what was brushed. */
  brushes: Readonly<Record<string, Range>>;
  layout: Layout;
}

export const FIRST_STATE: CompareState = {
  view: 'curves', runs: null, filter: '', x: 'step', zoom: null, smoothing: 0, logX: false, group: '', band: 'deviation', off: [],
  across: '', up: '', logAcross: false, logUp: false, axes: [], brushes: {}, layout: USUAL_LAYOUT,
};

const rangeText = ({first, last}: Range) => `${first}~${last}`;

function readRange(text: string | null): Range | null {
  const [first, last, ...rest] = (text ?? '').split('~');
  if (!first || !last || rest.length > 0) return null;
  const range = {first: Number(first), last: Number(last)};
  return Number.isFinite(range.first) && Number.isFinite(range.last) && range.last >= range.first ? range : null;
}

/** A name and a text in one, whatever the name holds. */
const pair = (name: string, text: string) => `${text} ${name}`;

function readPair(both: string): [string, string] {
  const at = both.indexOf(' ');
  return at < 0 ? ['', ''] : [both.slice(at + 1), both.slice(0, at)];
}

/** The view, and of the rest what differs from the first state. */
export function stateQuery(state: CompareState): string {
  const query = new URLSearchParams();
  const one = (key: string, value: string, usual: string) => { if (value !== usual) query.append(key, value); };
  const each = (key: string, values: readonly string[]) => values.forEach((value) => query.append(key, value));
  query.append('view', state.view);
  one('filter', state.filter, '');
  if (state.runs === 'all') query.append('runs', 'all');
  else if (state.runs?.length === 0) query.append('runs', 'none');
  else if (state.runs) each('run', state.runs);
  one('x', state.x, FIRST_STATE.x);
  if (state.zoom) query.append('zoom', rangeText(state.zoom));
  if (state.smoothing > 0) query.append('smoothing', String(state.smoothing));
  if (state.logX) query.append('log', 'x');
  one('group', state.group, '');
  one('band', state.band, FIRST_STATE.band);
  each('off', state.off);
  one('across', state.across, '');
  one('up', state.up, '');
  if (state.logAcross) query.append('log', 'across');
  if (state.logUp) query.append('log', 'up');
  each('axis', state.axes);
  each('brush', Object.entries(state.brushes).map(([column, range]) => pair(column, rangeText(range))));
  each('order', state.layout.order);
  each('pin', state.layout.pinned);
  each('hide', state.layout.hidden);
  each('size', Object.entries(state.layout.sizes).map(([id, {span, height}]) => pair(id, `${span}x${height}`)));
  return query.toString();
}

/** The state that a query means; what makes no sense in it is as in the first state. */
export function readState(text: string): CompareState {
  const query = new URLSearchParams(text);
  const choice = <T extends string>(key: string, known: readonly T[], usual: T): T => known.find((each) => each === query.get(key)) ?? usual;
  const smoothing = Number(query.get('smoothing') ?? 0);
  const runs = query.getAll('run');
  const logs = query.getAll('log');
  const sizes = Object.fromEntries(query.getAll('size').map((both) => {
    const [id, size] = readPair(both);
    const [span, height] = size.split('x').map(Number);
    return [id, {span, height}];
  }));
  const brushes = Object.fromEntries(query.getAll('brush').flatMap((both) => {
    const [column, range] = readPair(both);
    const read = readRange(range);
    return read && column ? [[column, read]] : [];
  }));
  return {
    view: choice('view', COMPARE_VIEWS, FIRST_STATE.view),
    filter: query.get('filter') ?? '',
    runs: runs.length > 0 ? runs : query.get('runs') === 'all' ? 'all' : query.get('runs') === 'none' ? [] : null,
    x: choice('x', RUN_AXES, FIRST_STATE.x),
    zoom: readRange(query.get('zoom')),
    smoothing: smoothing >= 0 && smoothing <= MAX_SMOOTHING ? smoothing : 0,
    logX: logs.includes('x'),
    group: query.get('group') ?? '',
    band: choice('band', BANDS, FIRST_STATE.band),
    off: query.getAll('off'),
    across: query.get('across') ?? '',
    up: query.get('up') ?? '',
    logAcross: logs.includes('across'),
    logUp: logs.includes('up'),
    axes: query.getAll('axis'),
    brushes,
    layout: readLayout({order: query.getAll('order'), pinned: query.getAll('pin'), hidden: query.getAll('hide'), sizes}),
  };
}
