// SPDX-License-Identifier: MIT
// What panels by rank do alike: the ranks of a quantity as one band, and each of them on demand.
import {formatNumber, formatStep} from '../base/format';
import {bandOfRanks, farthestRanks, type RankBand, rankOf} from '../base/ranks';
import type {Points, RunDetails, Series} from '../wire/types';
import type {Line} from './drawing';

/** Ranks that are read at most; of more, so many evenly spread. */
export const MOST_RANKS = 128;
/** Ranks that a legend offers one by one; of more, those that are farthest from the median. */
const OFFERED = 12;
const FARTHEST = 8;

export interface RankPoints {
  rank: number;
  points: Points;
}

/** The groups of a quantity that are ranks, by number. */
export function rankPoints(series: readonly {info: Series; points: Points}[], field = ''): RankPoints[] {
  return series.filter(({info}) => info.field === field && rankOf(info.group) >= 0)
    .map(({info, points}) => ({rank: rankOf(info.group), points})).sort((a, b) => a.rank - b.rank);
}

/** How many ranks a run has, by its series; 0 of a run of one process. */
export function rankCount({series}: Pick<RunDetails, 'series'>): number {
  return new Set(series.filter(({quantity}) => quantity.startsWith('rank_')).map(({group}) => rankOf(group)).filter((rank) => rank >= 0)).size;
}

function bandPoints(ranks: readonly RankPoints[], band: RankBand): Points {
  // Of reduced series every extreme counts, whichever rank has it.
  const [lows, highs] = [new Map<number, number>(), new Map<number, number>()];
  for (const {points} of ranks) {
    if (!points.reduced) continue;
    points.steps.forEach((step, i) => {
      const [low, high] = [points.low[i] as number, points.high[i] as number];
      if (low < (lows.get(step) ?? Infinity)) lows.set(step, low);
      if (high > (highs.get(step) ?? -Infinity)) highs.set(step, high);
    });
  }
  const wider = (values: Float64Array, extremes: Map<number, number>, of: (...values: number[]) => number) =>
    Float64Array.from(values, (value, i) => of(value, extremes.get(band.steps[i] as number) ?? value));
  return {id: 0, reduced: true, count: band.steps.length, steps: band.steps, values: band.middle, low: wider(band.low, lows, Math.min), high: wider(band.high, highs, Math.max)};
}

/** The median with a band from the smallest to the largest, and a line for each rank that the legend switches on. */
export function rankLines(ranks: readonly RankPoints[], all: number, name: string, color = 0): Line[] {
  const curves = ranks.map(({rank, points}) => ({rank, steps: points.steps, values: points.values}));
  const band = bandOfRanks(curves);
  const of = all > ranks.length ? `${ranks.length} of ${formatStep(all)}` : String(ranks.length);
  const lines: Line[] = [{label: `${name}, median of ${of} ranks`, short: 'median', points: bandPoints(ranks, band), color,
    detail: (i) => `from ${formatNumber(band.low[i] as number)} of rank ${band.lowRank[i]} to ${formatNumber(band.high[i] as number)} of rank ${band.highRank[i]}`}];
  const farthest = farthestRanks(curves, band);
  const offered = new Set(farthest.slice(0, ranks.length <= OFFERED ? OFFERED : FARTHEST));
  let at = 0;
  for (const {rank, points} of ranks) {
    if (!offered.has(rank)) continue;
    // A rank whose values are no numbers is what one looks for.
    const isBroken = points.values.some((value) => !Number.isFinite(value));
    lines.push({label: `rank ${rank}`, points, color: (color + 1 + (at % 6)) % 7, ...(at >= 6 ? {dash: [4, 3]} : {}), ...(isBroken ? {} : {startsOff: true})});
    ++at;
  }
  return lines;
}
