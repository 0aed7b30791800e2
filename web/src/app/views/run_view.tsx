// SPDX-License-Identifier: MIT
// Everything about a run that is no curve: how it ended, its settings, plan and findings, and its
// values for other programs.
import {useEffect, useState} from 'preact/hooks';
import {decimalPads} from '../../base/align_decimals';
import {formatNumber, formatStep} from '../../base/format';
import {scoreName} from '../../base/score_names';
import {Pad} from '../../widgets/data_table';
import {useWatched} from '../../widgets/use_watched';
import type {Source} from '../../wire/source';
import type {RunDetails} from '../../wire/types';
import {Failure} from '../states';
import type {RunViewProps} from '../view_props';
import {titleOf} from './titles';
import {bestValues, type Best} from './run_facts';
import {Labels} from './run_labels';
import {Card, Config, Findings, Metadata} from './run_sections';
import {Parameters, Plan, SeriesTable} from './run_tables';
import {SampleOutliers} from './sample_outliers';
import './views.css';

function Summary({run, source}: {run: RunDetails; source: Source}) {
  const [best, setBest] = useState<Best[] | Error | null>(null);
  const {id, change} = run.summary;
  useEffect(() => {
    let isOver = false;
    bestValues(source, run).then((found) => !isOver && setBest(found), (error: Error) => !isOver && setBest(error));
    return () => { isOver = true; };
  }, [source, id, change]);
  const found = Array.isArray(best) ? best : [];
  const bestPads = decimalPads(found.map(({value}) => formatNumber(value)));
  const lastPads = decimalPads(found.map(({final}) => (final === undefined ? '' : formatNumber(final))));
  return (
    <Card title="Summary" id="summary">
      {best === null && <p class="loading" role="status">Looking for the best values…</p>}
      {best instanceof Error && <Failure error={best} what="The best values cannot be read" />}
      {Array.isArray(best) && best.length === 0 &&
        <p class="quiet">No losses or accuracies were recorded yet. Track <code>loss</code>, or log <code>valid_accuracy</code> at the end of an epoch.</p>}
      {Array.isArray(best) && best.length > 0 && (
        <table class="best">
          <thead><tr><th scope="col">Quantity</th><th scope="col" class="number">Best</th><th scope="col" class="number">at step</th><th scope="col" class="number">Last</th></tr></thead>
          <tbody>
            {best.map((each, i) => (
              <tr key={each.quantity}>
                <th scope="row">{scoreName(each.quantity, run.summary.config) ?? titleOf(each.quantity)}</th>
                <td class="number strong" title={String(each.value)}>{formatNumber(each.value)}<Pad of={bestPads[i]} /></td>
                <td class="number" title={each.isExact ? '' : 'at or before this step'}>{each.isExact ? '' : '≤ '}{formatStep(each.step)}</td>
                <td class="number" title={String(each.final)}>{each.final === undefined ? '' : formatNumber(each.final)}<Pad of={lastPads[i]} /></td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </Card>
  );
}

function Coverage({run}: {run: RunDetails}) {
  return (
    <Card title="Coverage: how individual gradients were obtained" id="coverage">
      {run.coverage ? <pre tabIndex={0} aria-label="coverage">{run.coverage}</pre>
        : <p class="quiet">Nothing tracked needed individual gradients, or no step was watched yet.</p>}
    </Card>
  );
}

export function RunView({app, run}: RunViewProps) {
  const details = useWatched(run.details) as RunDetails;
  const lamps = useWatched(run.lamps);
  return (
    <div class="run-view">
      <div class="run-cards">
        <Summary run={details} source={app.source} />
        <Labels source={app.source} run={details.summary} />
        <Metadata run={details} />
        <Findings run={details} lamps={lamps} />
        <SampleOutliers app={app} run={run} details={details} />
      </div>
      <Config run={details} />
      <Plan run={details} />
      <Coverage run={details} />
      <Parameters run={details} />
      <SeriesTable run={details} source={app.source} />
    </div>
  );
}
