// SPDX-License-Identifier: MIT
// Parts of the run view that are tables: plan, parameters, series.
import {useMemo} from 'preact/hooks';
import {formatStep} from '../../base/format';
import {typeOf} from '../../base/grouping';
import {DataTable, type TableColumn} from '../../widgets/data_table';
import type {Source} from '../../wire/source';
import type {Parameter, Quantity, RunDetails, Series} from '../../wire/types';
import {entriesOf} from './run_facts';
import {Card} from './run_sections';

const COSTS = ['free', 'first-order', 'curvature', 'spectrum'];

const quantityColumns: TableColumn<Quantity>[] = [
  {id: 'name', label: 'Quantity', cell: (q) => q.name, show: (q) => <code>{q.name}</code>},
  {id: 'due', label: 'When', cell: (q) => q.due},
  // By how dear it is, not by the word.
  {id: 'cost', label: 'Cost', cell: (q) => COSTS.indexOf(q.cost), show: (q) => <span class="tag">{q.cost}</span>},
  {id: 'summary', label: 'What it is', cell: (q) => q.summary},
  {id: 'settings', label: 'Settings', cell: (q) => q.settings, show: (q) => <code>{q.settings}</code>},
];

/** Columns without the optional ones that no row fills. */
function filled<T>(columns: TableColumn<T>[], rows: readonly T[], optional: string): TableColumn<T>[] {
  return columns.filter(({id, cell}) => id !== optional || rows.some((row) => cell(row) !== ''));
}

export function Plan({run}: {run: RunDetails}) {
  return (
    <Card title="Plan: what was computed when, at what cost" id="plan">
      <DataTable caption="quantities that were tracked" columns={filled(quantityColumns, run.quantities, 'settings')} rows={run.quantities} keyOf={(q) => q.name}
        empty="No quantities were tracked by a cockpit; the values were recorded by hand." />
      {run.plan && <pre tabIndex={0} aria-label="plan">{run.plan}</pre>}
    </Card>
  );
}

const parameterColumns: TableColumn<Parameter>[] = [
  {id: 'name', label: 'Parameter', cell: (p) => p.name, show: (p) => <code>{p.name}</code>},
  {id: 'shape', label: 'Shape', cell: (p) => p.shape.length, show: (p) => (p.shape.length ? [...p.shape].join(' × ') : 'scalar')},
  {id: 'entries', label: 'Entries', isNumber: true, cell: (p) => entriesOf(p.shape), show: (p) => formatStep(entriesOf(p.shape))},
  {id: 'kind', label: 'Kind', cell: (p) => typeOf({name: p.name, shape: [...p.shape]})},
  {id: 'type', label: 'Type', cell: (p) => p.type},
];

export function Parameters({run}: {run: RunDetails}) {
  const total = run.parameters.reduce((sum, parameter) => sum + entriesOf(parameter.shape), 0);
  return (
    <Card title="Parameters" id="parameters">
      <p class="quiet">{formatStep(run.parameters.length)} parameters with {formatStep(total)} entries in all.</p>
      <DataTable caption="parameters" columns={parameterColumns} rows={run.parameters} keyOf={(p) => p.name} pageSize={50}
        empty="None are known; they are recorded with the first watched step." />
    </Card>
  );
}

/** Addresses that together give all series as CSV: several where one would be too long. */
export function csvAddresses(source: Source, run: string, ids: readonly number[]): string[] {
  if (ids.length === 0) return [];
  const address = source.csvAddress(run, [...ids]);
  if (address !== null) return [address];
  if (ids.length === 1) return [];
  const half = Math.ceil(ids.length / 2);
  return [...csvAddresses(source, run, ids.slice(0, half)), ...csvAddresses(source, run, ids.slice(half))];
}

export function SeriesTable({run, source}: {run: RunDetails; source: Source}) {
  const id = run.summary.id;
  const columns = useMemo((): TableColumn<Series>[] => [
    {id: 'quantity', label: 'Quantity', cell: (s) => s.quantity, show: (s) => <code>{s.quantity}</code>},
    {id: 'field', label: 'Field', cell: (s) => s.field},
    {id: 'group', label: 'Group', cell: (s) => s.group, show: (s) => (s.group === '' ? <span class="quiet">whole model</span> : <code>{s.group}</code>)},
    {id: 'kind', label: 'Kind', cell: (s) => s.kind},
    {id: 'count', label: 'Steps', isNumber: true, cell: (s) => s.count, show: (s) => formatStep(s.count)},
    {id: 'first', label: 'First', isNumber: true, cell: (s) => s.first_step, show: (s) => formatStep(s.first_step)},
    {id: 'last', label: 'Last', isNumber: true, cell: (s) => s.last_step, show: (s) => formatStep(s.last_step)},
    {id: 'csv', label: 'Export', cell: () => undefined, show: (s) => {
      const address = s.kind === 'number' ? source.csvAddress(id, [s.id]) : null;
      return address && <a href={address} download>CSV</a>;
    }},
  ], [source, id]);
  const all = useMemo(() => csvAddresses(source, id, run.series.filter((s) => s.kind === 'number').map((s) => s.id)), [source, run]);
  return (
    <Card title="Series" id="series">
      <p class="quiet">
        {formatStep(run.series.length)} series.{' '}
        {all.map((address, i) => (
          <a key={address} class="export" href={address} download>{all.length === 1 ? 'All numbers as CSV' : `All numbers as CSV, part ${i + 1}`}</a>
        ))}
        {all.length === 0 && <>Exact values of all of them: <code>flightdeck export {id} --format csv</code></>}
      </p>
      <DataTable caption="series" columns={filled(columns, run.series, 'field')} rows={run.series} keyOf={(s) => String(s.id)} pageSize={50}
        empty="Nothing was recorded yet. Values appear here with the first tracked step." />
    </Card>
  );
}
