// SPDX-License-Identifier: MIT
// Distributions of several runs in one picture: alpha, and every histogram with one axis.
import type {LastFrames, RunFrame} from '../../store/last_frames_store';
import type {Overlaid} from '../../store/overlay_store';
import type {SceneDrawing} from '../../widgets/drawing';
import type {RunMark} from '../../widgets/scenes/run_mark';
import {severalAlphas} from '../../widgets/scenes/several_alphas';
import {severalHistograms} from '../../widgets/scenes/several_histograms';
import type {LineOwner} from './curves';
import {titleOf} from './titles';

export interface Distribution {
  /** Quantity or quantity/field. */
  id: string;
  drawing: SceneDrawing;
  /** Lines that have it. */
  count: number;
}

const markOf = ({short, color, dash}: LineOwner): RunMark => ({name: short, color, dash});

function alphas(owners: readonly LineOwner[], loaded: Overlaid): Distribution[] {
  const parts = owners.flatMap((owner) => {
    const values = owner.runs.flatMap(({id}) => {
      const run = loaded.runs.get(id);
      const series = run?.details.series.find((each) => each.quantity === 'alpha' && each.field === '' && each.group === '');
      const points = series && run?.points.get(series.id);
      return points ? [points.values] : [];
    });
    const all = Float64Array.from(values.flatMap((each) => [...each]));
    return all.length > 0 ? [{...markOf(owner), values: all}] : [];
  });
  return parts.length > 0 ? [{id: 'alpha', drawing: severalAlphas(parts), count: parts.length}] : [];
}

export function distributionsOf(owners: readonly LineOwner[], loaded: Overlaid, frames: LastFrames): Distribution[] {
  const nameOf = ({series}: RunFrame) => (series.field ? `${series.quantity}/${series.field}` : series.quantity);
  // Of two axes only one run can be seen at a time: its own page shows it.
  const framesOf = (id: string) => (frames.runs.get(id) ?? []).filter(({frame}) => frame.axes.length === 1);
  const names = new Set(owners.flatMap(({runs}) => runs.flatMap(({id}) => framesOf(id).map(nameOf))));
  const histograms = [...names].sort().map((name): Distribution => {
    const parts = owners.flatMap((owner) => {
      const found = owner.runs.flatMap(({id}) => framesOf(id).filter((each) => nameOf(each) === name)).flatMap(({frame}) => {
        const [axis] = frame.axes;
        return axis ? [{low: axis.low, high: axis.high, counts: frame.counts, outside: frame.below + frame.above + frame.not_a_number}] : [];
      });
      return found.length > 0 ? [{...markOf(owner), histograms: found}] : [];
    });
    return {id: name, drawing: severalHistograms(parts, titleOf(name).toLowerCase()), count: parts.length};
  });
  return [...alphas(owners, loaded), ...histograms];
}
