// SPDX-License-Identifier: MIT
// A table that sorts by its headers and shows a page of rows at a time, so that a thousand cost
// what a hundred do.
import type {ComponentChildren} from 'preact';
import {useMemo, useState} from 'preact/hooks';
import {decimalPads} from '../base/align_decimals';
import {sortRows, type Cell, type Direction} from '../base/table';

export interface TableColumn<T> {
  id: string;
  label: string;
  isNumber?: boolean;
  /** What rows are sorted by. */
  cell(row: T): Cell;
  /** What is seen; the cell itself unless said. */
  show?(row: T): ComponentChildren;
  /** Of numbers, the text that `show` shows: their points then stand below each other. */
  text?(row: T): string;
}

export interface TableSorting {
  column: string;
  direction: Direction;
}

interface Props<T> {
  /** Says what the table is. */
  caption: string;
  columns: readonly TableColumn<T>[];
  rows: readonly T[];
  keyOf(row: T): string;
  sorting?: TableSorting;
  pageSize?: number;
  /** A first column of controls, and its header. */
  lead?: {head: ComponentChildren; show(row: T): ComponentChildren};
  rowClass?(row: T): string;
  /** Instead of rows where there are none. */
  empty?: ComponentChildren;
}

const ARROWS = {up: '▲', down: '▼'} as const;

/** Room that is not seen, behind a number with fewer digits than others of its column. */
export function Pad({of}: {of: string | undefined}) {
  return of ? <span class="pad" aria-hidden="true">{of}</span> : null;
}

function Pages(props: {page: number; pages: number; size: number; count: number; go(page: number): void}) {
  const {page, pages, size, count, go} = props;
  if (pages <= 1) return null;
  return (
    <nav class="pages" aria-label="pages of the table">
      <button type="button" disabled={page === 0} onClick={() => go(page - 1)}>previous</button>
      <span>{page * size + 1} to {Math.min(count, (page + 1) * size)} of {count}</span>
      <button type="button" disabled={page >= pages - 1} onClick={() => go(page + 1)}>next</button>
    </nav>
  );
}

export function DataTable<T>(props: Props<T>) {
  const {columns, rows, lead} = props;
  const size = props.pageSize ?? 100;
  const [sorting, setSorting] = useState(props.sorting);
  const [wanted, setPage] = useState(0);
  const column = columns.find((each) => each.id === sorting?.column);
  const sorted = useMemo(() => (column && sorting ? sortRows(rows, column.cell, sorting.direction) : rows),
    [rows, column, sorting]);
  const pages = Math.max(1, Math.ceil(rows.length / size));
  const page = Math.min(wanted, pages - 1);
  const seen = sorted.slice(page * size, (page + 1) * size);
  const pads = useMemo(() => new Map(columns.map((each) => [each, each.text && decimalPads(seen.map((row) => each.text?.(row) ?? ''))])),
    [columns, sorted, page, size]);
  const sortBy = (chosen: TableColumn<T>) => {
    // Numbers are mostly looked at from the largest down.
    const start: Direction = chosen.isNumber ? 'down' : 'up';
    const other: Direction = sorting?.direction === 'up' ? 'down' : 'up';
    setSorting({column: chosen.id, direction: sorting?.column === chosen.id ? other : start});
    setPage(0);
  };
  return (
    <div class="data-table">
      <div class="table-scroll" tabIndex={0} role="region" aria-label={props.caption}>
        <table>
          <caption class="visually-hidden">{props.caption}</caption>
          <thead>
            <tr>
              {lead && <th scope="col" class="lead">{lead.head}</th>}
              {columns.map((each) => {
                const direction = each.id === sorting?.column ? sorting.direction : undefined;
                return (
                  <th key={each.id} scope="col" class={each.isNumber ? 'number' : ''}
                    aria-sort={direction === undefined ? 'none' : direction === 'up' ? 'ascending' : 'descending'}>
                    <button type="button" title={`sort by ${each.label}`} onClick={() => sortBy(each)}>
                      {each.label}<span class="arrow" aria-hidden="true">{direction ? ARROWS[direction] : ''}</span>
                    </button>
                  </th>
                );
              })}
            </tr>
          </thead>
          <tbody>
            {seen.map((row, i) => (
              <tr key={props.keyOf(row)} class={props.rowClass?.(row) ?? ''}>
                {lead && <td class="lead">{lead.show(row)}</td>}
                {columns.map((each) => (
                  <td key={each.id} class={each.isNumber ? 'number' : ''}>{each.show ? each.show(row) : each.cell(row)}<Pad of={pads.get(each)?.[i]} /></td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
        {rows.length === 0 && <div class="table-empty">{props.empty ?? 'Nothing here.'}</div>}
      </div>
      <Pages page={page} pages={pages} size={size} count={rows.length} go={setPage} />
    </div>
  );
}
