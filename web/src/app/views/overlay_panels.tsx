// SPDX-License-Identifier: MIT
// The chosen runs over each other: one chart for each quantity, and how their settings differ.
import {useEffect, useMemo, useState} from 'preact/hooks';
import {configDifference} from '../../base/config_difference';
import {singleSettings} from '../../base/hyperparameters';
import {MAX_SMOOTHING} from '../../base/smoothing';
import {OverlayStore, type Overlaid} from '../../store/overlay_store';
import type {LinesDrawing} from '../../widgets/drawing';
import {useWatched} from '../../widgets/use_watched';
import type {ShownSteps} from '../../widgets/line_plot';
import type {RunSummary} from '../../wire/types';
import {Panel} from '../panel';
import type {ViewProps} from '../view_props';
import {lineStyle, overlays, overTime, timesOf, type Overlay} from './overlay';
import {titleOf} from './titles';

/** More lines than this nobody tells apart. */
export const MOST_RUNS = 32;

interface Props extends ViewProps {
  runs: readonly RunSummary[];
}

interface Charted {
  overlay: Overlay;
  drawing: LinesDrawing;
}

/** Quantities whose size spans decades. */
const isLog = (quantity: string) => /loss|norm|size|trace|noise/.test(quantity);

function charts(runs: readonly RunSummary[], loaded: Overlaid, isByTime: boolean): Charted[] {
  const there = runs.flatMap((run, i) => {
    const found = loaded.runs.get(run.id);
    return found ? [{...found, name: run.id, style: lineStyle(i)}] : [];
  });
  return overlays(there.map((run) => run.details)).map((overlay) => {
    const lines = overlay.series.flatMap((series, i) => {
      const run = there[i] as (typeof there)[number];
      const detail = series && !isByTime ? loaded.zoomed.get(run.name)?.get(series.id) : undefined;
      const points = detail ?? (series && run.points.get(series.id));
      if (!points) return [];
      if (!isByTime) return [{label: run.name, points, ...run.style}];
      const times = timesOf(run.details, run.points);
      return times ? [{label: run.name, points: overTime(points, times), ...run.style}] : [];
    });
    return {overlay, drawing: {kind: 'lines', lines, scale: isLog(overlay.quantity) ? 'log' : 'linear', ...(isByTime ? {x: 'seconds'} : {})}};
  });
}

/** What the quantity is, as the first run that has it says. */
function summaryOf(loaded: Overlaid, quantity: string): string {
  for (const {details} of loaded.runs.values()) {
    const found = details.quantities.find(({name}) => name === quantity);
    if (found) return found.summary;
  }
  return titleOf(quantity);
}

function ConfigTable({runs}: {runs: readonly RunSummary[]}) {
  const {differing, same} = useMemo(() => configDifference(runs.map((run) => singleSettings(run.config))), [runs]);
  return (
    <section class="card" aria-labelledby="config-difference">
      <h2 id="config-difference">Difference of settings</h2>
      {differing.length === 0 && <p class="quiet">{same.length > 0 ? 'All settings are the same.' : 'These runs recorded no settings.'}</p>}
      {differing.length > 0 && (
        <div class="table-scroll" tabIndex={0} role="region" aria-label="settings that differ">
          <table class="difference">
            <thead><tr><th scope="col">Run</th>{differing.map(({key}) => <th key={key} scope="col">{key}</th>)}</tr></thead>
            <tbody>{runs.map((run, i) => (
              <tr key={run.id}><th scope="row">{run.id}</th>
                {differing.map(({key, values}) => <td key={key}>{values[i] ?? <span class="quiet">not set</span>}</td>)}</tr>
            ))}</tbody>
          </table>
        </div>
      )}
      {same.length > 0 && <details class="same"><summary>{same.length} the same in all</summary>
        <p>{same.map(({key, value}) => <code key={key}>{key} = {value}</code>)}</p></details>}
    </section>
  );
}

export function OverlayPanels({app, runs: all}: Props) {
  const runs = useMemo(() => all.slice(0, MOST_RUNS), [all]);
  const store = useMemo(() => new OverlayStore(app.source), [app.source]);
  const settings = useWatched(app.settings.watched);
  const loaded = useWatched(store.watched);
  const [isByTime, setIsByTime] = useState(false);
  const [zoom, setZoom] = useState<ShownSteps | null>(null);
  useEffect(() => () => store.close(), [store]);
  useEffect(() => store.choose(runs), [store, runs]);
  useEffect(() => void store.zoom(isByTime ? null : zoom), [store, zoom, isByTime]);
  const charted = useMemo(() => charts(runs, loaded, isByTime), [runs.map((run) => run.id).join('\n'), loaded, isByTime]);
  const last = Math.max(1, ...charted.flatMap(({drawing}) => drawing.lines.map(({points}) => points.steps[points.steps.length - 1] ?? 0)));
  const hasTime = [...loaded.runs.values()].some(({details, points}) => timesOf(details, points) !== null);
  const drawn = new Set(charted.flatMap(({drawing}) => drawing.lines.map(({label}) => label)));
  const empty = [...loaded.runs.keys()].filter((id) => !drawn.has(id));
  const count = runs.length === 1 ? 'One run' : `${runs.length} runs`;
  return (
    <section class="overlay" aria-label="Comparison">
      <div class="toolbar">
        <h2>{empty.length > 0 ? `${drawn.size} of ${count}` : count} over each other</h2>
        <div class="segments" role="radiogroup" aria-label="Horizontal axis">
          <label><input type="radio" name="overlay-x" checked={!isByTime} onChange={() => { setIsByTime(false); setZoom(null); }} /><span>Steps</span></label>
          <label title={hasTime ? '' : 'No run has recorded values yet'}><input type="radio" name="overlay-x" checked={isByTime} disabled={!hasTime}
            onChange={() => { setIsByTime(true); setZoom(null); }} /><span>Seconds</span></label>
        </div>
        <label>Smoothing <input type="range" min="0" max={MAX_SMOOTHING} step="0.01" value={settings.smoothing}
          onInput={(event) => app.settings.change({smoothing: Number(event.currentTarget.value)})} /> <output>{settings.smoothing.toFixed(2)}</output></label>
        <label><input type="checkbox" checked={settings.logX} onChange={(event) => app.settings.setLogXEverywhere(event.currentTarget.checked)} /> Log {isByTime ? 'seconds' : 'steps'}</label>
        {zoom && <button type="button" onClick={() => setZoom(null)}>All {isByTime ? 'seconds' : 'steps'} ✕</button>}
        {loaded.missing > 0 && <label class="progress" role="status">{runs.length - loaded.missing} of {runs.length} runs
          <progress max={runs.length} value={runs.length - loaded.missing} /></label>}
      </div>
      {all.length > MOST_RUNS && <p class="banner" role="note">The first {MOST_RUNS} of {all.length} chosen runs are shown; choose fewer, or sort and filter the table first.</p>}
      {empty.length > 0 && <p class="banner" role="note">Not drawn: {empty.join(', ')}. {empty.length === 1 ? 'It has' : 'They have'} no
        numbers{isByTime ? ' whose time is known' : ''} yet.</p>}
      {[...loaded.errors].map(([id, error]) => <p key={id} class="banner warning" role="alert">{id} cannot be read: {error.message}</p>)}
      <div class="panels">
        {charted.filter(({drawing}) => drawing.lines.length > 0).map(({overlay, drawing}) => (
          <Panel key={overlay.quantity} app={app} id={`compare_${overlay.quantity}`}
            title={titleOf(overlay.quantity) + (drawing.lines.length < loaded.runs.size ? ` (${drawing.lines.length} of ${loaded.runs.size} runs)` : '')}
            explain={`${summaryOf(loaded, overlay.quantity)}, of every chosen run that recorded it. Lines of runs with different batch sizes or costs per step compare better over seconds.`}
            drawing={drawing} shown={zoom ?? {first: 0, last}} onZoom={setZoom} run="comparison" />
        ))}
      </div>
      <ConfigTable runs={runs} />
    </section>
  );
}
