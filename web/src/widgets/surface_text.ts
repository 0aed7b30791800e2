// SPDX-License-Identifier: MIT
// Text on surfaces: the font, and how wide a text is about.

export const FONT = 'system-ui, -apple-system, "Segoe UI", "Noto Sans", sans-serif';

/** Width in pixels, near enough to leave room for it; the surfaces need not be asked. */
export function textWidth(text: string, size = 11): number {
  return 0.56 * size * text.length;
}
