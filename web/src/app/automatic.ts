// SPDX-License-Identifier: MIT
// Panels for what no instrument reads: quantities of the user's own and numbers that were logged.
// So nothing that was recorded is invisible.
import {naturalOrder} from '../base/natural_order';
import type {Drawing, Line, SceneDrawing} from '../widgets/drawing';
import type {Frame, RunDetails} from '../wire/types';
import type {Instrument, Readings} from './instrument';

/** Lines that one automatic panel shows at most. */
const MAX_LINES = 24;

function labelOf(quantity: string, field: string, group: string): string {
  return [field || (group ? '' : quantity), group].filter(Boolean).join(' · ') || quantity;
}

/** Bars for a list, or for a histogram of one axis; of two axes, cells. */
function frameScene(name: string, frame: Frame): SceneDrawing {
  const values = frame.axes.length > 0 ? frame.counts : frame.list;
  const most = values.reduce((a, v) => (Number.isFinite(v) ? Math.max(a, Math.abs(v)) : a), 0) || 1;
  const columns = frame.axes.length === 2 ? (frame.axes[1]?.count ?? 1) : values.length;
  return {
    kind: 'scene',
    height: () => 170,
    words: `${name} at step ${frame.step}: ${values.length} values, the largest of size ${most}.`,
    paint(surface) {
      const {palette, width, height} = surface;
      if (frame.axes.length === 2) {
        surface.cells(8, 8, width - 16, height - 16, columns, values, (v) => palette.heat(v / most));
        return;
      }
      const hasNegative = values.some((v) => v < 0);
      const zero = hasNegative ? height / 2 : height - 8;
      const unit = (hasNegative ? height / 2 - 8 : height - 16) / most;
      const step = (width - 16) / Math.max(1, columns);
      values.forEach((v, i) => {
        if (Number.isFinite(v)) surface.rect(8 + i * step, zero - v * unit, Math.max(0.5, step - 1), v * unit, {color: palette.lines[0] as string});
      });
      surface.path([8, zero, width - 8, zero], {color: palette.faint});
    },
    at(x, _y, width) {
      if (frame.axes.length === 2) return null;
      const i = Math.floor(((x - 8) / Math.max(1, width - 16)) * columns);
      const value = values[i];
      return value === undefined ? null : {text: `${i}: ${value}`};
    },
  };
}

function linesOf(readings: Readings, quantity: string): Line[] {
  const all = readings.numbers(quantity);
  const whole = all.filter(({info}) => info.group === '');
  return (whole.length > 0 ? whole : all).slice(0, MAX_LINES)
    .map(({info, points}) => ({label: labelOf(quantity, info.field, info.group), points}));
}

function automatic(quantity: string, run: RunDetails, hasFrames: boolean): Instrument {
  const summary = run.quantities.find(({name}) => name === quantity)?.summary;
  const hasWhole = run.series.some((s) => s.quantity === quantity && s.group === '');
  return {
    id: `automatic_${hasFrames ? 'frames_' : ''}${quantity}`,
    title: quantity.replace(/_/g, ' '),
    place: 'more',
    order: 1000,
    explain: `${summary ? `${summary.replace(/\.$/, '')}.` : `What was recorded as ${quantity}.`} ` +
      'No instrument reads this quantity, so it is shown as it was recorded.',
    reads: [{quantity, fields: 'all', ...(hasWhole ? {} : {groups: MAX_LINES}), ...(hasFrames ? {frames: true} : {})}],
    view(readings): Drawing | null {
      if (hasFrames) {
        const first = readings.frames(quantity)[0];
        return first ? frameScene(labelOf(quantity, first.info.field, first.info.group), first.frame) : null;
      }
      const lines = linesOf(readings, quantity);
      return lines.length > 0 ? {kind: 'lines', lines} : null;
    },
  };
}

/** One instrument for each quantity that `instruments` leave out, numbers and frames apart. */
export function automaticInstruments(run: RunDetails, instruments: readonly Pick<Instrument, 'reads'>[]): Instrument[] {
  const read = new Set(instruments.flatMap(({reads}) => reads.map(({quantity}) => quantity)));
  const made = new Map<string, Instrument>();
  for (const {quantity, kind} of run.series) {
    const hasFrames = kind !== 'number';
    const key = `${hasFrames} ${quantity}`;
    if (!read.has(quantity) && !made.has(key)) made.set(key, automatic(quantity, run, hasFrames));
  }
  return [...made.values()].sort((a, b) => naturalOrder(a.id, b.id));
}
