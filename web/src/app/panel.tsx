// SPDX-License-Identifier: MIT
// The frame of a panel: title, explanation, menu. What breaks inside it stays inside.
import {Component, type ComponentChildren} from 'preact';
import {useLayoutEffect, useRef, useState} from 'preact/hooks';
import type {Intervention} from '../base/interventions';
import type {Drawing} from '../widgets/drawing';
import {LineChart} from '../widgets/line_chart';
import type {LineOptions} from '../widgets/line_data';
import {canBeLog, type ShownSteps} from '../widgets/line_plot';
import {Scene, type ScenePointer} from '../widgets/scene';
import {useWatched} from '../widgets/use_watched';
import {download, linesAsCsv, type Picture, pictureAsPng, pictureAsSvg} from './export';
import type {App} from './view_props';

export interface PanelProps {
  app: App;
  /** Keeps the settings of this panel; the same from visit to visit. */
  id: string;
  title: string;
  explain: string;
  /** Null while it is loading; the error in its place if it cannot be made. */
  drawing: Drawing | Error | null;
  /** The axis of steps. */
  shown: ShownSteps;
  onZoom?(shown: ShownSteps | null): void;
  onPick?(step: number): void;
  marker?: number | undefined;
  /** Marked over steps. */
  interventions?: readonly Intervention[];
  /** Where the exact values are; without, CSV is made of what is shown. */
  csv?: string | null;
  /** Columns of the grid. */
  span?: number | undefined;
  height?: number;
  /** Named in the files that are written. */
  run?: string;
  /** Of a legend that several panels share: what it has switched off. */
  off?: ReadonlySet<string>;
  /** Further entries of the menu. */
  actions?: readonly PanelAction[];
  /** Presses on a scene, in pixels from its top left. */
  onPointer?: ScenePointer;
}

export interface PanelAction {
  label: string;
  isOn?: boolean;
  act(): void;
}

/** Catches what its children throw while rendering and says so in their place, until `of` changes. */
export class Boundary extends Component<{of: unknown; children: ComponentChildren}, {error: unknown}> {
  override state = {error: null as unknown};

  override componentDidUpdate(before: {of: unknown}) {
    if (before.of !== this.props.of && this.state.error !== null) this.setState({error: null});
  }

  static override getDerivedStateFromError(error: unknown) {
    return {error};
  }

  override render() {
    const {error} = this.state;
    if (error === null) return this.props.children;
    return (
      <div class="broken" role="alert">
        <p>This panel cannot be drawn: {error instanceof Error ? error.message : String(error)}</p>
        <button type="button" onClick={() => this.setState({error: null})}>Try again</button>
      </div>
    );
  }
}

/** Closes on Escape and on a click elsewhere. */
function useClosing(isOpen: boolean, close: () => void) {
  const place = useRef<HTMLDivElement>(null);
  // Before the next key can be pressed, which an effect after painting does not promise.
  useLayoutEffect(() => {
    if (!isOpen) return undefined;
    const press = (event: PointerEvent) => { if (!place.current?.contains(event.target as Node)) close(); };
    const key = (event: KeyboardEvent) => {
      if (event.key !== 'Escape') return;
      // What has the focus is about to go away.
      place.current?.querySelector<HTMLElement>('[aria-expanded=true]')?.focus();
      close();
    };
    document.addEventListener('pointerdown', press);
    document.addEventListener('keydown', key);
    return () => {
      document.removeEventListener('pointerdown', press);
      document.removeEventListener('keydown', key);
    };
  }, [isOpen]);
  return place;
}

export function Panel(props: PanelProps) {
  const {app, id, title, explain, drawing, shown} = props;
  const settings = useWatched(app.settings.watched);
  const [open, setOpen] = useState<'explain' | 'menu' | null>(null);
  const head = useClosing(open !== null, () => setOpen(null));
  const frame = useRef<HTMLElement>(null);
  const own = settings.panels[id] ?? {};
  const isLines = drawing !== null && !(drawing instanceof Error) && drawing.kind === 'lines';
  const options: LineOptions = {
    smoothing: settings.smoothing,
    logX: (own.logX ?? settings.logX) && !(isLines && !canBeLog(drawing)),
    logY: own.logY ?? (isLines && drawing.scale === 'log'),
  };
  const save = (kind: 'png' | 'svg' | 'csv') => {
    setOpen(null);
    if (drawing === null || drawing instanceof Error) return;
    const name = [props.run ?? 'flightdeck', id] as const;
    const picture: Picture = {title, drawing, options, shown, palette: app.palette, width: Math.max(480, frame.current?.clientWidth ?? 0)};
    if (kind === 'svg') download(pictureAsSvg(picture), 'image/svg+xml', ...name);
    else if (kind === 'png') void pictureAsPng(picture).then((blob) => download(blob, 'image/png', ...name));
    else if (drawing.kind === 'lines') download(linesAsCsv(drawing), 'text/csv', ...name);
  };
  return (
    <section ref={frame} class={`panel span-${props.span ?? 1}`} data-panel={id} aria-label={title}>
      <header ref={head}>
        <h3>{title}</h3>
        {isLines && <button type="button" class="axis-word" aria-pressed={options.logY} aria-label={`Logarithmic vertical axis of ${title}`}
          title={`The vertical axis is ${options.logY ? 'logarithmic; click to make it linear' : 'linear; click to make it logarithmic'}`}
          onClick={() => app.settings.changePanel(id, {logY: !options.logY})}>log</button>}
        <button type="button" class="icon explain" aria-label={`What ${title} shows`} aria-expanded={open === 'explain'}
          onClick={() => setOpen(open === 'explain' ? null : 'explain')}>i</button>
        <button type="button" class="icon" aria-label={`Menu of ${title}`} aria-expanded={open === 'menu'}
          onClick={() => setOpen(open === 'menu' ? null : 'menu')}>⋯</button>
        {open === 'explain' && <div class="popover" role="note">{explain}</div>}
        {open === 'menu' && (
          <div class="popover menu" role="group" aria-label={`Menu of ${title}`}>
            {isLines && canBeLog(drawing) && <button type="button" aria-pressed={options.logX}
              onClick={() => app.settings.changePanel(id, {logX: !options.logX})}>Log x</button>}
            {isLines && <button type="button" aria-pressed={options.logY}
              onClick={() => app.settings.changePanel(id, {logY: !options.logY})}>Log y</button>}
            <button type="button" onClick={() => save('png')}>Save as PNG</button>
            <button type="button" onClick={() => save('svg')}>Save as SVG</button>
            {props.csv ? <a href={props.csv} download="" onClick={() => setOpen(null)}>Values as CSV</a>
              : isLines && <button type="button" onClick={() => save('csv')}>Values as CSV</button>}
            {props.actions?.map(({label, isOn, act}) => <button key={label} type="button" aria-pressed={isOn}
              onClick={() => { setOpen(null); act(); }}>{label}</button>)}
          </div>
        )}
      </header>
      <Boundary of={drawing}><PanelBody {...props} options={options} /></Boundary>
    </section>
  );
}

function PanelBody({app, drawing, shown, onZoom, onPick, marker, interventions, height, off, onPointer, options}: PanelProps & {options: LineOptions}) {
  if (drawing instanceof Error) throw drawing;
  if (drawing === null) return <div class="skeleton" aria-label="Loading" />;
  if (drawing.kind === 'scene') return <Scene drawing={drawing} palette={app.palette} {...(onPointer ? {onPointer} : {})} />;
  return <LineChart drawing={drawing} palette={app.palette} options={options} shown={shown} marker={marker}
    {...(interventions && drawing.x === undefined ? {interventions} : {})} off={off} onZoom={(range) => onZoom?.(range)} {...(onPick ? {onPick} : {})} {...(height ? {height} : {})} />;
}
