// SPDX-License-Identifier: MIT
// The colours of both themes. Lines begin as Okabe and Ito's and are moved until any two of them can be
// told apart without red, green or blue cones, with contrast of at least 3 to 1 on the background; runs
// have ten colours of the same kind (tests/run_style_test.ts); heat follows viridis, diverging goes from
// blue over grey to orange. tests/palette_test.ts measures it.
import type {Palette} from './surface';

type Rgb = readonly [number, number, number];

function rgb(hex: string): Rgb {
  const value = parseInt(hex.slice(1), 16);
  return [value >> 16, (value >> 8) & 255, value & 255];
}

/** A function from [0, 1] to colours between the stops; quantised, so that few strings are made. */
function scale(stops: readonly string[]): (fraction: number) => string {
  const colors = stops.map(rgb);
  const table = Array.from({length: 256}, (_, i) => {
    const place = (i / 255) * (colors.length - 1);
    const before = Math.min(Math.floor(place), colors.length - 2);
    const rest = place - before;
    const [from, to] = [colors[before] as Rgb, colors[before + 1] as Rgb];
    return `rgb(${from.map((c, k) => Math.round(c + rest * ((to[k] as number) - c))).join(',')})`;
  });
  return (fraction) => table[Math.round(255 * Math.min(1, Math.max(0, fraction || 0)))] as string;
}

function around(stops: readonly string[]): (fraction: number) => string {
  const colors = scale(stops);
  return (fraction) => colors((fraction + 1) / 2);
}

export const lightPalette: Palette = {
  isDark: false,
  background: '#ffffff',
  text: '#17212c',
  faint: '#5a6877',
  grid: '#e6eaef',
  lines: ['#008dda', '#be5000', '#30875c', '#c060a5', '#794400', '#473eae', '#a19607', '#40424a'],
  runs: ['#960052', '#cb3f00', '#603800', '#9e972b', '#007f47', '#059dc5', '#002f85', '#a464ff', '#7800b9', '#ff42ab'],
  good: '#00795a',
  warning: '#965900',
  bad: '#c0392b',
  heat: scale(['#f3f7ea', '#b8de8f', '#6cc28a', '#2f9e8f', '#2a788e', '#35508a', '#440f5c']),
  diverging: around(['#1f5f99', '#6fa8d6', '#f1f1ee', '#e6a15c', '#a84e00']),
};

export const darkPalette: Palette = {
  isDark: true,
  background: '#151c25',
  text: '#dde5ed',
  faint: '#8d9cad',
  grid: '#253140',
  lines: ['#49bdf3', '#d1af39', '#3ab07d', '#f380be', '#f5ec6b', '#6e6ff0', '#d06128', '#c4dbe6'],
  runs: ['#ffaec9', '#cc5731', '#fe9f15', '#fbef1d', '#45c47d', '#74daff', '#6181b6', '#b88fff', '#ac31fe', '#ff0cb0'],
  good: '#2fc596',
  warning: '#f0b43c',
  bad: '#ff7a6b',
  heat: scale(['#1b2330', '#3a2f6b', '#3b528b', '#2c728e', '#21918c', '#5ec962', '#fde725']),
  diverging: around(['#7cc4f5', '#3579b0', '#2a323c', '#b06a22', '#ffb45c']),
};
