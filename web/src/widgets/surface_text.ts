// SPDX-License-Identifier: MIT
// Text on surfaces: the font, how wide a text is about, and text upon lines.
import type {Surface, TextStyle} from './surface';

export const FONT = 'system-ui, -apple-system, "Segoe UI", "Noto Sans", sans-serif';

/** A text on a plate in the colour of the background, where lines may cross it. */
export function plated(surface: Surface, x: number, y: number, text: string, style: TextStyle): void {
  const size = style.size ?? 11;
  const width = textWidth(text, size) + 6;
  const left = {left: x - 3, center: x - width / 2, right: x - width + 3}[style.align ?? 'left'];
  const top = {top: y - 1, middle: y - size / 2 - 1, bottom: y - size - 1}[style.baseline ?? 'middle'];
  surface.rect(left, top, width, size + 2, {color: surface.palette.background, opacity: 0.85});
  surface.text(x, y, text, style);
}

/** Width in pixels, near enough to leave room for it; the surfaces need not be asked. */
export function textWidth(text: string, size = 11): number {
  return 0.56 * size * text.length;
}
