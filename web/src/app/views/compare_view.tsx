// SPDX-License-Identifier: MIT
// All runs of the folder in a table, and those that were chosen over each other. The first page.
import {useCallback, useMemo, useState} from 'preact/hooks';
import {useWatched} from '../../widgets/use_watched';
import type {ViewProps} from '../view_props';
import {lineStyle} from './overlay';
import {MOST_RUNS, OverlayPanels} from './overlay_panels';
import {RunsTable} from './runs_table';
import './views.css';

/** With so few runs all of them are compared until others are chosen. */
const FEW = 8;

/** What was chosen, kept while other views are looked at. */
let remembered: ReadonlySet<string> | null = null;

export function CompareView({app}: ViewProps) {
  const {list} = useWatched(app.runs.watched);
  const [picked, setPicked] = useState(remembered);
  const choose = (ids: ReadonlySet<string>) => {
    remembered = ids;
    setPicked(ids);
  };
  const readable = useMemo(() => list.filter((run) => run.status !== 'unreadable'), [list]);
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
