// SPDX-License-Identifier: MIT
// What every view is given.
import type {CompareStore} from '../store/compare_store';
import type {Notices} from '../store/notices';
import type {RunStore} from '../store/run_store';
import type {RunsStore} from '../store/runs_store';
import type {SettingsStore} from '../store/settings';
import type {Palette} from '../widgets/surface';
import type {Source} from '../wire/source';

/** Of the page as a whole. */
export interface App {
  source: Source;
  runs: RunsStore;
  settings: SettingsStore;
  /** What is seen of the comparison, from visit to visit of its page. */
  compare: CompareStore;
  notices: Notices;
  /** Of the theme in use; a change of theme renders everything again. */
  palette: Palette;
}

/** Of a view without a run in particular: compare. */
export interface ViewProps {
  app: App;
}

/** Of a view of one run. */
export interface RunViewProps extends ViewProps {
  run: RunStore;
  /** What the address names within the view: it is scrolled to and marked. */
  place?: string | undefined;
}
