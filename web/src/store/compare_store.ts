// SPDX-License-Identifier: MIT
// What is seen of the comparison: in the address, so that it can be sent, and what is of use on the
// next visit in the browser's storage.
import {type CompareState, FIRST_STATE, readState, stateQuery} from '../base/compare_state';
import {Watched} from '../base/watched';
import type {SettingsStore} from './settings';

/** The page's address, as far as the comparison needs it. */
export interface Address {
  /** From the # on. */
  read(): string;
  /** Without an entry in the history. */
  replace(hash: string): void;
}

/** A slider that is moved must not write an address at each pixel: browsers refuse more than some a second. */
const WRITE_MS = 200;
const COMPARE = '#/';

/** What follows the ? of the address of the comparison; null if it is another page's. */
function queryOf(hash: string): string | null {
  if (hash === '' || hash === '#' || hash === COMPARE) return '';
  return hash.startsWith(`${COMPARE}?`) ? hash.slice(COMPARE.length + 1) : null;
}

export class CompareStore {
  readonly watched: Watched<CompareState>;
  private isToWrite = false;

  /** `later` calls back after a while. */
  constructor(private readonly settings: SettingsStore, private readonly address: Address,
      private readonly later: (act: () => void) => void = (act) => setTimeout(act, WRITE_MS)) {
    const {compared, layout, smoothing, logX} = settings.watched.value;
    this.watched = new Watched<CompareState>({...FIRST_STATE, runs: compared, layout, smoothing, logX});
    this.take();
    settings.watched.watch(() => {
      const {smoothing: smooth, logX: log} = settings.watched.value;
      const {value} = this.watched;
      if (value.smoothing !== smooth || value.logX !== log) this.set({...value, smoothing: smooth, logX: log});
    });
  }

  /** The page of the comparison is shown: an address that says anything counts, an empty one is filled in. */
  follow(): void {
    this.take();
    this.write();
  }

  change(part: Partial<CompareState>): void {
    const state = {...this.watched.value, ...part};
    this.set(state);
    this.keep(state);
  }

  /** Writes the address now if it is behind. */
  write(): void {
    this.isToWrite = false;
    if (queryOf(this.address.read()) === null) return;
    const query = stateQuery(this.watched.value);
    const hash = query ? `${COMPARE}?${query}` : COMPARE;
    if (hash !== this.address.read()) this.address.replace(hash);
  }

  private take(): void {
    const query = queryOf(this.address.read());
    if (!query || query === stateQuery(this.watched.value)) return;
    const state = readState(query);
    this.watched.set(state);
    // The layout and the choice of a link are not mine until I change them.
    this.keepControls(state);
  }

  private set(state: CompareState): void {
    this.watched.set(state);
    if (this.isToWrite) return;
    this.isToWrite = true;
    this.later(() => { if (this.isToWrite) this.write(); });
  }

  private keep(state: CompareState): void {
    const {runs, layout} = state;
    const now = this.settings.watched.value;
    const compared = runs === 'all' ? now.compared : runs;
    if (now.compared !== compared || now.layout !== layout) this.settings.change({compared, layout});
    this.keepControls(state);
  }

  private keepControls({smoothing, logX}: CompareState): void {
    const now = this.settings.watched.value;
    if (now.smoothing !== smoothing) this.settings.change({smoothing});
    if (now.logX !== logX) this.settings.setLogXEverywhere(logX);
  }
}
