// SPDX-License-Identifier: MIT
// The table of all runs: filter, columns, and which runs are laid over each other.
import {useEffect, useMemo, useRef, useState} from 'preact/hooks';
import {DataTable, type TableColumn} from '../../widgets/data_table';
import type {RunSummary} from '../../wire/types';
import {routeAddress} from '../route';
import {allColumns, usualColumns, type Column} from './run_table';

interface Props {
  runs: readonly RunSummary[];
  chosen: ReadonlySet<string>;
  choose(ids: ReadonlySet<string>): void;
  /** Colour of a run. */
  colorOf(id: string): string | undefined;
  filter: string;
  setFilter(filter: string): void;
  /** Those that pass the filter. */
  rows: readonly RunSummary[];
  /** How many runs are archived, whether they are among `runs`, and how to change that. */
  archived: {count: number; isShown: boolean; show(isShown: boolean): void};
}

function Tags({run, filterBy}: {run: RunSummary; filterBy(tag: string): void}) {
  return (
    <span class="run-tags">
      {run.tags.map((tag) => (
        <button key={tag} type="button" class="run-tag" title={`only runs with the tag ${tag}`} onClick={() => filterBy(tag)}>{tag}</button>
      ))}
    </span>
  );
}

/** Rows of the table at a time: what is seen of it without scrolling far. */
const PAGE = 40;

function Name({run}: {run: RunSummary}) {
  return (
    <span class="run-name">
      <a href={routeAddress({page: 'run', id: run.id, view: 'cockpit'})}>{run.id}</a>
      {run.archived && <span class="quiet"> archived</span>}
      {run.note && <span class="run-note" title={run.note}>{run.note}</span>}
      {run.error && <span class="run-error">{run.error}</span>}
    </span>
  );
}

export function ColumnChooser({columns, shown, show, label = 'Columns'}: {columns: readonly Column[]; shown: readonly string[]; show(ids: string[]): void; label?: string}) {
  const kinds: [string, Column[]][] = [
    ['Run', columns.filter((column) => !column.id.includes(':'))],
    ['Settings', columns.filter((column) => column.id.startsWith('config:'))],
    ['Last values', columns.filter((column) => column.id.startsWith('value:'))],
  ];
  const toggle = (id: string) => show(shown.includes(id) ? shown.filter((each) => each !== id)
    : columns.map((column) => column.id).filter((each) => each === id || shown.includes(each)));
  const place = useRef<HTMLDetailsElement>(null);
  useEffect(() => {
    const close = (event: Event) => {
      const isEscape = event instanceof KeyboardEvent && event.key === 'Escape';
      const isElsewhere = event.type === 'pointerdown' && !place.current?.contains(event.target as Node);
      if (!place.current?.open || !(isEscape || isElsewhere)) return;
      // What has the focus is about to go away.
      if (isEscape) place.current.querySelector('summary')?.focus();
      place.current.open = false;
    };
    document.addEventListener('pointerdown', close);
    document.addEventListener('keydown', close);
    return () => {
      document.removeEventListener('pointerdown', close);
      document.removeEventListener('keydown', close);
    };
  }, []);
  return (
    <details class="columns-menu" ref={place}>
      <summary>{label}</summary>
      <div class="popover">
        {kinds.filter(([, list]) => list.length > 0).map(([title, list]) => (
          <fieldset key={title}>
            <legend>{title}</legend>
            {list.map((column) => (
              <label key={column.id}><input type="checkbox" checked={shown.includes(column.id)} disabled={column.id === 'name'}
                onChange={() => toggle(column.id)} /> {column.label}</label>
            ))}
          </fieldset>
        ))}
      </div>
    </details>
  );
}

export function RunsTable({runs, rows, chosen, choose, colorOf, filter, setFilter, archived}: Props) {
  const [picked, setPicked] = useState<string[] | null>(null);
  const columns = useMemo(() => allColumns(runs), [runs]);
  const usual = useMemo(() => usualColumns(runs), [runs]);
  const shown = picked ?? usual;
  const search = useRef<HTMLInputElement>(null);
  useEffect(() => {
    const key = (event: KeyboardEvent) => {
      const isTyping = event.target instanceof HTMLElement && event.target.matches('input, textarea, select');
      if (event.key !== '/' || isTyping) return;
      event.preventDefault();
      search.current?.focus();
    };
    document.addEventListener('keydown', key);
    return () => document.removeEventListener('keydown', key);
  }, []);
  const readable = rows.filter((run) => run.status !== 'unreadable');
  const areAllChosen = readable.length > 0 && readable.every((run) => chosen.has(run.id));
  const toggle = (ids: readonly string[], isOn: boolean) => {
    const next = new Set(chosen);
    for (const id of ids) isOn ? next.add(id) : next.delete(id);
    choose(next);
  };
  const tableColumns = useMemo(() => shown.flatMap((id): TableColumn<RunSummary>[] => {
    const column = columns.find((each) => each.id === id);
    if (!column) return [];
    const show = id === 'name' ? (run: RunSummary) => <Name run={run} />
      : id === 'status' ? (run: RunSummary) => <span class={`badge ${run.status}`}>{run.status}</span>
        : id === 'tags' ? (run: RunSummary) => <Tags run={run} filterBy={(tag) => setFilter(`tag=${tag}`)} />
        : (run: RunSummary) => <span title={String(column.cell(run) ?? '')}>{column.text(run)}</span>;
    return [{id, label: column.label, isNumber: column.isNumber, cell: column.cell, show, ...(column.isNumber ? {text: column.text} : {})}];
  }), [shown, columns]);
  return (
    <section class="runs-table" aria-label="Runs">
      <div class="toolbar">
        <label class="filter"><span class="visually-hidden">Filter</span>
          <input ref={search} type="search" value={filter} placeholder="Filter: adam learning_rate>0.01 valid_accuracy>=0.9 -killed"
            onInput={(event) => setFilter(event.currentTarget.value)} /></label>
        <ColumnChooser columns={columns} shown={shown} show={setPicked} />
        {picked && <button type="button" onClick={() => setPicked(null)}>Usual columns</button>}
        <span class="quiet toolbar-rest" role="status">{rows.length === runs.length ? `${runs.length} runs` : `${rows.length} of ${runs.length} runs`}, {chosen.size} chosen</span>
        {archived.count > 0 && (
          <label><input type="checkbox" checked={archived.isShown} onChange={(event) => archived.show(event.currentTarget.checked)} />
            {' '}{archived.count} archived</label>
        )}
        {chosen.size > 0 && <button type="button" onClick={() => choose(new Set())}>Choose none</button>}
      </div>
      <DataTable caption="runs" columns={tableColumns} rows={rows} pageSize={PAGE} keyOf={(run) => run.id} sorting={{column: 'start', direction: 'down'}}
        rowClass={(run) => (chosen.has(run.id) ? 'chosen' : '')}
        empty={<>No run passes the filter. Words look into names and settings; conditions such as <code>loss&lt;0.5</code> compare settings and last values.</>}
        lead={{
          head: <input type="checkbox" aria-label="Choose all runs that are listed" checked={areAllChosen}
            onChange={(event) => toggle(readable.map((run) => run.id), event.currentTarget.checked)} />,
          show: (run) => <span class="run-mark" style={{borderColor: colorOf(run.id) ?? 'transparent'}}>
            <input type="checkbox" aria-label={`Compare ${run.id}`} checked={chosen.has(run.id)} disabled={run.status === 'unreadable'}
              style={{accentColor: colorOf(run.id) ?? ''}} onChange={(event) => toggle([run.id], event.currentTarget.checked)} /></span>,
        }} />
    </section>
  );
}
