// SPDX-License-Identifier: MIT
// One legend for all charts of a page: every line is in it, whatever its number.
import {swatch} from './line_chart';
import type {Palette} from './surface';

export interface LegendItem {
  label: string;
  /** What is shown of it. */
  short: string;
  color: number;
  dash: readonly number[];
  /** Runs it stands for. */
  count?: number;
}

interface Props {
  items: readonly LegendItem[];
  /** What all names begin with and the legend leaves out. */
  prefix: string;
  off: ReadonlySet<string>;
  palette: Palette;
  change(off: string[]): void;
}

/** What is switched off after a click on a line; with Shift it is shown alone, or all are again. */
export function toggled(labels: readonly string[], off: ReadonlySet<string>, label: string, isAlone: boolean): string[] {
  if (!isAlone) return off.has(label) ? [...off].filter((each) => each !== label) : [...off, label];
  const others = labels.filter((other) => other !== label);
  const wasAlone = !off.has(label) && others.every((other) => off.has(other));
  return wasAlone ? [] : others;
}

export function SharedLegend({items, prefix, off, palette, change}: Props) {
  const labels = items.map(({label}) => label);
  const hidden = labels.filter((label) => off.has(label)).length;
  return (
    <div class="shared-legend" role="group" aria-label="Legend of all charts">
      {prefix && <span class="quiet" title="All names begin so">{prefix}…</span>}
      {items.map(({label, short, color, dash, count}) => (
        <button type="button" key={label} aria-pressed={!off.has(label)} class={off.has(label) ? 'off' : ''}
          title={`${label}\nClick to hide or show, with Shift to show it alone`} onClick={(event) => change(toggled(labels, off, label, event.shiftKey))}>
          <i style={{background: swatch(palette.runs[color] as string, dash.length > 0 ? dash : undefined)}} />
          <span>{short}</span>{count !== undefined && <small>{count}</small>}
        </button>
      ))}
      {hidden > 0 && <button type="button" class="plain" onClick={() => change([])}>{hidden} switched off: show all</button>}
    </div>
  );
}
