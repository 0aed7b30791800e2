// SPDX-License-Identifier: MIT
// What is set for all charts of a comparison: the way to compare, axis, groups, smoothing.
import {BAND_WORDS, BANDS, type Band} from '../../base/bands';
import {COMPARE_VIEWS, type CompareState, type CompareViewName} from '../../base/compare_state';
import {AXIS_LABELS, RUN_AXES, type RunAxis} from '../../base/run_axis';
import {groupings} from '../../base/run_groups';
import {MAX_SMOOTHING} from '../../base/smoothing';
import type {RunSummary} from '../../wire/types';
import {groupable} from './curves';

const TITLES: Record<CompareViewName, string> = {
  curves: 'Curves', distributions: 'Distributions', scatter: 'Scatter', parallel: 'Parallel coordinates', settings: 'Settings',
};

interface Props {
  state: CompareState;
  change(part: Partial<CompareState>): void;
}

export function ViewChoice({state, change}: Props) {
  return (
    <div class="segments" role="radiogroup" aria-label="Way to compare">
      {COMPARE_VIEWS.map((view) => <label key={view}><input type="radio" name="compare-view" checked={state.view === view}
        onChange={() => change({view})} /><span>{TITLES[view]}</span></label>)}
    </div>
  );
}

export function Grouping({state, change, runs}: Props & {runs: readonly RunSummary[]}) {
  const known = groupings(runs.map(groupable));
  // A link may name a setting that none of these runs has: they are then one group, "not set".
  const options = known.some(({by}) => by === state.group) ? known : [...known, {by: state.group, label: state.group.replace(/^config:/, '')}];
  return (
    <>
      <label>Group by <select value={state.group} onChange={(event) => change({group: event.currentTarget.value, off: []})}>
        {options.map(({by, label}) => <option key={by} value={by}>{label}</option>)}</select></label>
      {state.group && state.view === 'curves' && <label>Band <select value={state.band} onChange={(event) => change({band: event.currentTarget.value as Band})}>
        {BANDS.map((band) => <option key={band} value={band}>{BAND_WORDS[band]}</option>)}</select></label>}
    </>
  );
}

export function CurveControls({state, change}: Props) {
  const canBeLog = state.x !== 'epoch' && state.x !== 'time';
  return (
    <>
      <label>Over <select aria-label="Horizontal axis" value={state.x} onChange={(event) => change({x: event.currentTarget.value as RunAxis, zoom: null})}>
        {RUN_AXES.map((axis) => <option key={axis} value={axis}>{AXIS_LABELS[axis]}</option>)}</select></label>
      <label>Smoothing <input type="range" min="0" max={MAX_SMOOTHING} step="0.01" value={state.smoothing}
        onInput={(event) => change({smoothing: Number(event.currentTarget.value)})} /> <output>{state.smoothing.toFixed(2)}</output></label>
      {canBeLog && <label><input type="checkbox" checked={state.logX} onChange={(event) => change({logX: event.currentTarget.checked})} /> Log axis</label>}
      {state.zoom && <button type="button" onClick={() => change({zoom: null})}>Whole axis ✕</button>}
    </>
  );
}
