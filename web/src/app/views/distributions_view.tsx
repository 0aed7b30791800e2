// SPDX-License-Identifier: MIT
// Compare by distributions: alpha over the whole runs, and the last histograms.
import {useEffect, useMemo} from 'preact/hooks';
import {LastFramesStore} from '../../store/last_frames_store';
import {Board} from '../../widgets/board';
import {useWatched} from '../../widgets/use_watched';
import {Panel} from '../panel';
import type {LoadedProps} from './compare_props';
import {distributionsOf} from './distributions';
import {titleOf} from './titles';

const EXPLAIN = {
  alpha: 'How far the steps of each line go down the parabola fitted along them: the start is at −1, the bottom at 0, the same height on the ' +
    'far wall at 1; the short stroke at the bottom is the median. What lies outside of −2 to 2 is counted at the edges, as in the cockpit.',
  histogram: 'The last recorded histogram of each line as shares of its entries, on a log scale, over the range that holds any. ' +
    'Runs that recorded other ranges are put on one axis; of groups the entries are added up.',
};

export function DistributionsView({app, state, change, loaded, owners, off}: LoadedProps) {
  const store = useMemo(() => new LastFramesStore(app.source), [app.source]);
  const frames = useWatched(store.watched);
  useEffect(() => () => store.close(), [store]);
  useEffect(() => store.choose(loaded.runs), [store, loaded.runs]);
  const shown = useMemo(() => owners.filter(({label}) => !off.has(label)), [owners, off]);
  const found = useMemo(() => distributionsOf(shown, loaded, frames), [shown, loaded, frames]);
  const byId = new Map(found.map((each) => [each.id, each]));
  return (
    <>
      {[...frames.errors].map(([id, error]) => <p key={id} class="banner warning" role="alert">Histograms of {id} cannot be read: {error.message}</p>)}
      {found.length === 0 && loaded.missing === 0 && <p class="hint">None of these runs recorded alpha or a histogram of one axis (grad_hist_1d).</p>}
      <Board ids={[...byId.keys()]} titleOf={titleOf} layout={state.layout} change={(layout) => change({layout})} show={(id, {height}, actions) => {
        const each = byId.get(id);
        if (!each) return null;
        const drawing = height > 0 ? {...each.drawing, height: () => height} : each.drawing;
        return <Panel app={app} id={`distribution_${id}`} title={titleOf(id) + (each.count < shown.length ? ` (${each.count} of ${shown.length})` : '')}
          explain={id === 'alpha' ? EXPLAIN.alpha : EXPLAIN.histogram} drawing={drawing} shown={{first: 0, last: 1}} run="comparison" actions={actions} />;
      }} />
    </>
  );
}
