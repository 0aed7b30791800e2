// SPDX-License-Identifier: MIT
// A small line without axes: the shape of a history beside a gauge.
import type {Surface} from '../surface';
import {plated} from '../surface_text';
import {SMALL, type Box, type Scale} from './axes';

/** Room above the line for its name. */
export const NAME_STRIP = 13;

export interface Spark {
  name: string;
  steps: ArrayLike<number>;
  values: ArrayLike<number>;
  color: string;
}

/** `y` is the scale of values, shared by the sparks of a picture; `now`: the step with a dot. */
export function sparkline(surface: Surface, box: Box, y: Scale, {name, steps, values, color}: Spark, now: number): void {
  const {palette} = surface;
  const bottom = box.y + box.height;
  const first = steps[0] ?? 0;
  const range = (steps[steps.length - 1] ?? 0) - first;
  const x = (step: number) => box.x + (range > 0 ? (step - first) / range : 0.5) * box.width;
  surface.rect(box.x, box.y, box.width, box.height, {color: palette.grid, opacity: 0.35});
  surface.path([box.x, bottom, box.x + box.width, bottom], {color: palette.grid});
  const line: number[] = [];
  let dot: [number, number] | null = null;
  for (let i = 0; i < steps.length; ++i) {
    const [step, value] = [steps[i] as number, values[i] as number];
    const isDrawn = value > 0 && Number.isFinite(value);
    line.push(isDrawn ? x(step) : NaN, isDrawn ? y(value) : NaN);
    if (step === now && isDrawn) dot = [x(step), y(value)];
  }
  surface.clipped(box.x, box.y, box.width, box.height, () => surface.path(line, {color, width: 1.25}));
  if (dot) surface.circle(dot[0], dot[1], 2.5, {fill: {color}});
  plated(surface, box.x + box.width - 3, box.y + 2, name, {color: palette.faint, size: SMALL, align: 'right', baseline: 'top'});
}
