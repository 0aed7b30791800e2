// SPDX-License-Identifier: MIT
// Compare by settings: where the configurations of the chosen runs differ, and where not.
import {useMemo} from 'preact/hooks';
import {configDifference} from '../../base/config_difference';
import {singleSettings} from '../../base/hyperparameters';
import type {RunSummary} from '../../wire/types';
import type {CompareProps} from './compare_props';

/** More rows nobody reads side by side. */
const MOST_ROWS = 100;

const NotSet = () => <span class="quiet">not set</span>;

/** Two runs side by side: a row for each setting, those that differ first. */
function TwoRuns({a, b}: {a: RunSummary; b: RunSummary}) {
  const {differing, same} = configDifference([a, b].map((run) => singleSettings(run.config)));
  return (
    <div class="table-scroll" tabIndex={0} role="region" aria-label="settings that differ">
      <table class="difference two-runs">
        <thead><tr><th scope="col">Setting</th><th scope="col">{a.id}</th><th scope="col">{b.id}</th></tr></thead>
        <tbody>
          {differing.map(({key, values}) => <tr key={key} class="differs"><th scope="row">{key}</th>
            <td>{values[0] ?? <NotSet />}</td><td>{values[1] ?? <NotSet />}</td></tr>)}
          {same.map(({key, value}) => <tr key={key} class="quiet"><th scope="row">{key}</th><td>{value}</td><td>=</td></tr>)}
        </tbody>
      </table>
    </div>
  );
}

function ManyRuns({runs}: {runs: readonly RunSummary[]}) {
  const {differing, same} = useMemo(() => configDifference(runs.map((run) => singleSettings(run.config))), [runs]);
  return (
    <>
      {differing.length === 0 && <p class="quiet">{same.length > 0 ? 'All settings are the same.' : 'These runs recorded no settings.'}</p>}
      {differing.length > 0 && (
        <div class="table-scroll" tabIndex={0} role="region" aria-label="settings that differ">
          <table class="difference">
            <thead><tr><th scope="col">Run</th>{differing.map(({key}) => <th key={key} scope="col">{key}</th>)}</tr></thead>
            <tbody>{runs.slice(0, MOST_ROWS).map((run, i) => (
              <tr key={run.id}><th scope="row">{run.id}</th>
                {differing.map(({key, values}) => <td key={key}>{values[i] ?? <NotSet />}</td>)}</tr>
            ))}</tbody>
          </table>
        </div>
      )}
      {runs.length > MOST_ROWS && <p class="quiet">The first {MOST_ROWS} of {runs.length} runs; the columns are those that differ between any of them.</p>}
      {same.length > 0 && <details class="same"><summary>{same.length} the same in all</summary>
        <p>{same.map(({key, value}) => <code key={key}>{key} = {value}</code>)}</p></details>}
    </>
  );
}

export function SettingsView({runs}: CompareProps) {
  const [a, b] = runs;
  return (
    <section class="card" aria-labelledby="config-difference">
      <h2 id="config-difference">Difference of settings</h2>
      {runs.length === 2 && a && b ? <TwoRuns a={a} b={b} /> : <ManyRuns runs={runs} />}
    </section>
  );
}
