// SPDX-License-Identifier: MIT
// Which classes are taken for which: labels down, predictions across, shares of each label as colours.
import {shortNumber} from '../../base/short_number';
import type {Frame} from '../../wire/types';
import type {SceneDrawing} from '../drawing';
import {LABEL, SMALL, stepLabel, type Box} from './axes';

const LEFT = 52;
const TOP = 20;
const BOTTOM = 36;
const MOST_NUMBERS = 12; // classes up to which cells show numbers

const boxOf = (width: number, height: number): Box => ({x: LEFT, y: TOP, width: width - LEFT - 8, height: height - TOP - BOTTOM});

/** The wrong cells, the largest share of their label first. */
export function worstPairs(counts: ArrayLike<number>, classes: number): {label: number; prediction: number; count: number; share: number}[] {
  const pairs = [];
  for (let label = 0; label < classes; ++label) {
    let total = 0;
    for (let k = 0; k < classes; ++k) total += counts[label * classes + k] ?? 0;
    for (let prediction = 0; prediction < classes; ++prediction) {
      const count = counts[label * classes + prediction] ?? 0;
      if (prediction !== label && count > 0) pairs.push({label, prediction, count, share: count / total});
    }
  }
  return pairs.sort((a, b) => b.share - a.share);
}

export function confusionScene(frame: Frame, classes: number): SceneDrawing {
  const counts = frame.counts;
  const totals = Array.from({length: classes}, (_, label) =>
    counts.subarray(label * classes, (label + 1) * classes).reduce((sum, count) => sum + count, 0));
  const share = (cell: number) => (counts[cell] ?? 0) / Math.max(1, totals[Math.floor(cell / classes)] as number);
  // What is right would outshine what is wrong: the colours are of the wrong ones.
  const pairs = worstPairs(counts, classes);
  const most = pairs[0]?.share ?? 0;
  const values = Float64Array.from({length: classes * classes}, (_, cell) =>
    (cell % (classes + 1) === 0 || share(cell) === 0 ? NaN : share(cell) / most));
  const worst = pairs.slice(0, 3).map(({label, prediction, share: part}) =>
    `${label} taken for ${prediction} (${shortNumber(100 * part)} %)`).join(', ');
  return {
    kind: 'scene',
    height: (width) => Math.round(Math.min(420, Math.max(240, width * 0.8))),
    words: `Confusion of ${classes} classes on the test set at step ${frame.step}` + (worst ? `, most: ${worst}.` : ': none.'),
    paint(surface) {
      const {palette} = surface;
      const box = boxOf(surface.width, surface.height);
      const [across, down] = [box.width / classes, box.height / classes];
      stepLabel(surface, surface.width - 8, 2, frame.step);
      surface.cells(box.x, box.y, box.width, box.height, classes, values, palette.heat);
      const every = Math.max(1, Math.ceil(14 / down), Math.ceil(24 / across));
      for (let k = 0; k < classes; k += every) {
        surface.text(box.x - 5, box.y + (k + 0.5) * down, `${k}`, {color: palette.faint, size: SMALL, align: 'right', baseline: 'middle'});
        surface.text(box.x + (k + 0.5) * across, box.y + box.height + 5, `${k}`, {color: palette.faint, size: SMALL, align: 'center', baseline: 'top'});
      }
      surface.text(LEFT - 40, box.y + box.height / 2, 'label', {color: palette.faint, size: LABEL, align: 'center', baseline: 'middle', turn: -90});
      surface.text(box.x + box.width / 2, box.y + box.height + 20, 'read as', {color: palette.faint, size: LABEL, align: 'center', baseline: 'top'});
      for (let cell = 0; cell < classes * classes; ++cell) {
        const [row, column] = [Math.floor(cell / classes), cell % classes];
        const [x, y] = [box.x + column * across, box.y + row * down];
        if (row === column) surface.path([x, y, x + across, y, x + across, y + down, x, y + down, x, y], {color: palette.grid});
        if (classes > MOST_NUMBERS || across < 22 || down < 14 || !((counts[cell] ?? 0) > 0)) continue;
        const isDeep = row !== column && share(cell) > 0.5 * most;
        surface.text(x + across / 2, y + down / 2, `${Math.round(100 * share(cell))}`,
          {color: isDeep ? palette.background : palette.text, size: SMALL, align: 'center', baseline: 'middle'});
      }
    },
    at(px, py, width, height) {
      const box = boxOf(width, height);
      const column = Math.floor(((px - box.x) / box.width) * classes);
      const row = Math.floor(((py - box.y) / box.height) * classes);
      if (column < 0 || column >= classes || row < 0 || row >= classes) return null;
      const cell = row * classes + column;
      return {text: `label ${row} read as ${column}\n${counts[cell] ?? 0} of ${totals[row]} samples, ${shortNumber(100 * share(cell))} %`};
    },
  };
}
