// SPDX-License-Identifier: MIT
// All runs of the folder in a table, and those that were chosen compared: by curves, distributions,
// two numbers, many of them, or settings. The first page.
import {useCallback, useEffect, useMemo, useState} from 'preact/hooks';
import {stepsWithin} from '../../base/run_axis';
import {colorOf} from '../../base/run_style';
import {OverlayStore} from '../../store/overlay_store';
import {SharedLegend} from '../../widgets/shared_legend';
import {useLater} from '../../widgets/use_later';
import {useWatched} from '../../widgets/use_watched';
import type {RunSummary} from '../../wire/types';
import type {ViewProps} from '../view_props';
import type {CompareProps} from './compare_props';
import {CurveControls, Grouping, ViewChoice} from './compare_toolbar';
import {lineOwners, placingOf} from './curves';
import {CurvesView} from './curves_view';
import {DistributionsView} from './distributions_view';
import {ParallelView} from './parallel_view';
import {chosenRuns} from './run_table';
import {RunsTable} from './runs_table';
import {ScatterView} from './scatter_view';
import {SettingsView} from './settings_view';
import './views.css';
import './compare.css';

/** Until some are chosen, so many of the newest are compared. */
const FEW = 8;
/** More lines than this nobody tells apart; as groups more can be read. */
const MOST_LINES = 32;
const MOST_GROUPED = 256;

/** The chosen ones of the runs that pass the filter. A choice that means no run of this folder is none. */
export function comparedRuns(picked: readonly string[] | 'all' | null, readable: readonly RunSummary[], passing: readonly RunSummary[]): readonly RunSummary[] {
  if (picked === 'all') return passing;
  const wanted = new Set(picked ?? []);
  const isOfHere = picked !== null && (picked.length === 0 || readable.some(({id}) => wanted.has(id)));
  return isOfHere ? passing.filter(({id}) => wanted.has(id)) : passing.slice(0, FEW);
}

/** What is not seen, and why. */
function Notes({state, passing, chosen, runs, readable}: {state: CompareProps['state']; passing: number; chosen: number; runs: number; readable: number}) {
  const isByAll = state.view === 'scatter' || state.view === 'parallel';
  return (
    <>
      {state.runs === null && chosen < passing && <p class="hint">{isByAll ? 'Full colour: the' : 'The'} newest {chosen} of {passing} runs{passing < readable ? ' that pass the filter' : ''},
        until you choose others in the table.</p>}
      {!isByAll && chosen > runs && <p class="banner" role="note">The first {runs} of {chosen} chosen runs are shown; choose
        fewer{state.group ? ' or filter them' : `, filter them, or group them: groups are made of up to ${MOST_GROUPED} runs`}.</p>}
    </>
  );
}

export function CompareView({app}: ViewProps) {
  const {list: known} = useWatched(app.runs.watched);
  const [withArchived, setWithArchived] = useState(false);
  const list = useMemo(() => (withArchived ? known : known.filter((run) => !run.archived)), [known, withArchived]);
  const archived = {count: known.filter((run) => run.archived).length, isShown: withArchived, show: setWithArchived};
  const state = useWatched(app.compare.watched);
  const change = useCallback((part: Partial<typeof state>) => app.compare.change(part), [app.compare]);
  useEffect(() => {
    const follow = () => app.compare.follow();
    const write = () => app.compare.write();
    follow();
    window.addEventListener('hashchange', follow);
    window.addEventListener('pagehide', write);
    return () => {
      window.removeEventListener('hashchange', follow);
      window.removeEventListener('pagehide', write);
    };
  }, [app.compare]);

  const readable = useMemo(() => list.filter((run) => run.status !== 'unreadable'), [list]);
  const rows = useMemo(() => chosenRuns(list, state.filter, {column: '', direction: 'up'}), [list, state.filter]);
  const passing = useMemo(() => rows.filter((run) => run.status !== 'unreadable'), [rows]);
  const all = useMemo(() => comparedRuns(state.runs, readable, passing), [state.runs, readable, passing]);
  const isLoading = state.view === 'curves' || state.view === 'distributions';
  const most = state.group !== '' ? MOST_GROUPED : MOST_LINES;
  const drawn = useLater(all, all.length > 2 * FEW);
  const runs = useMemo(() => (isLoading ? drawn.slice(0, most) : drawn), [drawn, isLoading, most]);
  const ids = all.map(({id}) => id).join('\n');
  const chosen = useMemo(() => new Set(all.map(({id}) => id)), [ids]);
  const choose = useCallback((picked: ReadonlySet<string>) => {
    const isAll = passing.length > FEW && passing.every(({id}) => picked.has(id));
    // A choice among those that pass leaves the others as they were.
    const passed = new Set(passing.map(({id}) => id));
    const others = Array.isArray(state.runs) ? (state.runs as readonly string[]).filter((id) => !passed.has(id)) : [];
    change({runs: isAll ? 'all' : [...picked, ...others], brushes: {}});
  }, [passing, change, state.runs]);
  const byId = useMemo(() => new Map(readable.map((run) => [run.id, run])), [readable]);
  const colorOfRun = useCallback((id: string) => {
    const run = byId.get(id);
    return run && app.palette.runs[colorOf(run)];
  }, [byId, app.palette]);

  const store = useMemo(() => new OverlayStore(app.source), [app.source]);
  const loaded = useWatched(store.watched);
  useEffect(() => () => store.close(), [store]);
  useEffect(() => { if (isLoading) store.choose(runs); }, [store, runs, isLoading]);
  const {zoom, x} = state;
  useEffect(() => void store.zoom(zoom && ((run) => {
    const {place} = placingOf(run, x);
    const longest = [...run.points.values()].reduce<ArrayLike<number>>((found, {steps}) => (steps.length > found.length ? steps : found), []);
    return place && stepsWithin(longest, place, zoom.first, zoom.last);
  })), [store, zoom, x, loaded.missing === 0]);
  const {owners, prefix} = useMemo(() => lineOwners(runs, state.group),
    // Groups change with settings and tags, lines with the choice alone: a run that grows must not draw all charts anew.
    [state.group ? runs : runs.map(({id}) => id).join('\n'), state.group]);
  const off = useMemo(() => new Set(state.off), [state.off]);

  const props = {app, state, change, passing, runs};
  const count = all.length === 1 ? 'One run' : `${all.length} runs`;
  return (
    <div class="compare-view">
      <RunsTable runs={list} rows={rows} chosen={chosen} choose={choose} colorOf={colorOfRun} filter={state.filter} setFilter={(filter) => change({filter})} archived={archived} />
      <section class="overlay" aria-label="Comparison">
        <div class="toolbar">
          <h2>{isLoading ? (all.length === 1 ? count : `${count} over each other`) : state.view === 'settings' ? count : `${passing.length} runs, ${all.length} chosen`}</h2>
          <ViewChoice state={state} change={change} />
          {isLoading && <Grouping state={state} change={change} runs={runs} />}
          {state.view === 'curves' && <CurveControls state={state} change={change} />}
          {isLoading && loaded.missing > 0 && <label class="progress" role="status">{runs.length - loaded.missing} of {runs.length} runs
            <progress max={runs.length} value={runs.length - loaded.missing} /></label>}
        </div>
        <Notes state={state} passing={passing.length} chosen={all.length} runs={runs.length} readable={readable.length} />
        {isLoading && [...loaded.errors].map(([id, error]) => <p key={id} class="banner warning" role="alert">{id} cannot be read: {error.message}</p>)}
        {isLoading && runs.length > 0 && <SharedLegend items={owners} prefix={prefix} off={off} palette={app.palette} change={(next) => change({off: next})} />}
        {runs.length === 0 && (isLoading || state.view === 'settings') && <p class="hint">{passing.length === 0 ? 'Nothing is left to compare.'
          : 'Choose runs in the first column to lay their curves over each other and to see how their settings differ.'}</p>}
        {runs.length > 0 && state.view === 'curves' && <CurvesView {...props} loaded={loaded} owners={owners} off={off} />}
        {runs.length > 0 && state.view === 'distributions' && <DistributionsView {...props} loaded={loaded} owners={owners} off={off} />}
        {state.view === 'scatter' && <ScatterView {...props} />}
        {state.view === 'parallel' && <ParallelView {...props} />}
        {runs.length > 0 && state.view === 'settings' && <SettingsView {...props} />}
      </section>
    </div>
  );
}
