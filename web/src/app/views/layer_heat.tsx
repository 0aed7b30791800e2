// SPDX-License-Identifier: MIT
// The heat map of all layers: a window of rows that scrolls and zooms, by mouse and by keys.
import {useEffect, useLayoutEffect, useMemo, useRef, useState} from 'preact/hooks';
import type {RefObject} from 'preact';
import type {TreeRow} from '../../base/grouping';
import type {Layers} from '../../store/layer_store';
import {heatMap, type Box, type HeatMap} from '../../widgets/scenes/heat_map';
import {heatRange, naturalScale, spanOf, type HeatScale} from '../../widgets/scenes/heat_values';
import {useWatched, useWidth} from '../../widgets/use_watched';
import {Panel} from '../panel';
import type {RunViewProps} from '../view_props';
import type {LayerChoice} from './layer_choices';

interface Props extends RunViewProps {
  choice: LayerChoice;
  rows: readonly TreeRow[];
  layers: Layers;
  scale: HeatScale | 'auto';
  /** A row was chosen by click or Enter. */
  onOpen(row: TreeRow): void;
}

const FEWEST = 8;

/** The slider's step and the chosen row, above the map: they move without its being drawn again. */
function Markers(props: {place: RefObject<HTMLDivElement>; drawing: HeatMap; step: number | null; row: number}) {
  const {place, drawing, step, row} = props;
  const width = useWidth(place);
  const line = useRef<HTMLDivElement>(null);
  const frame = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const canvas = place.current?.querySelector('canvas');
    const put = (element: HTMLDivElement | null, find: (width: number, height: number) => Box | null) => {
      const outer = place.current?.getBoundingClientRect();
      const inner = canvas?.getBoundingClientRect();
      const box = outer && inner ? find(inner.width, inner.height) : null;
      if (!element) return;
      element.hidden = box === null;
      if (!box || !outer || !inner) return;
      element.style.left = `${inner.left - outer.left + box.x}px`;
      element.style.top = `${inner.top - outer.top + box.y}px`;
      element.style.width = `${box.width}px`;
      element.style.height = `${box.height}px`;
    };
    put(line.current, (w, h) => (step === null ? null : drawing.stepBox(step, w, h)));
    put(frame.current, (w, h) => drawing.rowBox(row, w, h));
  }, [place, drawing, step, row, width]);
  return <><div ref={line} class="heat-step" hidden /><div ref={frame} class="heat-row" hidden /></>;
}

export function LayerHeat({app, run, choice, rows, layers, scale, onOpen}: Props) {
  const step = useWatched(run.step);
  const zoom = useWatched(run.zoom);
  const place = useRef<HTMLDivElement>(null);
  const [view, setView] = useState({first: 0, count: Infinity});
  const [marked, setMarked] = useState(-1);
  const count = Math.min(rows.length, Math.max(FEWEST, view.count));
  const first = Math.max(0, Math.min(view.first, rows.length - count));
  useEffect(() => {
    setView({first: 0, count: Infinity});
    setMarked(-1);
  }, [rows]);

  const heatRows = useMemo(() => rows.map((row) => ({
    label: row.label,
    points: row.members.flatMap((member) => layers.points.get(choice.rows[member]?.series.id ?? -1) ?? []),
  })), [rows, layers.points, choice]);
  const used = useMemo(() => (scale === 'auto' ? naturalScale(heatRows) : scale), [scale, heatRows]);
  const range = useMemo(() => heatRange(heatRows, used), [heatRows, used]);
  const span = useMemo(() => zoom ?? spanOf(heatRows), [zoom, heatRows]);
  const drawing = useMemo(() => heatMap({rows: heatRows, title: choice.label, scale: used, range, first, count, span}),
    [heatRows, choice, used, range, first, count, span]);

  /** Fewer rows (factor below 1) or more, around one that stays in place. */
  const zoomRows = (factor: number, around = marked >= 0 ? marked : first + count / 2) => {
    const next = Math.min(rows.length, Math.max(FEWEST, Math.round(count * factor)));
    setView({first: Math.round(around - ((around - first) / count) * next), count: next});
  };
  const mark = (row: number) => {
    const next = Math.max(0, Math.min(rows.length - 1, row));
    setMarked(next);
    if (next < first) setView({first: next, count});
    else if (next >= first + count) setView({first: next - count + 1, count});
  };
  const where = (event: MouseEvent) => {
    const canvas = place.current?.querySelector('canvas');
    if (!canvas || event.target !== canvas) return -1;
    const box = canvas.getBoundingClientRect();
    return drawing.rowAt(event.clientX - box.left, event.clientY - box.top, canvas.clientWidth, canvas.clientHeight);
  };
  const wheel = (event: WheelEvent) => {
    const row = where(event);
    if (row < 0 || event.deltaY === 0) return;
    if (event.ctrlKey || event.metaKey) zoomRows(event.deltaY > 0 ? 1.25 : 0.8, row);
    else if (event.shiftKey && count < rows.length) setView({first: first + Math.sign(event.deltaY) * Math.max(1, Math.round(count / 10)), count});
    else return;
    event.preventDefault();
  };
  // By hand: only so may the page be kept from zooming itself.
  const latest = useRef(wheel);
  latest.current = wheel;
  useEffect(() => {
    const element = place.current;
    const listen = (event: WheelEvent) => latest.current(event);
    element?.addEventListener('wheel', listen, {passive: false});
    return () => element?.removeEventListener('wheel', listen);
  }, []);

  const keys = (event: KeyboardEvent) => {
    if (event.target !== event.currentTarget) return;
    const page = Math.max(1, Math.floor(count / 2));
    const moves: Record<string, () => void> = {
      ArrowDown: () => mark(marked < 0 ? first : marked + 1),
      ArrowUp: () => mark(marked < 0 ? first : marked - 1),
      PageDown: () => mark(Math.max(marked, first) + page),
      PageUp: () => mark(Math.max(marked, first) - page),
      Home: () => mark(0),
      End: () => mark(rows.length - 1),
      '+': () => zoomRows(0.5),
      '-': () => zoomRows(2),
      Enter: () => { if (rows[marked]) onOpen(rows[marked] as TreeRow); },
    };
    const move = moves[event.key];
    if (!move) return;
    event.preventDefault();
    move();
  };
  const isPart = count < rows.length;
  return (
    <div class="layer-heat">
      <div class="heat-place" ref={place} tabIndex={0} role="group" onKeyDown={keys}
        aria-label={`${choice.label} by layer. Arrow keys choose a row, Enter opens it, plus and minus show fewer or more rows.`}
        onClick={(event) => { const row = rows[where(event)]; if (row) onOpen(row); }}>
        <Panel app={app} id={`layers_${choice.id}`} title={`${choice.label} by layer`} run={run.id}
          explain={`Each row is a layer or a closed group of them, each column some steps; the colour is ${choice.label}, and of several values in one place the gravest is shown. ` +
            'A row that is orders of magnitude darker or brighter than its neighbours is a layer that learns too little or too much; click it for its panels.'}
          drawing={layers.error ?? (layers.points.size === 0 ? null : drawing)} shown={zoom ?? {first: 0, last: Math.max(1, run.lastStep)}} />
        <Markers place={place} drawing={drawing} step={step} row={marked} />
        <p class="visually-hidden" aria-live="polite">{rows[marked]?.label ?? ''}</p>
      </div>
      <div class="heat-window">
        <button type="button" onClick={() => zoomRows(0.5)} disabled={count <= FEWEST} aria-label="Fewer rows, larger">+</button>
        <button type="button" onClick={() => zoomRows(2)} disabled={!isPart} aria-label="More rows, smaller">−</button>
        {isPart && <input type="range" class="window-slider" min="0" max={rows.length - count} value={first} aria-label="First row shown"
          onInput={(event) => setView({first: Number(event.currentTarget.value), count})} />}
        <span class="quiet">{isPart ? `rows ${first + 1} to ${first + count} of ${rows.length}` : `${rows.length} rows`}
          {used === 'log' ? ', logarithmic colours' : used === 'diverging' ? ', colours around 0' : ', linear colours'}</span>
      </div>
    </div>
  );
}
