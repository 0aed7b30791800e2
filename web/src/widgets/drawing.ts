// SPDX-License-Identifier: MIT
// What an instrument returns: lines over steps, which the chart library draws, or a scene, which
// draws itself on a surface. Both are plain values: no DOM, no fetching.
import type {Points} from '../wire/types';
import type {Surface} from './surface';

export interface Line {
  label: string;
  points: Points;
  /** Index into the palette's lines; by default its position. */
  color?: number;
  /** Of a run: the index is into the palette's colours of runs. */
  isRun?: boolean;
  /** What is shown of the label where it is long. */
  short?: string;
  /** More about an entry of the points: how many runs it stands for. */
  detail?(entry: number): string;
  dash?: readonly number[];
  /** 'right': a second scale. */
  side?: 'left' | 'right';
  /** Dots without connecting lines. */
  dots?: boolean;
  /** Left alone by the smoothing control (learning rates, accuracies of an epoch). */
  exact?: boolean;
  /** Hidden until the legend switches it on. */
  startsOff?: boolean;
}

/** A horizontal line with a meaning, such as 0 or 1. */
export interface Guide {
  value: number;
  label: string;
}

export interface LinesDrawing {
  kind: 'lines';
  lines: Line[];
  guides?: Guide[];
  /** What points are over, if not over steps: seconds, samples, epochs; 'time' for seconds since 1970. */
  x?: string;
  /** The vertical axis goes no further, whatever the values; those beyond are marked at its ends. */
  clip?: {low: number; high: number};
  /** Name of the vertical axis; the right one's after it. */
  y?: string;
  yRight?: string;
  /** What the y axis is until the user chooses. */
  scale?: 'linear' | 'log';
}

export interface Hover {
  text: string;
}

export interface SceneDrawing {
  kind: 'scene';
  /** Height for a width, in pixels; the panel decides the width. */
  height(width: number): number;
  paint(surface: Surface): void;
  /** The picture in words, for those who do not see it. */
  words: string;
  /** Exact values at a place of the picture; null where there are none. */
  at?(x: number, y: number, width: number, height: number): Hover | null;
}

export type Drawing = LinesDrawing | SceneDrawing;
