// SPDX-License-Identifier: MIT
// Runs as dots over two of their numbers.
import type {ValueAxis} from '../../base/value_axis';
import type {SceneDrawing} from '../drawing';
import type {Surface} from '../surface';
import {textWidth} from '../surface_text';
import {LABEL, nothing, SMALL, type Box} from './axes';

export interface Dot {
  id: string;
  /** 0 to 1, from the left and from the bottom. */
  x: number;
  y: number;
  /** Index into the palette's colours of runs. */
  color: number;
  isChosen: boolean;
  /** Said of it. */
  text: string;
}

export interface ScatterAxis {
  name: string;
  axis: ValueAxis;
}

export interface Scatter {
  drawing: SceneDrawing;
  /** The run whose dot is at a place of the picture. */
  find(x: number, y: number, width: number, height: number): string | null;
}

const REACH = 12; // pixels from a dot that still mean it

const boxOf = (width: number, height: number): Box => ({x: 58, y: 10, width: width - 58 - 18, height: height - 10 - 40});

function paintAxes(surface: Surface, box: Box, across: ScatterAxis, up: ScatterAxis): void {
  const {palette} = surface;
  const bottom = box.y + box.height;
  let free = -Infinity;
  for (const {at, label} of across.axis.ticks) {
    const x = box.x + at * box.width;
    surface.path([x, box.y, x, bottom], {color: palette.grid});
    const half = textWidth(label, SMALL) / 2;
    if (x - half < free) continue;
    free = x + half + 4;
    surface.text(x, bottom + 6, label, {color: palette.faint, size: SMALL, align: 'center', baseline: 'top'});
  }
  for (const {at, label} of up.axis.ticks) {
    const y = bottom - at * box.height;
    surface.path([box.x, y, box.x + box.width, y], {color: palette.grid});
    surface.text(box.x - 5, y, label, {color: palette.faint, size: SMALL, align: 'right', baseline: 'middle'});
  }
  const name = {color: palette.faint, size: LABEL, align: 'center'} as const;
  surface.text(box.x + box.width / 2, bottom + 21, across.name, {...name, baseline: 'top'});
  surface.text(12, box.y + box.height / 2, up.name, {...name, baseline: 'middle', turn: -90});
}

export function scatterScene(dots: readonly Dot[], across: ScatterAxis, up: ScatterAxis): Scatter {
  const pixels = (dot: Dot, box: Box) => ({x: box.x + dot.x * box.width, y: box.y + (1 - dot.y) * box.height});
  const nearest = (px: number, py: number, width: number, height: number): Dot | null => {
    const box = boxOf(width, height);
    let found: Dot | null = null;
    let best = REACH * REACH;
    for (const dot of dots) {
      const {x, y} = pixels(dot, box);
      const distance = (x - px) ** 2 + (y - py) ** 2;
      // Of two at one place the chosen one is drawn above.
      if (distance < best || (distance === best && dot.isChosen)) [found, best] = [dot, distance];
    }
    return found;
  };
  return {
    find: (x, y, width, height) => nearest(x, y, width, height)?.id ?? null,
    drawing: {
      kind: 'scene',
      height: (width) => Math.round(Math.min(520, Math.max(260, width * 0.45))),
      words: `${dots.length} runs by ${across.name} and ${up.name}, ${dots.filter(({isChosen}) => isChosen).length} of them chosen.`,
      paint(surface) {
        const box = boxOf(surface.width, surface.height);
        paintAxes(surface, box, across, up);
        if (dots.length === 0) nothing(surface, box, 'no run has both numbers');
        for (const isChosen of [false, true]) {
          for (const dot of dots) {
            if (dot.isChosen !== isChosen) continue;
            const color = surface.palette.runs[dot.color] as string;
            const {x, y} = pixels(dot, box);
            if (isChosen) surface.circle(x, y, 5, {fill: {color}, stroke: {color: surface.palette.background, width: 1}});
            else surface.circle(x, y, 4, {fill: {color, opacity: 0.3}});
          }
        }
      },
      at(px, py, width, height) {
        const dot = nearest(px, py, width, height);
        return dot && {text: dot.text};
      },
    },
  };
}
