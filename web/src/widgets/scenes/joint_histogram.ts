// SPDX-License-Identifier: MIT
// A histogram over two axes as a heat map with logarithmic colours; its sums over either axis stand
// at the top and at the right.
import {shortCount} from '../../base/short_number';
import {largest, logFraction, marginals} from '../../base/statistics';
import type {Axis, Frame} from '../../wire/types';
import type {SceneDrawing} from '../drawing';
import type {Surface} from '../surface';
import {bottomAxis, countScale, leftAxis, linearScale, nothing, SMALL, stepLabel, type Box} from './axes';
import {binRange, steps} from './histogram';

const GAP = 4;

export interface JointNames {
  /** Of the vertical axis, whose bins are the rows. */
  rows: string;
  columns: string;
}

interface View {
  map: Box;
  top: Box;
  right: Box;
}

function viewOf(width: number, height: number): View {
  const side = Math.min(64, Math.max(38, width * 0.12));
  const map = {x: 52, y: 16 + side * 0.75 + GAP, width: width - 52 - side - GAP - 8, height: 0};
  map.height = height - map.y - 38;
  return {map,
    top: {x: map.x, y: 16, width: map.width, height: side * 0.75},
    right: {x: map.x + map.width + GAP, y: map.y, width: side, height: map.height}};
}

/** The rows the other way round: the first row of a heat map is at the top, the first bin below. */
function upsideDown(counts: Float64Array, rows: number, columns: number): Float64Array {
  const turned = new Float64Array(rows * columns);
  for (let row = 0; row < rows; ++row) turned.set(counts.subarray(row * columns, (row + 1) * columns), (rows - 1 - row) * columns);
  return turned;
}

function paintMarginals(surface: Surface, {top, right}: View, sums: ReturnType<typeof marginals>): void {
  const color = surface.palette.lines[0] as string;
  const height = countScale(largest(sums.columns, 1), top.y + top.height, top.y);
  const above = steps(sums.columns, top.x, top.width, height);
  surface.area([top.x, top.y + top.height, ...above, top.x + top.width, top.y + top.height], {color, opacity: 0.4});
  surface.path(above, {color});
  const length = countScale(largest(sums.rows, 1), right.x, right.x + right.width);
  // Steps along y from the bottom up, then x and y exchanged.
  const along = steps(sums.rows, right.y + right.height, -right.height, length);
  const beside: number[] = [];
  for (let i = 0; i < along.length; i += 2) beside.push(along[i + 1] as number, along[i] as number);
  surface.area([right.x, right.y + right.height, ...beside, right.x, right.y], {color, opacity: 0.4});
  surface.path(beside, {color});
}

/** The colours of the counts in the corner between the marginals. */
function paintKey(surface: Surface, {top, right}: View, most: number): void {
  const {palette} = surface;
  const y = top.y + top.height - 10;
  const parts = 24;
  for (let i = 0; i < parts; ++i) {
    surface.rect(right.x + (i * right.width) / parts, y, right.width / parts + 0.5, 7, {color: palette.heat((i + 0.5) / parts)});
  }
  const style = {color: palette.faint, size: SMALL, baseline: 'bottom'} as const;
  surface.text(right.x, y - 2, '1', {...style, align: 'left'});
  surface.text(right.x + right.width, y - 2, shortCount(most), {...style, align: 'right'});
}

export function jointHistogramScene(frame: Frame, rowAxis: Axis, columnAxis: Axis, names: JointNames): SceneDrawing {
  const rows = rowAxis.count;
  const columns = columnAxis.count;
  const most = largest(frame.counts, 0);
  const sums = marginals(frame.counts, rows, columns);
  const total = sums.rows.reduce((sum, count) => sum + count, 0);
  const counts = upsideDown(frame.counts, rows, columns);
  return {
    kind: 'scene',
    height: (width) => Math.round(Math.min(400, Math.max(240, width * 0.64))),
    words: `Heat map of ${shortCount(total)} entries at step ${frame.step}: ${names.rows} against ${names.columns}, ` +
      `at most ${shortCount(most)} in one of ${rows} by ${columns} cells.`,
    paint(surface) {
      const view = viewOf(surface.width, surface.height);
      const {map} = view;
      leftAxis(surface, map, linearScale(rowAxis.low, rowAxis.high, map.y + map.height, map.y, 34), names.rows);
      bottomAxis(surface, map, linearScale(columnAxis.low, columnAxis.high, map.x, map.x + map.width), names.columns, true);
      stepLabel(surface, surface.width - 8, 2, frame.step);
      if (most > 0) {
        surface.cells(map.x, map.y, map.width, map.height, columns,
          counts.map((count) => logFraction(count, most)), surface.palette.heat);
        paintMarginals(surface, view, sums);
        paintKey(surface, view, most);
      } else {
        nothing(surface, map, 'no entries');
      }
    },
    at(px, py, width, height) {
      const {map} = viewOf(width, height);
      const column = Math.floor(((px - map.x) / map.width) * columns);
      const row = Math.floor(((map.y + map.height - py) / map.height) * rows);
      if (column < 0 || column >= columns || row < 0 || row >= rows) return null;
      return {text: `${names.rows} ${binRange(rowAxis, row)}\n${names.columns} ${binRange(columnAxis, column)}\n` +
        `${frame.counts[row * columns + column] ?? 0} entries`};
    },
  };
}
