// SPDX-License-Identifier: MIT
// Histograms over the same two axes in one picture, a colour for each layer. A cell has the colour of the layer that has
// the largest share of its own entries there, the stronger the larger that share: large layers do not hide small ones.
import {colorBytes} from '../../base/color';
import {elide} from '../../base/elide';
import {shortCount, shortNumber} from '../../base/short_number';
import type {Axis, Frame} from '../../wire/types';
import type {SceneDrawing} from '../drawing';
import type {Palette} from '../surface';
import {bottomAxis, leftAxis, legend, legendHeight, linearScale, nothing, stepLabel, type Box} from './axes';
import {binRange} from './histogram';
import type {JointNames} from './joint_histogram';

export interface Layer {
  name: string;
  frame: Frame;
}

const TOP = 18;
const SHADES = 32;
const FAINTEST = 0.25;
const DECADES = 5; // of shares that have different strengths

const boxOf = (width: number, height: number, labels: readonly string[]): Box => {
  const y = TOP + legendHeight(width - 60, labels) + 4;
  return {x: 52, y, width: width - 52 - 8, height: height - y - 38};
};

/** The layer with the largest share at every cell, and that share; -1 and 0 where nobody has entries. */
function strongest(layers: readonly Layer[], cells: number): {layer: Int32Array; share: Float64Array} {
  const layer = new Int32Array(cells).fill(-1);
  const share = new Float64Array(cells);
  for (const [k, {frame}] of layers.entries()) {
    const total = frame.counts.reduce((sum, count) => sum + count, 0);
    if (total <= 0) continue;
    for (let cell = 0; cell < cells; ++cell) {
      const own = (frame.counts[cell] ?? 0) / total;
      if (own > (share[cell] as number)) {
        share[cell] = own;
        layer[cell] = k;
      }
    }
  }
  return {layer, share};
}

/** From the background's colour to the layer's, by whole shades. */
function shades(palette: Palette, color: string): string[] {
  const from = colorBytes(palette.background) ?? [255, 255, 255];
  const to = colorBytes(color) ?? [0, 0, 0];
  return Array.from({length: SHADES}, (_, i) => {
    const t = FAINTEST + ((1 - FAINTEST) * (i + 1)) / SHADES;
    const mixed = to.map((byte, k) => Math.round((from[k] as number) + t * (byte - (from[k] as number))));
    return `rgb(${mixed.join(',')})`;
  });
}

/** Strength of a share: 1 for all entries, falling with its logarithm. */
const shadeOf = (share: number) =>
  Math.min(SHADES - 1, Math.max(0, Math.floor((1 + Math.log10(share) / DECADES) * SHADES)));

export function layeredJointScene(layers: readonly Layer[], rowAxis: Axis, columnAxis: Axis, names: JointNames): SceneDrawing {
  const rows = rowAxis.count;
  const columns = columnAxis.count;
  const {layer, share} = strongest(layers, rows * columns);
  const labels = layers.map(({name}) => elide(name, 24));
  const seen = layers.filter((_, k) => layer.includes(k)).length;
  // Rows from the top: the largest bin first. A cell is its layer and its shade in one number.
  const values = new Float64Array(rows * columns);
  for (let row = 0; row < rows; ++row) {
    for (let column = 0; column < columns; ++column) {
      const cell = row * columns + column;
      const k = layer[cell] as number;
      values[(rows - 1 - row) * columns + column] = k < 0 ? NaN : k * SHADES + shadeOf(share[cell] as number);
    }
  }
  const step = layers[0]?.frame.step ?? 0;
  return {
    kind: 'scene',
    height: (width) => Math.round(Math.min(420, Math.max(260, width * 0.64))),
    words: `Entries of ${layers.length} layers at step ${step}: ${names.rows} against ${names.columns}, ` +
      `each cell in the colour of the layer with the largest share of its entries there; ${seen} layers have such a cell.`,
    paint(surface) {
      const {palette} = surface;
      const box = boxOf(surface.width, surface.height, labels);
      const color = (k: number) => palette.lines[k % palette.lines.length] as string;
      const scales = layers.map((_, k) => shades(palette, color(k)));
      stepLabel(surface, surface.width - 8, 2, step);
      legend(surface, 52, TOP, surface.width - 60, labels.map((label, k) => ({label, color: color(k)})));
      leftAxis(surface, box, linearScale(rowAxis.low, rowAxis.high, box.y + box.height, box.y, 34), names.rows);
      bottomAxis(surface, box, linearScale(columnAxis.low, columnAxis.high, box.x, box.x + box.width), names.columns, true);
      if (seen === 0) return nothing(surface, box, 'no entries');
      surface.cells(box.x, box.y, box.width, box.height, columns, values,
        (value) => (scales[Math.floor(value / SHADES)] as string[])[value % SHADES] as string);
    },
    at(px, py, width, height) {
      const box = boxOf(width, height, labels);
      const column = Math.floor(((px - box.x) / box.width) * columns);
      const row = Math.floor(((box.y + box.height - py) / box.height) * rows);
      if (column < 0 || column >= columns || row < 0 || row >= rows) return null;
      const cell = row * columns + column;
      const found = layers.filter(({frame}) => (frame.counts[cell] ?? 0) > 0)
        .map(({name, frame}) => `${name}: ${shortCount(frame.counts[cell] as number)} (${shortNumber(
          (100 * (frame.counts[cell] as number)) / frame.counts.reduce((sum, count) => sum + count, 0))} %)`);
      return {text: [`${names.rows} ${binRange(rowAxis, row)}`, `${names.columns} ${binRange(columnAxis, column)}`,
        ...(found.length > 0 ? found : ['no entries'])].join('\n')};
    },
  };
}
