// SPDX-License-Identifier: MIT
// A short list of named numbers as horizontal bars.
import {shortNumber} from '../../base/short_number';
import {largest} from '../../base/statistics';
import type {SceneDrawing} from '../drawing';
import {textWidth} from '../surface_text';
import {LABEL, stepLabel} from './axes';

export interface Bar {
  label: string;
  value: number;
}

const ROW = 24;
const TOP = 34;

/** `name`: what the values are. */
export function barScene(step: number, name: string, bars: readonly Bar[]): SceneDrawing {
  const most = largest(bars.map(({value}) => value), 0);
  const labelWidth = Math.max(...bars.map(({label}) => textWidth(label, LABEL)), 0);
  return {
    kind: 'scene',
    height: () => TOP + ROW * Math.max(1, bars.length) + 6,
    words: `${name} at step ${step}: ${bars.map(({label, value}) => `${label} ${shortNumber(value)}`).join(', ')}.`,
    paint(surface) {
      const {palette} = surface;
      const left = 8 + labelWidth + 8;
      const room = surface.width - left - 62;
      surface.text(left, TOP - 8, name, {color: palette.faint, size: LABEL, baseline: 'bottom'});
      stepLabel(surface, surface.width - 8, 2, step);
      bars.forEach(({label, value}, i) => {
        const middle = TOP + (i + 0.5) * ROW;
        const isFinite = Number.isFinite(value);
        const length = isFinite && most > 0 ? Math.max(0, (value / most) * room) : value === Infinity ? room : 0;
        surface.text(left - 8, middle, label, {color: palette.text, align: 'right', baseline: 'middle'});
        surface.rect(left, middle - 7, length, 14, {color: isFinite ? palette.lines[0] as string : palette.bad, opacity: 0.75});
        surface.text(left + length + 6, middle, shortNumber(value), {color: palette.text, baseline: 'middle'});
      });
    },
    at(_px, py) {
      const bar = bars[Math.floor((py - TOP) / ROW)];
      return bar ? {text: `${bar.label}: ${shortNumber(bar.value, 6)}`} : null;
    },
  };
}
