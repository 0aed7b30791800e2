// SPDX-License-Identifier: MIT
// What the layers view can show of a run: quantities that have a value for each of several layers.
import type {Member} from '../../base/grouping';
import {naturalOrder} from '../../base/natural_order';
import {rankOf} from '../../base/ranks';
import type {RunDetails, Series} from '../../wire/types';
import {titleOf} from './titles';

export interface LayerRow {
  name: string;
  series: Series;
}

export interface LayerChoice {
  /** quantity or quantity/field */
  id: string;
  label: string;
  rows: LayerRow[];
}

/** In these every field is a layer; elsewhere every group is. */
const LAYERS_AS_FIELDS = new Set(['dead_units', 'saturated_units']);

/** Asked for most, in this order. */
const FIRST = ['grad_norm', 'update_ratio', 'update_size', 'distance', 'dead_units', 'saturated_units', 'hess_trace', 'tic_diag', 'parameters'];

export function layerChoices(run: RunDetails): LayerChoice[] {
  const choices = new Map<string, LayerChoice>();
  for (const series of run.series) {
    // Ranks are no layers.
    if (series.kind !== 'number' || rankOf(series.group) >= 0) continue;
    const isLayerField = LAYERS_AS_FIELDS.has(series.quantity) && series.group === '' && series.field !== '';
    if (series.group === '' && !isLayerField) continue;
    const id = isLayerField || series.field === '' ? series.quantity : `${series.quantity}/${series.field}`;
    const choice = choices.get(id) ?? {id, label: titleOf(id), rows: []};
    choices.set(id, choice);
    choice.rows.push({name: isLayerField ? series.field : series.group, series});
  }
  const rank = (id: string) => (FIRST.includes(id) ? FIRST.indexOf(id) : FIRST.length);
  return [...choices.values()].sort((a, b) => rank(a.id) - rank(b.id) || naturalOrder(a.id, b.id));
}

/** Histograms of individual gradients by layer. */
export function layerHistograms(run: RunDetails): Map<string, Series> {
  const found = new Map<string, Series>();
  for (const series of run.series) {
    if (series.kind === 'histogram' && series.quantity === 'grad_hist_1d' && series.group !== '') found.set(series.group, series);
  }
  return found;
}

/** Names with shapes, as far as a name is a parameter's. */
export function membersOf(names: readonly string[], run: RunDetails): Member[] {
  const shapes = new Map(run.parameters.map((parameter) => [parameter.name, [...parameter.shape]]));
  return names.map((name) => ({name, shape: shapes.get(name) ?? []}));
}

/** All that was recorded of one layer. */
export function seriesOfLayer(run: RunDetails, name: string): Series[] {
  return run.series.filter((series) => series.group === name ||
    (series.group === '' && series.field === name && LAYERS_AS_FIELDS.has(series.quantity)));
}
