// SPDX-License-Identifier: MIT
// All runs of the folder in a table, and those that were chosen over each other. The first page.
import {useCallback, useMemo} from 'preact/hooks';
import {useWatched} from '../../widgets/use_watched';
import type {RunSummary} from '../../wire/types';
import type {ViewProps} from '../view_props';
import {lineStyle} from './overlay';
import {MOST_RUNS, OverlayPanels} from './overlay_panels';
import {RunsTable} from './runs_table';
import './views.css';

/** With so few runs all of them are compared until others are chosen. */
const FEW = 8;

/** What was chosen, if it was and means runs of this folder; an empty choice is one too. */
function pickedRuns(compared: readonly string[] | null, runs: readonly RunSummary[]): ReadonlySet<string> | null {
  const isOfHere = compared?.length === 0 || runs.some(({id}) => compared?.includes(id));
  return compared && isOfHere ? new Set(compared) : null;
}

export function CompareView({app}: ViewProps) {
  const {list} = useWatched(app.runs.watched);
  const {compared} = useWatched(app.settings.watched);
  const readable = useMemo(() => list.filter((run) => run.status !== 'unreadable'), [list]);
  const picked = useMemo(() => pickedRuns(compared, readable), [compared, readable]);
  const choose = (ids: ReadonlySet<string>) => app.settings.change({compared: [...ids]});
  const runs = useMemo(() => (picked ? readable.filter((run) => picked.has(run.id)) : readable.length <= FEW ? readable : []), [readable, picked]);
  const ids = runs.map((run) => run.id).join('\n');
  const chosen = useMemo(() => new Set(runs.map((run) => run.id)), [ids]);
  const colorOf = useCallback((id: string) => {
    const i = runs.findIndex((run) => run.id === id);
    return i < 0 || i >= MOST_RUNS ? undefined : app.palette.lines[lineStyle(i).color ?? 0];
  }, [ids, app.palette]);
  return (
    <div class="compare-view">
      <RunsTable runs={list} chosen={chosen} choose={choose} colorOf={colorOf} />
      {runs.length > 0 ? <OverlayPanels app={app} runs={runs} />
        : <p class="hint">Choose runs in the first column to lay their curves over each other and to see how their settings differ.</p>}
    </div>
  );
}
