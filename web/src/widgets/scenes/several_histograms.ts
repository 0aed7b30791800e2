// SPDX-License-Identifier: MIT
// Histograms of several runs over each other: shares of all entries, on a log scale, over the range that holds any.
import {rebinned, usedRange, type Binned} from '../../base/rebin';
import {shortNumber} from '../../base/short_number';
import {largest} from '../../base/statistics';
import type {SceneDrawing} from '../drawing';
import {bottomAxis, leftAxis, linearScale, logScale, nothing, panelHeight, SMALL, type Box} from './axes';
import {steps} from './histogram';
import type {RunMark} from './run_mark';

export interface HistogramPart extends RunMark {
  histograms: readonly (Binned & {outside: number})[];
}

const BINS = 80;

const boxOf = (width: number, height: number): Box => ({x: 52, y: 20, width: width - 52 - 14, height: height - 20 - 38});

/** Shares of all entries of a part, those outside of its range counted in. */
function sharesOf({histograms}: HistogramPart, low: number, high: number): {shares: Float64Array; outside: number} {
  const shares = new Float64Array(BINS);
  let [total, outside] = [0, 0];
  for (const histogram of histograms) {
    const counts = rebinned(histogram, low, high, BINS);
    for (let i = 0; i < BINS; ++i) shares[i] = (shares[i] as number) + (counts[i] as number);
    outside += histogram.outside;
    total += histogram.outside;
    for (let i = 0; i < histogram.counts.length; ++i) total += histogram.counts[i] as number;
  }
  return {shares: shares.map((share) => (total > 0 ? share / total : 0)), outside: total > 0 ? outside / total : 0};
}

const percent = (share: number) => `${shortNumber(100 * share)} %`;

/** `name`: of the horizontal axis. */
export function severalHistograms(parts: readonly HistogramPart[], name: string): SceneDrawing {
  const range = usedRange(parts.flatMap(({histograms}) => histograms));
  const drawn = parts.map((part) => ({part, ...sharesOf(part, range?.low ?? 0, range?.high ?? 1)}));
  const most = drawn.reduce((found, {shares}) => Math.max(found, largest(shares, 0)), 0);
  const least = drawn.reduce((found, {shares}) => shares.reduce((low, share) => (share > 0 ? Math.min(low, share) : low), found), most);
  const floor = Math.max(least / 2, most / 1e7);
  const beyond = drawn.filter(({outside}) => outside > 0);
  const beyondText = beyond.length === 0 ? '' : `up to ${percent(Math.max(...beyond.map(({outside}) => outside)))} beyond the range`;
  return {
    kind: 'scene',
    height: panelHeight,
    words: `Histograms of ${parts.length} lines${range ? ` from ${shortNumber(range.low)} to ${shortNumber(range.high)}` : ', all empty'}.` +
      beyond.slice(0, 12).map(({part, outside}) => ` ${part.name}: ${percent(outside)} beyond the recorded range.`).join(''),
    paint(surface) {
      const box = boxOf(surface.width, surface.height);
      const bottom = box.y + box.height;
      if (!range || most <= 0) return nothing(surface, box, 'no entries in the recorded range');
      const y = logScale(floor, most * 1.3, bottom, box.y);
      leftAxis(surface, box, y, 'share');
      bottomAxis(surface, box, linearScale(range.low, range.high, box.x, box.x + box.width), name);
      if (beyondText) surface.text(surface.width - 14, 4, beyondText, {color: surface.palette.faint, size: SMALL, align: 'right', baseline: 'top'});
      for (const {part, shares} of drawn) {
        const color = surface.palette.runs[part.color] as string;
        const outline = steps(shares, box.x, box.width, y);
        if (parts.length <= 4) surface.area([box.x, bottom, ...outline, box.x + box.width, bottom], {color, opacity: 0.1});
        surface.path(outline, {color, width: 1.5, ...(part.dash.length > 0 ? {dash: part.dash} : {})});
      }
    },
    at(px, py, width, height) {
      const box = boxOf(width, height);
      const bin = Math.floor(((px - box.x) / box.width) * BINS);
      if (!range || bin < 0 || bin >= BINS || py < box.y || py > box.y + box.height) return null;
      const edge = (i: number) => shortNumber(range.low + ((range.high - range.low) * i) / BINS);
      const rows = drawn.slice(0, 14).map(({part, shares}) => `${part.name}: ${percent(shares[bin] as number)}`);
      if (drawn.length > 14) rows.push(`and ${drawn.length - 14} more`);
      return {text: [`${edge(bin)} to ${edge(bin + 1)}`, ...rows].join('\n')};
    },
  };
}
