// SPDX-License-Identifier: MIT
// The surface for the eye: a canvas, in CSS pixels whatever the screen's are.
import {pixelsOf} from '../base/color';
import {FONT} from './surface_text';
import type {Fill, Palette, Path, Stroke, Surface, TextStyle} from './surface';

/** From so many cells on, rectangles cost too much. */
const MANY_CELLS = 4000;

export class CanvasSurface implements Surface {
  constructor(
    private readonly context: CanvasRenderingContext2D,
    readonly width: number,
    readonly height: number,
    readonly palette: Palette,
  ) {}

  path(points: Path, stroke: Stroke): void {
    this.trace(points);
    this.stroke(stroke);
  }

  area(points: Path, fill: Fill): void {
    this.trace(points);
    this.fill(fill);
  }

  rect(x: number, y: number, width: number, height: number, fill: Fill): void {
    this.context.beginPath();
    this.context.rect(x, y, width, height);
    this.fill(fill);
  }

  circle(x: number, y: number, radius: number, style: {fill?: Fill; stroke?: Stroke}): void {
    this.context.beginPath();
    this.context.arc(x, y, Math.max(0, radius), 0, 2 * Math.PI);
    if (style.fill) this.fill(style.fill);
    if (style.stroke) this.stroke(style.stroke);
  }

  text(x: number, y: number, text: string, style: TextStyle): void {
    const c = this.context;
    c.save();
    c.translate(x, y);
    if (style.turn) c.rotate((style.turn * Math.PI) / 180);
    c.font = `${style.weight ?? 'normal'} ${style.size ?? 11}px ${FONT}`;
    c.textAlign = style.align ?? 'left';
    c.textBaseline = style.baseline ?? 'middle';
    c.fillStyle = style.color;
    c.fillText(text, 0, 0);
    c.restore();
  }

  cells(x: number, y: number, width: number, height: number, columns: number,
        values: ArrayLike<number>, color: (value: number) => string): void {
    const rows = Math.ceil(values.length / columns);
    if (values.length >= MANY_CELLS && this.pixelCells(x, y, width, height, columns, rows, values, color)) return;
    // Edges on whole device pixels: no seams between cells.
    const ratio = this.context.getTransform().a || 1;
    const edge = (place: number) => Math.round(place * ratio) / ratio;
    for (let row = 0; row < rows; ++row) {
      const top = edge(y + (row * height) / rows);
      const bottom = edge(y + ((row + 1) * height) / rows);
      for (let column = 0; column < columns; ++column) {
        const value = values[row * columns + column];
        if (value === undefined || Number.isNaN(value)) continue;
        const left = edge(x + (column * width) / columns);
        this.context.fillStyle = color(value);
        this.context.fillRect(left, top, edge(x + ((column + 1) * width) / columns) - left, bottom - top);
      }
    }
  }

  /** Cells as the pixels of one small picture that is drawn larger; false if a colour is not understood. */
  private pixelCells(x: number, y: number, width: number, height: number, columns: number, rows: number,
                     values: ArrayLike<number>, color: (value: number) => string): boolean {
    const pixels = pixelsOf(values, columns * rows, color);
    const picture = document.createElement('canvas');
    [picture.width, picture.height] = [columns, rows];
    const inner = picture.getContext('2d');
    if (!pixels || !inner) return false;
    inner.putImageData(new ImageData(pixels, columns, rows), 0, 0);
    this.context.imageSmoothingEnabled = false;
    this.context.drawImage(picture, x, y, width, height);
    this.context.imageSmoothingEnabled = true;
    return true;
  }

  clipped(x: number, y: number, width: number, height: number, draw: () => void): void {
    this.context.save();
    this.context.beginPath();
    this.context.rect(x, y, width, height);
    this.context.clip();
    try {
      draw();
    } finally {
      this.context.restore();
    }
  }

  private trace(points: Path): void {
    const c = this.context;
    c.beginPath();
    let isNew = true;
    for (let i = 0; i + 1 < points.length; i += 2) {
      const x = points[i] as number;
      const y = points[i + 1] as number;
      if (!Number.isFinite(x) || !Number.isFinite(y)) {
        isNew = true;
      } else if (isNew) {
        c.moveTo(x, y);
        isNew = false;
      } else {
        c.lineTo(x, y);
      }
    }
  }

  private stroke(stroke: Stroke): void {
    const c = this.context;
    c.globalAlpha = stroke.opacity ?? 1;
    c.strokeStyle = stroke.color;
    c.lineWidth = stroke.width ?? 1;
    c.lineJoin = 'round';
    c.setLineDash(stroke.dash ? [...stroke.dash] : []);
    c.stroke();
    c.globalAlpha = 1;
  }

  private fill(fill: Fill): void {
    this.context.globalAlpha = fill.opacity ?? 1;
    this.context.fillStyle = fill.color;
    this.context.fill();
    this.context.globalAlpha = 1;
  }
}

/** Paints on a canvas element, `width` x `height` in CSS pixels, for a screen of `ratio` device pixels each. */
export function paintCanvas(canvas: HTMLCanvasElement, width: number, height: number, ratio: number,
                            palette: Palette, paint: (surface: Surface) => void): void {
  const deviceWidth = Math.max(1, Math.round(width * ratio));
  const deviceHeight = Math.max(1, Math.round(height * ratio));
  if (canvas.width !== deviceWidth) canvas.width = deviceWidth;
  if (canvas.height !== deviceHeight) canvas.height = deviceHeight;
  const context = canvas.getContext('2d');
  if (!context) throw new Error('this browser gives no canvas to draw on');
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  paint(new CanvasSurface(context, width, height, palette));
}
