// SPDX-License-Identifier: MIT
// One run: keeps what was loaded of it while its views change.
import {useEffect, useState} from 'preact/hooks';
import {RunStore} from '../store/run_store';
import {useWatched} from '../widgets/use_watched';
import type {RunView} from './route';
import {Failure, Loading} from './states';
import type {App} from './view_props';
import {CausesView} from './views/causes_view';
import {CockpitView} from './views/cockpit_view';
import {DiagnosisView} from './views/diagnosis_view';
import {LayersView} from './views/layers_view';
import {RunView as RunOverview} from './views/run_view';

const VIEWS = {cockpit: CockpitView, diagnosis: DiagnosisView, layers: LayersView, run: RunOverview, causes: CausesView} as const;

interface RunPageProps {
  app: App;
  id: string;
  view: RunView;
  /** Of the view, that it scrolls to. */
  place?: string | undefined;
}

export function RunPage({app, id, view, place}: RunPageProps) {
  const [run, setRun] = useState<RunStore | null>(null);
  useEffect(() => {
    const store = new RunStore(app.source, id);
    const hear = () => {
      const summary = app.runs.find(id);
      if (summary) store.heard(summary);
    };
    hear();
    const stop = [app.runs.watched.watch(hear), app.runs.resets.watch(() => store.reload())];
    setRun(store);
    return () => {
      stop.forEach((end) => end());
      store.close();
    };
  }, [app.source, id]);
  return run ? <LoadedRun app={app} run={run} view={view} place={place} /> : <Loading what={id} />;
}

function LoadedRun({app, run, view, place}: Omit<RunPageProps, 'id'> & {run: RunStore}) {
  const details = useWatched(run.details);
  const error = useWatched(run.error);
  const {list, isLoaded, isConnected} = useWatched(app.runs.watched);
  const isGone = isLoaded && list.length > 0 && !list.some(({id}) => id === run.id);
  if (!details && error) return <Failure error={error} what={`The run ${run.id} cannot be read`} retry={() => run.reload()} />;
  if (!details) return <Loading what={run.id} />;
  const View = VIEWS[view];
  return (
    <>
      {isGone && <div class="banner warning" role="status">This run is no longer in the folder; what you see is what was read before.</div>}
      {error && !isGone && isConnected && <div class="banner warning" role="status">New values cannot be read: {error.message}. Trying again.</div>}
      {details.summary.error && <div class="banner warning" role="alert">{details.summary.error}</div>}
      <View app={app} run={run} place={place} />
    </>
  );
}
