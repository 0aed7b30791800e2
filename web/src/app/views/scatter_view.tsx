// SPDX-License-Identifier: MIT
// Compare by two numbers of each run: a setting and a score, two scores, the last value of anything.
import {useMemo} from 'preact/hooks';
import {formatNumber} from '../../base/format';
import {colorOf} from '../../base/run_style';
import {asNumber} from '../../base/table';
import {valueAxis} from '../../base/value_axis';
import {scatterScene} from '../../widgets/scenes/scatter';
import {Panel} from '../panel';
import type {CompareProps} from './compare_props';
import {axisChoice} from './number_columns';
import type {Column} from './run_table';

function AxisSelect(props: {label: string; columns: readonly Column[]; value: string; pick(id: string): void}) {
  return (
    <label>{props.label} <select value={props.value} onChange={(event) => props.pick(event.currentTarget.value)}>
      {props.columns.map(({id, label}) => <option key={id} value={id}>{label}{id.startsWith('value:') ? ' (last)' : ''}</option>)}
    </select></label>
  );
}

export function ScatterView({app, state, change, passing, runs}: CompareProps) {
  const choice = useMemo(() => axisChoice(passing), [passing]);
  const find = (id: string, usual: string) => choice.numbers.find((column) => column.id === id) ?? choice.numbers.find((column) => column.id === usual);
  const across = find(state.across, choice.across);
  const up = find(state.up, choice.up);
  const chosen = useMemo(() => new Set(runs.map(({id}) => id)), [runs]);
  const made = useMemo(() => {
    if (!across || !up) return null;
    const axes = [across, up].map((column, i) => valueAxis(passing.map((run) => column.cell(run)), (i === 0 ? state.logAcross : state.logUp) || undefined));
    const [x, y] = axes as [ReturnType<typeof valueAxis>, ReturnType<typeof valueAxis>];
    const told = (column: Column, id: (typeof passing)[number]) => `${column.label}: ${formatNumber(asNumber(column.cell(id)) ?? NaN)}`;
    const dots = passing.map((run) => ({id: run.id, x: x.place(across.cell(run)), y: y.place(up.cell(run)), color: colorOf(run), isChosen: chosen.has(run.id),
      text: [run.id, told(across, run), told(up, run)].join('\n')}));
    const seen = dots.filter((dot) => Number.isFinite(dot.x) && Number.isFinite(dot.y));
    const lost = dots.filter((dot) => !seen.includes(dot)).map(({id}) => id);
    return {lost, ...scatterScene(seen, {name: across.label, axis: x}, {name: up.label, axis: y})};
  }, [across, up, passing, chosen, state.logAcross, state.logUp]);
  if (!made || !across || !up) return <p class="hint">These runs have no numbers to place them by yet.</p>;
  const toggle = (id: string) => change({runs: chosen.has(id) ? [...chosen].filter((each) => each !== id) : [...chosen, id]});
  return (
    <>
      <div class="toolbar inner">
        <AxisSelect label="Across" columns={choice.numbers} value={across.id} pick={(id) => change({across: id})} />
        <label><input type="checkbox" checked={state.logAcross} onChange={(event) => change({logAcross: event.currentTarget.checked})} /> Log</label>
        <AxisSelect label="Up" columns={choice.numbers} value={up.id} pick={(id) => change({up: id})} />
        <label><input type="checkbox" checked={state.logUp} onChange={(event) => change({logUp: event.currentTarget.checked})} /> Log</label>
        <button type="button" onClick={() => change({across: up.id, up: across.id, logAcross: state.logUp, logUp: state.logAcross})}>Swap</button>
      </div>
      <Panel app={app} id="compare_scatter" title={`${up.label} by ${across.label}`} shown={{first: 0, last: 1}} run="comparison" drawing={made.drawing}
        explain="Every run that passes the filter as a dot in its own colour, chosen ones full. A click chooses a run or lets it go; what has no such number, or one that is not finite, is named below."
        onPointer={(kind, x, y, width, height) => {
          const id = kind === 'up' ? made.find(x, y, width, height) : null;
          if (id !== null) toggle(id);
        }} />
      {made.lost.length > 0 && <p class="banner" role="note">{made.lost.length} of {passing.length} runs have no finite {across.label} or {up.label}: {made.lost.slice(0, 12).join(', ')}
        {made.lost.length > 12 ? ` and ${made.lost.length - 12} more` : ''}.</p>}
    </>
  );
}
