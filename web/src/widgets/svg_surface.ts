// SPDX-License-Identifier: MIT
// The surface for export and tests: SVG as text.
import {FONT} from './surface_text';
import type {Fill, Palette, Path, Stroke, Surface, TextStyle} from './surface';

function escaped(text: string): string {
  return text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;').replace(/"/g, '&quot;')
    // What XML 1.0 has no way to say.
    .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f]/g, '\ufffd');
}

function short(value: number): string {
  return String(Math.round(value * 100) / 100);
}

function pathData(points: Path): string {
  let data = '';
  let isNew = true;
  for (let i = 0; i + 1 < points.length; i += 2) {
    const x = points[i] as number;
    const y = points[i + 1] as number;
    if (!Number.isFinite(x) || !Number.isFinite(y)) {
      isNew = true;
      continue;
    }
    data += `${isNew ? 'M' : 'L'}${short(x)} ${short(y)}`;
    isNew = false;
  }
  return data;
}

function fillOf(fill: Fill | undefined): string {
  if (!fill) return ' fill="none"';
  return ` fill="${escaped(fill.color)}"` + (fill.opacity === undefined ? '' : ` fill-opacity="${fill.opacity}"`);
}

function strokeOf(stroke: Stroke | undefined): string {
  if (!stroke) return '';
  return ` stroke="${escaped(stroke.color)}" stroke-width="${stroke.width ?? 1}"` +
    (stroke.dash?.length ? ` stroke-dasharray="${stroke.dash.join(' ')}"` : '') +
    (stroke.opacity === undefined ? '' : ` stroke-opacity="${stroke.opacity}"`) + ' stroke-linejoin="round"';
}

const ANCHOR = {left: 'start', center: 'middle', right: 'end'} as const;
const BASELINE = {top: 'hanging', middle: 'central', bottom: 'auto'} as const;

export class SvgSurface implements Surface {
  private parts: string[] = [];
  private clips = 0;

  constructor(readonly width: number, readonly height: number, readonly palette: Palette) {}

  /** The whole picture on the palette's background. */
  svg(title = ''): string {
    return `<svg xmlns="http://www.w3.org/2000/svg" width="${short(this.width)}" height="${short(this.height)}" ` +
      `viewBox="0 0 ${short(this.width)} ${short(this.height)}" font-family="${escaped(FONT)}">` +
      (title ? `<title>${escaped(title)}</title>` : '') +
      `<rect width="100%" height="100%" fill="${this.palette.background}"/>${this.parts.join('')}</svg>`;
  }

  path(points: Path, stroke: Stroke): void {
    const data = pathData(points);
    if (data) this.parts.push(`<path d="${data}" fill="none"${strokeOf(stroke)}/>`);
  }

  area(points: Path, fill: Fill): void {
    const data = pathData(points);
    if (data) this.parts.push(`<path d="${data}Z"${fillOf(fill)}/>`);
  }

  rect(x: number, y: number, width: number, height: number, fill: Fill): void {
    // SVG knows no negative sizes; a canvas does.
    const [left, top] = [Math.min(x, x + width), Math.min(y, y + height)];
    this.parts.push(`<rect x="${short(left)}" y="${short(top)}" width="${short(Math.abs(width))}" ` +
      `height="${short(Math.abs(height))}"${fillOf(fill)}/>`);
  }

  circle(x: number, y: number, radius: number, style: {fill?: Fill; stroke?: Stroke}): void {
    this.parts.push(`<circle cx="${short(x)}" cy="${short(y)}" r="${short(Math.max(0, radius))}"` +
      `${fillOf(style.fill)}${strokeOf(style.stroke)}/>`);
  }

  text(x: number, y: number, text: string, style: TextStyle): void {
    const turn = style.turn ? ` transform="rotate(${style.turn} ${short(x)} ${short(y)})"` : '';
    const weight = style.weight === 'bold' ? ' font-weight="bold"' : '';
    this.parts.push(`<text x="${short(x)}" y="${short(y)}" font-size="${style.size ?? 11}"${weight} ` +
      `fill="${escaped(style.color)}" text-anchor="${ANCHOR[style.align ?? 'left']}" ` +
      `dominant-baseline="${BASELINE[style.baseline ?? 'middle']}"${turn}>${escaped(text)}</text>`);
  }

  cells(x: number, y: number, width: number, height: number, columns: number,
        values: ArrayLike<number>, color: (value: number) => string): void {
    const rows = Math.ceil(values.length / columns);
    const w = width / columns;
    const h = height / rows;
    this.parts.push('<g shape-rendering="crispEdges">');
    for (let row = 0; row < rows; ++row) {
      for (let column = 0; column < columns;) {
        const value = values[row * columns + column];
        if (value === undefined || Number.isNaN(value)) {
          ++column;
          continue;
        }
        // Neighbours of one colour are one rectangle: most cells of a histogram are empty.
        const shade = color(value);
        let end = column + 1;
        for (; end < columns; ++end) {
          const next = values[row * columns + end];
          if (next === undefined || Number.isNaN(next) || color(next) !== shade) break;
        }
        this.rect(x + column * w, y + row * h, (end - column) * w, h, {color: shade});
        column = end;
      }
    }
    this.parts.push('</g>');
  }

  clipped(x: number, y: number, width: number, height: number, draw: () => void): void {
    const id = `clip${++this.clips}`;
    this.parts.push(`<clipPath id="${id}"><rect x="${short(x)}" y="${short(y)}" width="${short(Math.max(0, width))}" ` +
      `height="${short(Math.max(0, height))}"/></clipPath><g clip-path="url(#${id})">`);
    try {
      draw();
    } finally {
      this.parts.push('</g>');
    }
  }
}
