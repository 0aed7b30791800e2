// SPDX-License-Identifier: MIT
// Histograms of several layers over each other, as shares of their own entries on a log scale.
import {elide} from '../../base/elide';
import {rebinned, usedRange} from '../../base/rebin';
import {shortCount, shortNumber} from '../../base/short_number';
import {largest} from '../../base/statistics';
import type {SceneDrawing} from '../drawing';
import {bottomAxis, leftAxis, legend, legendHeight, linearScale, logScale, nothing, stepLabel, type Box} from './axes';
import {steps} from './histogram';
import type {Layer} from './layered_joint';

const BINS = 80;
const TOP = 18;

const boxOf = (width: number, height: number, labels: readonly string[]): Box => {
  const y = TOP + legendHeight(width - 60, labels) + 4;
  return {x: 52, y, width: width - 52 - 14, height: height - y - 38};
};

/** `name`: of the horizontal axis. */
export function layeredHistograms(layers: readonly Layer[], name: string): SceneDrawing {
  const binned = layers.map(({frame}) => ({low: frame.axes[0]?.low ?? 0, high: frame.axes[0]?.high ?? 1, counts: frame.counts}));
  const range = usedRange(binned);
  const shares = binned.map((histogram) => {
    const total = histogram.counts.reduce((sum, count) => sum + count, 0);
    return rebinned(histogram, range?.low ?? 0, range?.high ?? 1, BINS).map((count) => (total > 0 ? count / total : 0));
  });
  const most = shares.reduce((found, part) => Math.max(found, largest(part, 0)), 0);
  const least = shares.reduce((found, part) => part.reduce((low, share) => (share > 0 ? Math.min(low, share) : low), found), most);
  const labels = layers.map((layer) => elide(layer.name, 24));
  const step = layers[0]?.frame.step ?? 0;
  const bad = layers.reduce((sum, {frame}) => sum + frame.not_a_number, 0);
  return {
    kind: 'scene',
    height: (width) => Math.round(Math.min(380, Math.max(240, width * 0.6))),
    words: `Histograms of ${layers.length} layers at step ${step}` +
      (range ? `, from ${shortNumber(range.low)} to ${shortNumber(range.high)}.` : ', all empty.') +
      (bad > 0 ? ` ${shortCount(bad)} entries are not finite.` : ''),
    paint(surface) {
      const {palette} = surface;
      const box = boxOf(surface.width, surface.height, labels);
      const color = (k: number) => palette.lines[k % palette.lines.length] as string;
      stepLabel(surface, surface.width - 8, 2, step);
      legend(surface, 52, TOP, surface.width - 60, labels.map((label, k) => ({label, color: color(k), mark: 'line' as const})));
      if (!range || most <= 0) return nothing(surface, box, 'no entries that are finite');
      const y = logScale(Math.max(least / 2, most / 1e7), most * 1.3, box.y + box.height, box.y);
      leftAxis(surface, box, y, 'share');
      bottomAxis(surface, box, linearScale(range.low, range.high, box.x, box.x + box.width), name);
      for (const [k, part] of shares.entries()) surface.path(steps(part, box.x, box.width, y), {color: color(k), width: 1.5});
    },
    at(px, py, width, height) {
      const box = boxOf(width, height, labels);
      const bin = Math.floor(((px - box.x) / box.width) * BINS);
      if (!range || bin < 0 || bin >= BINS || py < box.y || py > box.y + box.height) return null;
      const edge = (i: number) => shortNumber(range.low + ((range.high - range.low) * i) / BINS);
      return {text: [`${edge(bin)} to ${edge(bin + 1)}`,
        ...layers.map((layer, k) => `${layer.name}: ${shortNumber(100 * ((shares[k] as Float64Array)[bin] as number))} %`)].join('\n')};
    },
  };
}
