// SPDX-License-Identifier: MIT
// Layers: a heat map of one quantity over steps and layers, the layers' histograms, and the panels
// of the layer that was chosen.
import {useEffect, useMemo, useState} from 'preact/hooks';
import {closedToFit, groupMembers, rowsOf, type GroupBy, type TreeRow} from '../../base/grouping';
import {LayerStore} from '../../store/layer_store';
import type {HeatScale} from '../../widgets/scenes/heat_values';
import {useWatched} from '../../widgets/use_watched';
import type {RunDetails} from '../../wire/types';
import {Controls} from '../controls';
import {Empty, Failure} from '../states';
import type {RunViewProps} from '../view_props';
import {layerChoices, layerHistograms, membersOf, type LayerChoice} from './layer_choices';
import {LayerDetail} from './layer_detail';
import {LayerHeat} from './layer_heat';
import {LayerTree} from './layer_tree';
import './views.css';

/** Rows until groups are closed by themselves. */
const COMFORTABLE = 64;

const GROUPINGS: readonly [GroupBy, string][] = [['module', 'Module'], ['type', 'Type'], ['depth', 'Depth']];
const SCALES: readonly [HeatScale | 'auto', string][] = [['auto', 'automatic'], ['log', 'logarithmic'], ['linear', 'linear'], ['diverging', 'around 0']];

export function LayersView({app, run}: RunViewProps) {
  const details = useWatched(run.details) as RunDetails;
  const choices = useMemo(() => layerChoices(details), [details]);
  const [wanted, setWanted] = useState('');
  const choice = choices.find((each) => each.id === wanted) ?? choices[0];
  if (!choice) {
    return (
      <Empty title="No values by layer">
        <p>Nothing in this run has a value for each layer. Give the cockpit a grouping, by parameter, module, type or depth:</p>
        <pre>flightdeck run fmnist_2c2d --group parameter</pre>
        <p>and track quantities that have groups, such as <code>grad_norm</code> or <code>update_ratio</code>.</p>
      </Empty>
    );
  }
  return <Layers app={app} run={run} details={details} choices={choices} choice={choice} setWanted={setWanted} />;
}

interface LayersProps extends RunViewProps {
  details: RunDetails;
  choices: readonly LayerChoice[];
  choice: LayerChoice;
  setWanted(id: string): void;
}

function Layers({app, run, details, choices, choice, setWanted}: LayersProps) {
  const [by, setBy] = useState<GroupBy>('module');
  const [scale, setScale] = useState<HeatScale | 'auto'>('auto');
  const [chosen, setChosen] = useState<string | null>(null);
  const summary = useWatched(run.summary);
  const store = useMemo(() => new LayerStore(app.source, run.id), [app.source, run.id]);
  useEffect(() => () => store.close(), [store]);
  const layers = useWatched(store.watched);

  const names = choice.rows.map((row) => row.name);
  const key = names.join('\n');
  const nodes = useMemo(() => groupMembers(membersOf(names, details), by), [key, by, details.parameters.length]);
  // Known before the first rendering: opened for a moment, a thousand layers would be rendered in vain.
  const fresh = useMemo(() => closedToFit(nodes, COMFORTABLE), [nodes]);
  const [folds, setFolds] = useState<{nodes: typeof nodes; closed: ReadonlySet<string>} | null>(null);
  const closed = folds?.nodes === nodes ? folds.closed : fresh;
  const setClosed = (paths: ReadonlySet<string>) => setFolds({nodes, closed: paths});
  const rows = useMemo(() => rowsOf(nodes, names, closed), [nodes, closed]);
  const histograms = useMemo(() => layerHistograms(details), [details]);
  const hasHistograms = names.some((name) => histograms.has(name));

  const ids = choice.rows.map((row) => row.series.id);
  useEffect(() => store.choose(ids), [store, ids.join()]);
  useEffect(() => { if (summary?.status === 'running') store.grew(); }, [store, summary?.change]);
  // One of them by the run's store, so that the slider knows the tracked steps.
  useEffect(() => run.want(ids.slice(0, 1), []), [run, ids[0]]);

  const toggle = (path: string) => {
    const next = new Set(closed);
    if (!next.delete(path)) next.add(path);
    setClosed(next);
  };
  const open = (row: TreeRow) => {
    if (row.path !== '') toggle(row.path);
    else setChosen(names[row.members[0] as number] ?? null);
  };
  const allPaths = () => {
    const paths = new Set<string>();
    const walk = (list: typeof nodes) => list.forEach((node) => { paths.add(node.path); walk(node.children); });
    walk(nodes);
    return paths;
  };
  // A thousand layers are not rendered again because one was chosen.
  const tree = useMemo(() => (
    <LayerTree app={app} run={run} nodes={nodes} names={names} closed={closed} toggle={toggle} histograms={histograms} quantity={choice.label.toLowerCase()}
      pointsOf={(member) => layers.points.get(choice.rows[member]?.series.id ?? -1)} onOpen={setChosen} />
  ), [app.palette, run, nodes, closed, histograms, layers.points, choice]);
  return (
    <div class="layers-view">
      <Controls app={app} run={run} />
      <div class="toolbar" role="group" aria-label="What the map shows">
        <label>Quantity <select value={choice.id} onChange={(event) => setWanted(event.currentTarget.value)}>
          {choices.map((each) => <option key={each.id} value={each.id}>{each.label}</option>)}
        </select></label>
        <label>Colours <select value={scale} onChange={(event) => setScale(event.currentTarget.value as typeof scale)}>
          {SCALES.map(([id, label]) => <option key={id} value={id}>{label}</option>)}
        </select></label>
        <div class="segments" role="radiogroup" aria-label="Group by">
          {GROUPINGS.map(([id, label]) => (
            <label key={id}><input type="radio" name="group-by" checked={by === id} onChange={() => setBy(id)} /><span>{label}</span></label>
          ))}
        </div>
        <span class="toolbar-rest">
          <button type="button" onClick={() => setClosed(new Set())}>Open all</button>
          <button type="button" onClick={() => setClosed(allPaths())}>Close all</button>
        </span>
        {layers.progress && <label class="progress" role="status">{layers.progress.done} of {layers.progress.wanted} layers
          <progress max={layers.progress.wanted} value={layers.progress.done} /></label>}
      </div>
      {layers.error && <Failure error={layers.error} what="The layers cannot be read" retry={() => store.retry()} />}
      <LayerHeat app={app} run={run} choice={choice} rows={rows} layers={layers} scale={scale} onOpen={open} />
      {chosen !== null && <LayerDetail app={app} run={run} details={details} name={chosen} onClose={() => setChosen(null)} />}
      <h2 class="section-title">{hasHistograms ? 'Individual gradients by layer' : 'Layers'}</h2>
      {histograms.size === 0 && <p class="quiet">Track <code>grad_hist_1d</code> with a grouping to see a histogram for each layer.</p>}
      {tree}
    </div>
  );
}
