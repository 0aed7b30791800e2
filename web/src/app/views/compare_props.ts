// SPDX-License-Identifier: MIT
// What each way to compare is given.
import type {CompareState} from '../../base/compare_state';
import type {Overlaid} from '../../store/overlay_store';
import type {RunSummary} from '../../wire/types';
import type {App} from '../view_props';
import type {LineOwner} from './curves';

export interface CompareProps {
  app: App;
  state: CompareState;
  change(part: Partial<CompareState>): void;
  /** Those that pass the filter, the newest first. */
  passing: readonly RunSummary[];
  /** Of these the chosen ones, as many as are drawn. */
  runs: readonly RunSummary[];
}

/** Of those that read the runs' values. */
export interface LoadedProps extends CompareProps {
  loaded: Overlaid;
  owners: readonly LineOwner[];
  off: ReadonlySet<string>;
}
