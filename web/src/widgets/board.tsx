// SPDX-License-Identifier: MIT
// Panels that are arranged by hand: pinned, hidden, moved and resized, with the mouse and with keys.
import type {ComponentChildren} from 'preact';
import {useRef, useState} from 'preact/hooks';
import {arranged, isUsual, type Layout, type PanelSize, sizeOf, USUAL_LAYOUT, withHidden, withMoved, withPin, withSize, withStep} from '../base/board_layout';
import {perRow} from './flow';
import {useWidth} from './use_watched';

export interface BoardAction {
  label: string;
  isOn?: boolean;
  act(): void;
}

interface Props {
  /** In their own order. */
  ids: readonly string[];
  titleOf(id: string): string;
  layout: Layout;
  change(layout: Layout): void;
  show(id: string, size: PanelSize, actions: BoardAction[]): ComponentChildren;
}

/** Heights change by this much at a key, in pixels. */
const STEP = 40;
/** Of a plot in a panel that was not resized: the same in all, whatever their width, so that rows have no holes. */
export const USUAL_HEIGHT = 170;
/** Pixels that a panel needs. */
const LEAST_WIDTH = 380;

function Grip(props: {title: string; size: PanelSize; resize(size: PanelSize): void; columnWidth(): number}) {
  const {size, resize} = props;
  const from = useRef<{x: number; y: number; size: PanelSize} | null>(null);
  const height = size.height || USUAL_HEIGHT;
  const key = (event: KeyboardEvent) => {
    const {span} = size;
    const next = {ArrowRight: {span: span + 1, height: size.height}, ArrowLeft: {span: span - 1, height: size.height},
      ArrowDown: {span, height: height + STEP}, ArrowUp: {span, height: height - STEP}, Home: {span: 1, height: 0}}[event.key];
    if (!next) return;
    event.preventDefault();
    resize(next);
  };
  const move = (event: PointerEvent) => {
    if (!from.current) return;
    const {x, y, size: before} = from.current;
    const [dx, dy] = [event.clientX - x, event.clientY - y];
    resize({span: before.span + Math.round(dx / Math.max(1, props.columnWidth())), height: Math.abs(dy) < 8 ? before.height : (before.height || USUAL_HEIGHT) + dy});
  };
  return (
    <button type="button" class="grip" aria-label={`Size of ${props.title}: drag, or arrow keys; Home for the usual size`} onKeyDown={key}
      title="Drag to resize; arrow keys do it too, Home brings the usual size" draggable={false}
      onPointerDown={(event) => {
        event.preventDefault();
        event.currentTarget.focus();
        event.currentTarget.setPointerCapture(event.pointerId);
        from.current = {x: event.clientX, y: event.clientY, size};
      }}
      onPointerMove={move} onPointerUp={() => { from.current = null; }} onPointerCancel={() => { from.current = null; }} />
  );
}

export function Board({ids, titleOf, layout, change, show}: Props) {
  const [dragged, setDragged] = useState<string | null>(null);
  const place = useRef<HTMLDivElement>(null);
  const shown = arranged(ids, layout);
  const hidden = ids.filter((id) => layout.hidden.includes(id));
  const step = (id: string, by: number) => {
    change(withStep(layout, ids, id, by));
    // It went elsewhere in the document: the focus goes with it.
    requestAnimationFrame(() => place.current?.querySelector<HTMLElement>(`[data-board="${CSS.escape(id)}"] .handle`)?.focus());
  };
  const key = (id: string) => (event: KeyboardEvent) => {
    const by = event.key === 'ArrowLeft' || event.key === 'ArrowUp' ? -1 : event.key === 'ArrowRight' || event.key === 'ArrowDown' ? 1 : 0;
    if (by === 0) return;
    event.preventDefault();
    step(id, by);
  };
  const width = useWidth(place);
  const columns = perRow(shown.length, width, LEAST_WIDTH);
  const columnWidth = () => (place.current?.clientWidth ?? 400) / columns;
  return (
    <>
      {!isUsual(layout) && (
        <div class="board-state" role="status">
          {hidden.length > 0 && <span>Hidden:</span>}
          {hidden.map((id) => <button key={id} type="button" title={`Show ${titleOf(id)} again`} onClick={() => change(withHidden(layout, id))}>+ {titleOf(id)}</button>)}
          <button type="button" class="reset" onClick={() => change(USUAL_LAYOUT)}>Reset the layout</button>
        </div>
      )}
      <div class="panels board" ref={place} style={{'--columns': columns}}>
        {shown.map((id) => {
          const size = sizeOf(layout, id);
          const isPinned = layout.pinned.includes(id);
          const resize = (next: PanelSize) => change(withSize(layout, id, next));
          const actions: BoardAction[] = [
            {label: 'Pin to the top', isOn: isPinned, act: () => change(withPin(layout, id))},
            {label: 'Hide', act: () => change(withHidden(layout, id))},
            {label: 'Move earlier', act: () => step(id, -1)},
            {label: 'Move later', act: () => step(id, 1)},
            {label: 'Wider', act: () => resize({...size, span: size.span + 1})},
            {label: 'Narrower', act: () => resize({...size, span: size.span - 1})},
            {label: 'Higher', act: () => resize({...size, height: (size.height || USUAL_HEIGHT) + STEP})},
            {label: 'Lower', act: () => resize({...size, height: (size.height || USUAL_HEIGHT) - STEP})},
          ];
          return (
            <div key={id} data-board={id} class={`board-item span-${size.span}${isPinned ? ' pinned' : ''}${dragged === id ? ' dragged' : ''}`}
              onDragOver={(event) => { if (dragged) event.preventDefault(); }}
              onDrop={(event) => {
                event.preventDefault();
                if (dragged) change(withMoved(layout, ids, dragged, id));
                setDragged(null);
              }}>
              <span class="handle" role="button" tabIndex={0} draggable aria-label={`Place of ${titleOf(id)}: drag, or arrow keys`}
                title="Drag to another panel's place; arrow keys move it too" onKeyDown={key(id)}
                onDragStart={(event) => {
                  event.dataTransfer?.setData('text/plain', id);
                  setDragged(id);
                }}
                onDragEnd={() => setDragged(null)}>{isPinned ? '▣' : '⠿'}</span>
              {show(id, size, actions)}
              <Grip title={titleOf(id)} size={size} resize={resize} columnWidth={columnWidth} />
            </div>
          );
        })}
      </div>
    </>
  );
}
