// SPDX-License-Identifier: MIT
// A histogram with logarithmic counts. What lies outside its range stands apart at the ends.
import {shortCount, shortNumber} from '../../base/short_number';
import {largest} from '../../base/statistics';
import type {Axis, Frame} from '../../wire/types';
import type {SceneDrawing} from '../drawing';
import type {Surface} from '../surface';
import {bottomAxis, countScale, leftAxis, linearScale, nothing, panelHeight, SMALL, stepLabel, type Box, type Scale} from './axes';

const GAP = 6; // between the bars and the caps

interface Cap {
  name: string;
  count: number;
  bad: boolean;
}

interface View {
  box: Box;
  capWidth: number;
  /** Left edges of the caps. */
  caps: (Cap & {x: number})[];
}

/** Outline of bars from the left to the right, as x, y pairs. */
export function steps(counts: ArrayLike<number>, left: number, width: number, y: (count: number) => number): number[] {
  const outline: number[] = [];
  const each = width / counts.length;
  for (let i = 0; i < counts.length; ++i) {
    const top = y(counts[i] as number);
    outline.push(left + i * each, top, left + (i + 1) * each, top);
  }
  return outline;
}

/** Which interval a bin is. */
export function binRange({low, high, count}: Axis, bin: number): string {
  const edge = (i: number) => shortNumber(low + ((high - low) * i) / count);
  return `${edge(bin)} to ${edge(bin + 1)}`;
}

function viewOf(width: number, height: number, frame: Frame): View {
  const capWidth = Math.min(34, Math.max(24, width * 0.06));
  // Not-a-numbers get a place only if there are some; the other two stay, so that playing is steady.
  const right: Cap[] = [{name: 'above', count: frame.above, bad: false}];
  if (frame.not_a_number > 0) right.push({name: 'NaN', count: frame.not_a_number, bad: true});
  const left = 52;
  const box = {x: left + capWidth + GAP, y: 26, height: height - 26 - 38,
    width: width - left - (capWidth + GAP) * (1 + right.length) - 8};
  const caps = [{name: 'below', count: frame.below, bad: false, x: left},
    ...right.map((cap, i) => ({...cap, x: box.x + box.width + GAP + i * (capWidth + GAP)}))];
  return {box, capWidth, caps};
}

function paintCaps(surface: Surface, {box, capWidth, caps}: View, y: Scale): void {
  const {palette} = surface;
  const bottom = box.y + box.height;
  for (const {name, count, bad, x} of caps) {
    const color = bad ? palette.bad : palette.warning;
    const top = count > 0 ? y(count) : bottom;
    surface.path([x, bottom, x + capWidth, bottom], {color: palette.faint, opacity: 0.6});
    if (count > 0) surface.rect(x, top, capWidth, bottom - top, {color, opacity: 0.75});
    surface.text(x + capWidth / 2, top - 2, shortCount(count),
      {color: count > 0 ? palette.text : palette.faint, size: SMALL, align: 'center', baseline: 'bottom'});
    surface.text(x + capWidth / 2, bottom + 20, name,
      {color: palette.faint, size: SMALL, align: 'center', baseline: 'top'});
  }
}

/** `name`: of the horizontal axis. */
export function histogramScene(frame: Frame, axis: Axis, name: string): SceneDrawing {
  const counts = frame.counts;
  const most = largest(counts, 0);
  const total = counts.reduce((sum, count) => sum + count, 0);
  const fullest = counts.indexOf(most);
  return {
    kind: 'scene',
    height: panelHeight,
    words: `Histogram of ${shortCount(total)} entries at step ${frame.step}, ` +
      (most > 0 ? `most of them (${shortCount(most)} in one of ${axis.count} bins) from ${binRange(axis, fullest)}. ` : '') +
      `${shortCount(frame.below)} below, ${shortCount(frame.above)} above the range, ${shortCount(frame.not_a_number)} not a number.`,
    paint(surface) {
      const {palette} = surface;
      const view = viewOf(surface.width, surface.height, frame);
      const {box, caps, capWidth} = view;
      const first = caps[0]?.x ?? box.x;
      const bottom = box.y + box.height;
      const y = countScale(Math.max(most, frame.below, frame.above, frame.not_a_number), bottom, box.y);
      const last = caps[caps.length - 1]?.x ?? box.x;
      leftAxis(surface, {...box, x: first, width: last + capWidth - first}, y, 'entries');
      bottomAxis(surface, box, linearScale(axis.low, axis.high, box.x, box.x + box.width), name);
      if (most > 0) {
        const color = palette.lines[0] as string;
        const outline = steps(counts, box.x, box.width, y);
        surface.area([box.x, bottom, ...outline, box.x + box.width, bottom], {color, opacity: 0.45});
        surface.path(outline, {color});
      } else {
        nothing(surface, box, 'no entries in this range');
      }
      paintCaps(surface, view, y);
      stepLabel(surface, surface.width - 8, 2, frame.step);
    },
    at(px, py, width, height) {
      const {box, caps, capWidth} = viewOf(width, height, frame);
      if (py < box.y || py > box.y + box.height) return null;
      const cap = caps.find(({x}) => px >= x && px <= x + capWidth);
      if (cap) return {text: `${cap.name === 'NaN' ? 'not a number' : `${cap.name} the range`}: ${cap.count}`};
      const bin = Math.floor(((px - box.x) / box.width) * counts.length);
      const count = counts[bin];
      return count === undefined ? null : {text: `${binRange(axis, bin)}\n${count} entries`};
    },
  };
}
