// SPDX-License-Identifier: MIT
// A scene on a canvas as wide as its place: sharp on every screen, with exact values on hover.
import {useLayoutEffect, useRef, useState} from 'preact/hooks';
import {paintCanvas} from './canvas_surface';
import type {SceneDrawing} from './drawing';
import type {Palette} from './surface';
import {useHeight, useOnScreen, useWidth} from './use_watched';

interface Tip {
  text: string;
  x: number;
  y: number;
}

/** A press, a drag or its end at a place of the picture of this size. */
export type ScenePointer = (kind: 'down' | 'move' | 'up', x: number, y: number, width: number, height: number) => void;

export interface SceneProps {
  drawing: SceneDrawing;
  palette: Palette;
  onPointer?: ScenePointer;
}

export function Scene({drawing, palette, onPointer}: SceneProps) {
  const place = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const width = useWidth(place);
  const isOnScreen = useOnScreen(place);
  const [tip, setTip] = useState<Tip | null>(null);
  const [failure, setFailure] = useState<unknown>(null);
  const least = width > 0 ? Math.max(1, Math.round(drawing.height(width))) : 160;
  const height = Math.max(least, useHeight(place));
  // Thrown here, the panel's error boundary catches it; thrown in an effect, nothing would.
  if (failure) throw failure;

  useLayoutEffect(() => {
    if (!canvas.current || width <= 0 || !isOnScreen) return;
    try {
      paintCanvas(canvas.current, width, height, window.devicePixelRatio || 1, palette, (s) => drawing.paint(s));
    } catch (error) {
      setFailure(error);
    }
  }, [drawing, palette, width, height, isOnScreen]);

  const press = (kind: 'down' | 'move' | 'up') => (event: PointerEvent) => {
    const box = canvas.current?.getBoundingClientRect();
    if (!box || !onPointer) return;
    // A drag goes on outside of the picture.
    if (kind === 'down') canvas.current?.setPointerCapture(event.pointerId);
    onPointer(kind, event.clientX - box.left, event.clientY - box.top, width, height);
  };
  const move = (event: PointerEvent) => {
    press('move')(event);
    const box = canvas.current?.getBoundingClientRect();
    if (!box || !drawing.at) return;
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    const found = drawing.at(x, y, width, height);
    setTip(found ? {text: found.text, x, y} : null);
  };
  return (
    <div class="scene" ref={place} style={{minHeight: `${least}px`}}>
      <canvas ref={canvas} role="img" aria-label={drawing.words} style={{width: `${width}px`, height: `${height}px`}}
        {...(onPointer ? {onPointerDown: press('down'), onPointerUp: press('up')} : {})}
        onPointerMove={move} onPointerLeave={() => setTip(null)} />
      {tip && (
        <div class="tip" style={{left: `${tip.x}px`, top: `${tip.y}px`,
          transform: `translate(${tip.x > width / 2 ? 'calc(-100% - 10px)' : '10px'}, ${tip.y > height / 2 ? '-100%' : '0'})`}}>
          {tip.text}
        </div>
      )}
    </div>
  );
}
