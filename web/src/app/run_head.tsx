// SPDX-License-Identifier: MIT
// The run in one line: what it trains, how far it is, and its last values.
import {exactNumber, formatDuration, formatNumber, formatStep, formatTime} from '../base/format';
import {singleSettings} from '../base/hyperparameters';
import type {RunStore} from '../store/run_store';
import {useWatched} from '../widgets/use_watched';

/** Last values worth a place at the top, in this order. */
const HEADLINES = ['loss', 'train_loss', 'valid_loss', 'test_loss', 'batch_accuracy', 'train_accuracy', 'valid_accuracy', 'test_accuracy'];
/** The same of what the user configured; the rest is on the run's own view. */
const CONFIGURED = ['problem', 'optimizer', 'learning_rate', 'hyperparameters', 'schedule', 'batch_size', 'seed', 'preset'];
const MAX_CONFIGURED = 7;

export function RunHead({run}: {run: RunStore}) {
  const summary = useWatched(run.summary);
  if (!summary) return null;
  const seconds = summary.last_time > 0 ? summary.last_time - summary.start_time : 0;
  const headlines = HEADLINES.filter((name) => summary.values[name] !== undefined);
  const config = singleSettings(summary.config);
  const known = CONFIGURED.filter((key) => config[key] !== undefined);
  const configured = known.length > 0 ? known : Object.keys(config);
  return (
    <section class="run-head" aria-label="Summary of the run">
      <dl>
        <div><dt>step</dt><dd class="big">{formatStep(Math.max(0, summary.last_step))}</dd></div>
        {headlines.map((name) => (
          <div key={name}><dt>{name.replace(/_/g, ' ')}</dt>
            <dd class="big" title={exactNumber(summary.values[name] as number)}>{formatNumber(summary.values[name] as number)}</dd></div>
        ))}
      </dl>
      <dl>
        <div><dt>time</dt><dd>{formatDuration(seconds)}</dd></div>
        <div><dt>started</dt><dd>{formatTime(summary.start_time)}</dd></div>
        {configured.slice(0, MAX_CONFIGURED).map((key) => (
          <div key={key}><dt>{key.replace(/_/g, ' ')}</dt><dd title={config[key]}>{config[key]}</dd></div>
        ))}
      </dl>
    </section>
  );
}
