// SPDX-License-Identifier: MIT
// What the user chose, kept by the browser from visit to visit.
import {type Layout, readLayout, USUAL_LAYOUT} from '../base/board_layout';
import {Watched} from '../base/watched';

export interface PanelSettings {
  logX?: boolean;
  logY?: boolean;
}

export interface Settings {
  theme: 'auto' | 'light' | 'dark';
  smoothing: number;
  logX: boolean;
  panels: Record<string, PanelSettings>;
  /** Runs that are compared; null until some are chosen. */
  compared: readonly string[] | null;
  /** Of the panels that compare. */
  layout: Layout;
}

const KEY = 'flightdeck';
const FRESH: Settings = {theme: 'auto', smoothing: 0, logX: false, panels: {}, compared: null, layout: USUAL_LAYOUT};

/** What was stored, as far as it makes sense. */
export function readSettings(text: string | null): Settings {
  try {
    const stored = JSON.parse(text ?? '{}') as Partial<Settings> | null;
    const smoothing = Number(stored?.smoothing ?? 0);
    return {
      theme: stored?.theme === 'light' || stored?.theme === 'dark' ? stored.theme : 'auto',
      smoothing: smoothing >= 0 && smoothing <= 0.99 ? smoothing : 0,
      logX: stored?.logX === true,
      panels: typeof stored?.panels === 'object' && stored.panels !== null ? stored.panels : {},
      compared: Array.isArray(stored?.compared) ? stored.compared.filter((id) => typeof id === 'string') : null,
      layout: readLayout(stored?.layout),
    };
  } catch {
    return {...FRESH};
  }
}

export class SettingsStore {
  readonly watched: Watched<Settings>;

  /** Without a storage (a browser may refuse it), settings last as long as the page. */
  constructor(private readonly storage: Pick<Storage, 'getItem' | 'setItem'> | null) {
    let text: string | null = null;
    try {
      text = storage?.getItem(KEY) ?? null;
    } catch {
      text = null;
    }
    this.watched = new Watched(readSettings(text));
  }

  change(part: Partial<Settings>): void {
    const settings = {...this.watched.value, ...part};
    try {
      this.storage?.setItem(KEY, JSON.stringify(settings));
    } catch {
      // A full or forbidden storage costs the memory, not the page.
    }
    this.watched.set(settings);
  }

  changePanel(id: string, part: PanelSettings): void {
    const {panels} = this.watched.value;
    this.change({panels: {...panels, [id]: {...panels[id], ...part}}});
  }

  /** One axis of steps for all panels, whatever they had before. */
  setLogXEverywhere(logX: boolean): void {
    const panels = Object.fromEntries(Object.entries(this.watched.value.panels).map(([id, {logX: _, ...rest}]) => [id, rest]));
    this.change({logX, panels});
  }
}
