// SPDX-License-Identifier: MIT
// What a chart without a legend of its own says beside the cursor: a value for each line.
import {exactNumber, formatNumber} from '../base/format';
import type {LinesDrawing} from './drawing';
import {type LineData, nearestRow, overText} from './line_data';

export interface TipEntry {
  /** Index into the drawing's lines; -1 for a word about those that are left out. */
  line: number;
  name: string;
  value: string;
  title: string;
}

/** Lines that a tip has room for: of more, the largest and the smallest values. */
const MOST = 14;

/** The lines' values at a row, or at the nearest one they have, from the largest down. */
export function tipEntries(drawing: LinesDrawing, data: LineData, row: number, off: ReadonlySet<string>): TipEntry[] {
  const found: (TipEntry & {number: number})[] = [];
  for (const column of data.columns) {
    const line = drawing.lines[column.line];
    if (!line || column.role !== 'value' || off.has(line.label)) continue;
    const exact = data.exact[column.line] as Float64Array;
    const at = column.cells[row] === undefined && Number.isNaN(exact[row] as number) ? nearestRow(column.cells, data.x, row) : row;
    if (at === null) continue;
    const value = exact[at] as number;
    const place = data.steps[at] as number;
    const detail = line.detail?.(line.points.steps.indexOf(place));
    found.push({line: column.line, name: line.short ?? line.label, value: formatNumber(value) + (detail ? ` (${detail})` : ''),
      title: `${overText(drawing, place)}: ${exactNumber(value)}`, number: value});
  }
  // Not-a-numbers last.
  found.sort((a, b) => (Number.isNaN(a.number) ? 1 : Number.isNaN(b.number) ? -1 : b.number - a.number));
  const entries: TipEntry[] = found.map(({number: _, ...entry}) => entry);
  if (entries.length <= MOST) return entries;
  const half = MOST / 2;
  const between = {line: -1, name: '', value: `… ${entries.length - MOST} more between …`, title: ''};
  return [...entries.slice(0, half), between, ...entries.slice(-half)];
}
