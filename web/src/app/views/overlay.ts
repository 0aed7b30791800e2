// SPDX-License-Identifier: MIT
// Which quantities several runs can be compared by.
import {naturalOrder} from '../../base/natural_order';
import type {RunDetails, Series} from '../../wire/types';
import {FIRST_VALUES} from './run_table';

export interface Overlay {
  quantity: string;
  /** By run, in the order chosen; null where it was not recorded. */
  series: (Series | null)[];
  /** Runs that have it. */
  count: number;
}

function mainSeries(run: RunDetails): Map<string, Series> {
  return new Map(run.series
    .filter((series) => series.kind === 'number' && series.field === '' && series.group === '')
    .map((series) => [series.quantity, series]));
}

/** Quantities of the runs: losses and accuracies first, then what all have, then the rest. */
export function overlays(runs: readonly RunDetails[]): Overlay[] {
  const found = runs.map(mainSeries);
  const quantities = new Set(found.flatMap((series) => [...series.keys()]));
  quantities.delete('time');
  // Counted once, at the end: a number for the table and the scatter plot, no curve.
  quantities.delete('misclassified');
  const rank = (name: string) => (FIRST_VALUES.includes(name) ? FIRST_VALUES.indexOf(name) : FIRST_VALUES.length);
  return [...quantities]
    .map((quantity) => {
      const series = found.map((each) => each.get(quantity) ?? null);
      return {quantity, series, count: series.filter((each) => each !== null).length};
    })
    .sort((a, b) => rank(a.quantity) - rank(b.quantity) || b.count - a.count || naturalOrder(a.quantity, b.quantity));
}
