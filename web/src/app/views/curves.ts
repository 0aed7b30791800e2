// SPDX-License-Identifier: MIT
// The curves of runs, or of groups of runs, over each other: one drawing for each quantity, and what could not be drawn.
import {type Band, summarise} from '../../base/bands';
import {formatNumber} from '../../base/format';
import {singleSettings} from '../../base/hyperparameters';
import {AXIS_UNITS, type Placing, placing, type RunAxis} from '../../base/run_axis';
import {type GroupBy, groupRuns} from '../../base/run_groups';
import {groupStyles, runStyles} from '../../base/run_style';
import {shortNames} from '../../base/short_names';
import {soundRange} from '../../base/sound_range';
import type {LoadedRun, Overlaid} from '../../store/overlay_store';
import type {Line, LinesDrawing} from '../../widgets/drawing';
import type {LegendItem} from '../../widgets/shared_legend';
import type {Points, RunSummary} from '../../wire/types';
import {overlays, type Overlay} from './overlay';

export interface CurveChart {
  overlay: Overlay;
  drawing: LinesDrawing;
}

export interface Curves {
  charts: CurveChart[];
  /** Runs that have arrived and have no line, by the reason. */
  notDrawn: {reason: string; ids: string[]}[];
}

/** What a line stands for: a run, or the runs of a group. */
export interface LineOwner extends LegendItem {
  runs: readonly RunSummary[];
}

export const groupable = (run: RunSummary) => ({id: run.id, config: singleSettings(run.config), tags: run.tags, run});

/** The lines of a comparison: what they are called, how they look, whose they are. */
export function lineOwners(runs: readonly RunSummary[], by: GroupBy): {owners: LineOwner[]; prefix: string} {
  if (by === '') {
    const styles = runStyles(runs);
    const {prefix, names} = shortNames(runs.map(({id}) => id));
    return {prefix, owners: runs.map((run, i) => ({label: run.id, short: names[i] as string, ...(styles.get(run.id) ?? {color: 0, dash: []}), runs: [run]}))};
  }
  const groups = groupRuns(runs.map(groupable), by);
  const styles = groupStyles(groups.map(({label}) => label));
  return {prefix: '', owners: groups.map(({label, runs: members}) => ({label, short: label, ...(styles.get(label) ?? {color: 0, dash: []}),
    runs: members.map(({run}) => run), count: members.length}))};
}

/** Quantities whose size spans decades. */
const isLog = (quantity: string) => /loss|norm|size|trace|noise/.test(quantity);
/** Alpha beyond this says no more than that it is far; the cockpit's gauge ends there too. */
const ALPHA_CLIP = {low: -2, high: 2};

/** The points over the axis. A clock that was set back does not turn the line back. */
function moved(points: Points, place: (step: number) => number): Points {
  let last = -Infinity;
  return {...points, steps: points.steps.map((step) => (last = Math.max(last, place(step))))};
}

export const placingOf = ({details}: LoadedRun, axis: RunAxis): Placing =>
  placing(axis, {config: details.summary.config, startTime: details.summary.start_time, clock: details.clock});

function groupLine(points: readonly Points[], band: Band): Pick<Line, 'points' | 'detail' | 'exact'> {
  const {x, middle, low, high, counts} = summarise(points.map(({steps, values}) => ({x: steps, y: values})), band);
  return {
    points: {id: -1, reduced: true, count: x.length, steps: x, values: middle, low, high},
    detail: (entry) => (counts[entry] === undefined ? '' : `${formatNumber(low[entry] as number)} to ${formatNumber(high[entry] as number)}, ` +
      `${counts[entry] === 1 ? 'one run' : `${counts[entry]} runs`}`),
  };
}

export function curvesOf(owners: readonly LineOwner[], loaded: Overlaid, axis: RunAxis, band: Band, isGrouped: boolean): Curves {
  const ids = [...new Set(owners.flatMap(({runs}) => runs.map(({id}) => id)))].filter((id) => loaded.runs.has(id));
  const placings = new Map(ids.map((id) => [id, placingOf(loaded.runs.get(id) as LoadedRun, axis)]));
  const seriesBy = overlays(ids.map((id) => (loaded.runs.get(id) as LoadedRun).details));
  const at = new Map(ids.map((id, i) => [id, i]));
  const drawn = new Set<string>();
  const charts = seriesBy.map((overlay): CurveChart => {
    const pointsOf = (id: string): Points | null => {
      const series = overlay.series[at.get(id) ?? -1];
      const place = placings.get(id)?.place;
      const points = series && (loaded.zoomed.get(id)?.get(series.id) ?? loaded.runs.get(id)?.points.get(series.id));
      if (!points || !place || points.steps.length === 0) return null;
      drawn.add(id);
      return axis === 'step' ? points : moved(points, place);
    };
    const values: ArrayLike<number>[] = [];
    const lines = owners.flatMap(({label, short, color, dash, runs}): Line[] => {
      const points = runs.flatMap(({id}) => pointsOf(id) ?? []);
      values.push(...points.map((each) => each.values));
      if (points.length === 0) return [];
      const look = {label, short, color, isRun: true, ...(dash.length > 0 ? {dash} : {})};
      return [isGrouped ? {...look, ...groupLine(points, band)} : {...look, points: points[0] as Points}];
    });
    const unit = AXIS_UNITS[axis];
    const scale = isLog(overlay.quantity) ? 'log' : 'linear';
    const clip = overlay.quantity === 'alpha' ? ALPHA_CLIP : soundRange(values, scale === 'log');
    return {overlay, drawing: {kind: 'lines', lines, scale, ...(unit ? {x: unit} : {}), ...(clip ? {clip} : {})}};
  });
  const reasons = new Map<string, string[]>();
  for (const id of ids) {
    if (drawn.has(id)) continue;
    const missing = placings.get(id)?.missing;
    const reason = missing ? `without ${missing} their place on this axis is not known` : 'they have no numbers yet';
    reasons.set(reason, [...(reasons.get(reason) ?? []), id]);
  }
  return {charts: charts.filter(({drawing}) => drawing.lines.length > 0), notDrawn: [...reasons].map(([reason, names]) => ({reason, ids: names}))};
}

/** From the first to the last place of all lines; steps and what begins with them from 0. */
export function wholeRange(charts: readonly CurveChart[], axis: RunAxis): {first: number; last: number} {
  let [first, last] = [axis === 'time' ? Infinity : 0, -Infinity];
  for (const {drawing} of charts) {
    for (const {points: {steps}} of drawing.lines) {
      if (steps.length === 0) continue;
      first = Math.min(first, steps[0] as number);
      last = Math.max(last, steps[steps.length - 1] as number);
    }
  }
  if (!Number.isFinite(first)) first = 0;
  return {first, last: last > first ? last : first + 1};
}
