// SPDX-License-Identifier: MIT
// Lines over steps with a legend that shows exact values at the cursor and switches lines off.
import {useEffect, useMemo, useRef, useState} from 'preact/hooks';
import 'uplot/dist/uPlot.min.css';
import {exactNumber, formatNumber} from '../base/format';
import type {Intervention} from '../base/interventions';
import type {LinesDrawing} from './drawing';
import {describeLines, lineData, type LineData, type LineOptions, nearestRow, overText} from './line_data';
import {lineColor, LinePlot, type ShownSteps} from './line_plot';
import type {Palette} from './surface';
import {tipEntries} from './values_tip';
import {useHeight, useOnScreen, useWidth} from './use_watched';

export interface LineChartProps {
  drawing: LinesDrawing;
  palette: Palette;
  options: LineOptions;
  /** Of the plot without its legend, at least. */
  height?: number;
  /** The axis of steps, the same for all charts of a page. */
  shown: ShownSteps;
  onZoom(shown: ShownSteps | null): void;
  onPick?(step: number): void;
  marker?: number | undefined;
  /** Marked at their steps. */
  interventions?: readonly Intervention[];
  /** Labels that a legend shared by several charts has switched off; the chart then has none of its own, and a tip for its values. */
  off?: ReadonlySet<string> | undefined;
}

/** A chart wider than this, in pixels, is also higher. */
const WIDE = 800;

/** A line's colour and dashes, small. */
export function swatch(color: string, dash: readonly number[] | undefined): string {
  const [drawn, left] = dash ?? [];
  if (drawn === undefined || left === undefined) return color;
  return `repeating-linear-gradient(90deg, ${color} 0 ${drawn / 2}px, transparent ${drawn / 2}px ${(drawn + left) / 2}px)`;
}

/** Labels of lines that are not drawn: those that start so, but for what the reader switched. */
export function hiddenLines({lines}: LinesDrawing, switched: ReadonlySet<string>): ReadonlySet<string> {
  return new Set(lines.filter(({label, startsOff}) => (startsOff === true) !== switched.has(label)).map(({label}) => label));
}

interface Shown {
  text: string;
  title: string;
}

/** What the legend says of a line at a row; its last value if there is none. */
export function valueAt(drawing: LinesDrawing, data: LineData, line: number, row: number | null): Shown {
  const points = drawing.lines[line]?.points;
  const exact = data.exact[line];
  if (!points || !exact || points.steps.length === 0) return {text: '', title: 'no values yet'};
  const known = data.columns.find((column) => column.line === line && column.role === 'value');
  const at = row === null || !known ? null : Number.isNaN(exact[row] as number) && known.cells[row] === undefined
    ? nearestRow(known.cells, data.x, row) : row;
  const step = at === null ? (points.steps[points.steps.length - 1] as number) : (data.steps[at] as number);
  const value = at === null ? (points.values[points.values.length - 1] as number) : (exact[at] as number);
  const entry = points.reduced ? points.steps.indexOf(step) : -1;
  const detail = drawing.lines[line]?.detail;
  const bounds = entry >= 0 && detail ? `, ${detail(entry)}` : entry >= 0 ? `, between ${exactNumber(points.low[entry] as number)} and ${exactNumber(points.high[entry] as number)} since the entry before` : '';
  return {text: formatNumber(value), title: `${overText(drawing, step)}: ${exactNumber(value)}${bounds}`};
}

export function LineChart(props: LineChartProps) {
  const {drawing, palette, options, shown, marker, interventions, off} = props;
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<LinePlot | null>(null);
  const stepLabel = useRef<HTMLSpanElement>(null);
  const values = useRef<(HTMLSpanElement | null)[]>([]);
  const row = useRef<number | null>(null);
  const width = useWidth(place);
  // As high as its panel has room, but not less than this.
  const least = props.height ?? (width > WIDE ? 230 : 170);
  const height = Math.max(least, useHeight(place));
  const isOnScreen = useOnScreen(place);
  const tip = useRef<HTMLDivElement>(null);
  // What the reader switched: lines that come later begin as they are meant to.
  const [switched, setSwitched] = useState<ReadonlySet<string>>(new Set());
  const ownHidden = useMemo(() => hiddenLines(drawing, switched), [drawing, switched]);
  const hidden = off ?? ownHidden;
  const [failure, setFailure] = useState<unknown>(null);
  const {smoothing, logX, logY} = options;
  // A chart out of sight keeps what it had: a page of many moves with the few that are seen.
  const known = useRef<LineData | null>(null);
  const data = useMemo(() => (isOnScreen || !known.current ? lineData(drawing, {smoothing, logX, logY}) : known.current),
    [drawing, smoothing, logX, logY, isOnScreen]);
  known.current = data;
  // The plot outlives a render: what it calls back reads the newest props here.
  const latest = useRef({props, data});
  latest.current = {props, data};
  if (failure) throw failure;

  // Written into the page directly: the cursor moves more often than components should render.
  const say = (at: number | null) => {
    const now = latest.current;
    row.current = at;
    const step = at === null ? undefined : now.data.steps[at];
    if (stepLabel.current) stepLabel.current.textContent = step === undefined ? '' : overText(now.props.drawing, step);
    values.current.forEach((element, line) => {
      if (!element) return;
      const {text, title} = valueAt(now.props.drawing, now.data, line, at);
      if (element.textContent !== text) element.textContent = text;
      element.title = title;
    });
    if (tip.current) showTip(tip.current, at);
  };

  const showTip = (element: HTMLDivElement, at: number | null) => {
    const now = latest.current;
    const isHere = at !== null && place.current?.matches(':hover') === true;
    element.hidden = !isHere;
    if (!isHere) return;
    const left = plot.current?.cursorLeft() ?? 0;
    element.style.left = `${left}px`;
    element.style.transform = left > (place.current?.clientWidth ?? 0) / 2 ? 'translateX(calc(-100% - 12px))' : 'translateX(12px)';
    const rows = tipEntries(now.props.drawing, now.data, at, now.props.off ?? new Set()).map((entry) => {
      const row = document.createElement('div');
      if (entry.line < 0) {
        row.textContent = entry.value;
        return row;
      }
      const mark = document.createElement('i');
      const line = now.props.drawing.lines[entry.line];
      if (line) mark.style.background = swatch(lineColor(line, entry.line, now.props.palette), line.dash);
      const name = document.createElement('span');
      name.textContent = entry.name;
      const value = document.createElement('b');
      value.textContent = entry.value;
      value.title = entry.title;
      row.append(mark, name, value);
      return row;
    });
    const head = document.createElement('div');
    head.className = 'at';
    head.textContent = overText(now.props.drawing, now.data.steps[at] ?? NaN);
    element.replaceChildren(head, ...rows);
  };

  useEffect(() => {
    if (!place.current || width < 40 || !isOnScreen) return;
    const input = {drawing, data, options, palette, width, height, shown, hidden, marker, interventions};
    try {
      if (plot.current) plot.current.update(input);
      else {
        plot.current = new LinePlot(place.current, input, {
          zoom: (range) => latest.current.props.onZoom(range),
          hover: say,
          pick: (step) => latest.current.props.onPick?.(step),
        });
      }
      const rows = data.steps.length;
      say(row.current !== null && row.current < rows ? row.current : null);
    } catch (error) {
      setFailure(error);
    }
  }, [drawing, data, palette, width, height, shown.first, shown.last, hidden, marker, interventions, isOnScreen]);
  useEffect(() => () => plot.current?.destroy(), []);

  const toggle = (label: string, isAlone: boolean) => {
    const next = new Set(hidden);
    if (isAlone) {
      const others = drawing.lines.map((line) => line.label).filter((other) => other !== label);
      const wasAlone = others.every((other) => hidden.has(other)) && !hidden.has(label);
      next.clear();
      if (!wasAlone) others.forEach((other) => next.add(other));
    } else if (!next.delete(label)) {
      next.add(label);
    }
    setSwitched(new Set(drawing.lines.filter((line) => next.has(line.label) !== (line.startsOff === true)).map((line) => line.label)));
  };
  return (
    <div class="line-chart">
      {!off && <div class="legend">
        {drawing.lines.map((line, i) => (
          <button type="button" key={`${i} ${line.label}`} aria-pressed={!hidden.has(line.label)}
            class={hidden.has(line.label) ? 'off' : ''} title="Click to hide or show, with Shift to show it alone"
            onClick={(event) => toggle(line.label, event.shiftKey)}>
            <i style={{background: swatch(lineColor(line, i, palette), line.dash)}} />
            {line.label} <span class="value" ref={(element) => { values.current[i] = element; }} />
          </button>
        ))}
        <span class="at" ref={stepLabel} />
      </div>}
      <div class="plot-place">
        <div ref={place} class="plot" role="img" aria-label={describeLines(drawing, interventions)} style={{minHeight: `${least}px`}} />
        {off && <div ref={tip} class="tip values-tip" hidden />}
      </div>
      {data.remarks.length > 0 && <p class="remarks">{data.remarks.join(' · ')}</p>}
    </div>
  );
}
