// SPDX-License-Identifier: MIT
// What pictures are drawn on: a canvas for the eye, an SVG text for export and tests. Coordinates
// are CSS pixels from the top left.

/** Colours of the theme in use. */
export interface Palette {
  isDark: boolean;
  background: string;
  text: string;
  faint: string; // secondary text
  grid: string;
  /** Eight colours that colour-blind people can tell apart. */
  lines: readonly string[];
  /** Ten colours of runs, told apart by colour-blind people too; the same run has the same place in both themes. */
  runs: readonly string[];
  good: string;
  warning: string;
  bad: string;
  /** A scale from none (0) to most (1), even in lightness. */
  heat(fraction: number): string;
  /** A scale around 0 from -1 to 1. */
  diverging(fraction: number): string;
}

export interface Stroke {
  color: string;
  width?: number;
  dash?: readonly number[];
  opacity?: number;
}

export interface Fill {
  color: string;
  opacity?: number;
}

export interface TextStyle {
  color: string;
  size?: number; // pixels, 11 unless said
  align?: 'left' | 'center' | 'right';
  baseline?: 'top' | 'middle' | 'bottom';
  weight?: 'normal' | 'bold';
  /** Degrees, clockwise. */
  turn?: number;
}

/** Points as x0, y0, x1, y1, ...; a NaN begins a new piece. */
export type Path = readonly number[] | Float64Array;

export interface Surface {
  readonly width: number;
  readonly height: number;
  readonly palette: Palette;
  path(points: Path, stroke: Stroke): void;
  area(points: Path, fill: Fill): void;
  rect(x: number, y: number, width: number, height: number, fill: Fill): void;
  circle(x: number, y: number, radius: number, style: {fill?: Fill; stroke?: Stroke}): void;
  text(x: number, y: number, text: string, style: TextStyle): void;
  /** Many rectangles of one size, by rows: for heat maps. NaN cells stay empty. */
  cells(x: number, y: number, width: number, height: number, columns: number,
        values: ArrayLike<number>, color: (value: number) => string): void;
  /** Draws inside the rectangle only. */
  clipped(x: number, y: number, width: number, height: number, draw: () => void): void;
}
