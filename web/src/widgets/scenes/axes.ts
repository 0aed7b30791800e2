// SPDX-License-Identifier: MIT
// Scales, axes and labels of scenes.
import {linearTicks, logTicks, tickLabels} from '../../base/ticks';
import type {Surface, TextStyle} from '../surface';
import {plated, textWidth} from '../surface_text';

export const SMALL = 10; // pixels of a mark's label
export const LABEL = 11; // of an axis' name

export interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
}

export interface Tick {
  at: number;
  label: string;
}

/** From values to pixels. */
export interface Scale {
  (value: number): number;
  ticks: Tick[];
}

function scaleOf(place: (value: number) => number, ticks: number[]): Scale {
  const labels = tickLabels(ticks);
  return Object.assign(place, {ticks: ticks.map((value, i) => ({at: place(value), label: labels[i] as string}))});
}

/** [low, high] to [from, to] pixels, with a mark about every `gap` of them. */
export function linearScale(low: number, high: number, from: number, to: number, gap = 50): Scale {
  const place = (value: number) => from + ((value - low) / (high - low)) * (to - from);
  return scaleOf(place, linearTicks(low, high, Math.abs(to - from) / gap));
}

/** As linearScale by logarithms; what is below `low`, and 0, stands at `from`. */
export function logScale(low: number, high: number, from: number, to: number, gap = 28): Scale {
  // Differences of logarithms: the quotient of the largest and the smallest number overflows.
  const range = Math.log(high) - Math.log(low);
  const place = (value: number) => from + ((Math.log(Math.max(value, low)) - Math.log(low)) / range) * (to - from);
  return scaleOf(place, logTicks(low, high, Math.abs(to - from) / gap));
}

/** A scale of counts: 0 at `from`, one count a little above it. */
export function countScale(most: number, from: number, to: number): Scale {
  const high = Math.max(2, most * 1.2);
  const scale = logScale(0.5, high, from, to);
  // Half a count is the foot of the axis, no number of things.
  const whole = logTicks(0.5, high, Math.abs(to - from) / 28).filter(Number.isInteger);
  return scaleOf(scale, whole);
}

/** Marks below the box, grid lines through it if wanted, the name centred underneath. */
export function bottomAxis(surface: Surface, box: Box, scale: Scale, name: string, grid = false): void {
  const {palette} = surface;
  const bottom = box.y + box.height;
  surface.path([box.x, bottom, box.x + box.width, bottom], {color: palette.faint, opacity: 0.6});
  let free = -Infinity; // where the next label may begin
  for (const tick of scale.ticks) {
    if (grid) surface.path([tick.at, box.y, tick.at, bottom], {color: palette.grid});
    surface.path([tick.at, bottom, tick.at, bottom + 4], {color: palette.faint, opacity: 0.6});
    const half = textWidth(tick.label, SMALL) / 2;
    if (tick.at - half < free) continue;
    free = tick.at + half + 6;
    surface.text(tick.at, bottom + 6, tick.label, {color: palette.faint, size: SMALL, align: 'center', baseline: 'top'});
  }
  surface.text(box.x + box.width / 2, bottom + 19, name, axisName(surface));
}

/** Marks left of the box with grid lines through it; the name turned, 40 pixels out. */
export function leftAxis(surface: Surface, box: Box, scale: Scale, name: string): void {
  const {palette} = surface;
  for (const tick of scale.ticks) {
    surface.path([box.x, tick.at, box.x + box.width, tick.at], {color: palette.grid});
    surface.text(box.x - 5, tick.at, tick.label, {color: palette.faint, size: SMALL, align: 'right', baseline: 'middle'});
  }
  if (name) {
    surface.text(box.x - 40, box.y + box.height / 2, name,
      {color: palette.faint, size: LABEL, align: 'center', baseline: 'middle', turn: -90});
  }
}

function axisName(surface: Surface): TextStyle {
  return {color: surface.palette.faint, size: LABEL, align: 'center', baseline: 'top'};
}

export interface Entry {
  label: string;
  color: string;
  /** 'area' unless said. */
  mark?: 'area' | 'line' | 'dashes' | 'dot';
}

const LEGEND_ROW = 15;

/** Where the entries stand: as many in a row as fit. */
function arranged(width: number, labels: readonly string[]): {left: number; row: number}[] {
  let left = 0;
  let row = 0;
  return labels.map((label) => {
    const needed = 16 + textWidth(label, LABEL);
    if (left > 0 && left + needed > width) {
      left = 0;
      ++row;
    }
    const place = {left, row};
    left += needed + 10;
    return place;
  });
}

export function legendHeight(width: number, labels: readonly string[]): number {
  return ((arranged(width, labels).pop()?.row ?? 0) + 1) * LEGEND_ROW;
}

/** Coloured marks with labels, in as many rows as legendHeight says. */
export function legend(surface: Surface, x: number, y: number, width: number, entries: readonly Entry[]): void {
  arranged(width, entries.map((entry) => entry.label)).forEach((place, i) => {
    const entry = entries[i] as Entry;
    const left = x + place.left;
    const middle = y + (place.row + 0.5) * LEGEND_ROW;
    if (entry.mark === 'line') surface.path([left, middle, left + 11, middle], {color: entry.color, width: 2});
    else if (entry.mark === 'dashes') surface.path([left, middle, left + 11, middle], {color: entry.color, dash: [3, 2]});
    else if (entry.mark === 'dot') surface.circle(left + 6, middle, 3, {fill: {color: entry.color}});
    else surface.rect(left, middle - 4, 11, 8, {color: entry.color, opacity: 0.75});
    surface.text(left + 16, middle, entry.label, {color: surface.palette.text, size: LABEL, baseline: 'middle'});
  });
}

/** Which step the picture is of, at the top right. */
export function stepLabel(surface: Surface, right: number, y: number, step: number): void {
  plated(surface, right, y, `step ${step}`, {color: surface.palette.faint, size: SMALL, align: 'right', baseline: 'top'});
}

/** What a picture says where there is nothing to draw. */
export function nothing(surface: Surface, box: Box, text: string): void {
  surface.text(box.x + box.width / 2, box.y + box.height / 2, text,
    {color: surface.palette.faint, size: LABEL, align: 'center', baseline: 'middle'});
}

/** Height of a panel: lower than wide, within what rows of panels stand beside each other well. */
export function panelHeight(width: number): number {
  return Math.round(Math.min(320, Math.max(210, width * 0.58)));
}
