// SPDX-License-Identifier: MIT
// A panel as a file: SVG, PNG, or its values as CSV.
import {fileName} from '../base/format';
import {paintCanvas} from '../widgets/canvas_surface';
import type {Drawing, LinesDrawing} from '../widgets/drawing';
import type {LineOptions} from '../widgets/line_data';
import {paintLines} from '../widgets/line_picture';
import type {ShownSteps} from '../widgets/line_plot';
import type {Palette, Surface} from '../widgets/surface';
import {SvgSurface} from '../widgets/svg_surface';

/** Pixels of the PNG for each of the picture. */
const PNG_RATIO = 2;
const LINES_HEIGHT = 300;

export interface Picture {
  title: string;
  drawing: Drawing;
  options: LineOptions;
  shown: ShownSteps;
  palette: Palette;
  width: number;
}

function heightOf({drawing, width}: Picture): number {
  return drawing.kind === 'lines' ? LINES_HEIGHT : Math.round(drawing.height(width));
}

function paint({drawing, options, shown}: Picture, surface: Surface): void {
  if (drawing.kind === 'lines') paintLines(surface, {...drawing, lines: drawing.lines.filter(({startsOff}) => startsOff !== true)}, options, shown);
  else drawing.paint(surface);
}

export function pictureAsSvg(picture: Picture): string {
  const surface = new SvgSurface(picture.width, heightOf(picture), picture.palette);
  paint(picture, surface);
  return surface.svg(picture.title);
}

export function pictureAsPng(picture: Picture): Promise<Blob> {
  const canvas = document.createElement('canvas');
  paintCanvas(canvas, picture.width, heightOf(picture), PNG_RATIO, picture.palette, (surface) => {
    surface.rect(0, 0, surface.width, surface.height, {color: picture.palette.background});
    paint(picture, surface);
  });
  return new Promise((resolve, reject) => canvas.toBlob((blob) =>
    (blob ? resolve(blob) : reject(new Error('this browser cannot make a PNG of that size')))));
}

/** As src/base/csv.h: a spreadsheet would run what begins like a formula. */
function cell(text: string): string {
  const shown = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\n\r]/.test(shown) ? `"${shown.replace(/"/g, '""')}"` : shown;
}

/** What a panel shows as CSV: where no server has the exact values. */
export function linesAsCsv(drawing: LinesDrawing): string {
  const head = [drawing.x ?? 'step', ...drawing.lines.flatMap(({label, points}) =>
    (points.reduced ? [label, `${label} low`, `${label} high`] : [label]))];
  const rows = new Map<number, string[]>();
  let column = 0;
  for (const {points} of drawing.lines) {
    points.steps.forEach((step, i) => {
      const row = rows.get(step) ?? new Array<string>(head.length - 1).fill('');
      rows.set(step, row);
      row[column] = String(points.values[i]);
      if (points.reduced) [row[column + 1], row[column + 2]] = [String(points.low[i]), String(points.high[i])];
    });
    column += points.reduced ? 3 : 1;
  }
  const lines = [...rows].sort(([a], [b]) => a - b).map(([step, row]) => [step, ...row].join(','));
  return `${[head.map(cell).join(','), ...lines].join('\r\n')}\r\n`;
}

export function download(content: Blob | string, type: string, ...name: string[]): void {
  const address = URL.createObjectURL(content instanceof Blob ? content : new Blob([content], {type}));
  const link = document.createElement('a');
  link.href = address;
  link.download = `${fileName(...name)}.${type.includes('svg') ? 'svg' : type.includes('png') ? 'png' : 'csv'}`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
