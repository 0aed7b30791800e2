// SPDX-License-Identifier: MIT
// A scene on a canvas as wide as its place: sharp on every screen, with exact values on hover.
import {useLayoutEffect, useRef, useState} from 'preact/hooks';
import {paintCanvas} from './canvas_surface';
import type {SceneDrawing} from './drawing';
import type {Palette} from './surface';
import {useOnScreen, useWidth} from './use_watched';

interface Tip {
  text: string;
  x: number;
  y: number;
}

export interface SceneProps {
  drawing: SceneDrawing;
  palette: Palette;
}

export function Scene({drawing, palette}: SceneProps) {
  const place = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const width = useWidth(place);
  const isOnScreen = useOnScreen(place);
  const [tip, setTip] = useState<Tip | null>(null);
  const [failure, setFailure] = useState<unknown>(null);
  const height = width > 0 ? Math.max(1, Math.round(drawing.height(width))) : 160;
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

  const move = (event: PointerEvent) => {
    const box = canvas.current?.getBoundingClientRect();
    if (!box || !drawing.at) return;
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    const found = drawing.at(x, y, width, height);
    setTip(found ? {text: found.text, x, y} : null);
  };
  return (
    <div class="scene" ref={place} style={{height: `${height}px`}}>
      <canvas ref={canvas} role="img" aria-label={drawing.words} style={{width: `${width}px`, height: `${height}px`}}
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
