// SPDX-License-Identifier: MIT
// The colours of both themes. Lines follow Okabe and Ito, with lightness moved for contrast of at
// least 3 to 1 on the background; heat follows viridis, diverging goes from blue over grey to orange.
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
  lines: ['#0072b2', '#d55e00', '#008f68', '#b0578a', '#a87000', '#2b8cc4', '#7d7400', '#4f5b66'],
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
  lines: ['#56b4e9', '#e69f00', '#1fbf8f', '#e08fbd', '#f0e442', '#5b8def', '#ff8a4c', '#c3ccd6'],
  good: '#2fc596',
  warning: '#f0b43c',
  bad: '#ff7a6b',
  heat: scale(['#1b2330', '#3a2f6b', '#3b528b', '#2c728e', '#21918c', '#5ec962', '#fde725']),
  diverging: around(['#7cc4f5', '#3579b0', '#2a323c', '#b06a22', '#ffb45c']),
};
