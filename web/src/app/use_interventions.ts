// SPDX-License-Identifier: MIT
// The interventions of a run, as they are recorded.
import {useEffect, useMemo} from 'preact/hooks';
import {type Intervention, INTERVENTIONS, interventionsOf} from '../base/interventions';
import type {RunStore} from '../store/run_store';
import {useWatched} from '../widgets/use_watched';
import type {RunDetails} from '../wire/types';

export function useInterventions(run: RunStore, details: RunDetails): readonly Intervention[] {
  const version = useWatched(run.version);
  const series = useMemo(() => details.series.filter(({quantity, kind}) => quantity === INTERVENTIONS && kind === 'number'), [details]);
  const ids = series.map(({id}) => id);
  useEffect(() => run.want(ids, []), [run, ids.join()]);
  return useMemo(() => interventionsOf(series.flatMap(({id, field}) => {
    const points = run.pointsOf(id);
    return points ? [{field, steps: points.steps, values: points.values}] : [];
  })), [run, series, version]);
}
