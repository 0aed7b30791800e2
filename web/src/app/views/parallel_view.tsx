// SPDX-License-Identifier: MIT
// Compare by many settings and scores at once: parallel coordinates whose brushes choose runs.
import {useMemo, useRef, useState} from 'preact/hooks';
import type {Range} from '../../base/compare_state';
import {formatNumber} from '../../base/format';
import {colorOf} from '../../base/run_style';
import type {Cell} from '../../base/table';
import {valueAxis} from '../../base/value_axis';
import {inBrush, parallelScene, type ParallelAxis} from '../../widgets/scenes/parallel';
import {Panel} from '../panel';
import type {CompareProps} from './compare_props';
import {axisChoice} from './number_columns';
import {ColumnChooser} from './runs_table';

type Brushes = Readonly<Record<string, Range>>;

/** A drag shorter than this, in pixels, takes a brush away. */
const SHORTEST = 4;

function rangeText({axis}: ParallelAxis, {first, last}: Range): string {
  if (!axis.words) return `${formatNumber(first)} to ${formatNumber(last)}`;
  return axis.words.filter((_, i) => i >= first && i <= last).join(', ') || 'none';
}

function BrushNumbers({axes, brushes, brush}: {axes: readonly ParallelAxis[]; brushes: Brushes; brush(id: string, range: Range | null): void}) {
  const numeric = axes.filter(({axis}) => !axis.words);
  const set = (id: string, end: 'first' | 'last', text: string) => {
    const before = brushes[id] ?? {first: -Infinity, last: Infinity};
    const value = text.trim() === '' ? NaN : Number(text);
    const next = {...before, [end]: Number.isNaN(value) ? (end === 'first' ? -Number.MAX_VALUE : Number.MAX_VALUE) : value};
    const range = {first: Math.max(next.first, -Number.MAX_VALUE), last: Math.min(next.last, Number.MAX_VALUE)};
    const isAll = range.first === -Number.MAX_VALUE && range.last === Number.MAX_VALUE;
    brush(id, isAll || range.last < range.first ? null : range);
  };
  const shown = (value: number | undefined) => (value === undefined || Math.abs(value) === Number.MAX_VALUE ? '' : String(Number(value.toPrecision(6))));
  return (
    <details class="brush-numbers">
      <summary>Brush by numbers</summary>
      <div>{numeric.map(({id, name}) => (
        <fieldset key={id}><legend>{name}</legend>
          <input type="text" inputMode="decimal" aria-label={`Least ${name}`} placeholder="least" value={shown(brushes[id]?.first)} onChange={(event) => set(id, 'first', event.currentTarget.value)} />
          <input type="text" inputMode="decimal" aria-label={`Most ${name}`} placeholder="most" value={shown(brushes[id]?.last)} onChange={(event) => set(id, 'last', event.currentTarget.value)} />
        </fieldset>
      ))}</div>
    </details>
  );
}

export function ParallelView({app, state, change, passing, runs}: CompareProps) {
  const choice = useMemo(() => axisChoice(passing), [passing]);
  const shownIds = state.axes.length > 0 ? state.axes : choice.usual;
  const axes = useMemo(() => shownIds.flatMap((id): (ParallelAxis & {cells: Cell[]})[] => {
    const column = choice.axes.find((each) => each.id === id);
    if (!column) return [];
    const cells = passing.map((run) => column.cell(run));
    return [{id, name: column.label, axis: valueAxis(cells), cells}];
  }), [shownIds.join('\n'), choice, passing]);
  const chosen = useMemo(() => new Set(runs.map(({id}) => id)), [runs]);
  const [dragged, setDragged] = useState<{id: string; range: Range} | null>(null);
  const from = useRef<{axis: ParallelAxis; y: number; value: number} | null>(null);
  const brushes: Brushes = dragged ? {...state.brushes, [dragged.id]: dragged.range} : state.brushes;
  const within = (among: Brushes) => passing.filter((_, i) => axes.every(({id, axis, cells}) => {
    const range = among[id];
    return range === undefined || inBrush(axis, cells[i], range);
  })).map(({id}) => id);
  const lines = useMemo(() => {
    const live = dragged ? new Set(within(brushes)) : chosen;
    return passing.map((run, i) => ({id: run.id, cells: axes.map(({cells}) => cells[i]), color: colorOf(run), isChosen: live.has(run.id)}));
  }, [passing, axes, chosen, dragged]);
  const made = useMemo(() => parallelScene(axes, lines, brushes), [axes, lines, state.brushes, dragged]);
  const brush = (id: string, range: Range | null) => {
    const {[id]: _, ...others} = state.brushes;
    const next = range ? {...others, [id]: range} : others;
    change({brushes: next, runs: Object.keys(next).length > 0 ? within(next) : null});
  };
  const lacking = axes.filter(({axis, cells}) => cells.some((cell) => Number.isNaN(axis.place(cell))));
  return (
    <>
      <div class="toolbar inner">
        <ColumnChooser label="Axes" columns={choice.axes} shown={shownIds} show={(ids) => change({axes: ids})} />
        {state.axes.length > 0 && <button type="button" onClick={() => change({axes: []})}>Usual axes</button>}
        {axes.filter(({id}) => state.brushes[id]).map((axis) => (
          <button key={axis.id} type="button" title="Take this brush away" onClick={() => brush(axis.id, null)}>
            {axis.name} {rangeText(axis, state.brushes[axis.id] as Range)} ✕</button>
        ))}
        {Object.keys(state.brushes).length > 1 && <button type="button" onClick={() => change({brushes: {}, runs: null})}>No brush</button>}
        <BrushNumbers axes={axes} brushes={state.brushes} brush={brush} />
      </div>
      <div class="parallel-place" style={{'--axes': axes.length}}>
      <Panel app={app} id="compare_parallel" title="Settings and scores" shown={{first: 0, last: 1}} run="comparison" drawing={made.drawing}
        explain="Every run that passes the filter as a line in its own colour over its settings and last values. Drag along an axis to choose the runs that cross it there, in several axes those that cross all; a click on the axis takes the brush away."
        onPointer={(kind, x, y, width, height) => {
          if (kind === 'down') {
            const found = made.axisAt(x, y, width, height);
            from.current = found && {axis: found.axis, y, value: found.value};
            return;
          }
          const start = from.current;
          if (!start) return;
          const value = made.valueAt(start.axis, y, height);
          const isDrag = Math.abs(y - start.y) >= SHORTEST;
          const range = {first: Math.min(start.value, value), last: Math.max(start.value, value)};
          if (kind === 'move') setDragged(isDrag ? {id: start.axis.id, range} : null);
          else {
            from.current = null;
            setDragged(null);
            if (isDrag) brush(start.axis.id, range);
            else if (state.brushes[start.axis.id]) brush(start.axis.id, null);
          }
        }} />
      </div>
      {lacking.length > 0 && <p class="hint">Lines that end at “none” below an axis have no finite value there: {lacking.map(({name, axis, cells}) =>
        `${name} ${cells.filter((cell) => Number.isNaN(axis.place(cell))).length}`).join(', ')} of {passing.length} runs.</p>}
    </>
  );
}
