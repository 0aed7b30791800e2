// SPDX-License-Identifier: MIT
// The run in one line: what it trains, how far it is, and its last values.
import {exactNumber, formatDuration, formatNumber, formatStep, formatTime} from '../base/format';
import {singleSettings} from '../base/hyperparameters';
import {progressOf} from '../base/progress';
import {scoreName} from '../base/score_names';
import type {RunStore} from '../store/run_store';
import {rankCount} from '../widgets/rank_lines';
import type {RunSummary} from '../wire/types';
import {useWatched} from '../widgets/use_watched';
import type {RunViewProps} from './view_props';

/** Last values worth a place at the top, in this order. */
const HEADLINES = ['loss', 'train_loss', 'valid_loss', 'test_loss', 'batch_accuracy', 'train_accuracy', 'valid_accuracy', 'test_accuracy'];
/** The same of what the user configured; the rest is on the run's own view. */
const CONFIGURED = ['problem', 'optimizer', 'learning_rate', 'hyperparameters', 'schedule', 'batch_size', 'seed', 'preset'];
const MAX_CONFIGURED = 7;

/** Steps that were taken, which a run says at its end; before that the last one that is known. */
export function stepsOf(summary: RunSummary, last = summary.last_step): {label: string; text: string} {
  const taken = summary.config['steps_taken'];
  if (taken !== undefined) return {label: 'steps', text: formatStep(Number(taken))};
  return {label: 'step', text: last < 0 ? 'none yet' : formatStep(last)};
}

/** The last step of a run, -1 before the first. Its values may be there before the summary that counts them. */
export function lastKnown(summary: RunSummary, lastOfValues: number): number {
  return summary.last_step < 0 && lastOfValues <= 0 ? -1 : lastOfValues;
}

/** The last value of a number: what the panels have loaded, so that both show the same. */
function lastValue(run: RunStore, summary: RunSummary, name: string): number {
  const series = run.details.value?.series.find(({quantity, field, group}) => quantity === name && field === '' && group === '');
  const points = series && run.pointsOf(series.id);
  return points && points.steps.length > 0 ? points.values[points.values.length - 1] as number : summary.values[name] as number;
}

/** How far a run is that still goes on, how long it takes, and whether to tell when it ends. */
function Going({app, run, summary}: RunViewProps & {summary: RunSummary}) {
  const details = useWatched(run.details);
  const isWaited = useWatched(app.notices.waited).has(run.id);
  if (!app.source.isLive || summary.status !== 'running') return null;
  const progress = details && progressOf(summary.config, run.lastStep, details.clock);
  return (
    <div class="going">
      {progress && <>
        <progress max={progress.total} value={progress.done} aria-label="Steps taken" />
        <span>{Math.floor((100 * progress.done) / progress.total)} % of {formatStep(progress.total)} steps</span>
        {Number.isFinite(progress.left) && <span class="faint">{formatDuration(progress.left)} left</span>}
      </>}
      {app.notices.canAsk && <button type="button" aria-pressed={isWaited} class={isWaited ? 'on' : ''}
        title="A notification of the browser at the end of the run, and when a lamp lights" onClick={() => void app.notices.toggle(run.id)}>
        {isWaited ? 'Will notify' : 'Notify me'}</button>}
    </div>
  );
}

export function RunHead({app, run}: RunViewProps) {
  const summary = useWatched(run.summary);
  useWatched(run.version);
  if (!summary) return null;
  const steps = stepsOf(summary, lastKnown(summary, run.lastStep));
  const seconds = summary.last_time > 0 ? summary.last_time - summary.start_time : 0;
  const headlines = HEADLINES.filter((name) => summary.values[name] !== undefined);
  const ranks = run.details.value ? rankCount(run.details.value) : 0;
  const config = singleSettings(summary.config);
  const known = CONFIGURED.filter((key) => config[key] !== undefined);
  const configured = known.length > 0 ? known : Object.keys(config);
  return (
    <section class="run-head" aria-label="Summary of the run">
      <dl>
        <div><dt>{steps.label}</dt><dd class="big">{steps.text}</dd></div>
        {headlines.map((name) => (
          <div key={name}><dt>{scoreName(name, summary.config)?.toLowerCase() ?? name.replace(/_/g, ' ')}</dt>
            <dd class="big" title={exactNumber(lastValue(run, summary, name))}>{formatNumber(lastValue(run, summary, name))}</dd></div>
        ))}
      </dl>
      <dl>
        <div><dt>time</dt><dd>{formatDuration(seconds)}</dd></div>
        {ranks > 0 && <div><dt>ranks</dt><dd>{ranks}</dd></div>}
        <div><dt>started</dt><dd>{formatTime(summary.start_time)}</dd></div>
        {configured.slice(0, MAX_CONFIGURED).map((key) => (
          <div key={key}><dt>{key.replace(/_/g, ' ')}</dt><dd title={config[key]}>{config[key]}</dd></div>
        ))}
      </dl>
      <Going app={app} run={run} summary={summary} />
    </section>
  );
}
