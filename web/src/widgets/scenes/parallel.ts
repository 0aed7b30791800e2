// SPDX-License-Identifier: MIT
// Parallel coordinates: a line for each run over axes of its settings and scores. An axis can be brushed.
import type {Range} from '../../base/compare_state';
import {elide} from '../../base/elide';
import {formatNumber} from '../../base/format';
import type {Cell} from '../../base/table';
import type {ValueAxis} from '../../base/value_axis';
import type {SceneDrawing} from '../drawing';
import type {Surface} from '../surface';
import {textWidth} from '../surface_text';
import {LABEL, nothing, SMALL, type Box} from './axes';

export interface ParallelAxis {
  id: string;
  name: string;
  axis: ValueAxis;
}

export interface ParallelRun {
  id: string;
  /** By axis. */
  cells: readonly Cell[];
  /** Index into the palette's colours of runs. */
  color: number;
  isChosen: boolean;
}

export interface Parallel {
  drawing: SceneDrawing;
  /** The axis at a place of the picture and the value there; null if none is near. */
  axisAt(x: number, y: number, width: number, height: number): {axis: ParallelAxis; value: number} | null;
  /** The value at a height of the picture on an axis. */
  valueAt(axis: ParallelAxis, y: number, height: number): number;
}

const NARROW = 46; // pixels between axes below which there is no room for numbers; the tip has them
const NEAR = 22; // pixels from an axis that still mean it
const MISSING = 22; // room below the axes for runs without a value

const boxOf = (width: number, height: number): Box => ({x: 60, y: 34, width: width - 120, height: height - 34 - 12 - MISSING});

export function inBrush(axis: ValueAxis, cell: Cell, {first, last}: Range): boolean {
  const value = axis.number(cell);
  return value >= first && value <= last;
}

function paintAxis(surface: Surface, box: Box, x: number, room: number, {name, axis}: ParallelAxis, brush: Range | undefined, hasMissing: boolean): void {
  const {palette} = surface;
  const bottom = box.y + box.height;
  surface.path([x, box.y, x, bottom], {color: palette.faint, width: 1});
  const letters = Math.max(1, Math.floor((room - 4) / 7));
  surface.text(x, 8, elide(name, letters), {color: palette.text, size: LABEL, align: 'center', baseline: 'top', weight: 'bold'});
  const isNarrow = room < NARROW;
  for (const {at, label} of axis.ticks) {
    const y = bottom - at * box.height;
    if (isNarrow) break;
    surface.path([x - 3, y, x + 3, y], {color: palette.faint});
    const text = elide(label, Math.max(4, Math.floor((room - 12) / 7)));
    // A background, so that lines do not cross the numbers.
    surface.rect(x - 7 - textWidth(text, SMALL), y - 6, textWidth(text, SMALL) + 3, 12, {color: palette.background, opacity: 0.75});
    surface.text(x - 5, y, text, {color: palette.text, size: SMALL, align: 'right', baseline: 'middle'});
  }
  if (hasMissing && !isNarrow) surface.text(x - 5, bottom + MISSING - 8, 'none', {color: palette.warning, size: SMALL, align: 'right', baseline: 'middle'});
  if (!brush) return;
  const place = (value: number) => bottom - Math.min(1, Math.max(0, placeOfNumber(axis, value))) * box.height;
  const [top, low] = [place(brush.last), place(brush.first)];
  surface.rect(x - 6, top, 12, Math.max(2, low - top), {color: palette.warning, opacity: 0.35});
}

/** As place, of a number or of the place of a word in their order. */
function placeOfNumber(axis: ValueAxis, value: number): number {
  if (!axis.words) return axis.place(value);
  const [zero, one] = [axis.place(axis.words[0]), axis.place(axis.words[1])];
  return axis.words.length < 2 ? zero + (value < 0 ? -0.1 : value > 0 ? 0.1 : 0) : zero + value * (one - zero);
}

export function parallelScene(axes: readonly ParallelAxis[], runs: readonly ParallelRun[], brushes: Readonly<Record<string, Range>>): Parallel {
  const placeX = (box: Box, i: number) => (axes.length === 1 ? box.x + box.width / 2 : box.x + (i * box.width) / (axes.length - 1));
  const room = (box: Box) => (axes.length === 1 ? box.width : box.width / (axes.length - 1));
  const lacks = axes.map(({axis}, i) => runs.some(({cells}) => Number.isNaN(axis.place(cells[i]))));
  const placeY = (box: Box, i: number, cell: Cell) => {
    const place = (axes[i] as ParallelAxis).axis.place(cell);
    return Number.isNaN(place) ? box.y + box.height + MISSING - 8 : box.y + (1 - place) * box.height;
  };
  const valueAt = ({axis}: ParallelAxis, y: number, height: number) => {
    const box = boxOf(1000, height);
    return axis.valueAt(Math.min(1, Math.max(0, 1 - (y - box.y) / box.height)));
  };
  return {
    valueAt,
    axisAt(x, y, width, height) {
      const box = boxOf(width, height);
      let found: ParallelAxis | null = null;
      let best = NEAR;
      axes.forEach((axis, i) => {
        const distance = Math.abs(placeX(box, i) - x);
        if (distance < best) [found, best] = [axis, distance];
      });
      return found && {axis: found as ParallelAxis, value: valueAt(found, y, height)};
    },
    drawing: {
      kind: 'scene',
      height: (width) => Math.round(Math.min(460, Math.max(280, width * 0.32))),
      words: `${runs.length} runs over ${axes.map(({name}) => name).join(', ')}; ${runs.filter(({isChosen}) => isChosen).length} of them chosen.`,
      paint(surface) {
        const box = boxOf(surface.width, surface.height);
        if (axes.length === 0) return nothing(surface, box, 'choose axes');
        // Many faint lines over each other would be as dark as chosen ones.
        const faint = Math.max(0.04, Math.min(0.25, 40 / runs.length));
        const isMany = runs.length > 200;
        for (const isChosen of [false, true]) {
          for (const run of runs) {
            if (run.isChosen !== isChosen) continue;
            const path: number[] = [];
            run.cells.forEach((cell, i) => path.push(placeX(box, i), placeY(box, i, cell)));
            surface.path(path, {color: surface.palette.runs[run.color] as string, width: isChosen ? 1.5 : 1, opacity: isChosen ? (isMany ? 0.8 : 0.95) : faint});
          }
        }
        axes.forEach((axis, i) => paintAxis(surface, box, placeX(box, i), room(box), axis, brushes[axis.id], lacks[i] === true));
      },
      at(px, py, width, height) {
        const box = boxOf(width, height);
        // The line nearest to the pointer between the two axes beside it.
        let found: ParallelRun | null = null;
        let best = 8;
        const left = Math.min(axes.length - 2, Math.max(0, Math.floor(((px - box.x) / box.width) * (axes.length - 1))));
        if (axes.length < 2) return null;
        const part = Math.min(1, Math.max(0, (px - placeX(box, left)) / (placeX(box, left + 1) - placeX(box, left))));
        for (const run of runs) {
          const [y0, y1] = [placeY(box, left, run.cells[left]), placeY(box, left + 1, run.cells[left + 1])];
          const distance = Math.abs(y0 + part * (y1 - y0) - py) + (run.isChosen ? 0 : 1);
          if (distance < best) [found, best] = [run, distance];
        }
        const run = found as ParallelRun | null;
        if (!run) return null;
        const text = (cell: Cell) => (cell === undefined || cell === '' ? 'none' : typeof cell === 'number' ? formatNumber(cell) : cell);
        return {text: [run.id, ...axes.map(({name}, i) => `${name}: ${text(run.cells[i])}`)].join('\n')};
      },
    },
  };
}
